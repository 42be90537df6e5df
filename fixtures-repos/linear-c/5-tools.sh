# Commits 51 to 69: files, listings, a tree to look at, simplification.

swap options.h '    int is_version;' '    int is_version;
    const char *file; /* to read before anything else, or NULL */'
swap options.c '        else if (strcmp(argv[i], "-h") == 0)' '        else if (strcmp(argv[i], "-f") == 0 && i + 1 < argc)
            options->file = argv[++i];
        else if (strcmp(argv[i], "-h") == 0)'
swap options.c '         "  -h         print this help\n"' '         "  -f FILE    read expressions from the file first\n"
         "  -h         print this help\n"'
before main.c 'int main(int argc' <<'END'
static int work_out_file(const char *name)
{
    FILE *file = fopen(name, "r");
    int status;

    if (file == NULL) {
        perror(name);
        return 1;
    }
    status = work_out_lines(file);
    fclose(file);
    return status;
}

END
swap main.c '    if (i == argc)' '    if (options.file != NULL)
        status |= work_out_file(options.file);
    if (i == argc)'
next dee 'Read expressions from a file'

swap main.c '    if (i == argc)' '    if (i == argc && options.file == NULL)'
next dee 'Do not wait for input after a file'

before vars.h '#endif' <<'END'
/* Forgets a variable; -1 when there is none of that name, -2 when it is a constant. */
int vars_unset(struct variables *variables, const char *name);

END
add vars.c <<'END'

int vars_unset(struct variables *variables, const char *name)
{
    struct variable *variable = vars_find(variables, name);

    if (variable == NULL)
        return -1;
    if (variable->is_constant)
        return -2;
    *variable = variables->all[--variables->n];
    return 0;
}
END
put command.h <<'END'
#ifndef COMMAND_H
#define COMMAND_H

#include "eval.h"
#include "format.h"

/* Does what a line such as `:vars` says; 0 when the line is no command. */
int run_command(struct context *context, const struct format *format, const char *line);

#endif
END
put command.c <<'END'
#include "command.h"

#include <stdio.h>
#include <string.h>

static void command_unset(struct context *context, const char *name)
{
    switch (vars_unset(&context->variables, name)) {
    case -1:
        fprintf(stderr, "abacus: unknown name: %s\n", name);
        break;
    case -2:
        fprintf(stderr, "abacus: a constant cannot be changed: %s\n", name);
        break;
    }
}

int run_command(struct context *context, const struct format *format, const char *line)
{
    char word[16] = "", name[NAME_SIZE] = "";

    (void)format;
    if (line[0] != ':')
        return 0;
    sscanf(line + 1, "%15s %31s", word, name);

    if (strcmp(word, "unset") == 0)
        command_unset(context, name);
    else
        fprintf(stderr, "abacus: unknown command: %s\n", word);
    return 1;
}
END
swap Makefile 'options.o' 'options.o command.o'
swap main.c '#include "eval.h"' '#include "command.h"
#include "eval.h"'
swap main.c '    node = parse(&parser, text);' '    if (run_command(&context, &format, text))
        return 0;
    node = parse(&parser, text);'
next eli 'Forget variables on command'

before command.c 'int run_command(struct context *context' <<'END'
static void command_vars(struct context *context, const struct format *format)
{
    char shown[FORMAT_SIZE];
    int i;

    for (i = 0; i < context->variables.n; i++) {
        format_number(format, context->variables.all[i].value, shown);
        printf("%s = %s\n", context->variables.all[i].name, shown);
    }
}

END
drop command.c '    (void)format;'
replace command.c '        command_unset(context, name);' <<'END'
        command_unset(context, name);
    else if (strcmp(word, "vars") == 0)
        command_vars(context, format);
END
add README.md <<'END'

## Commands

`:vars` lists the variables, `:unset x` forgets one.
END
next eli 'List the variables on command'

swap main.c '        fprintf(stderr, "abacus: column %d: %s\n", parser.column, parser.error);' '        fprintf(stderr, "abacus: column %d: %s\n", parser.column, parser.error);
        point_at(text, parser.column);'
before main.c 'static int work_out(const char *text)' <<'END'
/* Shows people the place of an error below what they typed. */
static void point_at(const char *text, int column)
{
    if (isatty(fileno(stderr)))
        fprintf(stderr, "%.*s\n%*s\n", (int)strcspn(text, "\n"), text, column, "^");
}

END
next ada 'Point at errors'

put dump.h <<'END'
#ifndef DUMP_H
#define DUMP_H

#include "parser.h"

/* Prints the tree, one node a line, children two columns further in. */
void dump_tree(const struct node *node, int depth);

