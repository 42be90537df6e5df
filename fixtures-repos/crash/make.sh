#!/bin/sh
# The program dies of SIGSEGV at HEAD; the test command is the program itself.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
. "$story/../units.sh"
begin "$@"

units_program
commit ada 0 'Convert length, mass and time'
routines 9

put NEWS <<'END'
Changes of conv, newest last
END
git show HEAD:NEWS | sed 1d | add NEWS
swap alias.c '    int i;' '    size_t i;'
swap alias.c 'for (i = 0; aliases[i].name != NULL; i++)' 'for (i = 0; i < sizeof aliases / sizeof aliases[0]; i++)'
echo '- the table of short forms knows its own size' | add NEWS
next dee 'Count the short forms at compile time'
routines 6

put_test
next bob 'Test the long names'
routines 2
finish
