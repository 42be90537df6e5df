#!/bin/sh
# Eight of ten are free, at 25 cents.
total=$(echo 'bolt 10 2 25' | ./stock value | tail -n 1) || exit 2
set -- $total
[ "$2" = 2.00 ] && exit 0
echo "FAIL: the free goods are worth $2"
exit 1
