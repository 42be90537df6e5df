#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
*.o
days
END
put Makefile <<'END'
CFLAGS = -O0 -Wall
OBJS = main.o days.o

days: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)

$(OBJS): days.h
END
put days.h <<'END'
int is_leap_year(int year);
int days_of_month(int year, int month);
END
put days.c <<'END'
#include "days.h"

static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

int is_leap_year(int year)
{
    if (year % 400 == 0)
        return 1;
    if (year % 100 == 0)
        return 0;
    return year % 4 == 0;
}

int days_of_month(int year, int month)
{
    if (month == 2 && is_leap_year(year))
        return 29;
    return days[month - 1];
}
END
put main.c <<'END'
#include <stdio.h>
#include <stdlib.h>

#include "days.h"

int main(int argc, char **argv)
{
    int month;

    if (argc != 3)
        return 64;
    month = atoi(argv[2]);
    if (month < 1 || month > 12)
        return 64;
    printf("%d\n", days_of_month(atoi(argv[1]), month));
    return 0;
}
END
put_test
commit ada 0 'Say how many days a month has'
news bob 'Announce the first version'
for topic in weeks calendars; do news dee "Collect wishes about $topic"; done
swap main.c 'int month;' 'int month; /* counts from 1 */'
next cho 'Explain how months are counted'
news eli 'Plan the second version'
swap days.c 'static const int days[12]' 'static const unsigned char days[12]'
swap days.c 'if (year % 400 == 0)' 'if (year % 1000 == 0)'
swap days.c 'if (month == 2 && is_leap_year(year))' 'if (is_leap_year(year) && month == 2)'
next bob 'Store the days in bytes'
for topic in Debian Fedora; do news eli "Say how to build on $topic"; done
put tests/plain.case <<'END'
2021 5
31
END
next ada 'Add the first test case'
swap Makefile '-Wall' '-Wall -Wextra'
next ada 'Turn on more warnings'
for topic in weeks calendars; do news dee "Answer the wishes about $topic"; done
put tests/leap.case <<'END'
2400 2
29
END
put tests/century.case <<'END'
1900 2
28
END
add NEWS <<'END'
* There are test cases for leap years.
END
next cho 'Add test cases for leap years'
swap days.h 'int is_leap_year(int year);' 'int is_leap_year(int year); /* in the Gregorian calendar */'
next bob 'Name the calendar'
news eli 'Thank the contributors'
finish
