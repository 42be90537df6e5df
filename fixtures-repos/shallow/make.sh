#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"

[ $# -eq 1 ] || die 'usage: make.sh <target-dir>'
mkdir -p -- "$1"
target=$(cd -- "$1" && pwd)
begin "$target.full"
put .gitignore <<'END'
*.o
/roman
END
put Makefile <<'END'
CFLAGS = -O0 -Wall

roman: roman.o
	$(CC) $(CFLAGS) -o $@ roman.o
END
put roman.c <<'END'
#include <stdio.h>
#include <stdlib.h>

struct digit {
    int value;
    const char *text;
};

static const struct digit digits[] = {
    {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"},
};

int main(int argc, char **argv)
{
    int rest = argc == 2 ? atoi(argv[1]) : 0;
    unsigned i;

    for (i = 0; i < sizeof digits / sizeof *digits; i++)
        for (; rest >= digits[i].value; rest -= digits[i].value)
            fputs(digits[i].text, stdout);
    putchar('\n');
    return 0;
}
END
put_test
commit ada 0 'Write roman numbers'
news bob 'Announce the first version'
for topic in zero fractions; do news dee "Collect wishes about $topic"; done
swap roman.c '{10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"},' '{50, "L"}, {10, "X"}, {9, "IX"}, {5, "V"}, {1, "I"},'
next cho 'Write numbers up to 89'
for topic in zero fractions; do news dee "Answer the wishes about $topic"; done
for topic in Debian Fedora Guix Alpine Gentoo; do news eli "Say how to build on $topic"; done
swap Makefile '-Wall' '-Wall -Wextra'
next ada 'Turn on more warnings'
for topic in releases patches translations; do news eli "Explain how we handle $topic"; done
for topic in Oslo Accra Busan; do news cho "Greet the meeting in $topic"; done
news bob 'Thank the contributors'

cd -- "$target"
git clone -q --template= --no-tags --depth 10 "file://$target.full" .
git remote remove origin
git config core.autocrlf false
rm -rf .git/logs "$target.full"
finish
