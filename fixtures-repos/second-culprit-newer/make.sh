#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
*.o
bill
END
put Makefile <<'END'
CFLAGS = -O0 -Wall
OBJS = main.o items.o rebate.o

bill: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)

$(OBJS): bill.h
END
put bill.h <<'END'
/* One position of a bill; the price is in cents. */
struct item {
    int count;
    int price;
};

/* The sum of all positions, in cents. */
int sum_items(const struct item *items, int n_items);

/* The rebate on a sum, in cents: a tenth from 100 euro on. */
int rebate(int sum);
END
put items.c <<'END'
#include "bill.h"

int sum_items(const struct item *items, int n_items)
{
    int sum = 0;
    int i;

    for (i = 0; i < n_items; i++) {
        sum += items[i].count * items[i].price;
    }
    return sum;
}
END
put rebate.c <<'END'
#include "bill.h"

int rebate(int sum)
{
    if (sum < 10000) {
        return 0;
    }
    return sum / 10;
}
END
put main.c <<'END'
#include <stdio.h>
#include <stdlib.h>

#include "bill.h"

#define MAX_ITEMS 64

int main(int argc, char **argv)
{
    struct item items[MAX_ITEMS];
    int n_items = 0;
    int i;
    int sum;

    for (i = 1; i + 1 < argc && n_items < MAX_ITEMS; i += 2) {
        items[n_items].count = atoi(argv[i]);
        items[n_items].price = atoi(argv[i + 1]);
        n_items++;
    }
    sum = sum_items(items, n_items);
    printf("%d\n", sum - rebate(sum));
    return 0;
}
END
put_test
commit ada 0 'Write bills'
news bob 'Announce the first version'
swap main.c 'MAX_ITEMS 64' 'MAX_ITEMS 256'
next cho 'Allow longer bills'
for topic in rounding currencies taxes; do news dee "Collect wishes about $topic"; done
swap bill.h 'in cents: a tenth from 100 euro on' 'in cents: a tenth, but only from 100 euro on'
next bob 'Say when a rebate is given'
news eli 'Plan the second version'
swap items.c 'int sum = 0;' 'int sum = 0; /* in cents */'
swap items.c 'int i;' 'int i; /* counts positions */'
swap items.c 'i < n_items; i++' 'i < n_items; ++i'
swap items.c 'sum += items[i].count * items[i].price;' 'sum += items[i].price;'
next cho 'Explain the sum'
for topic in rounding currencies taxes; do news dee "Answer the wishes about $topic"; done
swap Makefile '-Wall' '-Wall -Wextra'
next ada 'Turn on more warnings'
for topic in Debian Fedora Guix Alpine; do news eli "Say how to build on $topic"; done
swap rebate.c 'if (sum < 10000) {' 'if (sum < 1000) {'
swap rebate.c '    return sum / 10;' '    return sum / 10; /* rounded down, in favour of the shop */'
next bob 'Explain how a rebate is rounded'
for topic in releases patches; do news dee "Explain how we handle $topic"; done
swap main.c 'int sum;' 'int sum; /* before the rebate */'
next ada 'Explain a variable'
for topic in Oslo Accra; do news cho "Greet the meeting in $topic"; done
finish
