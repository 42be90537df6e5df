#!/bin/sh
# Capital letters do not matter.
result=$(./conv 5 Foot metre) || result=nothing
[ "$result" = 1.524 ] && exit 0
echo "FAIL: 5 Foot in metres is $result"
exit 1
