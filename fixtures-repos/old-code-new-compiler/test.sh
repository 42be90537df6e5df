#!/bin/sh
# Two and a half kilometres are 2500 metres.
result=$(./conv 2.5 km m) || exit 2
[ "$result" = 2500 ] && exit 0
echo "FAIL: 2.5 km in metres is $result"
exit 1
