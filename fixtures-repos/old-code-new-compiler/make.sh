#!/bin/sh
# Today's compiler refuses the older half of the history: an include is missing.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
. "$story/../units.sh"
begin "$@"

units_program
drop conv.c '#include <string.h>'
commit ada 0 'Convert length, mass and time'
routines 13

after units.h '    double factor;' <<'END'
    /* Names are written in full here; short forms are in alias.c. */
END
swap parse.c '    double sign = 1, scale = 1, number = 0;' '    double sign = 1, scale = 1;
    double number = 0;'
swap parse.c '        sign = -1;' '        sign = -sign;'
swap parse.c '            number += (*text++' '            number = (*text++'
echo '- the source has more comments' | add NEWS
next dee 'Tidy the parser'
routines 16

swap format.c '#include <stdio.h>' '#include <stddef.h>
#include <stdio.h>'
swap conv.c '#include <stdio.h>' '#include <stdio.h>
#include <stdlib.h>
#include <string.h>'
swap conv.c '        return usage();' '        exit(usage());'
swap parse.c '#include <ctype.h>' '#include <ctype.h>
#include <stddef.h>'
echo '- every file includes what it uses' | add NEWS
next bob 'Include what is used'
routines 12

put_test
next cho 'Test a fraction'
routines 2
finish
