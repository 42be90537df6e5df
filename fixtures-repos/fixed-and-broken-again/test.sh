#!/bin/sh
got=$(./fold 4 abcdefgh | head -n 1)
[ "$got" = abcd ] && exit 0
echo "FAIL: the first line is '$got', want 'abcd'"
exit 1
