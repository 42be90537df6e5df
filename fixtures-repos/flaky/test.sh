#!/bin/sh
# Fails the first time, passes the second, and so on. A directory can be made only once, so runs at the same time count too.
turn=1
until mkdir "@COUNTER@/$turn" 2>/dev/null; do
    turn=$((turn + 1))
    [ "$turn" -lt 1000 ] || exit 2
done
[ $((turn % 2)) -eq 0 ] && exit 0
echo 'FAIL: sometimes'
exit 1
