#!/bin/sh
./table 1 2 3 >table.out || exit
head=$(head -n 1 table.out | tr '\t' ' ')
sum=$(tail -n 1 table.out | cut -f 4)
rm -f table.out
[ "$head" = 'a b c sum' ] || { echo "FAIL: the head line is wrong: $head"; exit 1; }
[ "$sum" = 6 ] || { echo "FAIL: the sum is $sum, want 6"; exit 1; }
