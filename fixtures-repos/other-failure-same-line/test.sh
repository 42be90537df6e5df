#!/bin/sh
# A receipt of exactly 100.00 is given five per cent.
result=$(./till 2x4500 4x250 | sed -n 's/^total //p')
[ "$result" = 95.00 ] && exit 0
echo "FAIL: the total is $result"
exit 1
