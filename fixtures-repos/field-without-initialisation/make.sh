#!/bin/sh
# A reader forgets where a line begins; the field alone, put back but never set, is enough for the test.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/words
END
put Makefile <<'END'
CC = gcc
CFLAGS = -O0

words: words.c
	$(CC) $(CFLAGS) -o $@ words.c
END
put words.c <<'END'
/* words: prints the words of standard input, one per line; a line that begins with # is a comment. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MAX_WORD 64

struct reader {
    FILE *file;
    int is_line_start;
    int n_words;
};

static void open_reader(struct reader *reader, FILE *file)
{
    memset(reader, 0, sizeof *reader);
    reader->file = file;
    reader->is_line_start = 1;
}

static void skip_line(struct reader *reader)
{
    int letter;

    do
        letter = getc(reader->file);
    while (letter != '\n' && letter != EOF);
}

/* Reads the next word; 0 at the end. */
static int next_word(struct reader *reader, char *word)
{
    int letter, n = 0;

    while ((letter = getc(reader->file)) != EOF) {
        if (letter == '#' && reader->is_line_start) {
            skip_line(reader);
            continue;
        }
        reader->is_line_start = letter == '\n';
        if (!isspace(letter)) {
            if (n < MAX_WORD - 1)
                word[n++] = (char)letter;
        } else if (n > 0) {
            break;
        }
    }

    word[n] = '\0';
    reader->n_words += n > 0;
    return n > 0;
}

int main(void)
{
    char word[MAX_WORD];
    struct reader reader;

    open_reader(&reader, stdin);
    while (next_word(&reader, word))
        puts(word);
    fprintf(stderr, "%d words\n", reader.n_words);
    return 0;
}
END
put suite.sh <<'END'
# What words has to do: prints a line for each case, and fails if one is wrong.
n_wrong=0
check() {
    if [ "$2" = "$3" ]; then echo "ok: $1"; else echo "not ok: $1"; n_wrong=1; fi
}
check 'two words' "$(printf 'red green\n' | ./words 2>/dev/null | tr '\n' ' ')" 'red green '
check 'their number' "$(printf 'red green\n' | ./words 2>&1 >/dev/null)" '2 words'
check 'a comment' "$(printf '# colours\nred\n' | ./words 2>/dev/null)" red
check 'a later comment' "$(printf 'red\n#green\n' | ./words 2>/dev/null)" red
check 'nothing' "$(./words 2>&1 </dev/null)" '0 words'
exit $n_wrong
END
commit ada 0 'Print the words of a text'
news bob 'Announce the first version'
for topic in numbers quotes; do news dee "Collect wishes about $topic"; done

rewrite words.c 'struct reader {' <<'END'
struct reader {
    FILE *file;
    int n_words;
};
END
rewrite words.c 'static void open_reader(' <<'END'
static void open_reader(struct reader *reader, FILE *file)
{
    memset(reader, 0, sizeof *reader);
    reader->file = file;
}
END
rewrite words.c 'static int next_word(' <<'END'
static int next_word(struct reader *reader, char *word)
{
    int letter, n = 0;

    while ((letter = getc(reader->file)) != EOF) {
        if (letter == '#') {
            skip_line(reader);
            if (n > 0)
                break;
            continue;
        }
        if (!isspace(letter)) {
            if (n < MAX_WORD - 1)
                word[n++] = (char)letter;
        } else if (n > 0) {
            break;
        }
    }

    word[n] = '\0';
    if (n > 0)
        reader->n_words++;
    return n > 0;
}
END
swap words.c 'a line that begins with # is a comment.' '# begins a comment.'
next eli 'Allow comments behind words'
news bob 'Thank the translators'
news cho 'Plan the second version'

put_test
next cho 'Test a channel name'
finish
