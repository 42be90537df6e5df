#!/bin/sh
# All values begin in one column.
n_columns=$(./columns host=localhost connection-limit=20 | awk '{ print index($0, $2) }' | sort -u | wc -l)
[ "$n_columns" -eq 1 ] && exit 0
echo 'FAIL: the values are not aligned'
exit 1
