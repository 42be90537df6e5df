#!/bin/sh
# A tab separates words as well.
got=$(printf 'one\ttwo three\n' | ./words)
[ "$got" = 3 ] && exit 0
echo "FAIL: counted $got words, want 3"
exit 1
