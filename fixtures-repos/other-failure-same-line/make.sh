#!/bin/sh
# A till that gives a discount above a limit, no longer from it on; other ways to a wrong total fail with almost the same line.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/till
END
put Makefile <<'END'
CC = gcc
CFLAGS = -O0

till: till.c
	$(CC) $(CFLAGS) -o $@ till.c
END
put till.c <<'END'
/* till: adds up a receipt. Each argument is one position, `<count>x<cents>`. */
#include <stdio.h>
#include <stdlib.h>

#define MAX_POSITIONS 32

struct position {
    long count;
    long cents;
};

struct receipt {
    struct position positions[MAX_POSITIONS];
    int n;
    long saved; /* cents of discount */
};

static long percent(long sum);

/* Reads one position; 0 when the text is none. */
static int add(struct receipt *receipt, const char *text)
{
    struct position *position = &receipt->positions[receipt->n];

    if (receipt->n == MAX_POSITIONS)
        return 0;
    if (sscanf(text, "%ldx%ld", &position->count, &position->cents) != 2)
        return 0;
    receipt->n++;
    return 1;
}

/* What there is to pay, in cents. */
static long total(struct receipt *receipt)
{
    long sum = 0;
    int i;

    for (i = 0; i < receipt->n; i++)
        sum += receipt->positions[i].count * receipt->positions[i].cents;

    receipt->saved = sum * percent(sum) / 100;
    return sum - receipt->saved;
}

/* Per cent that a customer of this sum is given. */
static long percent(long sum)
{
    if (sum >= 10000)
        return 5;
    return sum >= 2000 ? 3 : 0;
}

int main(int argc, char **argv)
{
    static struct receipt receipt;
    long cents;
    int i;

    for (i = 1; i < argc; i++)
        if (!add(&receipt, argv[i])) {
            fprintf(stderr, "till: not a position: %s\n", argv[i]);
            return 1;
        }

    cents = total(&receipt);
    printf("total %ld.%02ld\n", cents / 100, cents % 100);
    return 0;
}
END
commit ada 0 'Add up a receipt'
news bob 'Announce the first version'
before till.c '/* Per cent that a customer' <<'END'
/* Parts of a receipt that the law wants. */
#define TAX 19

END
after till.c 'printf("total %ld.%02ld\n"' <<'END'
    printf("tax included, %d %%\n", TAX);
END
next cho 'Name the tax'
news dee 'Collect wishes about vouchers'

rewrite till.c 'static long percent(' <<'END'
static long percent(long sum)
{
    if (sum > 10000)
        return 5;
    return sum > 2000 ? 3 : 0;
}
END
rewrite till.c 'static long total(' <<'END'
static long total(struct receipt *receipt)
{
    long sum = 0;
    int i;

    for (i = 0; i < receipt->n; i++)
        sum += receipt->positions[i].count * receipt->positions[i].cents;

    receipt->saved = sum * percent(sum) / 100;
    return sum;
}
END
swap till.c '/* What there is to pay, in cents. */' '/* What it costs without the discount, in cents; takes down the discount. */'
replace till.c 'cents = total(&receipt);' <<'END'
    cents = total(&receipt) - receipt.saved;
END
after till.c 'printf("tax included' <<'END'
    if (receipt.saved > 0)
        printf("you saved %ld.%02ld\n", receipt.saved / 100, receipt.saved % 100);
END
next eli 'Print what the customer saved'
news bob 'Thank the bottlers'
news ada 'Plan the second version'

put_test
next cho 'Test a receipt at the limit'
finish
