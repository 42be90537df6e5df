#!/bin/sh
got=$(./invoice 1250 300)
[ "$got" = 15.50 ] && exit 0
echo "FAIL: the invoice says $got, want 15.50"
exit 1
