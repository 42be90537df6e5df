#!/bin/sh
# A link has its title.
text=$(mktemp)
echo 'See the [manual](manual.html "All of it").' >"$text"
links=$(python3 links.py "$text")
rm "$text"
[ "$links" = 'manual.html All of it' ] && exit 0
echo 'FAIL: the title is wrong'
exit 1
