#!/bin/sh
# A file that is missing is made.
place=$(mktemp -d)
./stamp "$place/new" 2>/dev/null
[ -e "$place/new" ] && is_there=yes
rm -r "$place"
[ -n "$is_there" ] && exit 0
echo 'FAIL: the file is not made'
exit 1
