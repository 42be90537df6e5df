# The first fourteen commits: the four operations, errors, input from a file.

put .gitignore <<'END'
*.o
*.d
/abacus
END
put Makefile <<'END'
CC = cc
CFLAGS = -O0
OBJS = main.o lexer.o parser.o eval.o

abacus: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS) -lm

.c.o:
	$(CC) $(CFLAGS) -MMD -MP -c $<

$(OBJS): Makefile

clean:
	rm -f abacus *.o *.d

-include $(OBJS:.o=.d)
END
put lexer.h <<'END'
#ifndef LEXER_H
#define LEXER_H

enum token_kind {
    TOKEN_END,
    TOKEN_NUMBER,
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_STAR,
    TOKEN_SLASH,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_BAD
};

struct lexer {
    const char *next; /* what is not read yet */
    enum token_kind kind;
    double number; /* of a TOKEN_NUMBER */
};

/* Begins with the first token of the text. */
void lexer_start(struct lexer *lexer, const char *text);

/* Goes to the next token. */
void lexer_advance(struct lexer *lexer);

#endif
END
put lexer.c <<'END'
#include "lexer.h"

#include <ctype.h>
#include <stdlib.h>

void lexer_start(struct lexer *lexer, const char *text)
{
    lexer->next = text;
    lexer_advance(lexer);
}

/* Reads the number that begins at the next character. */
static void read_number(struct lexer *lexer)
{
    char *end;

    lexer->number = strtod(lexer->next, &end);
    lexer->next = end;
    lexer->kind = TOKEN_NUMBER;
}

void lexer_advance(struct lexer *lexer)
{
    while (isspace((unsigned char)*lexer->next))
        lexer->next++;

    if (isdigit((unsigned char)*lexer->next) || *lexer->next == '.') {
        read_number(lexer);
        return;
    }

    switch (*lexer->next) {
    case '\0':
        lexer->kind = TOKEN_END;
        return;
    case '+':
        lexer->kind = TOKEN_PLUS;
        break;
    case '-':
        lexer->kind = TOKEN_MINUS;
        break;
    case '*':
        lexer->kind = TOKEN_STAR;
        break;
    case '/':
        lexer->kind = TOKEN_SLASH;
        break;
    case '(':
        lexer->kind = TOKEN_OPEN;
        break;
    case ')':
        lexer->kind = TOKEN_CLOSE;
        break;
    default:
        lexer->kind = TOKEN_BAD;
        return;
    }
    lexer->next++;
}
END
put parser.h <<'END'
#ifndef PARSER_H
#define PARSER_H

#include "lexer.h"

enum node_kind {
    NODE_NUMBER,
    NODE_UNARY,
    NODE_BINARY
};

struct node {
    enum node_kind kind;
    enum token_kind op; /* of NODE_UNARY and NODE_BINARY */
    double number;      /* of NODE_NUMBER */
    struct node *left;
    struct node *right;
};

struct parser {
    struct lexer lexer;
    const char *error; /* NULL as long as all is well */
};

/* The tree of the expression, or NULL and an error. */
struct node *parse(struct parser *parser, const char *text);

#endif
END
put parser.c <<'END'
#include "parser.h"

#include <stdlib.h>

/* Operators between two operands; a higher level binds tighter. */
static const struct binary {
    enum token_kind token;
    int level;
} binaries[] = {
    { TOKEN_PLUS, 10 },
    { TOKEN_MINUS, 10 },
    { TOKEN_STAR, 20 },
    { TOKEN_SLASH, 20 },
    { TOKEN_END, 0 }
};

static struct node *parse_binary(struct parser *parser, int level);

static struct node *new_node(enum node_kind kind, enum token_kind op, struct node *left, struct node *right)
{
    struct node *node = calloc(1, sizeof *node);

    if (node == NULL)
        abort();
    node->kind = kind;
    node->op = op;
    node->left = left;
    node->right = right;
    return node;
}

static struct node *fail(struct parser *parser, const char *error)
{
    if (parser->error == NULL)
        parser->error = error;
    return NULL;
}

static const struct binary *find_binary(enum token_kind token)
{
    const struct binary *binary;

    for (binary = binaries; binary->level != 0; binary++)
        if (binary->token == token)
            return binary;
    return NULL;
}

