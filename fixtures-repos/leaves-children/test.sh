#!/bin/sh
# An unknown unit is reported. What the test starts and forgets must not keep anybody waiting: these children hold
# the standard output and error of the test, and two of them are in sessions of their own.
sleep 25 &
(sleep 25 & sleep 25 &)
if command -v setsid >/dev/null; then
    setsid sleep 25 &
    setsid sh -c 'trap "" TERM HUP INT; sleep 25; :' &
fi

message=$(./conv 1 km parsec 2>&1)
[ "$message" = 'conv: unknown unit: parsec' ] && exit 0
echo 'FAIL: an unknown unit is not reported'
exit 1
