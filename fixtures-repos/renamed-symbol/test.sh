#!/bin/sh
# -1.9 kilometres are -2000 metres, in steps of 500.
result=$(./conv -1.9 km m 500) || exit 2
[ "$result" = -2000 ] && exit 0
echo "FAIL: -1.9 km in steps of 500 m is $result"
exit 1
