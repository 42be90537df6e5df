#!/bin/sh
got=$(./roman 14)
[ "$got" = XIV ] && exit 0
echo "FAIL: 14 is written $got, want XIV"
exit 1
