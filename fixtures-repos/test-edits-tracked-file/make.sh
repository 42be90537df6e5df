#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
*.o
mean
END
put Makefile <<'END'
CFLAGS = -O0 -Wall
OBJS = main.o mean.o

mean: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)

$(OBJS): mean.h
END
put mean.h <<'END'
/* The mean of n numbers, rounded down; 0 if there is none. */
long mean(const long *numbers, int n);
END
put mean.c <<'END'
#include "mean.h"

long mean(const long *numbers, int n)
{
    long sum = 0;
    int i;

    if (n == 0)
        return 0;
    for (i = 0; i < n; i++)
        sum += numbers[i];
    return sum / n;
}
END
put main.c <<'END'
#include <stdio.h>
#include <stdlib.h>

#include "mean.h"

#define MAX_NUMBERS 100

int main(int argc, char **argv)
{
    long numbers[MAX_NUMBERS];
    int n = 0;
    FILE *file;

    if (argc != 3)
        return 64;
    file = fopen(argv[1], "r");
    if (file == NULL)
        return 66;
    while (n < MAX_NUMBERS && fscanf(file, "%ld", &numbers[n]) == 1)
        n++;
    fclose(file);
    printf("%ld\n", mean(numbers, n) * atol(argv[2]));
    return 0;
}
END
put data/samples.txt <<'END'
10
20
30
40
END
put data/scale.txt <<'END'
1
END
put_test
commit ada 0 'Print the mean of a file'
news bob 'Announce the first version'
for topic in medians variances; do news dee "Collect wishes about $topic"; done
swap main.c 'MAX_NUMBERS 100' 'MAX_NUMBERS 1000'
next cho 'Allow longer files'
for topic in Debian Fedora Guix; do news eli "Say how to build on $topic"; done
swap mean.h 'rounded down' 'rounded towards zero'
next ada 'Say how the mean is rounded'
news bob 'Plan the second version'
swap mean.c 'long sum = 0;' 'long sum = 0; /* no care is taken of overflow */'
swap mean.c 'if (n == 0)' 'if (n <= 0)'
swap mean.c 'for (i = 0; i < n; i++)' 'for (i = 1; i < n; i++)'
next cho 'Refuse a negative count'
for topic in medians variances; do news dee "Answer the wishes about $topic"; done
swap Makefile '-Wall' '-Wall -Wextra'
next ada 'Turn on more warnings'
swap main.c 'return 66;' 'return 2;'
next bob 'Use code 2 for an unreadable file'
news eli 'Thank the contributors'
finish
