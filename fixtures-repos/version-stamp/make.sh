#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/version.h
/clock
END
put Makefile <<'END'
CFLAGS = -O0 -Wall

clock: main.c version.h
	$(CC) $(CFLAGS) -o $@ main.c

version.h:
	sh version.sh > $@
END
put version.sh <<'END'
# Writes the version as git tells it.
version=$(git describe --tags --match 'v*' 2>/dev/null || echo v0)
echo "#define VERSION \"$version\""
END
put main.c <<'END'
#include <stdio.h>
#include <string.h>

#include "version.h"

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        printf("clock %s\n", VERSION);
    return 0;
}
END
put_test
commit ada 0 'Tell the version'
tag v1.0
news bob 'Announce the first version'
for topic in hands hours; do news dee "Collect wishes about $topic"; done
swap main.c 'int argc, char **argv' 'int argc, char *argv[]'
next cho 'Write the arguments as an array'
for topic in Debian Fedora; do news eli "Say how to build on $topic"; done
swap version.sh "--match 'v*'" "--match 'clock-*'"
next ada 'Be ready for a repository of several programs'
for topic in Oslo Accra; do news eli "Greet the meeting in $topic"; done
swap main.c 'argc == 2' 'argc > 1'
next cho 'Allow more arguments'
tag v1.1
for topic in Lima Quito; do news eli "Greet the meeting in $topic"; done
news bob 'Thank the contributors'
finish
