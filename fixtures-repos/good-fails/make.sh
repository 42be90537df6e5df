#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
*.o
gcd
END
put Makefile <<'END'
CFLAGS = -O0 -Wall

gcd: gcd.o
	$(CC) $(CFLAGS) -o $@ gcd.o
END
put gcd.c <<'END'
#include <stdio.h>
#include <stdlib.h>

static long gcd(long one, long other)
{
    while (other != 0) {
        long rest = one % other;
        one = other;
        other = rest;
    }
    return labs(one);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        return 2;
    }
    printf("%ld\n", gcd(atol(argv[1]), atol(argv[2])));
    return 0;
}
END
put_test
commit ada 0 'Compute the greatest common divisor'
put NEWS <<'END'
* gcd: the first version.
END
next bob 'Start a news file'
swap gcd.c 'return labs(one)' 'return one'
next cho 'Drop a needless call'
tag v1.0
swap gcd.c 'return 2;' 'return 64;'
next ada 'Return the usual code for a wrong call'
add NEWS <<'END'
* gcd: a wrong call ends with code 64.
END
next bob 'Announce the code for a wrong call'
swap Makefile '-Wall' '-Wall -Wextra'
next dee 'Turn on more warnings'
finish
