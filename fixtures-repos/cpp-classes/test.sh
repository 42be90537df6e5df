#!/bin/sh
got=$(./jobs wash 2 cook 5 read 2) || exit
[ "$got" = 'cook wash read ' ] && exit 0
echo "FAIL: the jobs ran as $got, want cook wash read"
exit 1
