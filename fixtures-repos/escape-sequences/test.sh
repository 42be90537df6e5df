#!/bin/sh
# Its output is as hostile as the names: colours, a title, a workflow command, HTML, bytes that are not UTF-8.
./total rates/* >rates.out || exit
cat rates.out
got=$(tail -n 1 rates.out)
printf '\033]0;owned\007\033[2J::error::owned by the test\n\342\200\256<script>alert(2)</script>\377\n'
[ "$got" = 72 ] && exit 0
printf 'FAIL: \033[31mthe total\033[0m is %s, <b>want</b> 72\n' "$got"
exit 1
