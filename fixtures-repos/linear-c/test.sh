#!/bin/sh
# Subtraction goes from left to right.
result=$(./abacus '10 - 4 - 3') || exit 2
[ "$result" = 3 ] && exit 0
echo "FAIL: 10 - 4 - 3 is $result"
exit 1