static struct node *parse_primary(struct parser *parser)
{
    struct node *node;

    switch (parser->lexer.kind) {
    case TOKEN_NUMBER:
        node = new_node(NODE_NUMBER, TOKEN_NUMBER, NULL, NULL);
        node->number = parser->lexer.number;
        lexer_advance(&parser->lexer);
        return node;
    case TOKEN_OPEN:
        lexer_advance(&parser->lexer);
        node = parse_binary(parser, 1);
        if (node == NULL)
            return NULL;
        if (parser->lexer.kind != TOKEN_CLOSE)
            return fail(parser, "a closing parenthesis is missing");
        lexer_advance(&parser->lexer);
        return node;
    default:
        return fail(parser, "a number is missing");
    }
}

static struct node *parse_unary(struct parser *parser)
{
    struct node *operand;

    if (parser->lexer.kind != TOKEN_MINUS)
        return parse_primary(parser);

    lexer_advance(&parser->lexer);
    operand = parse_unary(parser);
    return operand == NULL ? NULL : new_node(NODE_UNARY, TOKEN_MINUS, operand, NULL);
}

/* Reads operators of this level and above. */
static struct node *parse_binary(struct parser *parser, int level)
{
    const struct binary *binary;
    struct node *left, *right;

    left = parse_unary(parser);
    while (left != NULL) {
        binary = find_binary(parser->lexer.kind);
        if (binary == NULL || binary->level < level)
            break;
        lexer_advance(&parser->lexer);

        right = parse_binary(parser, binary->level + 1);

        if (right == NULL)
            return NULL;
        left = new_node(NODE_BINARY, binary->token, left, right);
    }
    return left;
}

struct node *parse(struct parser *parser, const char *text)
{
    struct node *node;

    parser->error = NULL;
    lexer_start(&parser->lexer, text);
    node = parse_binary(parser, 1);
    if (node != NULL && parser->lexer.kind != TOKEN_END)
        return fail(parser, "an operator is missing");
    return node;
}
END
put eval.h <<'END'
#ifndef EVAL_H
#define EVAL_H

#include "parser.h"

double evaluate(const struct node *node);

#endif
END
put eval.c <<'END'
#include "eval.h"

double evaluate(const struct node *node)
{
    double left, right;

    if (node->kind == NODE_NUMBER)
        return node->number;
    if (node->kind == NODE_UNARY)
        return -evaluate(node->left);

    left = evaluate(node->left);
    right = evaluate(node->right);
    switch (node->op) {
    case TOKEN_PLUS:
        return left + right;
    case TOKEN_MINUS:
        return left - right;
    case TOKEN_STAR:
        return left * right;
    case TOKEN_SLASH:
        return left / right;
    default:
        return 0;
    }
}
END
put main.c <<'END'
/* abacus: works out arithmetic expressions. */
#include "eval.h"
#include "parser.h"

#include <stdio.h>

static int work_out(const char *text)
{
    struct parser parser;
    struct node *node;

    node = parse(&parser, text);
    if (node == NULL) {
        fprintf(stderr, "abacus: %s\n", parser.error);
        return 1;
    }

    printf("%g\n", evaluate(node));
    return 0;
}

int main(int argc, char **argv)
{
    int i, status = 0;

    for (i = 1; i < argc; i++)
        status |= work_out(argv[i]);
    return status;
}
END
commit ada 0 'Start a calculator with the four operations'

put README.md <<'END'
# abacus

A calculator for the command line:

    $ abacus '2 * (3 + 4)'
    14

Build it with `make`.
END
next ada 'Add a README'

