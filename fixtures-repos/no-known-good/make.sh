#!/bin/sh
# 81 commits, no tag; the culprit is 37 commits behind HEAD.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
. "$story/../units.sh"
begin "$@"

units_program
commit ada 0 'Convert length, mass and time'
put_test
next bob 'Test a conversion to metres'
routines 41

swap format.c '/* Takes away the zeros behind the last digit of a fraction. */' '/* Takes away the zeros that say nothing, and the point when nothing follows it. */'
swap format.c "    if (strchr(text, '.') == NULL)" "    if (text[0] == '\\0')"
swap format.c '/* Writes the value with at most DIGITS decimals. */' '/* Writes the value with at most DIGITS decimals, a whole one without a point. */'
echo '- results end with the last digit that says something' | add NEWS
add README <<'END'

Results have at most six decimals and no zeros at their end.
END
next cho 'Trim every result the same way'

routines 37
finish
