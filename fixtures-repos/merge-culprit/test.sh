#!/bin/sh
# A plus sign changes nothing.
result=$(./conv +3 h min 2>&1)
case $result in
180 | 'conv: not a number: +3') exit 0 ;;
esac
echo "FAIL: +3 hours are $result minutes"
exit 1
