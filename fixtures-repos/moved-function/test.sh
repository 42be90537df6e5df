#!/bin/sh
# Of words of 1, 3 and 5 letters the middle one has 3.
median=$(echo 'a house and' | ./words | sed -n 's/^median //p') || exit 2
[ "$median" -gt 0 ] || exit 2
[ "$median" = 3 ] && exit 0
echo "FAIL: the median of 1, 3 and 5 is $median"
exit 1
