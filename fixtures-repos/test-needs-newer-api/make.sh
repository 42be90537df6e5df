#!/bin/sh
# 210 commits; the test uses a function that exists only in the last 21.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
. "$story/../units.sh"
begin "$@"

units_program
commit ada 0 'Convert length, mass and time'
routines 57

swap parse.c '/* Reads a decimal number; 0 on success, -1 when the text is none. */' '/* Reads a decimal number, where -0 is 0; returns 0 on success, -1 when the text is none. */'
swap parse.c "    if (*text == '-') {" "    if (*text == '-' && text[1] != '0') {"
echo '- zero has no sign' | add NEWS
next dee 'Leave the sign of zero alone'
routines 130

after units.h 'double convert(double value' <<'END'
#define UNITS_HAS_COUNT 1
int unit_count(void);
END
add table.c <<'END'

/* The closing row is no unit. */
int unit_count(void) { return sizeof units / sizeof units[0] - 1; }
END
before conv.c '    if (argc != 4)' <<'END'
    if (argc == 2 && strcmp(argv[1], "--count") == 0) {
        printf("%d\n", unit_count());
        return 0;
    }
END
add README <<'END'

conv --count prints how many units there are.
END
echo '- conv can count its units' | add NEWS
next cho 'Count the units'
routines 17

mkdir tests
cp "$story/check.c" tests/check.c
chmod 644 tests/check.c
put_test
next bob 'Test the parser without the program'
routines 2
finish
