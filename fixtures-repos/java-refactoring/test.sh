#!/bin/sh
shipping=$(java -Xshare:auto -XX:TieredStopAtLevel=1 -cp out Main 'chair=2*2500/4000' | sed -n 's/^shipping //p') || exit 2
[ "$shipping" = 0.00 ] && exit 0
echo "FAIL: an order of 50.00 is shipped for $shipping"
exit 1
