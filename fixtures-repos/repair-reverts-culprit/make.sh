#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
*.o
/invoice
END
put Makefile <<'END'
CFLAGS = -O0 -Wall
OBJS = main.o order.o invoice.o

invoice: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)

$(OBJS): order.h
END
put order.h <<'END'
#define MAX_LINES 50

/* The prices of an order, in cents. */
struct order {
    int count;
    int lines[MAX_LINES];
};

/* The sum of the prices. */
int order_total(const struct order *order);

/* Prints what the customer has to pay. */
void print_invoice(const struct order *order);
END
put order.c <<'END'
#include "order.h"

int order_total(const struct order *order)
{
    int total = 0;
    int i;

    for (i = 0; i < order->count; i++)
        total += order->lines[i];

    return total;
}
END
put invoice.c <<'END'
#include "order.h"

#include <stdio.h>

void print_invoice(const struct order *order)
{
    int amount = order_total(order);

    printf("%d.%02d\n", amount / 100, amount % 100);
}
END
put main.c <<'END'
#include <stdlib.h>

#include "order.h"

int main(int argc, char **argv)
{
    struct order order = {0};
    int i;

    for (i = 1; i < argc && i <= MAX_LINES; i++)
        order.lines[order.count++] = atoi(argv[i]);
    print_invoice(&order);
    return 0;
}
END
put_test
commit ada 0 'Write invoices'
news bob 'Announce the first version'
for topic in taxes rebates currencies; do news dee "Collect wishes about $topic"; done
swap main.c 'int i;' 'int i; /* position of the argument */'
next cho 'Explain a counter'
for topic in Debian Fedora Guix Alpine Gentoo; do news eli "Say how to build on $topic"; done
swap order.h 'MAX_LINES 50' 'MAX_LINES 100'
next ada 'Allow longer orders'
for topic in taxes rebates; do news dee "Answer the wishes about $topic"; done
news bob 'Plan the second version'

# The culprit: a fee of one cent for each line of an order.
after order.c 'total += order->lines[i];' <<'END'
    total += order->count;
END
swap order.h '/* The sum of the prices. */' '/* The sum of the prices, with everything. */'
swap invoice.c '#include <stdio.h>' '#include <stdio.h> /* printf */'
next bob 'Charge what a line costs'
for topic in Oslo Accra Busan; do news eli "Greet the meeting in $topic"; done
swap Makefile '-Wall' '-Wall -Wextra'
next ada 'Turn on more warnings'
for topic in releases patches translations; do news cho "Explain how we handle $topic"; done
news dee 'Answer the wishes about currencies'
for topic in Lund Quito; do news eli "Greet the meeting in $topic"; done

# A member gets another name, but not in the line of the culprit: from here on nothing builds.
swap order.h 'int count;' 'int n_lines;'
swap order.c 'i < order->count' 'i < order->n_lines'
swap main.c 'order.count++' 'order.n_lines++'
next cho 'Name the number of lines n_lines'
for topic in taxes rebates currencies; do news dee "Collect more wishes about $topic"; done
swap main.c 'return 0;' 'return EXIT_SUCCESS;'
next ada 'Spell out the exit code'

# The build is mended by moving the line of the culprit: deleting it is enough to build, and hides the bug.
drop order.c 'total += order->count;'
after invoice.c 'int amount = order_total(order);' <<'END'

    amount += order->n_lines;
END
swap order.h 'The sum of the prices, with everything.' 'The sum of the prices.'
swap order.h '/* Prints what the customer has to pay. */' '/* Prints what the customer has to pay, with everything. */'
next cho 'Mend the build and charge in the invoice'
news bob 'Plan the third version'
for topic in Turku Graz Porto; do news eli "Greet the meeting in $topic"; done
news bob 'Thank the contributors'
finish
