#!/bin/sh
got=$(java -Xshare:auto -XX:TieredStopAtLevel=1 -cp out Main 3 soup=500 fish=900) || exit
[ "$got" = '467 467 466' ] && exit 0
echo "FAIL: the shares are $got, want 467 467 466"
exit 1
