#!/bin/sh
# Something that only begins like a number is none.
./conv 12x km m >/dev/null 2>&1 && {
    echo 'FAIL: 12x is taken for a number'
    exit 1
}
[ "$(./conv 12 km m)" = 12000 ] || exit 2
