#!/bin/sh
# A fraction makes the program loop for ever.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
. "$story/../units.sh"
begin "$@"

units_program
put_test
commit ada 0 'Convert length, mass and time'
routines 10

swap parse.c '            number += (*text++' '            number += (*text'
echo '- fractions are read digit by digit' | add NEWS
next eli 'Read the digits of a fraction one by one'
routines 2
finish
