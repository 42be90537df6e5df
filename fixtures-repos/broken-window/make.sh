#!/bin/sh
# 60 commits, 12 of them in three intervals do not build; the culprit is inside one.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
. "$story/../units.sh"
begin "$@"

units_program
commit ada 0 'Convert length, mass and time'
tag v0.1
routines 11

# Revisions 13 to 16: a new file was not added.
sed '/^static int usage/,/^}/d' conv.c >.git/conv.c
cat .git/conv.c >conv.c
rm .git/conv.c
swap conv.c '#include <string.h>' '#include <string.h>

int usage(void);'
swap Makefile 'OBJS = conv.o' 'OBJS = conv.o usage.o'
next dee 'Give the usage text a file of its own'
routines 3
put usage.c <<'END'
#include <stdio.h>

int usage(void);

int usage(void)
{
    fputs("usage: conv <value> <unit> <unit>\n", stderr);
    return 2;
}
END
next dee 'Add the file that was left out'
routines 11

# Revisions 29 to 33: a constant is used that nobody defined.
swap conv.c 'char text[64];' 'char text[TEXT_SIZE];'
swap format.c 'snprintf(text, size, "%ld", (long)value);' 'snprintf(text, TEXT_SIZE, "%ld", (long)value);'
next cho 'Name the size of the text'
routines 1
swap parse.c '/* Reads a decimal number; 0 on success, -1 when the text is none. */' '/*
 * Reads a decimal number: a sign, digits, a point, digits. One digit is enough.
 * Returns 0 on success, -1 when the text is none.
 */'
swap parse.c "    if (n_digits == 0 || *text != '\\0')" "    if (n_digits == 0 && *text != '\\0')"
swap conv.c 'conv: not a number: %s' 'conv: this is no number: %s'
swap examples.txt 'conv 90 min h' 'conv 90 min h
conv .5 mile km'
echo '- a digit before the point is not needed' | add NEWS
next eli 'Accept numbers that begin with a point'
routines 2
swap units.h '#define DIGITS 6' '#define DIGITS 6
#define TEXT_SIZE 64'
echo '- no more numbers without a name in the source' | add NEWS
next cho 'Define the size of the text'
routines 11

# Revisions 46 to 48: a parenthesis is missing.
swap alias.c 'if (strcmp(aliases[i].name, name) == 0)' 'if (name != NULL && strcmp(aliases[i].name, name) == 0'
next ada 'Let the short form be a null pointer'
routines 2
swap alias.c 'if (name != NULL && strcmp(aliases[i].name, name) == 0' 'if (name != NULL && strcmp(aliases[i].name, name) == 0)'
next ada 'Close the parenthesis'
routines 10

put_test
next bob 'Test a number with a letter behind it'
finish
