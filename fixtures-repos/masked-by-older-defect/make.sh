#!/bin/sh
# An older defect hides the hunted one in the middle of the history (Artho's Figure 1).
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
. "$story/../units.sh"
begin "$@"

units_program
commit ada 0 'Convert length, mass and time'
tag v0.1
routines 3

swap parse.c "    if (*text == '.') {" "    if (*text == ',') {"
swap README '    conv 5 foot metre' '    conv 5,5 foot metre'
echo '- fractions are written with a comma' | add NEWS
next cho 'Write fractions with a comma'
routines 13

swap table.c '    return value * from->factor / to->factor;' '    return (long)value * from->factor / to->factor;'
before table.c 'double convert(double value' <<'END'
/* Multiplies first, so that whole values stay whole. */
END
swap conv.c '/* conv: converts a value from one unit to another. */' '/* conv: converts a value from one unit to another, see README. */'
echo '- whole values stay whole' | add NEWS
next dee 'Keep whole values exact'
routines 12

swap parse.c "    if (*text == ',') {" "    if (*text == '.') {"
swap parse.c '/* Reads a decimal number; 0 on success, -1 when the text is none. */' '/* Reads a decimal number such as -2.5; 0 on success, -1 when the text is none. */'
swap README '    conv 5,5 foot metre' '    conv 5.5 foot metre'
echo '- fractions are written with a point again' | add NEWS
next cho 'Write fractions with a point again'
routines 9

put_test
next bob 'Test a fraction'
finish
