#!/bin/sh
got=$(./lookup pear)
[ "$got" = 30 ] && exit 0
echo "FAIL: a pear costs $got, want 30"
exit 1