#endif
END
put dump.c <<'END'
#include "dump.h"

#include <stdio.h>

static const char *kind_name(enum node_kind kind)
{
    switch (kind) {
    case NODE_NUMBER:
        return "number";
    case NODE_NAME:
        return "name";
    case NODE_ASSIGN:
        return "assign";
    case NODE_SEQUENCE:
        return "sequence";
    case NODE_CHOICE:
        return "choice";
    case NODE_CALL:
        return "call";
    case NODE_ARGUMENT:
        return "argument";
    case NODE_UNARY:
        return "unary";
    case NODE_BINARY:
        return "binary";
    case NODE_LOGICAL:
        return "logical";
    }
    return "?";
}

void dump_tree(const struct node *node, int depth)
{
    if (node == NULL)
        return;
    printf("%*s%s", depth * 2, "", kind_name(node->kind));
    if (node->kind == NODE_NUMBER)
        printf(" %g", node->number);
    if (node->kind == NODE_NAME || node->kind == NODE_ASSIGN || node->kind == NODE_CALL)
        printf(" %s", node->name);
    printf("\n");
    dump_tree(node->left, depth + 1);
    dump_tree(node->right, depth + 1);
}
END
swap Makefile 'command.o' 'command.o dump.o'
swap options.h '    int is_version;' '    int is_version;
    int is_dump; /* print the tree in place of the result */'
swap options.c '        else if (strcmp(argv[i], "-V") == 0)' '        else if (strcmp(argv[i], "-t") == 0)
            options->is_dump = 1;
        else if (strcmp(argv[i], "-V") == 0)'
swap options.c '         "  -V         print the version\n"' '         "  -t         print the tree of every expression\n"
         "  -V         print the version\n"'
swap main.c 'static struct format format;' 'static struct format format;
static int is_dump;'
swap main.c '    format = options.format;' '    format = options.format;
    is_dump = options.is_dump;'
before main.c '    context.error = NULL;' <<'END'
    if (is_dump) {
        dump_tree(node, 0);
        free_tree(node);
        return 0;
    }
END
swap main.c '#include "eval.h"' '#include "dump.h"
#include "eval.h"'
next ada 'Print the tree of an expression'

before dump.c 'void dump_tree(' <<'END'
static const char *op_name(enum token_kind op)
{
    static const char *const names[] = {
        [TOKEN_PLUS] = "+", [TOKEN_MINUS] = "-", [TOKEN_STAR] = "*", [TOKEN_SLASH] = "/", [TOKEN_PERCENT] = "%",
        [TOKEN_POWER] = "^", [TOKEN_NOT] = "!", [TOKEN_AND] = "&&", [TOKEN_OR] = "||", [TOKEN_EQUAL] = "==",
        [TOKEN_UNEQUAL] = "!=", [TOKEN_LESS] = "<", [TOKEN_GREATER] = ">", [TOKEN_AT_MOST] = "<=",
        [TOKEN_AT_LEAST] = ">=",
    };

    return op <= TOKEN_AT_LEAST && names[op] != NULL ? names[op] : "?";
}

END
swap dump.c '    printf("\n");' '    if (node->kind == NODE_UNARY || node->kind == NODE_BINARY || node->kind == NODE_LOGICAL)
        printf(" %s", op_name(node->op));
    printf("\n");'
next ada 'Print the operators of a tree'

swap README.md '`-x` prints whole numbers in hexadecimal.' '`-x` prints whole numbers in hexadecimal, `-t` prints how an expression was understood.'
next ada 'Explain -t'

put simplify.h <<'END'
#ifndef SIMPLIFY_H
#define SIMPLIFY_H

#include "parser.h"

/* Works out what does not depend on names; the meaning stays the same. */
void simplify(struct node *node);

#endif
END
put simplify.c <<'END'
#include "simplify.h"

#include <stddef.h>

static int is_number(const struct node *node)
{
    return node != NULL && node->kind == NODE_NUMBER;
}

static void become_number(struct node *node, double number)
{
    free_tree(node->left);
    free_tree(node->right);
    node->left = NULL;
    node->right = NULL;
    node->kind = NODE_NUMBER;
    node->op = TOKEN_NUMBER;
    node->number = number;
}

void simplify(struct node *node)
{
    if (node == NULL)
        return;
    simplify(node->left);
    simplify(node->right);

    if (node->kind == NODE_UNARY && node->op == TOKEN_MINUS && is_number(node->left))
        become_number(node, -node->left->number);
}
END
swap Makefile 'dump.o' 'dump.o simplify.o'
before main.c '    if (is_dump) {' <<'END'
    simplify(node);
