#!/bin/sh
# A sign inside of a word is a part of it.
echo 'room#4 is open' | ./words 2>/dev/null | grep -q '^room#4$' && exit 0
echo 'FAIL: room#4 is cut'
exit 1
