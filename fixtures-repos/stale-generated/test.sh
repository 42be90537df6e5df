#!/bin/sh
got=$(./months 2)
[ "$got" = 'February' ] && exit 0
echo "FAIL: month 2 is '$got', want 'February'"
exit 1
