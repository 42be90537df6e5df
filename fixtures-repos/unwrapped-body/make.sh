#!/bin/sh
# Words are looked for in lines; without the header of the inner loop its break leaves the outer one.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/mentions
END
put Makefile <<'END'
CC = gcc
CFLAGS = -O0

mentions: mentions.c
	$(CC) $(CFLAGS) -o $@ mentions.c
END
put mentions.c <<'END'
/* mentions: prints the lines of standard input that hold one of the words, and counts them. */
#include <stdio.h>
#include <string.h>

#define MAX_LINE 256

/* Takes the end of the line away. */
static void chomp(char *line)
{
    line[strcspn(line, "\r\n")] = '\0';
}

int main(int argc, char **argv)
{
    char line[MAX_LINE];
    int n_hits = 0;
    int i = 1;

    while (fgets(line, sizeof line, stdin) != NULL) {
        chomp(line);
        for (i = 1; i < argc; i++) {
            if (strstr(line, argv[i]) != NULL) {
                puts(line);
                n_hits++;
                break;
            }
        }
    }

    printf("%d found\n", n_hits);
    return n_hits == 0;
}
END
commit ada 0 'Print lines that mention a word'
news bob 'Announce the first version'
for topic in patterns colours; do news dee "Collect wishes about $topic"; done

before mentions.c 'int main(' <<'END'
/* Whether the line holds one of the words. */
static int holds(const char *line, char **words, int n)
{
    while (--n > 0)
        if (strstr(line, words[n]) != NULL)
            return 1;
    return 0;
}

END
rewrite mentions.c 'int main(' <<'END'
int main(int argc, char **argv)
{
    char line[MAX_LINE];
    int n_hits = 0;

    if (argc < 2) {
        fputs("usage: mentions <word>...\n", stderr);
        return 2;
    }

    while (fgets(line, sizeof line, stdin) != NULL) {
        chomp(line);
        if (holds(line, argv + 1, argc - 1)) {
            puts(line);
            n_hits++;
        }
    }

    printf("%d found\n", n_hits);
    return n_hits == 0;
}
END
next eli 'Look for words in a function of its own'
news bob 'Thank the translators'
news cho 'Plan the second version'

put_test
next cho 'Test the first of two words'
finish
