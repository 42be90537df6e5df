#!/bin/sh
# The culprit moves a function and changes one line of it; later all functions of the file are sorted, that one too.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

# functions <first>...: puts the functions of words.c in this order, the others behind them as they are. A function
# goes from its comment to its closing brace; what is above the first comment stays there.
functions() {
    ORDER="$*" awk '
        function keep() { order[++n_chunks] = name; chunk[name] = text; text = ""; is_open = 0 }
        /^\/\*/ && !is_open { is_open = 1 }
        !is_open { if (n_chunks == 0) print; next }
        { text = text $0 "\n" }
        /^[a-z].*\(/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
        /^}/ { keep() }
        END {
            n_first = split(ENVIRON["ORDER"], first, " ")
            for (i = 1; i <= n_first; i++) {
                if (!(first[i] in chunk)) { print "no function " first[i] > "/dev/stderr"; exit 1 }
                printf "%s%s", (n_printed++ ? "\n" : ""), chunk[first[i]]
                is_done[first[i]] = 1
            }
            for (i = 1; i <= n_chunks; i++)
                if (!(order[i] in is_done)) printf "%s%s", (n_printed++ ? "\n" : ""), chunk[order[i]]
        }' words.c >.git/words.c
    cat .git/words.c >words.c
    rm .git/words.c
}

# news <author> <text>: an everyday commit.
news() {
    echo "- $2" | add NEWS
    next "$1" "$2"
}

put .gitignore <<'END'
*.o
*.d
/words
END
put Makefile <<'END'
CC = cc
CFLAGS = -O0 -Werror=return-type

words: main.o words.o
	$(CC) $(CFLAGS) -o $@ main.o words.o

.c.o:
	$(CC) $(CFLAGS) -MMD -MP -c $<

main.o words.o: Makefile

-include main.d words.d
END
put words.h <<'END'
#ifndef WORDS_H
#define WORDS_H

#include <stdio.h>

#define MAX_WORDS 1000
#define MAX_LENGTH 40

struct words {
    int n_words;
    int lengths[MAX_WORDS];
    int vowels[MAX_WORDS];
};

void read_words(struct words *words, FILE *file);
int add_word(struct words *words, const char *text);
int count_vowels(const char *text);
int longest(const struct words *words);
int shortest(const struct words *words);
int median_length(const struct words *words);
int median_vowels(const struct words *words);
int n_letters(const struct words *words);
int n_longer_than(const struct words *words, int length);
void print_report(const struct words *words, FILE *file);

#endif
END
put words.c <<'END'
#include "words.h"

#include <string.h>

/* Reads all words of a file. */
void read_words(struct words *words, FILE *file)
{
    char text[MAX_LENGTH + 1];

    words->n_words = 0;
    while (fscanf(file, "%40s", text) == 1)
        if (!add_word(words, text))
            break;
}

/* Returns 0 when there is no more room. */
int add_word(struct words *words, const char *text)
{
    if (words->n_words == MAX_WORDS)
        return 0;

    words->lengths[words->n_words] = strlen(text);
    words->vowels[words->n_words] = count_vowels(text);
    words->n_words++;
    return 1;
}

/* The length of the middle word, all of them sorted by length; of two, the shorter one. */
int median_length(const struct words *words)
{
    int counts[MAX_LENGTH + 1] = { 0 };
    int left = (words->n_words + 1) / 2;
    int length = 0;
    int i;

    for (i = 0; i < words->n_words; i++)
        counts[words->lengths[i]]++;
    for (; length < MAX_LENGTH; length++) {
        left -= counts[length];
        if (left <= 0)
            break;
    }
    return length;
}

/* How many vowels the middle word has, all of them sorted by that; of two, the one with less. */
int median_vowels(const struct words *words)
{
    int counts[MAX_LENGTH + 1] = { 0 };
    int left = (words->n_words + 1) / 2;
    int n_vowels = 0;
    int i;

    for (i = 0; i < words->n_words; i++)
        counts[words->vowels[i]]++;
    for (; n_vowels < MAX_LENGTH; n_vowels++) {
        left -= counts[n_vowels];
        if (left <= 0)
            break;
    }
    return n_vowels;
}

/* The vowels of a word of English, y among them. */
int count_vowels(const char *text)
{
    int n_vowels = 0;

    for (; *text != '\0'; text++)
        if (strchr("aeiouyAEIOUY", *text) != NULL)
            n_vowels++;
    return n_vowels;
}

