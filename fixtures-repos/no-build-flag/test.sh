#!/bin/sh
got=$(./stack 1 2 3)
[ "$got" = '3 2 1 ' ] && exit 0
echo "FAIL: reversed to '$got', want '3 2 1 '"
exit 1
