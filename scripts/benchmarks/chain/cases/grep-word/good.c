/* Prints the lines of standard input that match: fixed strings (-F) or simple patterns, whole words (-w).
 *
 * usage: grep [-F] [-w] [-i] [-c] PATTERN <text */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MAX_TEXT 4096

typedef int (*executor)(const char *buffer, int size, int *match_size);

static const char *pattern;
static int match_words;
static int match_case = 1;
static int count_only;
static int n_printed;
static int option_index = 1;

static int fold(int c) {
    return match_case ? c : tolower(c);
}

static int is_word(int c) {
    return isalnum(c) || c == '_';
}

static int is_whole_word(const char *buffer, int size, int begin, int length) {
    if (begin > 0 && is_word((unsigned char)buffer[begin - 1])) {
        return 0;
    }
    return begin + length >= size || !is_word((unsigned char)buffer[begin + length]);
}

static int same_at(const char *buffer, int size, int begin, int any) {
    int i;
    for (i = 0; pattern[i] != '\0'; i++) {
        if (begin + i >= size || buffer[begin + i] == '\n') {
            return 0;
        }
        if (any && pattern[i] == '.') {
            continue;
        }
        if (fold((unsigned char)buffer[begin + i]) != fold((unsigned char)pattern[i])) {
            return 0;
        }
    }
    return 1;
}

/* Patterns: a dot stands for any letter. */
static int Gexecute(const char *buffer, int size, int *match_size) {
    int length = (int)strlen(pattern);
    int begin;
    for (begin = 0; begin + length <= size; begin++) {
        if (!same_at(buffer, size, begin, 1)) {
            continue;
        }
        if (match_words && !is_whole_word(buffer, size, begin, length)) {
            continue;
        }
        *match_size = length;
        return begin;
    }
    return -1;
}

/* Fixed strings. */
static int Fexecute(const char *buffer, int size, int *match_size) {
    int length = (int)strlen(pattern);
    int begin;
    for (begin = 0; begin + length <= size; begin++) {
        if (!same_at(buffer, size, begin, 0)) {
            continue;
        }
        if (match_words) {
            if (!is_whole_word(buffer, size, begin, length)) {
                continue;
            }
        }
        *match_size = length;
        return begin;
    }
    return -1;
}

static executor execute = Gexecute;

static void setmatcher(const char *name) {
    if (strcmp(name, "fgrep") == 0) {
        execute = Fexecute;
    }
}

/* Prints all lines that match; returns how many. */
static int grepbuf(const char *begin, const char *limit) {
    const char *p = begin;
    int n = 0;
    int match_size = 0;
    int match_offset = execute(p, (int)(limit - p), &match_size);
    while (match_offset != -1) {
        const char *first = p + match_offset;
        const char *last = first + match_size;
        while (first > begin && first[-1] != '\n') {
            first--;
        }
        while (last < limit && *last != '\n') {
            last++;
        }
        if (!count_only) {
            printf("%.*s\n", (int)(last - first), first);
        }
        n++;
        if (last >= limit) {
            break;
        }
        p = last + 1;
        match_offset = execute(p, (int)(limit - p), &match_size);
    }
    n_printed += n;
    return n;
}

/* The letter of the next option, or -1. */
static int next_option(int argc, char **argv) {
    if (option_index >= argc || argv[option_index][0] != '-') {
        return -1;
    }
    option_index++;
    return argv[option_index - 1][1];
}

int main(int argc, char **argv) {
    static char text[MAX_TEXT];
    int size;
    int opt;
    while ((opt = next_option(argc, argv)) != -1) {
        switch (opt) {
        case 'F':
            setmatcher("fgrep");
            break;
        case 'w':
            match_words = 1;
            break;
        case 'i':
            match_case = 0;
            break;
        case 'c':
            count_only = 1;
            break;
        default:
            return 1;
        }
    }
    if (option_index >= argc) {
        return 1;
    }
    pattern = argv[option_index];
    size = (int)fread(text, 1, MAX_TEXT - 1, stdin);
    grepbuf(text, text + size);
    if (count_only) {
        printf("%d\n", n_printed);
    }
    return n_printed > 0 ? 0 : 1;
}
