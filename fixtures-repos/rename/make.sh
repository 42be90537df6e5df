#!/bin/sh
# The file of the culprit is renamed, and edited, afterwards.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
. "$story/../units.sh"
begin "$@"

units_program
commit ada 0 'Convert length, mass and time'
routines 13

swap parse.c '/* Reads a decimal number; 0 on success, -1 when the text is none. */' '/*
 * Reads a decimal number: digits, perhaps a point and more digits.
 * Returns 0 on success, -1 when the text is none.
 */'
swap parse.c '            scale /= 10;' '            scale /= 100;'
swap README '    conv 5 foot metre' '    conv 5.5 foot metre'
echo '- numbers are documented' | add NEWS
next dee 'Describe the numbers that are read'
routines 6

git mv parse.c number.c
swap Makefile 'parse.o' 'number.o'
swap number.c '    double sign = 1, scale = 1, number = 0;' '    double sign = 1, scale = 1;
    double number = 0;'
before number.c ' * Reads a decimal number' <<'END'
 * Numbers as people type them.
 *
END
after number.c '            n_digits++;' <<'END'
            if (n_digits > 30)
                return -1;
END
next ada 'Rename parse.c to number.c and limit the digits'
routines 5

put_test
next bob 'Test two decimals'
routines 2
finish
