#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
*.o
clamp
END
put Makefile <<'END'
CFLAGS = -O0 -Wall

clamp: clamp.o
	$(CC) $(CFLAGS) -o $@ clamp.o
END
put clamp.c <<'END'
#include <stdio.h>
#include <stdlib.h>

static int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: clamp <value> <low> <high>\n");
        return 2;
    }
    printf("%d\n", clamp(atoi(argv[1]), atoi(argv[2]), atoi(argv[3])));
    return 0;
}
END
put_test
commit ada 0 'Clamp a number'
swap clamp.c 'value > high ? high' 'value >= high ? low'
next bob 'Shorten the comparison'
swap clamp.c 'value >= high ? low' 'value >= high ? high'
next ada 'Return the upper bound again'
put NEWS <<'END'
* The upper bound works again.
END
next cho 'Announce the mended bound'
finish
