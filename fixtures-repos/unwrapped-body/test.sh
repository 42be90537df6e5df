#!/bin/sh
# Each of the words counts.
printf '%s\n' 'red apple' 'green pear' 'red plum' | ./mentions red green | grep -q 'red plum' && exit 0
echo 'FAIL: a line is not found'
exit 1
