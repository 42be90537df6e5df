# Commits 15 to 33: variables, functions, other notations of numbers, options.

put vars.h <<'END'
#ifndef VARS_H
#define VARS_H

enum { NAME_SIZE = 32, MAX_VARIABLES = 64 };

struct variable {
    char name[NAME_SIZE];
    double value;
};

struct variables {
    struct variable all[MAX_VARIABLES];
    int n;
};

/* The variable of that name, or NULL. */
struct variable *vars_find(struct variables *variables, const char *name);

/* Makes or changes a variable; -1 when there is no room. */
int vars_set(struct variables *variables, const char *name, double value);

#endif
END
put vars.c <<'END'
#include "vars.h"

#include <stdio.h>
#include <string.h>

struct variable *vars_find(struct variables *variables, const char *name)
{
    int i;

    for (i = 0; i < variables->n; i++)
        if (strcmp(variables->all[i].name, name) == 0)
            return &variables->all[i];
    return NULL;
}

int vars_set(struct variables *variables, const char *name, double value)
{
    struct variable *variable = vars_find(variables, name);

    if (variable == NULL) {
        if (variables->n == MAX_VARIABLES)
            return -1;
        variable = &variables->all[variables->n++];
        snprintf(variable->name, NAME_SIZE, "%s", name);
    }
    variable->value = value;
    return 0;
}
END
swap Makefile 'format.o' 'format.o vars.o'
swap lexer.h '    TOKEN_NUMBER,' '    TOKEN_NUMBER,
    TOKEN_NAME,'
swap lexer.h '    TOKEN_OPEN,' '    TOKEN_ASSIGN,
    TOKEN_OPEN,'
swap lexer.h 'enum token_kind {' '#include "vars.h"

enum token_kind {'
swap lexer.h '    double number; /* of a TOKEN_NUMBER */' '    double number;        /* of a TOKEN_NUMBER */
    char name[NAME_SIZE]; /* of a TOKEN_NAME */'
before lexer.c 'void lexer_advance(struct lexer *lexer)' <<'END'
/* Reads the name that begins at the next character; what does not fit is dropped. */
static void read_name(struct lexer *lexer)
{
    int n = 0;

    while (isalnum((unsigned char)*lexer->next) || *lexer->next == '_') {
        if (n < NAME_SIZE - 1)
            lexer->name[n++] = *lexer->next;
        lexer->next++;
    }
    lexer->name[n] = '\0';
    lexer->kind = TOKEN_NAME;
}

END
before lexer.c '    switch (*lexer->next) {' <<'END'
    if (isalpha((unsigned char)*lexer->next) || *lexer->next == '_') {
        read_name(lexer);
        return;
    }

END
before lexer.c "    case '(':" <<'END'
    case '=':
        lexer->kind = TOKEN_ASSIGN;
        break;
END
swap parser.h '    NODE_NUMBER,' '    NODE_NUMBER,
    NODE_NAME,
    NODE_ASSIGN,'
swap parser.h '    struct node *left;' '    char name[NAME_SIZE]; /* of NODE_NAME and NODE_ASSIGN */
    struct node *left;'
swap parser.c 'static struct node *parse_binary(struct parser *parser, int level);' 'static struct node *parse_binary(struct parser *parser, int level);
static struct node *parse_assignment(struct parser *parser);'
before parser.c '    case TOKEN_OPEN:' <<'END'
    case TOKEN_NAME:
        node = new_node(NODE_NAME, TOKEN_NAME, NULL, NULL);
        memcpy(node->name, parser->lexer.name, NAME_SIZE);
        node->column = column(parser);
        lexer_advance(&parser->lexer);
        return node;
END
swap parser.c '        node = parse_binary(parser, 1);' '        node = parse_assignment(parser);'
swap parser.c '#include <stdlib.h>' '#include <stdlib.h>
#include <string.h>'
before parser.c 'struct node *parse(struct parser *parser, const char *text)' <<'END'
/* A name, = and an expression; or an expression. */
static struct node *parse_assignment(struct parser *parser)
{
    struct node *node = parse_binary(parser, 1);

