#!/bin/sh
got=$(./clamp 12 0 10)
[ "$got" = 10 ] && exit 0
echo "FAIL: clamped to $got, want 10"
exit 1
