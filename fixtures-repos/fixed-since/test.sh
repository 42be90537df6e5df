#!/bin/sh
# An amount with a remark counts.
printf 'rent -700 march\nrent -10\n' >.git-ledger
found=$(sh ledger.sh .git-ledger | tail -n 1)
rm -f .git-ledger
[ "$found" = 'rent -710' ] && exit 0
echo "FAIL: rent is '$found', not -710"
exit 1
