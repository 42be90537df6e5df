#!/bin/sh
# Half an hour and a quarter are three quarters.
printf '0:30 plan\n0:15 write\n' >.git-sheet
found=$(sh hours .git-sheet | tr -d ' ')
rm -f .git-sheet
[ "$found" = 0:45 ] && exit 0
echo "FAIL: the sum is '$found', not 0:45"
exit 1
