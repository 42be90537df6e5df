#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
*.o
/stats
END
put Makefile <<'END'
CFLAGS = -O0 -Wall
OBJS = main.o mean.o spread.o

stats: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)

$(OBJS): stats.h
END
put stats.h <<'END'
/* All numbers are scaled by 100. */
long mean(const long *numbers, int n);

/* The largest number minus the smallest one. */
long spread(const long *numbers, int n);
END
put mean.c <<'END'
#include "stats.h"

long mean(const long *numbers, int n)
{
    long sum = 0;
    int i;

    for (i = 0; i < n; i++)
        sum += numbers[i];
    return sum / n;
}
END
put spread.c <<'END'
#include "stats.h"

long spread(const long *numbers, int n)
{
    long low = numbers[0];
    long high = numbers[0];
    int i;

    for (i = 1; i < n; i++) {
        low = numbers[i] < low ? numbers[i] : low;
        high = numbers[i] > high ? numbers[i] : high;
    }
    return high - low;
}
END
put main.c <<'END'
#include <stdio.h>
#include <stdlib.h>

#include "stats.h"

int main(int argc, char **argv)
{
    long numbers[100];
    int n = 0;

    while (n + 1 < argc && n < 100) {
        numbers[n] = 100 * atol(argv[n + 1]);
        n++;
    }
    if (n == 0)
        return 64;
    printf("%ld %ld\n", mean(numbers, n), spread(numbers, n));
    return 0;
}
END
put_test
commit ada 0 'Print mean and spread'
news bob 'Announce the first version'
for topic in medians variances; do news dee "Collect wishes about $topic"; done
swap spread.c 'int i;' 'int i; /* the first one was looked at */'
next cho 'Explain a counter'
for topic in Debian Fedora; do news eli "Say how to build on $topic"; done
news bob 'Plan the second version'

# From here on the program uses a constant that nobody committed.
swap main.c 'long numbers[100];' 'long numbers[MAX_NUMBERS];'
swap main.c 'n < 100' 'n < MAX_NUMBERS'
next bob 'Name the largest count'
news dee 'Answer the wishes about medians'
swap spread.c 'return high - low;' 'return high - low; /* never negative */'
next cho 'Explain the result of spread'
for topic in Guix Alpine; do news eli "Say how to build on $topic"; done
swap main.c 'return 64;' 'return 2;'
next ada 'Use code 2 for a wrong call'

# The commit that mends the build also brings the bug, in another file.
before stats.h '/* All numbers are scaled by 100. */' <<'END'
#define MAX_NUMBERS 100
END
swap mean.c 'long sum = 0;' 'long sum = 0; /* scaled as well */'
swap mean.c 'for (i = 0; i < n; i++)' 'for (i = 0; i < n; ++i)'
swap mean.c 'return sum / n;' 'return sum / n / 100 * 100; /* rounded down */'
next bob 'Define the largest count and round the mean'
news dee 'Answer the wishes about variances'
swap Makefile '-Wall' '-Wall -Wextra'
next ada 'Turn on more warnings'
for topic in Oslo Accra Busan; do news eli "Greet the meeting in $topic"; done
news bob 'Thank the contributors'
finish
