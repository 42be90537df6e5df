#!/bin/sh
# One commit of more than 1,000 changed lines; two of them matter.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
. "$story/../units.sh"
begin "$@"

# prefixed <awk expression>: the table of prefixed units; the expression writes the factor of a row.
prefixed() {
    awk "$@" '
        BEGIN {
            n_prefixes = split("yotta 24 zetta 21 exa 18 peta 15 tera 12 giga 9 mega 6 kilo 3 hecto 2 deca 1 deci -1 centi -2 " \
                "milli -3 micro -6 nano -9 pico -12 femto -15 atto -18 zepto -21 yocto -24", prefix, " ")
            n_units = split("meter length 1 inch length 0.0254 foot length 0.3048 yard length 0.9144 furlong length 201.168 " \
                "fathom length 1.8288 parsec length 3.0857e16 gramme mass 1 ounce mass 28.349523125 pound mass 453.59237 " \
                "stone mass 6350.29318 carat mass 0.2 tonne mass 1e6 sec time 1 day time 86400 week time 604800 year time 31556952 " \
                "litre volume 1 gallon volume 4.54609 pint volume 0.56826125 joule energy 1 calorie energy 4.184 " \
                "erg energy 1e-7 pascal pressure 1 bar pressure 1e5 torr pressure 133.322368", unit, " ")
            print "#include \"units.h\"\n\n#include <stddef.h>\n"
            if (note != "") print "/* " note " */"
            print "const struct unit prefixed_units[] = {"
            for (u = 1; u <= n_units; u += 3)
                for (p = 1; p <= n_prefixes; p += 2) {
                    name = prefix[p] unit[u]
                    exponent = name == wrong ? -prefix[p + 1] : prefix[p + 1]
                    factor = is_scientific ? "1e" exponent " * " unit[u + 2] : unit[u + 2] " * 1e" exponent
                    printf "    { \"%s\", \"%s\", %s },\n", name, unit[u + 1], factor
                }
            print "    { NULL, NULL, 0 }\n};"
        }' </dev/null >prefixed.c
}

units_program
prefixed -v is_scientific=0
swap Makefile 'format.o' 'format.o prefixed.o'
before units.h 'const struct unit *find_unit' <<'END'
extern const struct unit prefixed_units[];

END
after table.c '            return &units[i];' <<'END'
    for (i = 0; prefixed_units[i].name != NULL; i++)
        if (strcmp(prefixed_units[i].name, name) == 0)
            return &prefixed_units[i];
END
commit ada 0 'Convert length, mass and time, with all prefixes'
put_test
next bob 'Test a prefix'
routines 13

prefixed -v is_scientific=1 -v wrong=decafurlong -v note='Written by a script; do not edit.'
swap table.c '    for (i = 0; prefixed_units[i].name != NULL; i++)' '
    /* The long table comes last. */
    for (i = 0; prefixed_units[i].name != NULL; i++)'
swap format.c '/* Takes away the zeros behind the last digit of a fraction. */' '/* Removes the zeros behind the last digit of a fraction. */'
before README 'Build it with make.' <<'END'
Every unit can have a prefix, from yocto to yotta:

    conv 2 kilofoot metre

END
echo '- the prefixed units are written by a script' | add NEWS
next eli 'Write the table of prefixed units by a script'
routines 10

finish
