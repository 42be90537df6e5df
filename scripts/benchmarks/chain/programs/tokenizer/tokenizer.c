/* Splits the text of a small C-like language into tokens, and counts its names.
 *
 * usage: tokenizer [-n] [-s] <text
 *   -n  say line and column of each token
 *   -s  only the summary
 * Exit status: 0, or 1 if some token is malformed. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXT 48
#define N_BUCKETS 7

enum kind { END, NAME, KEYWORD, INTEGER, REAL, STRING, LETTER, OPERATOR, WRONG, N_KINDS };

static const char *const kind_names[N_KINDS] = {
    "end", "name", "keyword", "integer", "real", "string", "letter", "operator", "wrong",
};

static const char *const keywords[] = {"break", "else", "for", "if", "int", "return", "while"};

static const char *const operators[] = {
    "<<=", ">>=", "...", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "+=", "-=", "->",
};

struct source {
    char *text;
    size_t length;
    size_t at;
    int line;
    int column;
};

struct token {
    enum kind kind;
    char text[MAX_TEXT];
    size_t length;
    long value;
    int line;
    int column;
};

struct name {
    char *text;
    int count;
    int first_line;
    struct name *next;
};

static struct name *buckets[N_BUCKETS];
static int n_tokens[N_KINDS];
static int n_comments;
static const char *complaint;

static void *allocate(size_t n_bytes) {
    void *memory = calloc(1, n_bytes);
    if (memory == NULL) {
        fprintf(stderr, "tokenizer: out of memory\n");
        exit(1);
    }
    return memory;
}

static void read_all(struct source *source, FILE *file) {
    size_t room = 64;
    source->text = allocate(room);
    source->length = 0;
    for (;;) {
        int c = getc(file);
        if (c == EOF) {
            break;
        }
        if (source->length + 1 == room) {
            room = room * 2;
            source->text = realloc(source->text, room);
            if (source->text == NULL) {
                exit(1);
            }
        }
        source->text[source->length] = (char)c;
        source->length++;
    }
    source->text[source->length] = '\0';
    source->at = 0;
    source->line = 1;
    source->column = 1;
}

static int peek(const struct source *source, size_t ahead) {
    size_t place = source->at + ahead;
    if (place >= source->length) {
        return EOF;
    }
    return (unsigned char)source->text[place];
}

static int advance(struct source *source) {
    int c = peek(source, 0);
    if (c == EOF) {
        return EOF;
    }
    source->at++;
    if (c == '\n') {
        source->line++;
        source->column = 1;
    } else if (c == '\t') {
        source->column = (source->column + 7) / 8 * 8 + 1;
    } else {
        source->column++;
    }
    return c;
}

static void append(struct token *token, int c) {
    if (token->length + 1 >= MAX_TEXT) {
        complaint = "too long";
        return;
    }
    token->text[token->length] = (char)c;
    token->length++;
    token->text[token->length] = '\0';
}

/* Takes spaces and comments; nested comments are allowed. */
static void skip(struct source *source) {
    int depth = 0;
    for (;;) {
        int c = peek(source, 0);
        int next = peek(source, 1);
        if (c == EOF) {
            if (depth > 0) {
                complaint = "open comment";
            }
            return;
        }
        if (c == '/' && next == '*') {
            if (depth == 0) {
                n_comments++;
            }
            depth++;
            advance(source);
            advance(source);
            continue;
        }
        if (depth > 0) {
            if (c == '*' && next == '/') {
                depth--;
                advance(source);
            }
            advance(source);
            continue;
        }
        if (c == '/' && next == '/') {
            n_comments++;
            while (c != '\n' && c != EOF) {
                advance(source);
                c = peek(source, 0);
            }
            continue;
        }
        if (!isspace(c)) {
            return;
        }
        advance(source);
    }
}

static int is_keyword(const char *text) {
    int low = 0;
    int high = (int)(sizeof keywords / sizeof keywords[0]) - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        int order = strcmp(text, keywords[middle]);
        if (order == 0) {
            return 1;
        }
        if (order < 0) {
            high = middle - 1;
        } else {
            low = middle + 1;
        }
    }
    return 0;
}

