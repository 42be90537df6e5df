#!/bin/sh
# Lambda, as people spell it; the end of the table is there in any case.
[ "$(./glyph twenty-with-dot)" = U+249B ] || exit 2
code=$(./glyph capital-lambda 2>/dev/null)
[ "$code" = U+039B ] && exit 0
echo "FAIL: the code of capital-lambda is '$code'"
exit 1