    if (node == NULL || parser->lexer.kind != TOKEN_ASSIGN)
        return node;
    if (node->kind != NODE_NAME)
        return fail(parser, "only a name can be assigned to");
    lexer_advance(&parser->lexer);
    node->kind = NODE_ASSIGN;
    node->left = parse_assignment(parser);
    return node->left == NULL ? NULL : node;
}

END
swap parser.c '    node = parse_binary(parser, 1);' '    node = parse_assignment(parser);'
swap eval.h '    const char *error; /* NULL as long as all is well */' '    const char *error; /* NULL as long as all is well */
    struct variables variables;'
before eval.h 'void context_start' <<'END'
/* Begins without variables. */
END
swap eval.c '    context->error = NULL;' '    context->error = NULL;
    context->variables.n = 0;'
before eval.c 'double evaluate(struct context *context' <<'END'
static double value_of(struct context *context, const char *name)
{
    struct variable *variable = vars_find(&context->variables, name);

    return variable == NULL ? fail(context, "unknown name") : variable->value;
}

static double assign(struct context *context, const char *name, double value)
{
    if (context->error == NULL && vars_set(&context->variables, name, value) != 0)
        return fail(context, "too many variables");
    return value;
}

END
after eval.c '        return node->number;' <<'END'
    if (node->kind == NODE_NAME)
        return value_of(context, node->name);
    if (node->kind == NODE_ASSIGN)
        return assign(context, node->name, evaluate(context, node->left));
END
swap main.c 'static int work_out(const char *text)' 'static struct context context;

static int work_out(const char *text)'
drop main.c '    struct context context;'
replace main.c '    context_start(&context);' <<'END'
    context.error = NULL;
END
swap main.c '    if (argc == 1)' '    context_start(&context);
    if (argc == 1)'
case_of 'x' 'abacus: unknown name'
case_of 'x = 3' 3
next dee 'Add variables'

swap eval.c '    context->variables.n = 0;' '    context->variables.n = 0;
    vars_set(&context->variables, "pi", 3.14159265358979323846);
    vars_set(&context->variables, "e", 2.71828182845904523536);'
swap eval.h '/* Begins without variables. */' '/* Begins with the constants. */'
case_of 'pi * 2' 6.2831853072
next eli 'Know pi and e'

add README.md <<'END'

## Variables

`x = 3` gives a value to `x`, which later expressions can use. `pi` and `e` are there from the beginning.
END
next eli 'Explain variables'

swap vars.h '    double value;' '    double value;
    int is_constant;'
swap vars.h '/* Makes or changes a variable; -1 when there is no room. */' '/* Makes or changes a variable; -1 when there is no room, -2 when it is a constant. */'
swap vars.h '#endif' '/* Makes a variable that cannot be changed. */
void vars_set_constant(struct variables *variables, const char *name, double value);

#endif'
swap vars.c '    variable->value = value;' '    if (variable->is_constant)
        return -2;
    variable->value = value;'
swap vars.c '        snprintf(variable->name, NAME_SIZE, "%s", name);' '        snprintf(variable->name, NAME_SIZE, "%s", name);
        variable->is_constant = 0;'
add vars.c <<'END'

void vars_set_constant(struct variables *variables, const char *name, double value)
{
    if (vars_set(variables, name, value) == 0)
        vars_find(variables, name)->is_constant = 1;
}
END
swap eval.c 'vars_set(&context->variables, "pi"' 'vars_set_constant(&context->variables, "pi"'
swap eval.c 'vars_set(&context->variables, "e"' 'vars_set_constant(&context->variables, "e"'
rewrite eval.c 'static double assign(' <<'END'
static double assign(struct context *context, const char *name, double value)
{
    if (context->error != NULL)
        return 0;
    switch (vars_set(&context->variables, name, value)) {
    case 0:
        return value;
    case -2:
        return fail(context, "a constant cannot be changed");
    default:
        return fail(context, "too many variables");
    }
}
END
case_of 'pi = 3' 'abacus: a constant cannot be changed'
next dee 'Refuse to change constants'

put builtin.h <<'END'
#ifndef BUILTIN_H
#define BUILTIN_H

enum { MAX_ARGUMENTS = 16 };

struct builtin {
    const char *name;
    int min_arguments;
    int max_arguments;
    double (*call)(const double *arguments, int n);
};

/* The function of that name, or NULL. */
const struct builtin *find_builtin(const char *name);

#endif
END
put builtin.c <<'END'
#include "builtin.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static double call_abs(const double *arguments, int n)
{
    (void)n;
    return fabs(arguments[0]);
}

static double call_sqrt(const double *arguments, int n)
{
    (void)n;
    return sqrt(arguments[0]);
}

static const struct builtin builtins[] = {
    { "abs", 1, 1, call_abs },
    { "sqrt", 1, 1, call_sqrt },
    { NULL, 0, 0, NULL }
};

const struct builtin *find_builtin(const char *name)
{
    const struct builtin *builtin;

    for (builtin = builtins; builtin->name != NULL; builtin++)
        if (strcmp(builtin->name, name) == 0)
            return builtin;
    return NULL;
}
END
swap Makefile 'vars.o' 'vars.o builtin.o'
swap lexer.h '    TOKEN_CLOSE,' '    TOKEN_CLOSE,
    TOKEN_COMMA,'
before lexer.c "    case '(':" <<'END'
    case ',':
        lexer->kind = TOKEN_COMMA;
        break;
END
swap parser.h '    NODE_ASSIGN,' '    NODE_ASSIGN,
    NODE_CALL, /* left: the first argument */
    NODE_ARGUMENT, /* left: the value; right: the next one */'
before parser.c 'static struct node *parse_primary(struct parser *parser)' <<'END'
/* Reads the arguments of a call, up to the closing parenthesis. */
static struct node *parse_call(struct parser *parser, struct node *call)
{
    struct node **link = &call->left;
    struct node *value;

