#!/bin/sh
# A name that is cut off is no name.
./conv 5 foot kilo >/dev/null 2>&1 && {
    echo 'FAIL: kilo is taken for a unit'
    exit 1
}
[ "$(./conv 1 km m)" = 1000 ] || exit 2
