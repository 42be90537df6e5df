#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
*.o
words
END
put Makefile <<'END'
CFLAGS = -O0 -Wall
OBJS = main.o count.o

words: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)

$(OBJS): count.h

clean:
	rm -f words $(OBJS)
END
put count.h <<'END'
/* Counts the words of a text; words are separated by blanks. */
int count_words(const char *text);
END
put count.c <<'END'
#include "count.h"

int count_words(const char *text)
{
    int n = 0;
    int inside = 0;

    for (; *text != '\0'; text++) {
        if (*text == ' ') {
            inside = 0;
        } else if (!inside) {
            inside = 1;
            n++;
        }
    }
    return n;
}
END
put main.c <<'END'
#include <stdio.h>

#include "count.h"

int main(void)
{
    char line[4096];
    int n = 0;

    while (fgets(line, sizeof line, stdin) != NULL) {
        n += count_words(line);
    }
    printf("%d\n", n);
    return 0;
}
END
put_test
commit ada 0 'Count the words of standard input'
news bob 'Announce the first version'
swap count.c "*text == ' '" "*text == ' ' || *text == '\\n'"
next ada 'Let a line end close a word'
news cho 'Describe what a word is'
after count.h 'int count_words' <<'END'
int count_lines(const char *text);
END
add count.c <<'END'

int count_lines(const char *text)
{
    int n = 0;

    for (; *text != '\0'; text++) {
        n += *text == '\n';
    }
    return n;
}
END
next bob 'Count lines as well'
for topic in packaging mirrors translations 'the mailing list' 'coding style'; do news dee "Say a word about $topic"; done
swap main.c 'char line[4096]' 'char line[8192]'
next ada 'Take longer lines'
for topic in releases 'bug reports' patches; do news eli "Explain how we handle $topic"; done
swap Makefile '-O0 -Wall' '-O0 -Wall -Wextra'
next bob 'Turn on more warnings'
for topic in January February March April May June; do news cho "Publish the report of $topic"; done
swap main.c 'int n = 0' 'int n_words = 0'
swap main.c 'n += count' 'n_words += count'
swap main.c '", n);' '", n_words);'
next dee 'Name the counter after what it counts'
for topic in Oslo Accra Busan Lund Quito Turku; do news eli "Greet the meeting in $topic"; done
swap count.c 'int inside = 0;' 'int inside = 0; /* whether the last byte belonged to a word */'
next ada 'Explain the flag of the word counter'
news bob 'Thank the contributors'
finish
