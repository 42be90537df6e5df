#!/bin/sh
# One commit gives every printing function another list of parameters, in ten files, and gets one sum wrong.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

# rewrite <awk program>: rewrites every .c and .h file line by line.
rewrite() {
    for _file in *.c *.h; do
        awk "$1" "$_file" >.git/rewritten
        cat .git/rewritten >"$_file"
    done
    rm .git/rewritten
}

# stocked <author> <row>: an everyday commit, one more article.
stocked() {
    echo "$2" | add items.txt
    next "$1" "Stock ${2%% *}"
}

put .gitignore <<'END'
*.o
*.d
/stock
END
put Makefile <<'END'
CC = cc
CFLAGS = -O0 -Werror=implicit-function-declaration -Werror=incompatible-pointer-types -Werror=int-conversion
OBJS = main.o item.o out.o list.o value.o order.o

stock: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)

.c.o:
	$(CC) $(CFLAGS) -MMD -MP -c $<

$(OBJS): Makefile

-include $(OBJS:.o=.d)
END
put item.h <<'END'
#ifndef ITEM_H
#define ITEM_H

#include <stdio.h>

#define MAX_ITEMS 100

struct item {
    char name[20];
    long count;    /* on the shelf */
    long reserved; /* of these, promised to somebody */
    long cents;    /* price of one */
};

int read_items(FILE *file, struct item *items);

#endif
END
put item.c <<'END'
#include "item.h"

/* Reads lines of name, count, reserved and price; returns how many. */
int read_items(FILE *file, struct item *items)
{
    int n_items = 0;

    while (n_items < MAX_ITEMS) {
        struct item *item = &items[n_items];

        if (fscanf(file, "%19s %ld %ld %ld", item->name, &item->count, &item->reserved, &item->cents) != 4)
            break;
        n_items++;
    }
    return n_items;
}
END
put out.h <<'END'
#ifndef OUT_H
#define OUT_H

void put_text(const char *text, int width);
void put_number(long number, int width);
void put_money(long cents, int width);
void put_rule(int width);
void end_line(void);

#endif
END
put out.c <<'END'
#include "out.h"

#include <stdio.h>

/* A field of text, filled up to the right. */
void put_text(const char *text, int width)
{
    printf("%-*s", width, text);
}

/* A field with a number, filled up to the left. */
void put_number(long number, int width)
{
    printf("%*ld", width, number);
}

void put_money(long cents, int width)
{
    char text[32];

    snprintf(text, sizeof text, "%ld.%02ld", cents / 100, cents % 100);
    printf("%*s", width, text);
}

void put_rule(int width)
{
    while (width-- > 0)
        putchar('-');
    end_line();
}

void end_line(void)
{
    putchar('\n');
}
END
put list.h <<'END'
#ifndef LIST_H
#define LIST_H

#include "item.h"

void print_list(const struct item *items, int n_items);

#endif
END
put list.c <<'END'
#include "list.h"

#include "out.h"

/* Everything that there is. */
void print_list(const struct item *items, int n_items)
{
    int i;

    put_text("article", 20);
    put_text("count", 8);
    end_line();
    put_rule(28);
    for (i = 0; i < n_items; i++) {
        put_text(items[i].name, 20);
        put_number(items[i].count, 8);
        end_line();
    }
}
END
put value.h <<'END'
#ifndef VALUE_H
#define VALUE_H

#include "item.h"

void print_value(const struct item *items, int n_items);

#endif
END
put value.c <<'END'
#include "value.h"

#include "out.h"

static void print_total(long total)
{
    put_rule(40);
    put_text("total", 28);
    put_money(total, 12);
    end_line();
}

/* What is still free to be sold, and what it is worth. */
void print_value(const struct item *items, int n_items)
{
    long total = 0;
    int i;

    for (i = 0; i < n_items; i++) {
        long n_free = items[i].count - items[i].reserved;

        put_text(items[i].name, 20);
        put_number(n_free, 8);
        total += n_free * items[i].cents;
        put_money(n_free * items[i].cents, 12);
        end_line();
    }
    print_total(total);
}
END
put order.h <<'END'
#ifndef ORDER_H
#define ORDER_H

#include "item.h"

void print_orders(const struct item *items, int n_items, long least);

#endif
END
put order.c <<'END'
#include "order.h"

#include "out.h"

static int is_short(const struct item *item, long least)
{
    return item->count - item->reserved < least;
}