/* The length of the longest word, 0 when there is none. */
int longest(const struct words *words)
{
    int length = 0;
    int i;

    for (i = 0; i < words->n_words; i++)
        if (words->lengths[i] > length)
            length = words->lengths[i];
    return length;
}

/* The length of the shortest word. */
int shortest(const struct words *words)
{
    int length = MAX_LENGTH;
    int i;

    for (i = 0; i < words->n_words; i++)
        if (words->lengths[i] < length)
            length = words->lengths[i];
    return length;
}

/* The letters of all words. */
int n_letters(const struct words *words)
{
    int n_letters = 0;
    int i;

    for (i = 0; i < words->n_words; i++)
        n_letters += words->lengths[i];
    return n_letters;
}

/* How many words are longer than this. */
int n_longer_than(const struct words *words, int length)
{
    int n_longer = 0;
    int i;

    for (i = 0; i < words->n_words; i++)
        if (words->lengths[i] > length)
            n_longer++;
    return n_longer;
}

/* Everything that there is to say about the words. */
void print_report(const struct words *words, FILE *file)
{
    fprintf(file, "words %d\n", words->n_words);
    fprintf(file, "letters %d\n", n_letters(words));
    if (words->n_words == 0)
        return;
    fprintf(file, "shortest %d\n", shortest(words));
    fprintf(file, "median %d\n", median_length(words));
    fprintf(file, "longest %d\n", longest(words));
    fprintf(file, "vowels %d\n", median_vowels(words));
    fprintf(file, "long %d\n", n_longer_than(words, 12));
}
END
put main.c <<'END'
/* words: describes the words of its standard input. */
#include "words.h"

int main(void)
{
    static struct words words;

    read_words(&words, stdin);
    print_report(&words, stdout);
    return 0;
}
END
put NEWS <<'END'
Changes of words, oldest first
END
commit ada 0 'Describe words'
news bob 'Ask for wishes'
news cho 'Thank for the first wishes'
swap words.c '"long %d\n", n_longer_than(words, 12)' '"long %d\n", n_longer_than(words, 10)'
next dee 'Call words of eleven letters long'
news eli 'Announce a meeting'
news bob 'Plan the second version'

# The culprit: median_length goes behind the other lengths, and its beginning is simplified on the way.
functions read_words add_word median_vowels count_vowels longest shortest median_length
swap words.c '/* The length of the shortest word. */' '/* The length of the shortest word, MAX_LENGTH when there is none. */'
swap words.c '/* The letters of all words. */' '/* The letters of all words together. */'
awk '/^int median_length/ { is_inside = 1 }
    is_inside && /int left = / { sub(/\(words->n_words \+ 1\) \/ 2/, "words->n_words / 2"); is_inside = 0 }
    { print }' words.c >.git/words.c
cat .git/words.c >words.c
rm .git/words.c
drop words.h 'int median_length'
after words.h 'int median_vowels' <<'END'
int median_length(const struct words *words);
END
echo '- the lengths stand together' | add NEWS
next cho 'Bring the lengths together'

news ada 'Move the meeting'
after words.c 'words->n_words = 0;' <<'END'
    text[MAX_LENGTH] = '\0';
END
next dee 'Be sure that words end'
news bob 'Thank the hosts of the meeting'

# All functions by name; two of them are edited on the way.
functions add_word count_vowels longest median_length median_vowels n_letters n_longer_than print_report read_words shortest
swap words.c '    for (; *text != '"'\\0'"'; text++)' '    while (*text != '"'\\0'"') {'
swap words.c '        if (strchr("aeiouyAEIOUY", *text) != NULL)' '        if (strchr("aeiouyAEIOUY", *text++) != NULL)'
awk '{ print } /^            n_vowels\+\+;$/ { print "    }" }' words.c >.git/words.c
cat .git/words.c >words.c
rm .git/words.c
swap words.c '/* The length of the middle word, all of them sorted by length; of two, the shorter one. */' '/*
 * The length of the middle word, all of them sorted by length. Of an even number of words it is the shorter one
 * of the two in the middle.
 */'
next eli 'Sort the functions by name'
news cho 'Publish the second version'
swap words.c 'counts[words->lengths[i]]++;' 'counts[words->lengths[i]] += 1;'
next bob 'Write increments of elements as additions'
put_test
next ada 'Test the median of three'
news dee 'Collect wishes for the third version'
finish
