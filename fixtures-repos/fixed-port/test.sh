#!/bin/sh
./echoer ping >answer || { cat answer; exit 2; }
[ "$(cat answer)" = 'ping' ] && exit 0
echo "FAIL: the answer to ping is '$(cat answer)'"
exit 1