/* What has to be ordered, so that there is at least so much of everything. */
void print_orders(const struct item *items, int n_items, long least)
{
    int i;

    for (i = 0; i < n_items; i++)
        if (is_short(&items[i], least)) {
            put_text(items[i].name, 20);
            put_number(least - items[i].count + items[i].reserved, 8);
            end_line();
        }
}
END
put main.c <<'END'
/* stock: reports about what is on the shelves. */
#include "list.h"
#include "order.h"
#include "value.h"

#include <string.h>

static struct item items[MAX_ITEMS];

int main(int argc, char **argv)
{
    int n_items = read_items(stdin, items);

    if (argc == 2 && strcmp(argv[1], "list") == 0)
        print_list(items, n_items);
    else if (argc == 2 && strcmp(argv[1], "value") == 0)
        print_value(items, n_items);
    else if (argc == 2 && strcmp(argv[1], "order") == 0)
        print_orders(items, n_items, 10);
    else {
        fputs("usage: stock list|value|order <items.txt\n", stderr);
        return 2;
    }
    return 0;
}
END
put items.txt <<'END'
nail 1000 0 2
screw 400 100 5
END
put README <<'END'
stock prints what is on the shelves (stock list), what it is worth (stock value) and what to order (stock order).
END
commit ada 0 'Report what is on the shelves'
stocked bob 'bolt 80 12 25'
stocked cho 'washer 600 0 1'
stocked ada 'hinge 24 4 180'
swap item.c '        n_items++;' '        n_items++; /* too many are left out */'
next dee 'Say what happens to too many articles'
stocked bob 'hook 90 0 30'
stocked eli 'latch 12 2 410'

# The culprit: struct out in front of every list of parameters, the width before the text, in all files at once.
rewrite '
    /^void (put_|end_line)/ || /^    *(put_(text|number|money|rule)|end_line)\(/ {
        if (match($0, /^ *(void )?(put_text|put_number|put_money)\(/)) {
            head = substr($0, 1, RLENGTH); rest = substr($0, RLENGTH + 1)
            tail = rest ~ /;$/ ? ");" : ")"
            sub(/\);?$/, "", rest)
            at = match(rest, /, [^,]*$/)
            out = head ~ /void/ ? "struct out *out, " : "out, "
            $0 = head out substr(rest, at + 2) ", " substr(rest, 1, at - 1) tail
        } else if (/end_line\((void)?\)/)
            sub(/\((void)?\)/, /void/ ? "(struct out *out)" : "(out)")
        else
            sub(/\(/, /void/ ? "(struct out *out, " : "(out, ")
    }
    /^(static )?void print_/ { sub(/\(/, "(struct out *out, ") }
    /^ +print_/ { sub(/\(/, FILENAME == "main.c" ? "(\\&out, " : "(out, ") }
    /^ +printf\(/ && FILENAME == "out.c" { sub(/printf\(/, "fprintf(out->file, ") }
    /putchar\(/ { sub(/putchar/, "putc"); sub(/\);$/, ", out->file);") }
    { print }
'
after out.c "putc('\\n', out->file);" <<'END'
    out->n_lines++;
END
replace out.c '#include <stdio.h>' <<'END'
/* Every function writes to a place that the caller names, and the width comes before what fills it. */
END
before out.h 'void put_text' <<'END'
#include <stdio.h>

/* Where reports go. */
struct out {
    FILE *file;
    int n_lines;
};

END
for file in list order value; do
    swap $file.h '#include "item.h"' '#include "item.h"
#include "out.h"'
done
after main.c 'int n_items = read_items' <<'END'
    struct out out = { stdout, 0 };
END
swap value.c 'total += n_free * items[i].cents;' 'total += items[i].count * items[i].cents;'
swap README 'stock prints' 'stock prints to its standard output'
next cho 'Name the place that reports are printed to'

stocked bob 'chain 15 0 320'
stocked dee 'rope 40 8 95'
swap main.c '    return 0;' '    return out.n_lines == 0 ? 1 : 0;'
next eli 'Fail when there is nothing to print'
stocked ada 'pulley 9 0 780'
stocked bob 'wire 200 20 12'
swap README 'what to order (stock order).' 'what to order (stock order).
It fails when there is nothing to print.'
next cho 'Document the exit code'
stocked dee 'clamp 31 3 260'
put_test
next ada 'Test the total of a shelf with promised goods'
stocked eli 'anchor 50 0 66'
finish