static unsigned hash(const char *text) {
    unsigned sum = 0;
    while (*text != '\0') {
        sum = sum * 31 + (unsigned char)*text;
        text++;
    }
    return sum % N_BUCKETS;
}

static void count_name(const char *text, int line) {
    unsigned bucket = hash(text);
    struct name *name;
    for (name = buckets[bucket]; name != NULL; name = name->next) {
        if (strcmp(name->text, text) == 0) {
            name->count++;
            return;
        }
    }
    name = allocate(sizeof *name);
    name->text = allocate(strlen(text) + 1);
    strcpy(name->text, text);
    name->count = 1;
    name->first_line = line;
    name->next = buckets[bucket];
    buckets[bucket] = name;
}

static void scan_name(struct source *source, struct token *token) {
    int c = peek(source, 0);
    while (isalnum(c) || c == '_') {
        append(token, advance(source));
        c = peek(source, 0);
    }
    token->kind = NAME;
    if (is_keyword(token->text)) {
        token->kind = KEYWORD;
    } else {
        count_name(token->text, token->line);
    }
}

static int digit_value(int c) {
    if (isdigit(c)) {
        return c - '0';
    }
    if (isxdigit(c)) {
        return tolower(c) - 'a' + 10;
    }
    return 99;
}

static void scan_number(struct source *source, struct token *token) {
    int base = 10;
    int c;
    token->kind = INTEGER;
    if (peek(source, 0) == '0') {
        base = 8;
        append(token, advance(source));
        if (tolower(peek(source, 0)) == 'x') {
            base = 16;
            append(token, advance(source));
            if (digit_value(peek(source, 0)) >= 16) {
                complaint = "no digits";
            }
        }
    }
    c = peek(source, 0);
    while (digit_value(c) < base) {
        token->value = token->value * base + digit_value(c);
        append(token, advance(source));
        c = peek(source, 0);
    }
    if (base == 10 && c == '.' && isdigit(peek(source, 1))) {
        token->kind = REAL;
        append(token, advance(source));
        while (isdigit(peek(source, 0))) {
            append(token, advance(source));
        }
        c = peek(source, 0);
    }
    if (base == 10 && (c == 'e' || c == 'E')) {
        token->kind = REAL;
        append(token, advance(source));
        if (peek(source, 0) == '-' || peek(source, 0) == '+') {
            append(token, advance(source));
        }
        if (!isdigit(peek(source, 0))) {
            complaint = "no exponent";
        }
        while (isdigit(peek(source, 0))) {
            append(token, advance(source));
        }
    }
    if (isalnum(peek(source, 0))) {
        complaint = "bad digit";
        while (isalnum(peek(source, 0))) {
            append(token, advance(source));
        }
    }
}

/* The letter that an escape stands for; the backslash is taken already. */
static int escaped(struct source *source) {
    int c = advance(source);
    int value = 0;
    int n_digits = 0;
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case '0':
    case '1':
    case '2':
    case '3':
        value = c - '0';
        for (n_digits = 1; n_digits < 3; n_digits++) {
            int next = peek(source, 0);
            if (next < '0' || next > '7') {
                break;
            }
            value = value * 8 + (advance(source) - '0');
        }
        return value;
    case '\\':
    case '\'':
    case '"':
        return c;
    default:
        complaint = "bad escape";
        return c;
    }
}

static void scan_quoted(struct source *source, struct token *token) {
    int quote = advance(source);
    token->kind = quote == '"' ? STRING : LETTER;
    for (;;) {
        int c = peek(source, 0);
        if (c == EOF || c == '\n') {
            complaint = "open quote";
            goto done;
        }
        advance(source);
        if (c == quote) {
            break;
        }
        if (c == '\\') {
            c = escaped(source);
        }
        append(token, c);
    }
done:
    if (token->kind == LETTER) {
        if (token->length != 1) {
            complaint = "not one letter";
        }
        token->value = (unsigned char)token->text[0];
    }
}

