#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
*.o
table
END
put Makefile <<'END'
CFLAGS = -O0 -Wall
OBJS = main.o head.o rows.o

table: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)

$(OBJS): table.h
END
put table.h <<'END'
/* Prints the head line of a table with n columns. */
void print_head(int n);

/* Prints a row of n numbers, and their sum in the last column. */
void print_row(const int *numbers, int n);
END
put head.c <<'END'
#include <stdio.h>

#include "table.h"

void print_head(int n)
{
    int column;

    for (column = 0; column < n; column++) {
        printf("%c\t", 'a' + column);
    }
    printf("sum\n");
}
END
put rows.c <<'END'
#include <stdio.h>

#include "table.h"

void print_row(const int *numbers, int n)
{
    int sum = 0;
    int column;

    for (column = 0; column < n; column++) {
        printf("%d\t", numbers[column]);
        sum += numbers[column];
    }
    printf("%d\n", sum);
}
END
put main.c <<'END'
#include <stdlib.h>

#include "table.h"

#define MAX_COLUMNS 26

int main(int argc, char **argv)
{
    int numbers[MAX_COLUMNS];
    int n = argc - 1 > MAX_COLUMNS ? MAX_COLUMNS : argc - 1;
    int column;

    for (column = 0; column < n; column++) {
        numbers[column] = atoi(argv[column + 1]);
    }
    print_head(n);
    print_row(numbers, n);
    return 0;
}
END
put_test
commit ada 0 'Print a table with a sum'
news bob 'Announce the first version'
for topic in alignment colours export; do news dee "Collect wishes about $topic"; done
swap rows.c 'int column;' 'int column; /* counts from zero */'
next cho 'Explain the counter of the rows'
news eli 'Plan the second version'
swap head.c 'column < n; column++' 'column < n; ++column'
swap head.c "'a' + column" "'A' + column"
swap head.c 'printf("sum\n");' 'printf("SUM\n");'
next bob 'Write the head line in capitals'
for topic in alignment colours export; do news dee "Answer the wishes about $topic"; done
swap main.c 'MAX_COLUMNS 26' 'MAX_COLUMNS 20'
next cho 'Stay within the width of a page'
swap head.c "'A' + column" "'a' + column"
swap head.c 'printf("SUM\n");' 'printf("sum\n");'
next ada 'Write the head line in small letters again'
swap Makefile '-Wall' '-Wall -Wextra'
next ada 'Turn on more warnings'
swap rows.c 'int sum = 0;' 'int sum = 0; /* of the whole row */'
swap rows.c 'column < n; column++' 'column < n; ++column'
swap rows.c 'sum += numbers[column];' 'sum = numbers[column];'
next bob 'Tidy the loop over a row'
for topic in Debian Fedora Guix; do news eli "Say how to build on $topic"; done
swap main.c 'int column;' 'int column; /* counts from zero */'
next cho 'Explain the counter of the arguments'
for topic in Accra; do news dee "Greet the meeting in $topic"; done
finish
