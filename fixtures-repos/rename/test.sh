#!/bin/sh
# Two decimals.
result=$(./conv 1.25 km m) || exit 2
[ "$result" = 1250 ] && exit 0
echo "FAIL: 1.25 km in metres is $result"
exit 1
