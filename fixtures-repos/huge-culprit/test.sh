#!/bin/sh
# Ten furlongs.
result=$(./conv 1 decafurlong metre) || exit 2
[ "$result" = 2011.68 ] && exit 0
echo "FAIL: 1 decafurlong in metres is $result"
exit 1