mkdir tests
put tests/run.sh <<'END'
#!/bin/sh
# Runs every line of cases.txt, which is an expression, =>, and its result.
status=0
while IFS= read -r line; do
    expression=${line%% => *}
    expected=${line##* => }
    result=$(./abacus "$expression" 2>&1)
    if [ "$result" != "$expected" ]; then
        echo "$expression: expected $expected, got $result"
        status=1
    fi
done <"${0%/*}/cases.txt"
exit $status
END
chmod 755 tests/run.sh
case_of '1 + 2' 3
case_of '2 * 3 + 4' 10
case_of '2 + 3 * 4' 14
case_of '(2 + 3) * 4' 20
case_of '-5 + 3' -2
before Makefile 'clean:' <<'END'
check: abacus
	tests/run.sh

END
next bob 'Test the operations'

swap parser.h 'const char *error; /* NULL as long as all is well */' 'const char *error; /* NULL as long as all is well */
    int column;        /* of the error, from 1 */'
swap lexer.h '    const char *next; /* what is not read yet */' '    const char *text;
    const char *start; /* of the token */
    const char *next;  /* what is not read yet */'
swap lexer.c '    lexer->next = text;' '    lexer->text = text;
    lexer->next = text;'
before lexer.c "    if (isdigit((unsigned char)*lexer->next) || *lexer->next == '.') {" <<'END'
    lexer->start = lexer->next;
END
replace parser.c '    if (parser->error == NULL)' <<'END'
    if (parser->error == NULL) {
        parser->column = (int)(parser->lexer.start - parser->lexer.text) + 1;
END
replace parser.c '        parser->error = error;' <<'END'
        parser->error = error;
    }
END
swap main.c 'fprintf(stderr, "abacus: %s\n", parser.error);' 'fprintf(stderr, "abacus: column %d: %s\n", parser.column, parser.error);'
case_of '2 + * 3' 'abacus: column 5: a number is missing'
next ada 'Report where an expression goes wrong'

before main.c 'int main(int argc' <<'END'
static int work_out_lines(FILE *input)
{
    char line[4096];
    int status = 0;

    while (fgets(line, sizeof line, input) != NULL)
        status |= work_out(line);
    return status;
}

END
before main.c '    for (i = 1; i < argc; i++)' <<'END'
    if (argc == 1)
        return work_out_lines(stdin);
END
add README.md <<'END'

Without arguments it reads expressions from standard input, one a line.
END
next cho 'Read expressions from standard input'

before parser.h '#endif' <<'END'
/* Frees the tree; NULL is fine. */
void free_tree(struct node *node);

END
add parser.c <<'END'

void free_tree(struct node *node)
{
    if (node == NULL)
        return;
    free_tree(node->left);
    free_tree(node->right);
    free(node);
}
END
swap main.c '    printf("%g\n", evaluate(node));' '    printf("%g\n", evaluate(node));
    free_tree(node);'
next bob 'Free the tree after use'

swap lexer.h '    TOKEN_SLASH,' '    TOKEN_SLASH,
    TOKEN_PERCENT,'
before lexer.c "    case '(':" <<'END'
    case '%':
        lexer->kind = TOKEN_PERCENT;
        break;
END
swap parser.c '    { TOKEN_SLASH, 20 },' '    { TOKEN_SLASH, 20 },
    { TOKEN_PERCENT, 20 },'
swap eval.c '#include "eval.h"' '#include "eval.h"

#include <math.h>'
before eval.c '    default:' <<'END'
    case TOKEN_PERCENT:
        return fmod(left, right);
END
case_of '17 % 5' 2
next cho 'Add the remainder'

put eval.h <<'END'
#ifndef EVAL_H
#define EVAL_H

#include "parser.h"

struct context {
    const char *error; /* NULL as long as all is well */
};

void context_start(struct context *context);

/* The value of the tree; check the error of the context afterwards. */
double evaluate(struct context *context, const struct node *node);

#endif
END
put eval.c <<'END'
#include "eval.h"

#include <math.h>
#include <stddef.h>

void context_start(struct context *context)
{
    context->error = NULL;
}

static double fail(struct context *context, const char *error)
{
    if (context->error == NULL)
        context->error = error;
    return 0;
}

double evaluate(struct context *context, const struct node *node)
{
    double left, right;

    if (node->kind == NODE_NUMBER)
        return node->number;
    if (node->kind == NODE_UNARY)
        return -evaluate(context, node->left);

    left = evaluate(context, node->left);
    right = evaluate(context, node->right);
    switch (node->op) {
    case TOKEN_PLUS:
        return left + right;
    case TOKEN_MINUS:
        return left - right;
    case TOKEN_STAR:
        return left * right;
    case TOKEN_SLASH:
        return right == 0 ? fail(context, "division by zero") : left / right;
    case TOKEN_PERCENT:
        return right == 0 ? fail(context, "division by zero") : fmod(left, right);
    default:
        return fail(context, "unknown operator");
    }
}
END
swap main.c '    struct node *node;' '    struct node *node;
    struct context context;
    double result;'
replace main.c '    printf("%g\n", evaluate(node));' <<'END'
    context_start(&context);
    result = evaluate(&context, node);
END
after main.c '    free_tree(node);' <<'END'
    if (context.error != NULL) {
        fprintf(stderr, "abacus: %s\n", context.error);
        return 1;
    }

    printf("%g\n", result);
END
case_of '1 / 0' 'abacus: division by zero'
next ada 'Refuse to divide by zero'
tag v0.1

put format.h <<'END'
#ifndef FORMAT_H
#define FORMAT_H

enum { FORMAT_SIZE = 400 };

struct format {
    int digits; /* of a fraction, at most */
};

void format_start(struct format *format);

/* Writes the number to text, which has room for FORMAT_SIZE characters. */
void format_number(const struct format *format, double number, char *text);

#endif
END
put format.c <<'END'
#include "format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void format_start(struct format *format)
{
    format->digits = 10;
}

/* Takes the zeros from the end of a fraction, and the point if nothing is left behind it. */
static void trim(char *text)
{
    char *end = text + strlen(text);

    if (strchr(text, '.') == NULL)
        return;
    while (end[-1] == '0')
        *--end = '\0';
    if (end[-1] == '.')
        *--end = '\0';
}

void format_number(const struct format *format, double number, char *text)
{
    if (isnan(number) || isinf(number) || fabs(number) >= 1e15) {
        snprintf(text, FORMAT_SIZE, "%.15g", number);
        return;
    }

    snprintf(text, FORMAT_SIZE, "%.*f", format->digits, number);
    trim(text);
}
END
swap Makefile 'eval.o' 'eval.o format.o'
swap main.c '#include "eval.h"' '#include "eval.h"
#include "format.h"'
swap main.c '    double result;' '    struct format format;
    double result;
    char shown[FORMAT_SIZE];'
replace main.c '    printf("%g\n", result);' <<'END'
    format_start(&format);
    format_number(&format, result, shown);
    printf("%s\n", shown);
END
case_of '1 / 8' 0.125
case_of '1000000 * 1000000' 1000000000000
next dee 'Print numbers without an exponent'

swap lexer.c "    lexer->start = lexer->next;" "    if (*lexer->next == '#')
        lexer->next += strlen(lexer->next);
    lexer->start = lexer->next;"
swap lexer.c '#include <stdlib.h>' '#include <stdlib.h>
#include <string.h>'
case_of '1 + 1 # two' 2
next cho 'Allow comments'

swap main.c '        status |= work_out(line);' '        if (line[strspn(line, " \t\r\n")] != '"'\\0'"')
            status |= work_out(line);'
swap main.c '#include <stdio.h>' '#include <stdio.h>
#include <string.h>'
next eli 'Skip empty lines'

put NEWS <<'END'
0.1
 - the four operations and the remainder
 - expressions from standard input
END
next ada 'Begin a list of changes'

swap parser.c '    if (parser->lexer.kind != TOKEN_MINUS)' '    if (parser->lexer.kind == TOKEN_PLUS) {
        lexer_advance(&parser->lexer);
        return parse_unary(parser);
    }
    if (parser->lexer.kind != TOKEN_MINUS)'
case_of '+4 - -4' 8
next bob 'Accept a plus sign in front of an operand'

swap parser.h '    double number;      /* of NODE_NUMBER */' '    double number;      /* of NODE_NUMBER */
    int column;         /* where its token begins, from 1 */'
swap parser.c 'static struct node *new_node(enum node_kind kind, enum token_kind op, struct node *left, struct node *right)' 'static int column(const struct parser *parser)
{
    return (int)(parser->lexer.start - parser->lexer.text) + 1;
}

static struct node *new_node(enum node_kind kind, enum token_kind op, struct node *left, struct node *right)'
swap parser.c '        parser->column = (int)(parser->lexer.start - parser->lexer.text) + 1;' '        parser->column = column(parser);'
swap parser.c '        node->number = parser->lexer.number;' '        node->number = parser->lexer.number;
        node->column = column(parser);'
next ada 'Keep the column of every number'
