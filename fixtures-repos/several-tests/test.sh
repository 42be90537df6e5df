#!/bin/sh
# test.sh <name>: runs one test.
. ./text.sh
case $1 in
'write capitals') [ "$(echo Buzz | capitals)" = BUZZ ] ;;
'trim both sides') [ "$(echo ' a  ' | trimmed)" = a ] ;;
"quote a line's end") [ "$(echo 'a' | quoted)" = "'a'" ] && [ "$(echo 'a  ' | quoted)" = "'a'" ] ;;
'count words') [ "$(echo 'a b' | n_words)" = 2 ] ;;
'reverse words') [ "$(echo 'a b' | reversed)" = 'b a' ] ;;
*) exit 125 ;;
esac
