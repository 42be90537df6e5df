#!/bin/sh
got=$(./pad a b | wc -c)
[ "$got" -eq 17 ] && exit 0
echo "FAIL: the line has $got bytes, want 17"
exit 1
