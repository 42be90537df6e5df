#!/bin/sh
# No test fails; but the program needs several times the processor time that it did.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put words.c <<'END'
/* words: counts the different words of a text that it makes itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_BUCKETS 4096
#define N_WORDS 60000
#define N_LETTERS 6

struct word {
    struct word *next;
    char text[N_LETTERS + 1];
};

static struct word *buckets[N_BUCKETS];
static unsigned long n_steps;

static unsigned hash(const char *text)
{
    unsigned sum = 0;
    while (*text)
        sum = sum * 31 + (unsigned char)*text++;
    return sum % N_BUCKETS;
}

/* Whether the word is new. */
static int add(const char *text)
{
    struct word **at = &buckets[hash(text)];
    for (struct word *word = *at; word; word = word->next) {
        n_steps++;
        if (strcmp(word->text, text) == 0)
            return 0;
    }
    struct word *word = malloc(sizeof *word);
    if (!word)
        exit(1);
    strcpy(word->text, text);
    word->next = *at;
    *at = word;
    return 1;
}

/* The next word: letters of a linear congruential generator, the same in each run. */
static void make(char *text)
{
    static unsigned state = 1;
    for (int i = 0; i < N_LETTERS; i++) {
        state = state * 1103515245u + 12345u;
        text[i] = "aeinorst"[state >> 28 & 7];
    }
    text[N_LETTERS] = '\0';
}

int main(int argc, char **argv)
{
    char text[N_LETTERS + 1];
    unsigned n_different = 0;
    for (int i = 0; i < N_WORDS; i++) {
        make(text);
        n_different += add(text);
    }
    printf("%u different words\n", n_different);
    if (argc > 1 && strcmp(argv[1], "--steps") == 0)
        printf("%lu\n", n_steps);
    return 0;
}
END
put Makefile <<'END'
words: words.c
	$(CC) -O1 -o $@ words.c
END
put .gitignore <<'END'
words
END
put_test
commit ada 0 'Count words'
news bob 'Announce the counter'
swap words.c '%u different words' 'different words: %u'
next cho 'Print the number last'
for topic in stems numbers; do news dee "Collect wishes about $topic"; done

replace words.c '    while (*text)' <<'END'
    /* Words of one stem stand together. */
    for (int i = 0; i < N_STEM; i++)
END
swap words.c '#define N_LETTERS 6' '#define N_LETTERS 6
#define N_STEM 3'
next eli 'Keep words of one stem together'
news bob 'Thank the testers'
before words.c '/* Whether the word is new. */' <<'END'
/* A chain of each bucket has the newest word first. */

END
next cho 'Explain the order of words'
for topic in hyphens names accents; do news ada "Plan $topic"; done
finish
