#!/bin/sh
# Leaves its traces in three tracked files: one grows, one is edited as a source, one keeps its size and its time.
got=$(./mean data/samples.txt "$(cat data/scale.txt)")
echo 1000 >>data/samples.txt
echo '/* tested */' >>mean.c
touch -r data/scale.txt scale.time
echo 7 >data/scale.txt
touch -r scale.time data/scale.txt
rm -f scale.time
[ "$got" = 25 ] && exit 0
echo "FAIL: the mean is $got, want 25"
exit 1
