/* Replaces what matches a pattern in each line.
 *
 * usage: substitute PATTERN REPLACEMENT [FLAGS] <text
 *   pattern      c  .  [a-z]  [^a-z]  \n \t \\  ^ and $ at the ends; each may be followed by *, + or ?
 *   replacement  & is what matched, \u the next letter as a capital, \n \t \\ \& as written
 *   flags        g all matches, i letters of both cases, p only lines that changed, digits: from that match on
 * Exit status: 0 if some line changed, or else 1. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_LETTERS 256

enum kind { LITERAL, ANY, CLASS, LINE_BEGIN, LINE_END };

struct node {
    enum kind kind;
    unsigned char letter;
    unsigned char *members;
    int least;
    int most;
    struct node *next;
};

struct buffer {
    char *text;
    size_t length;
    size_t room;
};

struct flags {
    int global;
    int fold;
    int only_changed;
    int first;
};

static struct flags flags;
static int n_lines;
static int n_matches;
static int n_changed;

static void fail(const char *reason) {
    printf("substitute: %s\n", reason);
    exit(1);
}

static void put(struct buffer *buffer, int c) {
    if (buffer->length + 1 >= buffer->room) {
        buffer->room = buffer->room * 2 + 16;
        buffer->text = realloc(buffer->text, buffer->room);
        if (buffer->text == NULL) {
            fail("out of memory");
        }
    }
    buffer->text[buffer->length] = (char)c;
    buffer->length++;
    buffer->text[buffer->length] = '\0';
}

static void empty(struct buffer *buffer) {
    buffer->length = 0;
    put(buffer, '\0');
    buffer->length = 0;
}

/* The letter that stands at `*at`, which may be escaped; moves on to its last letter. */
static int escape(const char **at) {
    int result = (unsigned char)**at;
    if (result != '\\') {
        return result;
    }
    if ((*at)[1] == '\0') {
        return result;
    }
    (*at)++;
    switch (**at) {
    case 'n':
        result = '\n';
        break;
    case 't':
        result = '\t';
        break;
    default:
        result = (unsigned char)**at;
        break;
    }
    return result;
}

static int fold(int c) {
    return flags.fold ? tolower(c) : c;
}

static void add_member(unsigned char *members, int c) {
    members[c] = 1;
    if (flags.fold) {
        members[tolower(c)] = 1;
        members[toupper(c)] = 1;
    }
}

/* `[...]`; `*at` stands on the bracket, and afterwards on the closing one. */
static unsigned char *parse_class(const char **at) {
    unsigned char *members = calloc(N_LETTERS, 1);
    int negated = 0;
    int previous = -1;
    int c;
    if (members == NULL) {
        fail("out of memory");
    }
    (*at)++;
    if (**at == '^') {
        negated = 1;
        (*at)++;
    }
    do {
        if (**at == '\0') {
            free(members);
            fail("open class");
        }
        if (**at == '-' && previous >= 0 && (*at)[1] != ']' && (*at)[1] != '\0') {
            (*at)++;
            int last = escape(at);
            for (c = previous; c <= last; c++) {
                add_member(members, c);
            }
            previous = -1;
        } else {
            previous = escape(at);
            add_member(members, previous);
        }
        (*at)++;
    } while (**at != ']');
    if (negated) {
        for (c = 0; c < N_LETTERS; c++) {
            members[c] = !members[c];
        }
    }
    return members;
}

static struct node *new_node(enum kind kind) {
    struct node *node = calloc(1, sizeof *node);
    if (node == NULL) {
        fail("out of memory");
    }
    node->kind = kind;
    node->least = 1;
    node->most = 1;
    return node;
}

static void parse_closure(struct node *node, const char **at) {
    switch ((*at)[1]) {
    case '*':
        node->least = 0;
        node->most = -1;
        break;
    case '+':
        node->most = -1;
        break;
    case '?':
        node->least = 0;
        break;
    default:
        return;
    }
    (*at)++;
}

static struct node *parse_pattern(const char *pattern) {
    struct node *first = NULL;
    struct node **link = &first;
    const char *at;
    for (at = pattern; *at != '\0'; at++) {
        struct node *node;
        if (*at == '^' && at == pattern) {
            node = new_node(LINE_BEGIN);
        } else if (*at == '$' && at[1] == '\0') {
            node = new_node(LINE_END);
        } else if (*at == '.') {
            node = new_node(ANY);
        } else if (*at == '[') {
            node = new_node(CLASS);
            node->members = parse_class(&at);
        } else {
            node = new_node(LITERAL);
            node->letter = (unsigned char)fold(escape(&at));
        }
        if (node->kind != LINE_BEGIN && node->kind != LINE_END) {
            parse_closure(node, &at);
        }
        *link = node;
        link = &node->next;
    }
    if (first == NULL) {
        fail("empty pattern");
    }
    return first;
}

