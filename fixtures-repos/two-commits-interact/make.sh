#!/bin/sh
# Two commits, in two files, each harmless without the other.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
. "$story/../units.sh"
begin "$@"

units_program
swap parse.c '*value = sign * number;' '*value = number == 0 ? 0 : sign * number;'
commit ada 0 'Convert length, mass and time'
routines 5
tag v1.0
routines 6

swap parse.c '*value = number == 0 ? 0 : sign * number;' '*value = sign * number;'
swap parse.c '/* Reads a decimal number; 0 on success, -1 when the text is none. */' '/* Reads a decimal number, signed zeros included; 0 on success, -1 when the text is none. */'
swap examples.txt 'conv 90 min h' 'conv 90 min h
conv -40 ft m'
next bob 'Do not treat zero as a special number'
routines 12

swap format.c 'snprintf(text, size, "%ld", (long)value);' 'snprintf(text, size, "%.0f", value);'
swap format.c '/* Writes the value with at most DIGITS decimals. */' '/* Writes the value with at most DIGITS decimals, a whole one with none. */'
echo '- whole results are printed by the C library, too' | add NEWS
next eli 'Print whole numbers without a cast'
routines 9

put_test
next dee 'Test a negative zero'
finish
