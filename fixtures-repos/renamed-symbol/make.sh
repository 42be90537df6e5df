#!/bin/sh
# The function that the culprit broke, a variable in its broken line and its file all get new names afterwards.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
. "$story/../units.sh"
begin "$@"

# rename_word <old> <new> <file>...: renames a word in files.
rename_word() {
    _old=$1 _new=$2
    shift 2
    for _file; do
        OLD=$_old NEW=$_new awk '
            BEGIN { old = ENVIRON["OLD"]; new = ENVIRON["NEW"] }
            {
                line = ""
                while (match($0, /[A-Za-z_][A-Za-z_0-9]*/)) {
                    word = substr($0, RSTART, RLENGTH)
                    line = line substr($0, 1, RSTART - 1) (word == old ? new : word)
                    $0 = substr($0, RSTART + RLENGTH)
                }
                print line $0
            }' "$_file" >.git/renamed
        cmp -s .git/renamed "$_file" || cat .git/renamed >"$_file"
    done
    rm .git/renamed
}

units_program
swap Makefile 'format.o' 'format.o steps.o'
after units.h 'double convert(double value' <<'END'

double to_step(double value, double size);
END
put steps.c <<'END'
#include "units.h"

/* The multiple of the size that is nearest to the value; halves go away from zero. */
double to_step(double value, double size)
{
    double n = value / size;
    double whole;

    if (size <= 0)
        return value;
    if (n < 0)
        whole = (double)(long)(n - 0.5);
    else
        whole = (double)(long)(n + 0.5);
    return whole * size;
}
END
swap conv.c '    if (argc != 4)' '    if (argc != 4 && argc != 5)'
swap conv.c 'usage: conv <value> <unit> <unit>' 'usage: conv <value> <unit> <unit> [<step>]'
replace conv.c '    format_number(text, sizeof text, convert(value, from, to));' <<'END'
    value = convert(value, from, to);
    if (argc == 5) {
        double step;

        if (parse_number(argv[4], &step) != 0) {
            fprintf(stderr, "conv: not a number: %s\n", argv[4]);
            return 1;
        }
        value = to_step(value, step);
    }
    format_number(text, sizeof text, value);
END
commit ada 0 'Convert length, mass and time, in steps'
routines 8

swap steps.c '/* The multiple of the size that is nearest to the value; halves go away from zero. */' '/*
 * The multiple of the size that is nearest to the value; halves go away from
 * zero, below it as well. A size of zero or less stands for no steps.
 */'
swap steps.c '    double whole;' '    double whole; /* steps, without a fraction */'
swap steps.c '        whole = (double)(long)(n - 0.5);' '        whole = (double)(long)(n + 0.5);'
after README '    conv 5 foot metre' <<'END'
    conv 5 foot metre 0.25
END
echo '- steps are documented' | add NEWS
next cho 'Describe the steps'
routines 3

rename_word to_step round_to *.c *.h
next dee 'Call the function by what it does'
rename_word n n_steps steps.c
rename_word whole full_steps steps.c
next dee 'Spell out what is counted'
routines 2
git mv steps.c round.c
swap Makefile 'steps.o' 'round.o'
replace round.c '#include "units.h"' <<'END'
/*
 * Rounding of results. There is only one way of rounding so far, to the nearest
 * multiple of a size that the user gives; the number of digits that are printed
 * is a matter of format.c alone, and none of this file.
 */
#include "units.h"
END
next bob 'Rename steps.c to round.c'
routine ada
swap round.c '    if (size <= 0)' '    if (size <= 0 || value != value)'
next eli 'Leave alone what is not a number'
put_test
next ada 'Test steps below zero'
routine bob
finish
