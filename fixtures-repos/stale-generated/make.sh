#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/table.c
/months
END
put Makefile <<'END'
CFLAGS = -O0 -Wall

months: main.c table.c
	$(CC) $(CFLAGS) -o $@ main.c table.c

table.c: names.txt
	sh table.sh < names.txt > $@
END
put names.txt <<'END'
January
February
March
April
May
June
END
put table.sh <<'END'
# Writes the table of names as C source.
echo 'const char *const names[] = {'
echo '    "none",'
while read -r name; do
    echo "    \"$name\","
done
echo '};'
END
put main.c <<'END'
#include <stdio.h>
#include <stdlib.h>

extern const char *const names[];

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    printf("%s\n", names[atoi(argv[1])]);
    return 0;
}
END
put_test
commit ada 0 'Print the name of a month'
news bob 'Announce the first version'
for topic in days weeks; do news dee "Collect wishes about $topic"; done
add names.txt <<'END'
July
August
END
next cho 'Know the summer'
for topic in Debian Fedora; do news eli "Say how to build on $topic"; done
drop table.sh '"none"'
next ada 'Begin the table with the first month'
for topic in Oslo Accra; do news eli "Greet the meeting in $topic"; done
add names.txt <<'END'
September
October
END
next cho 'Know the autumn'
for topic in Lima Quito; do news eli "Greet the meeting in $topic"; done
news bob 'Thank the contributors'
finish
