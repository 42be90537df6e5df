#!/bin/sh
# A comment grew a line and a loop was lost beside it; a comment without its end swallows the code that follows.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/lookup
END
put Makefile <<'END'
CC = gcc
CFLAGS = -O0

lookup: lookup.c
	$(CC) $(CFLAGS) -o $@ lookup.c
END
put lookup.c <<'END'
/* lookup: prints the value of a name; settings come from standard input, one `name = value` per line. */
#include <stdio.h>
#include <string.h>

#define MAX_LINE 256

/* Divides a line; returns the value, or NULL when it is no setting. */
static char *divide(char *line, char **name)
{
    char *end, *value;

    /* Blanks before the name do not count. */
    while (*line == ' ' || *line == '\t')
        line++;
    *name = line;

    /* A line without a sign is no setting. */
    value = strchr(line, '=');
    if (value == NULL)
        return NULL;

    /* Nor do blanks around the sign. */
    for (end = value; end > line && end[-1] == ' '; end--)
        continue;
    *end = '\0';
    value++;
    value += strspn(value, " ");
    value[strcspn(value, "\n")] = '\0';
    return value;
}

int main(int argc, char **argv)
{
    char line[MAX_LINE];
    char *name, *value;

    while (argc == 2 && fgets(line, sizeof line, stdin) != NULL) {
        value = divide(line, &name);
        if (value != NULL && strcmp(name, argv[1]) == 0) {
            puts(value);
            return 0;
        }
    }
    return 1;
}
END
commit ada 0 'Look a setting up'
news bob 'Announce the first version'
for topic in sections quotes; do news dee "Collect wishes about $topic"; done

rewrite lookup.c 'static char *divide(' <<'END'
static char *divide(char *line, char **name)
{
    char *end, *value;

    /* Blanks before the name were skipped here:
    while (*line == ' ' || *line == '\t')
        line++;
    The name begins the line. */
    *name = line;
    if (*line == ';')
        return NULL;

    /* A line without a sign is no setting. */
    value = strchr(line, '=');
    if (value == NULL)
        return NULL;

    /* Nor do blanks around the sign,
     * tabs included. */
    for (end = value; end > line && (end[-1] == ' ' || end[-1] == '\t'); end--)
        continue;
    *end = '\0';
    value++;
    value += strspn(value, " \t");
    value[strcspn(value, "\n")] = '\0';
    return value;
}
END
next eli 'Allow comments, and tabs around the sign'
news bob 'Thank the translators'
news cho 'Plan the second version'

put_test
next cho 'Test a setting that is indented'
finish
