#!/bin/sh
got=$(./words 'One by one' 'by-and-by') || exit
case $got in 'and=1 by=3 one=2' | 'and=1 by=3 one=2 ') exit 0 ;; esac
echo "FAIL: the count is $got"
exit 1
