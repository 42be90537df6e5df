#!/bin/sh
got=$(./even -3)
[ "$got" = odd ] && exit 0
echo "FAIL: -3 is $got, want odd"
exit 1
