#!/bin/sh
# A kilometre has 1000 metres.
result=$(./conv 1 km m) || exit 2
[ "$result" = 1000 ] && exit 0
echo "FAIL: 1 km in metres is $result"
exit 1
