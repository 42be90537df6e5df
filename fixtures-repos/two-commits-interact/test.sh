#!/bin/sh
# Zero has no sign.
result=$(./conv -0 km m) || exit 2
[ "$result" = 0 ] && exit 0
echo "FAIL: no kilometres are $result metres"
exit 1
