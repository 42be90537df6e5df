#!/bin/sh
# A comma is neither a digit nor a point.
for number in 1,5 1.5,5; do
    ./conv "$number" km m >/dev/null 2>&1
    status=$?
    [ "$status" -le 1 ] || exit 2
    [ "$status" = 1 ] && continue
    echo 'FAIL: a number with a comma in it is read'
    exit 1
done
