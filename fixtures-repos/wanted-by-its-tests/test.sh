#!/bin/sh
# A refund is a negative price.
seen=$(./price -12345)
[ "$seen" = -123.45 ] && exit 0
echo "FAIL: a refund of 123.45 is printed as $seen"
exit 1
