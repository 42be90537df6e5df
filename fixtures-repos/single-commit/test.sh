#!/bin/sh
# km is the kilometre.
result=$(./conv 1 km m) && [ "$result" = 1000 ] && exit 0
echo 'FAIL: km is not the kilometre'
exit 1
