#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
*.o
fold
END
put Makefile <<'END'
CFLAGS = -O0 -Wall
OBJS = main.o fold.o

fold: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)

$(OBJS): fold.h
END
put fold.h <<'END'
/* Prints text in lines of at most width bytes. */
void fold(const char *text, int width);
END
put fold.c <<'END'
#include "fold.h"

#include <stdio.h>

void fold(const char *text, int width)
{
    int column = 0;

    for (; *text != '\0'; text++) {
        if (column == width) {
            putchar('\n');
            column = 0;
        }
        putchar(*text);
        column++;
    }
    putchar('\n');
}
END
put main.c <<'END'
#include <stdlib.h>

#include "fold.h"

int main(int argc, char **argv)
{
    if (argc != 3) {
        return 64;
    }
    fold(argv[2], atoi(argv[1]));
    return 0;
}
END
put_test
commit ada 0 'Fold text at a width'
news bob 'Announce the first version'
swap fold.c 'column == width' 'column > width'
swap main.c 'if (argc != 3) {' 'if (argc != 3 || atoi(argv[1]) < 1) {'
next cho 'Refuse a width of zero'
for topic in tabs 'wide characters' hyphens paragraphs quotes; do news dee "Collect wishes about $topic"; done
after fold.h 'void fold' <<'END'
int longest_line(const char *text);
END
add fold.c <<'END'

int longest_line(const char *text)
{
    int longest = 0;
    int column = 0;

    for (; *text != '\0'; text++) {
        column = *text == '\n' ? 0 : column + 1;
        longest = column > longest ? column : longest;
    }
    return longest;
}
END
next ada 'Measure the longest line'
for topic in Debian Fedora Guix Alpine Gentoo; do news eli "Say how to build on $topic"; done
swap main.c 'return 64;' 'return 2;'
next bob 'Use the code of the other tools for a wrong call'
news cho 'List the exit codes'
swap fold.c 'column > width' 'column == width'
next ada 'Fold at the width, not behind it'
for topic in tabs 'wide characters' hyphens; do news dee "Answer the wishes about $topic"; done
swap main.c 'fold(argv[2], atoi(argv[1]));' 'fold(argv[2], (int)strtol(argv[1], NULL, 10));'
next bob 'Parse the width with strtol'
news eli 'Promise that columns start at one'
swap fold.h 'lines of at most width bytes.' 'lines of at most width bytes; the first column is column 1.'
swap fold.c 'column == width' 'column - 1 == width'
swap fold.c 'column++;' 'column += 1;'
swap fold.c "column = *text == '\\n' ? 0 : column + 1;" "column = *text != '\\n' ? column + 1 : 0;"
next cho 'Count columns from one'
for topic in columns margins ligatures; do news dee "Answer the wishes about $topic"; done
swap Makefile '-Wall' '-Wall -Wextra'
next ada 'Turn on more warnings'
news bob 'Thank the contributors'
finish
