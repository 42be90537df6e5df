#!/bin/sh
# The culprit is the third of five commits on a side branch that was merged.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
. "$story/../units.sh"
begin "$@"

units_program
commit ada 0 'Convert length, mass and time'
routines 12

branch temperature
swap units.h '    double factor; /* how many base units of the kind one of it is */' '    double factor; /* how many base units of the kind one of it is */
    double zero;   /* where its zero is, in base units */'
next eli 'Give every unit a zero of its own'
before table.c '{ "second", "time", 1 },' <<'END'
    { "kelvin", "temperature", 1 },
    { "celsius", "temperature", 1, 273.15 },
END
swap table.c 'return value * from->factor / to->factor;' 'return (value * from->factor + from->zero - to->zero) / to->factor;'
next eli 'Convert temperatures'
swap parse.c '/* Reads a decimal number; 0 on success, -1 when the text is none. */' '/* Reads a decimal number with an optional sign; 0 on success, -1 when the text is none. */'
replace parse.c "if (*text == '-') {" <<'END'
    if (*text == '-' || *text == '+') {
END
swap examples.txt 'conv 90 min h' 'conv 90 min h
conv +20 celsius kelvin'
next eli 'Accept a plus sign'
before table.c '{ "second", "time", 1 },' <<'END'
    { "rankine", "temperature", 0.555555555555 },
END
next eli 'Know the rankine'
add README <<'END'

Temperatures have a zero of their own: conv 20 celsius kelvin.
END
next eli 'Explain temperatures'
back=$clock

switch main
clock=$((back - 4000))
routines 8
merge ada $((back + 500)) temperature 'Merge branch temperature'
routines 9
put_test
next bob 'Test the plus sign'
routines 3
finish
