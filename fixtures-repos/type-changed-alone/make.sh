#!/bin/sh
# Options are compared by a letter, no longer by name; a pointer that is passed as a number is no name either.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/greet
END
put Makefile <<'END'
CC = gcc
CFLAGS = -O0 -w

greet: greet.c
	$(CC) $(CFLAGS) -o $@ greet.c
END
put greet.c <<'END'
/* greet: greets who is named, after options. */
#include <stdio.h>
#include <string.h>

/* Whether the argument is this option. */
static int is_option(const char *argument, const char *name)
{
    if (strncmp(argument, "--", 2) != 0)
        return 0;
    return strcmp(argument + 2, name) == 0;
}

int main(int argc, char **argv)
{
    const char *greeting = "Hello";
    int i;

    for (i = 1; i < argc; i++) {
        if (is_option(argv[i], "formal"))
            greeting = "Good day";
        else if (is_option(argv[i], "evening"))
            greeting = "Good evening";
        else
            printf("%s, %s!\n", greeting, argv[i]);
    }
    return 0;
}
END
commit ada 0 'Greet who is named'
news bob 'Announce the first version'
for topic in languages titles; do news dee "Collect wishes about $topic"; done

rewrite greet.c 'static int is_option(' <<'END'
static int is_option(const char *argument, char letter)
{
    if (*argument != '-')
        return 0;
    return argument[1] == letter;
}
END
rewrite greet.c 'int main(' <<'END'
int main(int argc, char **argv)
{
    const char *greeting = "Hello";
    int i;

    for (i = 1; i < argc; i++) {
        if (is_option(argv[i], 'f'))
            greeting = "Good day";
        else if (is_option(argv[i], 'e'))
            greeting = "Good evening";
        else if (is_option(argv[i], 'n'))
            greeting = "Good night";
        else
            printf("%s, %s!\n", greeting, argv[i]);
    }
    return 0;
}
END
swap greet.c '/* Whether the argument is this option. */' '/* Whether the argument is the option of this letter. */'
next eli 'Shorten the options to one letter'
news bob 'Thank the translators'
news cho 'Plan the second version'

put_test
next cho 'Test a long option'
finish
