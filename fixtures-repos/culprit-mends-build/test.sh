#!/bin/sh
got=$(./stats 1 2 4)
[ "$got" = '233 300' ] && exit 0
echo "FAIL: mean and spread are $got, want 233 300"
exit 1
