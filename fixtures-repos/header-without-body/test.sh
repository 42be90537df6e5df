#!/bin/sh
# Nothing is in use at the end.
./blocks 'a(b c)d' >/dev/null 2>&1 || exit 2
[ -z "$(./blocks 'a(b c)d' 2>&1 >/dev/null)" ] && exit 0
echo 'FAIL: blocks are in use at the end'
exit 1
