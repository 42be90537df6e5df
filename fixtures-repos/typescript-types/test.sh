#!/bin/sh
# Needs Node.js and no compiler of TypeScript.
got=$(node out.js) || exit
[ "$got" = 1145 ] && exit 0
echo "FAIL: the cart costs $got, want 1145"
exit 1
