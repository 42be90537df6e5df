#!/bin/sh
# Files that are missing are no longer made; the call that makes them, put back without its guard, empties those that are there.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/stamp
END
put Makefile <<'END'
CC = gcc
CFLAGS = -O0

stamp: stamp.c
	$(CC) $(CFLAGS) -o $@ stamp.c
END
put stamp.c <<'END'
/* stamp: sets the time of files to now, and makes those that are missing. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <utime.h>

static int n_errors;

static void complain(const char *path)
{
    fprintf(stderr, "stamp: %s: %s\n", path, strerror(errno));
    n_errors++;
}

/* Makes an empty file in the place of whatever is there. */
static void make_file(const char *path)
{
    FILE *file = fopen(path, "w");

    if (file != NULL)
        fclose(file);
}

static void stamp(const char *path)
{
    int is_missing = access(path, F_OK) != 0;

    if (is_missing)
        make_file(path);
    if (utime(path, NULL) != 0)
        complain(path);
}

int main(int argc, char **argv)
{
    int i;

    for (i = 1; i < argc; i++)
        stamp(argv[i]);
    return n_errors > 0;
}
END
put suite.sh <<'END'
# What stamp has to do: prints a line for each case, and fails if one is wrong.
n_wrong=0
check() {
    if [ "$2" = "$3" ]; then echo "ok: $1"; else echo "not ok: $1"; n_wrong=1; fi
}
place=$(mktemp -d)
echo text >"$place/old"
./stamp "$place/old" 2>/dev/null
check 'a file is kept' "$(cat "$place/old")" text
./stamp "$place/no/file" 2>/dev/null
check 'no directory' $? 1
rm -r "$place"
exit $n_wrong
END
commit ada 0 'Stamp files'
news bob 'Announce the first version'
for topic in directories dates; do news dee "Collect wishes about $topic"; done

rewrite stamp.c 'static void stamp(' <<'END'
static void stamp(const char *path, const struct utimbuf *times)
{
    if (utime(path, times) != 0)
        complain(path);
}
END
rewrite stamp.c 'int main(' <<'END'
int main(int argc, char **argv)
{
    struct utimbuf times;
    int is_dated = 0;
    int i;

    for (i = 1; i < argc; i++)
        if (argv[i][0] == '@') {
            times.actime = times.modtime = atol(argv[i] + 1);
            is_dated = 1;
        } else if (argv[i][0] == '+') {
            make_file(argv[i] + 1);
        } else {
            stamp(argv[i], is_dated ? &times : NULL);
        }
    return n_errors > 0;
}
END
swap stamp.c '#include <string.h>' '#include <stdlib.h>
#include <string.h>'
swap stamp.c '/* stamp: sets the time of files to now, and makes those that are missing. */' '/* stamp: sets the time of files to now, or to that of @<seconds>; +<file> is made anew. */'
next eli 'Set files to the time that is given'
news bob 'Thank the translators'
news cho 'Plan the second version'

put_test
next cho 'Test a file that is missing'
finish
