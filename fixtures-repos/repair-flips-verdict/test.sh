#!/bin/sh
got=$(./price 4)
[ "$got" = 'corner shop: 8' ] && exit 0
echo "FAIL: the price is '$got', want 'corner shop: 8'"
exit 1
