#!/bin/sh
# The program never did what the test asks for.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
. "$story/../units.sh"
begin "$@"

units_program
swap parse.c '            number += (*text++' '            number -= (*text++'
commit ada 0 'Convert length, mass and time'
routines 8

add README <<'END'

Numbers are decimal, with a point.
END
next dee 'Tell how numbers are written'
put_test
next bob 'Test a fraction'
finish
