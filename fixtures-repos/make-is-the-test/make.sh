#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
*.o
/calc
END
put Makefile <<'END'
CFLAGS = -O0 -Wall
OBJS = main.o parse.o

calc: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)

$(OBJS): calc.h
END
put calc.h <<'END'
/* Limits of the parser. */
#define MAX_LINE 256
#define MAX_DEPTH 16

/* Parses sums like 1+2+(3+4); *depth is the depth of the parentheses. */
long parse_sum(const char **text, int depth);
END
put parse.c <<'END'
#include "calc.h"

#include <stdlib.h>

static long parse_value(const char **text, int depth)
{
    long value;
    char *end;

    if (**text != '(') {
        value = strtol(*text, &end, 10);
        *text = end;
        return value;
    }
    ++*text;
    value = depth < MAX_DEPTH ? parse_sum(text, depth + 1) : 0;
    if (**text == ')')
        ++*text;
    return value;
}

long parse_sum(const char **text, int depth)
{
    long sum = parse_value(text, depth);

    while (**text == '+') {
        ++*text;
        sum += parse_value(text, depth);
    }
    return sum;
}
END
put main.c <<'END'
#include "calc.h"

#include <stdio.h>

int main(void)
{
    char line[MAX_LINE];

    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *text = line;
        printf("%ld\n", parse_sum(&text, 0));
    }
    return 0;
}
END
commit ada 0 'Add numbers'
news bob 'Announce the first version'
for topic in products quotients; do news dee "Collect wishes about $topic"; done
swap main.c 'char line[MAX_LINE];' 'char line[MAX_LINE]; /* with its end */'
next cho 'Explain a buffer'
for topic in Debian Fedora; do news eli "Say how to build on $topic"; done
news bob 'Plan the second version'
swap calc.h '/* Limits of the parser. */' '/* The longest line that is read. */'
drop calc.h 'MAX_DEPTH 16'
swap calc.h 'MAX_LINE 256' 'MAX_LINE 1024'
swap main.c '/* with its end */' '/* with its line end */'
next cho 'Tidy the limits'
for topic in products quotients; do news dee "Answer the wishes about $topic"; done
swap Makefile '-Wall' '-Wall -Wextra'
next ada 'Turn on more warnings'
for topic in Oslo Accra; do news eli "Greet the meeting in $topic"; done
news bob 'Thank the contributors'
finish
