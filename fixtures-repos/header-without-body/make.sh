#!/bin/sh
# A tree of blocks, freed in a loop, then by kind; a loop that became a switch over its old body frees nothing.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/blocks
END
put Makefile <<'END'
CC = gcc
CFLAGS = -O0

blocks: blocks.c
	$(CC) $(CFLAGS) -o $@ blocks.c
END
put blocks.c <<'END'
/* blocks: reads an outline such as `a(b c)d` and prints its words, one per line, indented. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { WORD, GROUP };

struct block {
    enum kind kind;
    char *word;           /* of a word */
    struct block *inside; /* of a group */
    struct block *next;
};

static int n_blocks; /* that are in use */

static struct block *new_block(enum kind kind)
{
    struct block *block = calloc(1, sizeof *block);

    if (block == NULL)
        exit(3);
    block->kind = kind;
    n_blocks++;
    return block;
}

static struct block *read_blocks(const char **text)
{
    struct block *first = NULL, **end = &first;

    while (**text != '\0' && **text != ')') {
        if (**text == '(') {
            ++*text;
            *end = new_block(GROUP);
            (*end)->inside = read_blocks(text);
            if (**text == ')')
                ++*text;
            end = &(*end)->next;
        } else if (isalnum((unsigned char)**text)) {
            size_t n = strcspn(*text, "() ");

            *end = new_block(WORD);
            (*end)->word = strndup(*text, n);
            *text += n;
            end = &(*end)->next;
        } else {
            ++*text;
        }
    }
    return first;
}

static void print_blocks(const struct block *block, int depth)
{
    for (; block != NULL; block = block->next)
        if (block->kind == WORD)
            printf("%*s%s\n", 2 * depth, "", block->word);
        else
            print_blocks(block->inside, depth + 1);
}

/* Frees a list of blocks, and what is inside them. */
static void free_blocks(struct block *block)
{
    while (block != NULL) {
        struct block *next = block->next;

        free(block->word);
        free_blocks(block->inside);
        free(block);
        n_blocks--;
        block = next;
    }
}

int main(int argc, char **argv)
{
    const char *text = argc > 1 ? argv[1] : "";
    struct block *blocks = read_blocks(&text);

    print_blocks(blocks, 0);
    free_blocks(blocks);
    if (n_blocks != 0)
        fputs("blocks: some are still in use\n", stderr);
    return 0;
}
END
commit ada 0 'Print an outline'
news bob 'Announce the first version'
for topic in comments numbers; do news dee "Collect wishes about $topic"; done

rewrite blocks.c 'static void free_blocks(' <<'END'
static void free_blocks(struct block *block)
{
    if (block == NULL)
        return;

    switch (block->kind) {
    case WORD:
        free(block->word);
        break;
    case GROUP:
        free_blocks(block->inside);
        break;
    }
    free(block);
    n_blocks--;
}
END
swap blocks.c '/* Frees a list of blocks, and what is inside them. */' '/* Frees blocks and what their kind holds. */'
swap blocks.c 'static void print_blocks(const struct block *block, int depth)' 'static void print_blocks(const struct block *block, int depth) /* 0: outermost */'
next eli 'Free what the kind of a block holds'
news bob 'Thank the translators'
news cho 'Plan the second version'

put_test
next cho 'Test that everything is freed'
finish
