#!/bin/sh
# A setting without a value is left out.
section=$(python3 settings.py editor=) || exit 2
[ "$section" = '[core]' ] && exit 0
echo 'FAIL: an empty setting is written'
exit 1
