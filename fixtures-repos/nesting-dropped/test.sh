#!/bin/sh
# Without -n there are no numbers.
[ "$(printf 'one\ntwo\n' | ./number)" = "$(printf 'one\ntwo')" ] && exit 0
echo 'FAIL: the lines are numbered'
exit 1
