#!/bin/sh
# 2 x 12.00 and 1 x 30.00: no rebate.
got=$(./bill 2 1200 1 3000)
[ "$got" = 5400 ] && exit 0
echo "FAIL: the bill says $got, want 5400"
exit 1