static void scan_operator(struct source *source, struct token *token) {
    size_t n = sizeof operators / sizeof operators[0];
    size_t i;
    token->kind = OPERATOR;
    for (i = 0; i < n; i++) {
        size_t length = strlen(operators[i]);
        if (source->at + length <= source->length && strncmp(source->text + source->at, operators[i], length) == 0) {
            while (length > 0) {
                append(token, advance(source));
                length--;
            }
            return;
        }
    }
    append(token, advance(source));
    if (strchr("+-*/%=<>!&|^~?:;,.(){}[]", token->text[0]) == NULL) {
        complaint = "unknown letter";
    }
}

static void next_token(struct source *source, struct token *token) {
    int c;
    complaint = NULL;
    memset(token, 0, sizeof *token);
    skip(source);
    token->line = source->line;
    token->column = source->column;
    c = peek(source, 0);
    if (c == EOF) {
        token->kind = END;
    } else if (isalpha(c) || c == '_') {
        scan_name(source, token);
    } else if (isdigit(c)) {
        scan_number(source, token);
    } else if (c == '"' || c == '\'') {
        scan_quoted(source, token);
    } else {
        scan_operator(source, token);
    }
    if (complaint != NULL) {
        token->kind = WRONG;
    }
}

static void show(const struct token *token, int with_place) {
    size_t i;
    if (with_place) {
        printf("%d:%d ", token->line, token->column);
    }
    printf("%s", kind_names[token->kind]);
    if (token->length > 0) {
        printf(" ");
    }
    for (i = 0; i < token->length; i++) {
        int c = (unsigned char)token->text[i];
        if (isprint(c)) {
            putchar(c);
        } else {
            printf("<%d>", c);
        }
    }
    if (token->kind == INTEGER || token->kind == LETTER) {
        printf(" = %ld", token->value);
    } else if (token->kind == WRONG) {
        printf(" (%s)", complaint);
    }
    printf("\n");
}

static int by_text(const void *one, const void *other) {
    const struct name *first = *(struct name *const *)one;
    const struct name *second = *(struct name *const *)other;
    if (first->count != second->count) {
        return second->count - first->count;
    }
    return strcmp(first->text, second->text);
}

static void summarise(const struct source *source) {
    struct name *sorted[64];
    size_t n_sorted = 0;
    size_t i;
    int total = 0;
    for (i = 0; i < N_KINDS; i++) {
        if (n_tokens[i] > 0) {
            printf("%d %s\n", n_tokens[i], kind_names[i]);
        }
        total += n_tokens[i];
    }
    printf("%d tokens, %d comments, %d lines\n", total, n_comments, source->line - 1);
    for (i = 0; i < N_BUCKETS; i++) {
        struct name *name;
        for (name = buckets[i]; name != NULL && n_sorted < 64; name = name->next) {
            sorted[n_sorted] = name;
            n_sorted++;
        }
    }
    qsort(sorted, n_sorted, sizeof sorted[0], by_text);
    for (i = 0; i < n_sorted; i++) {
        printf("%s: %d, first in line %d\n", sorted[i]->text, sorted[i]->count, sorted[i]->first_line);
    }
}

static void release(struct source *source) {
    size_t i;
    for (i = 0; i < N_BUCKETS; i++) {
        while (buckets[i] != NULL) {
            struct name *next = buckets[i]->next;
            free(buckets[i]->text);
            free(buckets[i]);
            buckets[i] = next;
        }
    }
    free(source->text);
}

int main(int argc, char **argv) {
    struct source source;
    struct token token;
    int with_place = 0;
    int only_summary = 0;
    int i;
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-n") == 0) {
            with_place = 1;
        } else if (strcmp(argv[i], "-s") == 0) {
            only_summary = 1;
        } else {
            fprintf(stderr, "usage: tokenizer [-n] [-s]\n");
            return 1;
        }
    }
    read_all(&source, stdin);
    do {
        next_token(&source, &token);
        if (token.kind != END) {
            n_tokens[token.kind]++;
        }
        if (!only_summary && token.kind != END) {
            show(&token, with_place);
        }
    } while (token.kind != END && source.at <= source.length);
    summarise(&source);
    release(&source);
    return n_tokens[WRONG] > 0 ? 1 : 0;
}
