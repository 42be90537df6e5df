#!/bin/sh
# Settings may be indented.
echo '    colour = red' | ./lookup colour | grep -q red && exit 0
echo 'FAIL: the setting is not found'
exit 1
