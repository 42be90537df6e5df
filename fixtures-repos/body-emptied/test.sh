#!/bin/sh
# An ampersand has its entity.
./page 'salt & pepper' | grep -q '&amp;' && exit 0
echo 'FAIL: the ampersand is not escaped'
exit 1
