#!/bin/sh
# A commit groups digits, with a test, and gets negative prices wrong; without the grouping they are right again.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/price
END
put Makefile <<'END'
CC = gcc
CFLAGS = -O0

price: price.c
	$(CC) $(CFLAGS) -o $@ price.c

check: price
	sh tests/run.sh
END
put price.c <<'END'
/* price: prints an amount of cents as a price. */
#include <stdio.h>
#include <stdlib.h>

static void print_price(long cents)
{
    printf("%ld", cents / 100);
    printf(".%02ld\n", labs(cents % 100));
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: price <cents>\n", stderr);
        return 2;
    }
    print_price(atol(argv[1]));
    return 0;
}
END
put tests/prices <<'END'
50 0.50
1999 19.99
END
put tests/run.sh <<'END'
# Prints a line for each price, and fails if one is wrong.
n_wrong=0
while read -r cents price; do
    if [ "$(./price "$cents")" = "$price" ]; then echo "ok: $cents"; else echo "not ok: $cents"; n_wrong=1; fi
done <tests/prices
exit $n_wrong
END
commit ada 0 'Print a price'
news bob 'Announce the first version'
for topic in currencies taxes; do news dee "Collect wishes about $topic"; done

rewrite price.c 'static void print_price(' <<'END'
static void print_price(long cents)
{
    char digits[32];
    int i, n = snprintf(digits, sizeof digits, "%ld", cents / 100);

    for (i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            putchar(',');
        putchar(digits[i]);
    }
    printf(".%02ld\n", labs(cents % 100));
}
END
add tests/prices <<'END'
123456 1,234.56
123456700 1,234,567.00
END
next eli 'Group the digits of a price'
add tests/prices <<'END'
99999 999.99
END
next bob 'Test a price without a group'
news cho 'Plan the second version'

put_test
next cho 'Test a refund'
finish
