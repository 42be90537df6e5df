#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/build/
/table.h
/lookup
END
put Makefile <<'END'
CFLAGS = -O0 -Wall
OBJS = build/main.o build/lookup.o

lookup: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)

build/%.o: %.c lookup.h table.h
	@mkdir -p build
	$(CC) $(CFLAGS) -c -o $@ $<

table.h: gen.sh
	sh gen.sh >$@
END
put gen.sh <<'END'
# Writes table.h.
echo '#define TABLE_EDITION 1'
echo 'static const struct entry table[] = {'
price=10
for name in apple fig pear; do
    echo "    {\"$name\", $price},"
    price=$((price + 10))
done
echo '};'
END
put lookup.h <<'END'
struct entry {
    const char *name;
    int price;
};

/* The price of a fruit, or -1. */
int lookup(const char *name);
END
put lookup.c <<'END'
#include "lookup.h"

#include <string.h>

#include "table.h"

/* The table that this code was written for. */
#define EDITION 1

int lookup(const char *name)
{
    int n = (int)(sizeof table / sizeof *table);
    int i;

    if (TABLE_EDITION != EDITION)
        return -1;
    for (i = 0; i < n; i++)
        if (strcmp(table[i].name, name) == 0)
            return table[i].price;
    return -1;
}
END
put main.c <<'END'
#include <stdio.h>

#include "lookup.h"

int main(int argc, char **argv)
{
    if (argc != 2)
        return 64;
    printf("%d\n", lookup(argv[1]));
    return 0;
}
END
put_test
commit ada 0 'Look up the price of a fruit'
news bob 'Announce the first version'
for topic in vegetables currencies; do news dee "Collect wishes about $topic"; done
swap main.c 'return 64;' 'return 2;'
next cho 'Use code 2 for a wrong call'
for topic in Debian Fedora Guix; do news eli "Say how to build on $topic"; done
news bob 'Plan the second version'

# The generated table becomes a tracked file, and `build` a script instead of a directory.
swap lookup.c 'EDITION 1' 'EDITION 2'
swap gen.sh 'TABLE_EDITION 1' 'TABLE_EDITION 2'
sh gen.sh >table.h
git rm -q --cached gen.sh
rm gen.sh
put .gitignore <<'END'
/obj/
/lookup
END
put Makefile <<'END'
CFLAGS = -O0 -Wall
OBJS = obj/main.o obj/lookup.o

lookup: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)

obj/%.o: %.c lookup.h table.h
	@mkdir -p obj
	$(CC) $(CFLAGS) -c -o $@ $<
END
put build <<'END'
#!/bin/sh
# For those who have no make.
cc -o lookup main.c lookup.c
END
chmod 755 build
next ada 'Ship the table and a build script'
news dee 'Answer the wishes about vegetables'
swap lookup.h 'The price of a fruit, or -1.' 'The price of a fruit in cents, or -1.'
next cho 'Name the unit of the prices'
news eli 'Say how to build without make'
swap lookup.c 'for (i = 0; i < n; i++)' 'for (i = 0; i < n - 1; i++)'
swap lookup.c 'int i;' 'int i; /* position in the table */'
swap table.h 'static const struct entry table[] = {' 'static const struct entry table[] = { /* sorted by name */'
add build <<'END'
echo 'built ./lookup'
END
next bob 'Say that the table is sorted'
news dee 'Answer the wishes about currencies'
news bob 'Plan the third version'

# And back: the table is generated again, build is a directory of products again.
git rm -q --cached build table.h
rm build table.h
swap lookup.c 'EDITION 2' 'EDITION 3'
put gen.sh <<'END'
# Writes table.h.
echo '#define TABLE_EDITION 3'
echo 'static const struct entry table[] = { /* sorted by name */'
price=10
for name in apple fig pear; do
    echo "    {\"$name\", $price},"
    price=$((price + 10))
done
echo '};'
END
put .gitignore <<'END'
/build/
/table.h
/lookup
END
put Makefile <<'END'
CFLAGS = -O0 -Wall
OBJS = build/main.o build/lookup.o

lookup: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)

build/%.o: %.c lookup.h table.h
	@mkdir -p build
	$(CC) $(CFLAGS) -c -o $@ $<

table.h: gen.sh
	sh gen.sh >$@
END
next ada 'Generate the table again'
for topic in vegetables currencies; do news dee "Collect more wishes about $topic"; done
swap Makefile '-Wall' '-Wall -Wextra'
next cho 'Turn on more warnings'
for topic in releases patches; do news eli "Explain how we handle $topic"; done
news bob 'Thank the contributors'
finish
