#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
*.o
/price
END
put Makefile <<'END'
CFLAGS = -O0 -Wall
OBJS = main.o rate.o shop.o

price: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)

$(OBJS): rate.h
END
put rate.h <<'END'
/* What a unit costs; a shop may bring its own. */
int base_rate(void);

/* The price of a number of units. */
int price_of(int units);

/* The name of the shop. */
const char *shop_name(void);
END
put rate.c <<'END'
#include "rate.h"

int price_of(int units)
{
    return units * base_rate();
}

__attribute__((weak)) int base_rate(void) { return 2; }
END
put shop.c <<'END'
#include "rate.h"

const char *shop_name(void)
{
    return "corner shop";
}
END
put main.c <<'END'
#include <stdio.h>
#include <stdlib.h>

#include "rate.h"

int main(int argc, char **argv)
{
    if (argc != 2)
        return 64;
    printf("%s: %d\n", shop_name(), price_of(atoi(argv[1])));
    return 0;
}
END
put_test
commit ada 0 'Price units'
news bob 'Announce the first version'
for topic in rebates currencies; do news dee "Collect wishes about $topic"; done
swap main.c 'return 64;' 'return 2;'
next cho 'Use code 2 for a wrong call'
for topic in Debian Fedora Guix Alpine; do news eli "Say how to build on $topic"; done
news bob 'Plan the second version'

# The default goes, the shop's own rate is forgotten: nothing links.
drop rate.c '__attribute__((weak))'
next bob 'Drop the default rate'
news dee 'Answer the wishes about rebates'
swap rate.c 'return units * base_rate();' 'return units * base_rate(); /* no rebate */'
next cho 'Say that there is no rebate'
news dee 'Answer the wishes about currencies'

# The mend is the bug: the rate should be 2.
before shop.c 'const char *shop_name(void)' <<'END'
/* A unit got more expensive last year. */
int base_rate(void) { return 3; }

END
swap rate.h '/* The name of the shop. */' '/* The name of the shop, for the first line. */'
next bob 'Set the rate of the shop'
swap Makefile '-Wall' '-Wall -Wextra'
next ada 'Turn on more warnings'
for topic in Oslo Accra Busan; do news eli "Greet the meeting in $topic"; done
news bob 'Thank the contributors'
finish
