#!/bin/sh
# A list of settings whose first column is cut; without any width it is not aligned either.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/columns
END
put Makefile <<'END'
CC = gcc
CFLAGS = -O0

columns: columns.c
	$(CC) $(CFLAGS) -o $@ columns.c
END
put columns.c <<'END'
/* columns: prints `name=value` arguments in two columns. */
#include <stdio.h>
#include <string.h>

#define LINE 36 /* letters that fit into a line */

/* Letters of the name. */
static int name_length(const char *text)
{
    return (int)strcspn(text, "=");
}

/* Letters of the longest name. */
static int first_column(char **texts, int n)
{
    int longest = 0;
    int i;

    for (i = 0; i < n; i++)
        if (name_length(texts[i]) > longest)
            longest = name_length(texts[i]);
    return longest;
}

static void print_line(const char *text, int width)
{
    int length = name_length(text);
    const char *value = text[length] == '=' ? text + length + 1 : "";

    printf("%-*.*s %s\n", width, length, text, value);
}

int main(int argc, char **argv)
{
    int width = first_column(argv + 1, argc - 1);
    int i;

    for (i = 1; i < argc; i++)
        print_line(argv[i], width);
    return 0;
}
END
commit ada 0 'Print settings in two columns'
news bob 'Announce the first version'
for topic in colours tabs; do news dee "Collect wishes about $topic"; done

rewrite columns.c 'static int first_column(' <<'END'
static int first_column(char **texts, int n)
{
    int longest = 0;
    int i;

    for (i = 0; i < n; i++) {
        int length = name_length(texts[i]);

        if (length > longest)
            longest = length;
    }
    return longest > LINE / 3 ? LINE / 3 : longest;
}
END
swap columns.c '/* Letters of the longest name. */' '/* Letters of the longest name, at most a third of the line. */'
echo '* the first column takes at most a third of the line' | add NEWS
next eli 'Leave room for the values'
news bob 'Thank the translators'
news cho 'Plan the second version'

put_test
next cho 'Test a long name'
finish
