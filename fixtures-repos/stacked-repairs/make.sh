#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
*.o
/letters
END
put Makefile <<'END'
CFLAGS = -O0 -Wall
OBJS = main.o count.o

letters: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)

$(OBJS): count.h
END
put count.h <<'END'
/* The number of bytes of a text that are in a set. */
int count_of_set(const char *text, const char *set);

/* The number of bytes of a text. */
int count_all(const char *text);
END
put count.c <<'END'
#include "count.h"

int count_of_set(const char *text, const char *set)
{
    int n = 0;

    for (; *text != '\0'; text++)
        if (strchr(set, *text) != 0)
            n++;
    return n;
}

int count_all(const char *text)
{
    return (int)strlen(text);
}
END
put main.c <<'END'
#include <stdio.h>
#include <string.h>

#include "count.h"

static int usage(void)
{
    fprintf(stderr, "usage: letters [option] <file\n");
    return 64;
}

int main(int argc, char **argv)
{
    char text[4096];
    size_t n_bytes = fread(text, 1, sizeof text - 1, stdin);

    text[n_bytes] = '\0';

    if (argc == 1) {
        printf("%d\n", count_all(text));
        return 0;
    }

    if (argc > 2)
        return usage();

    if (strcmp(argv[1], "--help") == 0) {
        usage();
        return 0;
    }

    return usage();
}
END
put_test
commit ada 0 'Count letters'
news bob 'Announce the first version'
for topic in capitals accents digits; do news dee "Collect wishes about $topic"; done
for topic in Debian Fedora Guix Alpine; do news eli "Say how to build on $topic"; done
news bob 'Plan the second version'

# The culprit, older than all that follows.
swap count.c 'int n = 0;' 'int n = 0; /* hits */'
swap count.c "for (; *text != '\\0'; text++)" "for (; text[0] != '\\0' && text[1] != '\\0'; text++)"
swap count.c 'return (int)strlen(text);' 'return (int)strlen(text); /* in bytes */'
next cho 'Stop before the line end'
for topic in Oslo Accra Busan Lund; do news eli "Greet the meeting in $topic"; done

# A window in which nothing builds, with any compiler.
swap main.c 'char text[4096];' 'char text[MAX_TEXT];'
next bob 'Name the size of the buffer'
for topic in capitals accents digits; do news dee "Answer the wishes about $topic"; done
swap main.c '    fprintf(stderr, "usage: letters [option] <file\n");' '    fprintf(stderr, "usage: letters [--help] <file\n");'
next ada 'List the option'
before count.h '/* The number of bytes of a text that are in a set. */' <<'END'
#define MAX_TEXT 4096

END
next bob 'Define the size of the buffer'
for topic in Quito Turku; do news eli "Greet the meeting in $topic"; done

# Up to here a compiler of today refuses count.c.
after count.c '#include "count.h"' <<'END'

#include <string.h>
END
swap Makefile '-Wall' '-Wall -Wextra'
next ada 'Include what is used'
for topic in releases patches translations reports mirrors; do news cho "Explain how we handle $topic"; done

# Up to here the program lacks what the test needs.
after main.c '        usage();' <<'END'
        return 0;
    }

    if (strcmp(argv[1], "--vowels") == 0) {
        printf("%d\n", count_of_set(text, "aeiou"));
END
swap main.c '[--help] <file' '[--help | --vowels] <file'
next dee 'Count vowels on request'
news bob 'Announce the second version'
news eli 'Greet the meeting in Graz'
news bob 'Thank the contributors'
finish
