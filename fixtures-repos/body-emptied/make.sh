#!/bin/sh
# Text is escaped by a table that lacks a letter; a function that does nothing escapes nothing either.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/page
END
put Makefile <<'END'
CC = gcc
CFLAGS = -O0

page: page.c
	$(CC) $(CFLAGS) -o $@ page.c
END
put page.c <<'END'
/* page: writes its arguments as paragraphs of HTML. */
#include <stdio.h>
#include <string.h>

/* Writes text, with entities for the letters that HTML keeps for itself. */
static void write_text(const char *text, FILE *file)
{
    for (; *text != '\0'; text++) {
        if (*text == '<')
            fputs("&lt;", file);
        else if (*text == '>')
            fputs("&gt;", file);
        else if (*text == '&')
            fputs("&amp;", file);
        else
            fputc(*text, file);
    }
}

int main(int argc, char **argv)
{
    int i;

    for (i = 1; i < argc; i++) {
        fputs("<p>", stdout);
        write_text(argv[i], stdout);
        fputs("</p>\n", stdout);
    }
    return 0;
}
END
commit ada 0 'Write paragraphs'
news bob 'Announce the first version'
for topic in lists links; do news dee "Collect wishes about $topic"; done

before page.c '/* Writes text, with entities' <<'END'
/* Letters that HTML keeps for itself, and what is written in their place. */
static const struct {
    char letter;
    const char *entity;
} entities[] = {
    { '<', "&lt;" },
    { '>', "&gt;" },
    { '"', "&quot;" },
};

END
rewrite page.c 'static void write_text(' <<'END'
static void write_text(const char *text, FILE *file)
{
    size_t i, n;

    while (*text != '\0') {
        n = strcspn(text, "<>\"");
        fwrite(text, 1, n, file);
        text += n;
        for (i = 0; *text != '\0' && i < sizeof entities / sizeof *entities; i++)
            if (entities[i].letter == *text) {
                fputs(entities[i].entity, file);
                text++;
                break;
            }
    }
}
END
next eli 'Keep the entities in a table'
news bob 'Thank the translators'
news cho 'Plan the second version'

put_test
next cho 'Test an ampersand'
finish
