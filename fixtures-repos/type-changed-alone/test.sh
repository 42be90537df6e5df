#!/bin/sh
# Options may be written out.
./greet --formal Ada 2>/dev/null | grep -q '^Good day, Ada!$' && exit 0
echo 'FAIL: the greeting is not formal'
exit 1
