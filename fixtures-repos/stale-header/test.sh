#!/bin/sh
got=$(./queue 1 2 3 4 5)
[ "$got" = '1 2 3 4 5 ' ] && exit 0
echo "FAIL: queue 1 2 3 4 5 printed '$got'"
exit 1
