#!/bin/sh
# A remainder has the sign of what is divided.
rest=$(echo '-7 3 mod print' | ./stack) || exit 2
[ "$rest" = -1 ] && exit 0
echo "FAIL: -7 3 mod is $rest"
exit 1
