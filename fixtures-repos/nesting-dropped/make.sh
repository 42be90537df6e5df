#!/bin/sh
# Numbers are printed although nobody wanted them; the guard comes back, and the code within stays where it was.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/number
END
put Makefile <<'END'
CC = gcc
CFLAGS = -O0

number: number.c
	$(CC) $(CFLAGS) -o $@ number.c
END
put number.c <<'END'
/* number: prints standard input; -n puts the number before each line that is not empty. */
#include <stdio.h>
#include <string.h>

#define MAX_LINE 256

static void print_lines(FILE *file, int is_numbered)
{
    char line[MAX_LINE];
    int n_lines = 0;

    while (fgets(line, sizeof line, file) != NULL) {
        if (is_numbered && line[0] != '\n') {
            n_lines++;
            printf("%6d  ", n_lines);
        }
        fputs(line, stdout);
    }
    if (is_numbered)
        fprintf(stderr, "%d lines\n", n_lines);
}

int main(int argc, char **argv)
{
    print_lines(stdin, argc > 1 && strcmp(argv[1], "-n") == 0);
    return 0;
}
END
commit ada 0 'Number lines'
news bob 'Announce the first version'
for topic in pages widths; do news dee "Collect wishes about $topic"; done

rewrite number.c 'static void print_lines(' <<'END'
static void print_lines(FILE *file, int is_numbered)
{
    char line[MAX_LINE];
    int is_new = is_numbered; /* whether a line begins here */
    int n_lines = 0;

    while (fgets(line, sizeof line, file) != NULL) {
        n_lines++;
        printf("%6d  ", n_lines);
        fputs(line, stdout);
        is_new = strchr(line, '\n') != NULL;
    }
    if (!is_new)
        putchar('\n');
    if (is_numbered)
        fprintf(stderr, "%d lines\n", n_lines);
}
END
next eli 'End the last line'
news bob 'Thank the translators'
news cho 'Plan the second version'

put_test
next cho 'Test lines without numbers'
finish
