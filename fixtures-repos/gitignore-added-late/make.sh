#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

# No .gitignore, and objects do not depend on the header.
put Makefile <<'END'
CFLAGS = -O0 -Wall
OBJS = main.o pad.o

pad: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)
END
put layout.h <<'END'
/* How the columns are laid out. */
#define WIDTH 8
#define MAX_COLUMNS 16

/* Pads text to a column. */
void pad(const char *text);

/* What it is padded with. */
#define FILL '.'
END
put pad.c <<'END'
#include "layout.h"

#include <stdio.h>
#include <string.h>

void pad(const char *text)
{
    int n = (int)strlen(text);

    fputs(text, stdout);
    for (; n < WIDTH; n++)
        putchar(FILL);
}
END
put main.c <<'END'
#include "layout.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    int i;

    for (i = 1; i < argc && i <= MAX_COLUMNS; i++)
        pad(argv[i]);
    putchar('\n');
    return 0;
}
END
put_test
commit ada 0 'Pad columns'
news bob 'Announce the first version'
for topic in colours borders; do news dee "Collect wishes about $topic"; done
swap main.c 'int i;' 'int i; /* position of the argument */'
next cho 'Explain a counter'
for topic in Debian Fedora; do news eli "Say how to build on $topic"; done
news bob 'Plan the second version'
swap layout.h '/* How the columns are laid out. */' '/* How the columns are laid out; a narrow terminal shows 12 of them. */'
swap layout.h 'WIDTH 8' 'WIDTH 6'
swap layout.h 'MAX_COLUMNS 16' 'MAX_COLUMNS 12'
next ada 'Fit the columns into a narrow terminal'
for topic in colours borders; do news dee "Answer the wishes about $topic"; done
swap main.c 'int main(int argc, char **argv)' 'int main(int argc, char *argv[])'
next cho 'Write the arguments as an array'
for topic in Guix Alpine Gentoo; do news eli "Say how to build on $topic"; done
news bob 'Plan the third version'
add Makefile <<'END'

$(OBJS): layout.h
END
put .gitignore <<'END'
*.o
/pad
END
next ada 'Ignore build products and track the header'
for topic in tabs hyphens; do news dee "Collect wishes about $topic"; done
swap layout.h "FILL '.'" "FILL ' '"
next cho 'Pad with blanks'
for topic in tabs hyphens; do news dee "Answer the wishes about $topic"; done
swap Makefile '-Wall' '-Wall -Wextra'
next ada 'Turn on more warnings'
news bob 'Thank the contributors'
finish