END
swap main.c '#include "parser.h"' '#include "parser.h"
#include "simplify.h"'
next dee 'Simplify negative numbers'

rewrite simplify.c 'void simplify(' <<'END'
void simplify(struct node *node)
{
    double left, right;

    if (node == NULL)
        return;
    simplify(node->left);
    simplify(node->right);

    if (node->kind == NODE_UNARY && node->op == TOKEN_MINUS && is_number(node->left))
        become_number(node, -node->left->number);
    if (node->kind != NODE_BINARY || !is_number(node->left) || !is_number(node->right))
        return;

    left = node->left->number;
    right = node->right->number;
    switch (node->op) {
    case TOKEN_PLUS:
        become_number(node, left + right);
        break;
    case TOKEN_MINUS:
        become_number(node, left - right);
        break;
    case TOKEN_STAR:
        become_number(node, left * right);
        break;
    default:
        break; /* the others can fail, and then they have to do it when they are evaluated */
    }
}
END
case_of '2 * 3 - -4' 10
next dee 'Simplify sums and products'

swap command.c '#include <stdio.h>' '#include "options.h"

#include <stdio.h>'
replace command.c '        command_vars(context, format);' <<'END'
        command_vars(context, format);
    else if (strcmp(word, "help") == 0)
        print_help();
END
swap README.md '`:vars` lists the variables, `:unset x` forgets one.' '`:vars` lists the variables, `:unset x` forgets one, `:help` lists the options.'
next eli 'Print the help on command'

swap options.c 'options->format.digits = atoi(argv[++i]);' 'options->format.digits = read_digits(argv[++i]);'
before options.c 'int read_options(' <<'END'
/* A number of digits between 0 and 15. */
static int read_digits(const char *text)
{
    int digits = atoi(text);

    return digits < 0 ? 0 : digits > 15 ? 15 : digits;
}

END
next bob 'Limit the number of digits'

swap vars.c '    int i;' '    int i; /* the newest first: it is the most likely */'
swap vars.c '    for (i = 0; i < variables->n; i++)' '    for (i = variables->n - 1; i >= 0; i--)'
next eli 'Look at the newest variable first'

before builtin.c 'static double call_max(' <<'END'
static double call_factorial(const double *arguments, int n)
{
    double result = 1, i;

    (void)n;
    if (arguments[0] < 0 || arguments[0] != floor(arguments[0]) || arguments[0] > 170)
        return NAN;
    for (i = 2; i <= arguments[0]; i++)
        result *= i;
    return result;
}

END
swap builtin.c '    { "floor", 1, 1, call_floor },' '    { "factorial", 1, 1, call_factorial },
    { "floor", 1, 1, call_floor },'
case_of 'factorial(5)' 120
next cho 'Add the factorial'

swap parser.h '    struct lexer lexer;' '    struct lexer lexer;
    int depth; /* of parentheses and calls */'
swap parser.c '    parser->error = NULL;' '    parser->error = NULL;
    parser->depth = 0;'
swap parser.c '    struct node *node = parse_choice(parser);' '    struct node *node;

    if (parser->depth == MAX_DEPTH)
        return fail(parser, "too many parentheses");
    parser->depth++;
    node = parse_choice(parser);
    parser->depth--;'
swap parser.c '#include <string.h>' '#include <string.h>

enum { MAX_DEPTH = 200 };'
next ada 'Limit the depth of expressions'

swap main.c 'static int work_out_lines(FILE *input)' '/* The status is 1 when one of the lines was wrong. */
static int work_out_lines(FILE *input)'
swap README.md 'Without arguments it reads expressions from standard input, one a line.' 'Without arguments it reads expressions from standard input, one a line. The exit status is 1 when an
expression was wrong, and 2 when an option was.'
next bob 'Explain the exit status'

swap options.c '            break; /* a negative number, perhaps */' '            return unknown(argv[i]) ? -1 : i;'
before options.c 'int read_options(' <<'END'
/* Negative numbers look like options, and names and parentheses can follow a minus sign. */
static int unknown(const char *option)
{
    if (option[1] != '\0' && strchr("0123456789.(_", option[1]) != NULL)
        return 0;
    if (option[1] != '\0' && option[2] != '\0')
        return 0;
    fprintf(stderr, "abacus: unknown option: %s\n", option);
    return 1;
}

END
next bob 'Refuse unknown options'

swap options.c 'puts("abacus 0.3");' 'puts("abacus 0.4");'
add NEWS <<'END'

0.4
 - options -f and -t, commands :help, :unset and :vars
 - errors are pointed at
END
next ada 'Tell what is new in 0.4'

put_test
next cho 'Test a chain of subtractions'
