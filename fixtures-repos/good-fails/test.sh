#!/bin/sh
got=$(./gcd -12 0)
[ "$got" = 12 ] && exit 0
echo "FAIL: the divisor is $got, want 12"
exit 1
