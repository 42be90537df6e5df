#!/bin/sh
# Later commits rewrite the very line that the culprit broke, and keep it broken.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
. "$story/../units.sh"
begin "$@"

units_program
commit ada 0 'Convert length, mass and time'
routines 11

before table.c 'double convert(double value' <<'END'
/*
 * Both units have to be of the same kind; the caller checks that.
 */
END
swap table.c 'return value * from->factor / to->factor;' 'return value / from->factor * to->factor;'
swap README '    conv 5 foot metre' '    conv 5 foot metre
    conv 5 mile kilometre'
echo '- large values keep their last digits' | add NEWS
next cho 'Divide before multiplying'
routines 5

replace table.c 'return value / from->factor * to->factor;' <<'END'
    double in_base = value / from->factor;

    return in_base * to->factor;
END
next dee 'Give the value in base units a name'
routines 4

replace table.c '    double in_base = value / from->factor;' <<'END'
    double in_base;
    double result;

    in_base = value / from->factor;
    result = in_base * to->factor;
END
replace table.c '    return in_base * to->factor;' <<'END'
    return result;
END
swap table.c ' * Both units have to be of the same kind; the caller checks that.' ' * By way of the base unit. Both units have to be of the same kind; the caller checks that.'
next bob 'Go by way of the base unit step by step'
routines 4

put_test
next ada 'Test a kilometre in metres'
finish