static int matches_letter(const struct node *node, int c) {
    switch (node->kind) {
    case LITERAL:
        return fold(c) == node->letter;
    case ANY:
        return 1;
    case CLASS:
        return node->members[c];
    default:
        return 0;
    }
}

/* Where the match of `node` and all that follows ends, or -1; the longest closure is tried first. */
static int match(const struct node *node, const char *line, int at) {
    int n = 0;
    if (node == NULL) {
        return at;
    }
    if (node->kind == LINE_BEGIN) {
        return at == 0 ? match(node->next, line, at) : -1;
    }
    if (node->kind == LINE_END) {
        return line[at] == '\0' ? match(node->next, line, at) : -1;
    }
    while (line[at + n] != '\0' && (node->most < 0 || n < node->most)) {
        if (!matches_letter(node, (unsigned char)line[at + n])) {
            break;
        }
        n++;
    }
    while (n >= node->least) {
        int end = match(node->next, line, at + n);
        if (end >= 0) {
            return end;
        }
        n--;
    }
    return -1;
}

static void replace(struct buffer *output, const char *replacement, const char *line, int begin, int end) {
    const char *at;
    int capital = 0;
    int i;
    for (at = replacement; *at != '\0'; at++) {
        if (*at == '&') {
            for (i = begin; i < end; i++) {
                put(output, capital ? toupper((unsigned char)line[i]) : line[i]);
                capital = 0;
            }
            continue;
        }
        if (at[0] == '\\' && at[1] == 'u') {
            capital = 1;
            at++;
            continue;
        }
        i = escape(&at);
        if (capital) {
            i = toupper(i);
        }
        capital = 0;
        put(output, i);
    }
}

static int change_line(const struct node *pattern, const char *replacement, const char *line, struct buffer *output) {
    int n_found = 0;
    int n_replaced = 0;
    int at = 0;
    int last_end = -1;
    empty(output);
    for (;;) {
        int end = match(pattern, line, at);
        int is_new = end >= 0 && (end > at || end != last_end);
        if (is_new) {
            n_found++;
            n_matches++;
            if (n_found >= flags.first && (flags.global || n_replaced == 0)) {
                replace(output, replacement, line, at, end);
                n_replaced++;
            } else {
                int i;
                for (i = at; i < end; i++) {
                    put(output, line[i]);
                }
            }
            last_end = end;
        }
        if (is_new && end > at) {
            at = end;
            continue;
        }
        if (line[at] == '\0') {
            break;
        }
        put(output, line[at]);
        at++;
    }
    return n_replaced;
}

static int read_line(struct buffer *line, FILE *file) {
    int c;
    empty(line);
    while ((c = getc(file)) != EOF) {
        if (c == '\n') {
            return 1;
        }
        put(line, c);
    }
    return line->length > 0;
}

static void parse_flags(const char *text) {
    flags.first = 1;
    for (; *text != '\0'; text++) {
        if (isdigit((unsigned char)*text)) {
            flags.first = atoi(text);
            while (isdigit((unsigned char)text[1])) {
                text++;
            }
        } else if (*text == 'g') {
            flags.global = 1;
        } else if (*text == 'i') {
            flags.fold = 1;
        } else if (*text == 'p') {
            flags.only_changed = 1;
        } else {
            fail("unknown flag");
        }
    }
}

static void release(struct node *node) {
    if (node == NULL) {
        return;
    }
    release(node->next);
    free(node->members);
    free(node);
}

int main(int argc, char **argv) {
    struct buffer line = {NULL, 0, 0};
    struct buffer output = {NULL, 0, 0};
    struct node *pattern;
    if (argc < 3 || argc > 4) {
        fail("usage: substitute PATTERN REPLACEMENT [FLAGS]");
    }
    parse_flags(argc == 4 ? argv[3] : "");
    pattern = parse_pattern(argv[1]);
    while (read_line(&line, stdin)) {
        int n = change_line(pattern, argv[2], line.text, &output);
        n_lines++;
        if (n > 0) {
            n_changed++;
        } else if (flags.only_changed) {
            continue;
        }
        printf("%s\n", output.text);
    }
    printf("-- %d of %d lines, %d matches\n", n_changed, n_lines, n_matches);
    release(pattern);
    free(line.text);
    free(output.text);
    return n_changed > 0 ? 0 : 1;
}
