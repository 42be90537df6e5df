#!/bin/sh
# The list is written before it is unlocked.
place=$(mktemp -d)
TODO=$place/list ./todo -v milk | sed '/unlocked/q' >"$place/until"
grep -q written "$place/until" && is_right=yes
rm -r "$place"
[ -n "$is_right" ] && exit 0
echo 'FAIL: the list is written without its lock'
exit 1