    call->kind = NODE_CALL;
    do {
        lexer_advance(&parser->lexer);
        if (call->left == NULL && parser->lexer.kind == TOKEN_CLOSE)
            break;
        value = parse_assignment(parser);
        if (value == NULL)
            return NULL;
        *link = new_node(NODE_ARGUMENT, TOKEN_COMMA, value, NULL);
        link = &(*link)->right;
    } while (parser->lexer.kind == TOKEN_COMMA);

    if (parser->lexer.kind != TOKEN_CLOSE)
        return fail(parser, "a closing parenthesis is missing");
    lexer_advance(&parser->lexer);
    return call;
}

END
rewrite parser.c 'static struct node *parse_primary(' <<'END'
static struct node *parse_primary(struct parser *parser)
{
    struct node *node;

    switch (parser->lexer.kind) {
    case TOKEN_NUMBER:
        node = new_node(NODE_NUMBER, TOKEN_NUMBER, NULL, NULL);
        node->number = parser->lexer.number;
        node->column = column(parser);
        lexer_advance(&parser->lexer);
        return node;
    case TOKEN_NAME:
        node = new_node(NODE_NAME, TOKEN_NAME, NULL, NULL);
        memcpy(node->name, parser->lexer.name, NAME_SIZE);
        node->column = column(parser);
        lexer_advance(&parser->lexer);
        if (parser->lexer.kind == TOKEN_OPEN)
            return parse_call(parser, node);
        return node;
    case TOKEN_OPEN:
        lexer_advance(&parser->lexer);
        node = parse_assignment(parser);
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
END
before eval.c 'double evaluate(struct context *context' <<'END'
static double call(struct context *context, const struct node *node)
{
    const struct builtin *builtin = find_builtin(node->name);
    const struct node *argument;
    double arguments[MAX_ARGUMENTS];
    int n = 0;

    if (builtin == NULL)
        return fail(context, "unknown function");
    for (argument = node->left; argument != NULL; argument = argument->right) {
        if (n == builtin->max_arguments)
            return fail(context, "too many arguments");
        arguments[n++] = evaluate(context, argument->left);
    }
    if (n < builtin->min_arguments)
        return fail(context, "too few arguments");
    return builtin->call(arguments, n);
}

END
after eval.c '        return assign(context, node->name, evaluate' <<'END'
    if (node->kind == NODE_CALL)
        return call(context, node);
END
swap eval.c '#include "eval.h"' '#include "eval.h"
#include "builtin.h"'
case_of 'sqrt(16) + abs(-2)' 6
case_of 'sqrt()' 'abacus: too few arguments'
next cho 'Add functions'

before builtin.c 'static const struct builtin builtins[] = {' <<'END'
static double call_max(const double *arguments, int n)
{
    double result = arguments[0];

    while (--n > 0)
        if (arguments[n] > result)
            result = arguments[n];
    return result;
}

static double call_min(const double *arguments, int n)
{
    double result = arguments[0];

    while (--n > 0)
        if (arguments[n] < result)
            result = arguments[n];
    return result;
}

END
before builtin.c '    { "sqrt", 1, 1, call_sqrt },' <<'END'
    { "max", 1, MAX_ARGUMENTS, call_max },
    { "min", 1, MAX_ARGUMENTS, call_min },
END
case_of 'max(1, 7, 3) - min(4, 2)' 5
next cho 'Add min and max'

before builtin.c 'static double call_max(' <<'END'
static double call_ceil(const double *arguments, int n)
{
    (void)n;
    return ceil(arguments[0]);
}

static double call_floor(const double *arguments, int n)
{
    (void)n;
    return floor(arguments[0]);
}

static double call_round(const double *arguments, int n)
{
    double scale = n == 2 ? pow(10, arguments[1]) : 1;

    return round(arguments[0] * scale) / scale;
}

END
swap builtin.c '    { "abs", 1, 1, call_abs },' '    { "abs", 1, 1, call_abs },
    { "ceil", 1, 1, call_ceil },
    { "floor", 1, 1, call_floor },'
swap builtin.c '    { "sqrt", 1, 1, call_sqrt },' '    { "round", 1, 2, call_round },
    { "sqrt", 1, 1, call_sqrt },'
case_of 'floor(2.7) + ceil(2.2)' 5
case_of 'round(2.345, 1)' 2.3
next bob 'Add ceil, floor and round'

add README.md <<'END'

## Functions

    abs(x)  ceil(x)  floor(x)  max(x, ...)  min(x, ...)  round(x)  round(x, digits)  sqrt(x)
END
next bob 'List the functions'

swap main.c 'static struct context context;' 'static struct context context;
static struct format format;'
drop main.c '    struct format format;'
drop main.c '    format_start(&format);'
swap main.c '    context_start(&context);' '    context_start(&context);
    format_start(&format);
    if (argc > 2 && strcmp(argv[1], "-p") == 0) {
        format.digits = atoi(argv[2]);
        argc -= 2;
        argv += 2;
    }'
swap main.c '#include <stdio.h>' '#include <stdio.h>
#include <stdlib.h>'
add README.md <<'END'

## Options

`-p 3` prints at most three digits behind the point.
END
next dee 'Add an option for the number of digits'

swap main.c '    format_number(&format, result, shown);' '    vars_set(&context.variables, "_", result);
    format_number(&format, result, shown);'
add README.md <<'END'

The name `_` stands for the last result.
END
next eli 'Keep the last result'

swap eval.h '    const char *error; /* NULL as long as all is well */' '    const char *error; /* NULL as long as all is well */
    const char *about; /* the name that the error is about, or NULL */'
swap eval.c '    context->error = NULL;' '    context->error = NULL;
    context->about = NULL;'
before eval.c 'static double value_of(' <<'END'
static double fail_about(struct context *context, const char *error, const char *name)
{
    if (context->error == NULL)
        context->about = name;
    return fail(context, error);
}

END
swap eval.c 'fail(context, "unknown name")' 'fail_about(context, "unknown name", name)'
swap eval.c 'fail(context, "unknown function")' 'fail_about(context, "unknown function", node->name)'
swap eval.c 'fail(context, "a constant cannot be changed")' 'fail_about(context, "a constant cannot be changed", name)'
swap main.c '    context.error = NULL;' '    context.error = NULL;
    context.about = NULL;'
drop main.c '    free_tree(node);'
swap main.c '        fprintf(stderr, "abacus: %s\n", context.error);' '        fprintf(stderr, "abacus: %s", context.error);
        if (context.about != NULL)
            fprintf(stderr, ": %s", context.about);
        fprintf(stderr, "\n");
        free_tree(node);'
before main.c '    vars_set(&context.variables, "_", result);' <<'END'
    free_tree(node);
END
sed -e 's/: unknown name$/: unknown name: x/' -e 's/be changed$/be changed: pi/' tests/cases.txt >.git/cases
cat .git/cases >tests/cases.txt
rm .git/cases
next dee 'Say which name an error is about'

rewrite lexer.c 'static void read_number(' <<'END'
static void read_number(struct lexer *lexer)
{
    const char *text = lexer->next;
    char *end;

    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        lexer->number = (double)strtoul(text + 2, &end, 16);
    else if (text[0] == '0' && (text[1] == 'b' || text[1] == 'B'))
        lexer->number = (double)strtoul(text + 2, &end, 2);
    else
        lexer->number = strtod(text, &end);
    lexer->next = end;
    lexer->kind = TOKEN_NUMBER;
}
END
case_of '0xff + 0b101' 260
next eli 'Read hexadecimal and binary numbers'

swap format.h '    int digits; /* of a fraction, at most */' '    int digits; /* of a fraction, at most */
    int base;   /* 10, or 16 or 2 for whole numbers */'
swap format.c '    format->digits = 10;' '    format->digits = 10;
    format->base = 10;'
before format.c 'void format_number(' <<'END'
/* Writes a whole number with the prefix of its base. */
static void format_whole(int base, double number, char *text)
{
    unsigned long rest = (unsigned long)fabs(number);
    char digits[72];
    int n = 0;

    do {
        digits[n++] = "0123456789abcdef"[rest % base];
        rest /= base;
    } while (rest != 0);

    if (number < 0)
        *text++ = '-';
    *text++ = '0';
    *text++ = base == 16 ? 'x' : 'b';
    while (n > 0)
        *text++ = digits[--n];
    *text = '\0';
}

END
before format.c '    snprintf(text, FORMAT_SIZE, "%.*f"' <<'END'
    if (format->base != 10 && number == floor(number)) {
        format_whole(format->base, number, text);
        return;
    }

END
swap main.c '    if (argc > 2 && strcmp(argv[1], "-p") == 0) {' '    if (argc > 1 && strcmp(argv[1], "-x") == 0) {
        format.base = 16;
        argc--;
        argv++;
    }
    if (argc > 2 && strcmp(argv[1], "-p") == 0) {'
add README.md <<'END'

`-x` prints whole numbers in hexadecimal.
END
next eli 'Print hexadecimal numbers'

put options.h <<'END'
#ifndef OPTIONS_H
#define OPTIONS_H

#include "format.h"

struct options {
    struct format format;
    int is_help;
    int is_version;
};

/* Reads the options; the index of the first argument behind them, or -1 after a message. */
int read_options(struct options *options, int argc, char **argv);

void print_help(void);

#endif
END
put options.c <<'END'
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int read_options(struct options *options, int argc, char **argv)
{
    int i;

    memset(options, 0, sizeof *options);
    format_start(&options->format);
    for (i = 1; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--") == 0)
            return i + 1;
        if (strcmp(argv[i], "-x") == 0)
            options->format.base = 16;
        else if (strcmp(argv[i], "-b") == 0)
            options->format.base = 2;
        else if (strcmp(argv[i], "-p") == 0 && i + 1 < argc)
            options->format.digits = atoi(argv[++i]);
        else if (strcmp(argv[i], "-h") == 0)
            options->is_help = 1;
        else if (strcmp(argv[i], "-V") == 0)
            options->is_version = 1;
        else
            break; /* a negative number, perhaps */
    }
    return i;
}

void print_help(void)
{
    puts("usage: abacus [options] [expression...]\n"
         "\n"
         "  -b         print whole numbers in binary\n"
         "  -h         print this help\n"
         "  -p DIGITS  print at most that many digits of a fraction\n"
         "  -V         print the version\n"
         "  -x         print whole numbers in hexadecimal");
}
END
swap Makefile 'builtin.o' 'builtin.o options.o'
rewrite main.c 'int main(' <<'END'
int main(int argc, char **argv)
{
    struct options options;
    int i, status = 0;

    i = read_options(&options, argc, argv);
    if (i < 0)
        return 2;
    if (options.is_help) {
        print_help();
        return 0;
    }
    if (options.is_version) {
        puts("abacus 0.2");
        return 0;
    }

    format = options.format;
    context_start(&context);
    if (i == argc)
        return work_out_lines(stdin);
    for (; i < argc; i++)
        status |= work_out(argv[i]);
    return status;
}
END
drop main.c '#include <stdlib.h>'
swap main.c '#include "format.h"' '#include "format.h"
#include "options.h"'
next ada 'Give the options a file of their own'
tag v0.2

add NEWS <<'END'

0.2
 - variables, constants and functions
 - hexadecimal and binary numbers
 - options -b, -h, -p, -V and -x
END
next ada 'Tell what is new in 0.2'

replace lexer.c '        lexer->number = strtod(text, &end);' <<'END'
        lexer->number = read_decimal(text, &end);
END
before lexer.c '/* Reads the number that begins at the next character. */' <<'END'
/* strtod, but underscores between the digits are skipped. */
static double read_decimal(const char *text, char **end)
{
    char digits[64];
    double number;
    int n = 0, i = 0;

    while (n < 63 && (isdigit((unsigned char)text[i]) || text[i] == '.' || text[i] == '_')) {
        if (text[i] != '_')
            digits[n++] = text[i];
        i++;
    }
    digits[n] = '\0';

    number = strtod(digits, end);
    if (**end != '\0')
        i = (int)(*end - digits);
    *end = (char *)text + i;
    return number;
}

END
case_of '1_000_000 / 10' 100000
next bob 'Skip underscores in numbers'

swap lexer.h '    TOKEN_COMMA,' '    TOKEN_COMMA,
    TOKEN_SEMICOLON,'
before lexer.c "    case '(':" <<'END'
    case ';':
        lexer->kind = TOKEN_SEMICOLON;
        break;
END
swap parser.h '    NODE_ASSIGN,' '    NODE_ASSIGN,
    NODE_SEQUENCE,'
rewrite parser.c 'struct node *parse(' <<'END'
struct node *parse(struct parser *parser, const char *text)
{
    struct node *node, *next;

    parser->error = NULL;
    lexer_start(&parser->lexer, text);
    node = parse_assignment(parser);
    while (node != NULL && parser->lexer.kind == TOKEN_SEMICOLON) {
        lexer_advance(&parser->lexer);
        next = parse_assignment(parser);
        if (next == NULL)
            return NULL;
        node = new_node(NODE_SEQUENCE, TOKEN_SEMICOLON, node, next);
    }
    if (node != NULL && parser->lexer.kind != TOKEN_END)
        return fail(parser, "an operator is missing");
    return node;
}
END
after eval.c '        return call(context, node);' <<'END'
    if (node->kind == NODE_SEQUENCE) {
        evaluate(context, node->left);
        return evaluate(context, node->right);
    }
END
case_of 'a = 3; b = 4; sqrt(a * a + b * b)' 5
next cho 'Separate expressions with a semicolon'

swap main.c '    while (fgets(line, sizeof line, input) != NULL)' '    while (prompt(input), fgets(line, sizeof line, input) != NULL)'
before main.c 'static int work_out_lines(FILE *input)' <<'END'
/* People are asked for the next line, files are not. */
static void prompt(FILE *input)
{
    if (isatty(fileno(input))) {
        fputs("> ", stdout);
        fflush(stdout);
    }
}

END
swap main.c '#include <string.h>' '#include <string.h>
#include <unistd.h>'
next eli 'Prompt people for the next line'

before eval.c 'double evaluate(struct context *context, const struct node *node)' <<'END'
static double binary(struct context *context, enum token_kind op, double left, double right)
{
    switch (op) {
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
swap eval.c 'static double call(struct context *context, const struct node *node)' 'static double unary(struct context *context, enum token_kind op, double operand)
{
    if (op != TOKEN_MINUS)
        return fail(context, "unknown operator");
    return -operand;
}

static double call(struct context *context, const struct node *node)'
rewrite eval.c 'double evaluate(' <<'END'
double evaluate(struct context *context, const struct node *node)
{
    double left;

    switch (node->kind) {
    case NODE_NUMBER:
        return node->number;
    case NODE_NAME:
        return value_of(context, node->name);
    case NODE_ASSIGN:
        return assign(context, node->name, evaluate(context, node->left));
    case NODE_SEQUENCE:
        evaluate(context, node->left);
        return evaluate(context, node->right);
    case NODE_CALL:
        return call(context, node);
    case NODE_UNARY:
        return unary(context, node->op, evaluate(context, node->left));
    case NODE_BINARY:
        left = evaluate(context, node->left);
        return binary(context, node->op, left, evaluate(context, node->right));
    default:
        return fail(context, "unknown node");
    }
}
END
next ada 'Evaluate by kind of node'
