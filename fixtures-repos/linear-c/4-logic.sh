# Commits 35 to 50: comparisons, logic, bits, more functions.

swap lexer.c '#include <string.h>' '#include <string.h>

/* Tokens of two characters; they are looked for first. */
static const struct {
    char text[3];
    enum token_kind kind;
} pairs[] = {
    { "==", TOKEN_EQUAL },
    { "!=", TOKEN_UNEQUAL },
    { "<=", TOKEN_AT_MOST },
    { ">=", TOKEN_AT_LEAST },
};'
swap lexer.h '    TOKEN_POWER,' '    TOKEN_POWER,
    TOKEN_EQUAL,
    TOKEN_UNEQUAL,
    TOKEN_LESS,
    TOKEN_GREATER,
    TOKEN_AT_MOST,
    TOKEN_AT_LEAST,'
before lexer.c '    switch (*lexer->next) {' <<'END'
    for (i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (strncmp(lexer->next, pairs[i].text, 2) == 0) {
            lexer->kind = pairs[i].kind;
            lexer->next += 2;
            return;
        }

END
swap lexer.c '    while (isspace((unsigned char)*lexer->next))' '    size_t i;

    while (isspace((unsigned char)*lexer->next))'
before lexer.c "    case '(':" <<'END'
    case '<':
        lexer->kind = TOKEN_LESS;
        break;
    case '>':
        lexer->kind = TOKEN_GREATER;
        break;
END
swap parser.c '    { TOKEN_PLUS, 10 },' '    { TOKEN_EQUAL, 6 },
    { TOKEN_UNEQUAL, 6 },
    { TOKEN_LESS, 8 },
    { TOKEN_GREATER, 8 },
    { TOKEN_AT_MOST, 8 },
    { TOKEN_AT_LEAST, 8 },
    { TOKEN_PLUS, 10 },'
after eval.c '        return power(context, left, right);' <<'END'
    case TOKEN_EQUAL:
        return left == right;
    case TOKEN_UNEQUAL:
        return left != right;
    case TOKEN_LESS:
        return left < right;
    case TOKEN_GREATER:
        return left > right;
    case TOKEN_AT_MOST:
        return left <= right;
    case TOKEN_AT_LEAST:
        return left >= right;
END
case_of '3 < 4' 1
case_of '2 + 2 == 5' 0
next cho 'Compare numbers'

swap lexer.h '    TOKEN_EQUAL,' '    TOKEN_AND,
    TOKEN_OR,
    TOKEN_EQUAL,'
swap lexer.c '    { "==", TOKEN_EQUAL },' '    { "&&", TOKEN_AND },
    { "||", TOKEN_OR },
    { "==", TOKEN_EQUAL },'
swap parser.c '    { TOKEN_EQUAL, 6 },' '    { TOKEN_OR, 2 },
    { TOKEN_AND, 4 },
    { TOKEN_EQUAL, 6 },'
before eval.c '    case NODE_BINARY:' <<'END'
    case NODE_LOGICAL:
        left = evaluate(context, node->left);
        if ((left != 0) == (node->op == TOKEN_OR))
            return left != 0;
        return evaluate(context, node->right) != 0;
END
swap parser.h '    NODE_BINARY' '    NODE_BINARY,
    NODE_LOGICAL /* the right side is looked at only when it matters */'
swap parser.c '        left = new_node(NODE_BINARY, binary->token, left, right);' '        left = new_node(is_logical(binary->token) ? NODE_LOGICAL : NODE_BINARY, binary->token, left, right);'
before parser.c '/* Reads operators of this level and above. */' <<'END'
static int is_logical(enum token_kind token)
{
    return token == TOKEN_AND || token == TOKEN_OR;
}

END
case_of '1 < 2 && 2 < 3' 1
case_of '1 || 1 / 0' 1
next cho 'Add and, or'

swap lexer.h '    TOKEN_AND,' '    TOKEN_NOT,
    TOKEN_AND,'
before lexer.c "    case '<':" <<'END'
    case '!':
        lexer->kind = TOKEN_NOT;
        break;
END
rewrite parser.c 'static struct node *parse_unary(' <<'END'
static struct node *parse_unary(struct parser *parser)
{
    enum token_kind op = parser->lexer.kind;
    struct node *operand;

    if (op != TOKEN_PLUS && op != TOKEN_MINUS && op != TOKEN_NOT)
        return parse_primary(parser);

    lexer_advance(&parser->lexer);
    operand = parse_unary(parser);
    if (operand == NULL || op == TOKEN_PLUS)
        return operand;
    return new_node(NODE_UNARY, op, operand, NULL);
}
END
swap eval.c '    if (op != TOKEN_MINUS)' '    if (op == TOKEN_NOT)
        return operand == 0;
    if (op != TOKEN_MINUS)'
case_of '!0 + !7' 1
next bob 'Add not'

swap lexer.h '    TOKEN_SEMICOLON,' '    TOKEN_SEMICOLON,
    TOKEN_QUESTION,
    TOKEN_COLON,'
before lexer.c "    case ';':" <<'END'
    case '?':
        lexer->kind = TOKEN_QUESTION;
        break;
    case ':':
        lexer->kind = TOKEN_COLON;
        break;
END
swap parser.h '    NODE_SEQUENCE,' '    NODE_SEQUENCE,
    NODE_CHOICE, /* left: the condition; right: a NODE_SEQUENCE of both results */'
before parser.c '/* A name, = and an expression; or an expression. */' <<'END'
/* A condition, ?, an expression, : and another one; or an expression of operators. */
static struct node *parse_choice(struct parser *parser)
{
    struct node *condition = parse_binary(parser, 1);
    struct node *yes, *no;

    if (condition == NULL || parser->lexer.kind != TOKEN_QUESTION)
        return condition;

    lexer_advance(&parser->lexer);
    yes = parse_assignment(parser);
    if (yes == NULL)
        return NULL;
    if (parser->lexer.kind != TOKEN_COLON)
        return fail(parser, "a colon is missing");
    lexer_advance(&parser->lexer);
    no = parse_assignment(parser);
    if (no == NULL)
        return NULL;
    return new_node(NODE_CHOICE, TOKEN_QUESTION, condition, new_node(NODE_SEQUENCE, TOKEN_COLON, yes, no));
}

END
swap parser.c '    struct node *node = parse_binary(parser, 1);' '    struct node *node = parse_choice(parser);'
before eval.c '    case NODE_CALL:' <<'END'
    case NODE_CHOICE:
        return evaluate(context, evaluate(context, node->left) != 0 ? node->right->left : node->right->right);
END
case_of '2 > 1 ? 10 : 20' 10
case_of '0 ? 1 : 0 ? 2 : 3' 3
next cho 'Choose between two values'

swap README.md 'From weak to strong: `+ -`' 'From weak to strong: `? :`, `||`, `&&`, `== !=`, `< > <= >=`, `+ -`'
next cho 'Complete the list of operators'

before builtin.c 'static double call_max(' <<'END'
static double call_cos(const double *arguments, int n)
{
    (void)n;
    return cos(arguments[0]);
}

static double call_sin(const double *arguments, int n)
{
    (void)n;
    return sin(arguments[0]);
}

static double call_tan(const double *arguments, int n)
{
    (void)n;
    return tan(arguments[0]);
}

END
swap builtin.c '    { "floor", 1, 1, call_floor },' '    { "cos", 1, 1, call_cos },
    { "floor", 1, 1, call_floor },'
swap builtin.c '    { "sqrt", 1, 1, call_sqrt },' '    { "sin", 1, 1, call_sin },
    { "sqrt", 1, 1, call_sqrt },
    { "tan", 1, 1, call_tan },'
case_of 'cos(0) + sin(0)' 1
next eli 'Add sine, cosine and tangent'

before builtin.c 'static double call_max(' <<'END'
static double call_exp(const double *arguments, int n)
{
    (void)n;
    return exp(arguments[0]);
}

/* The natural logarithm, or that to the base of the second argument. */
static double call_log(const double *arguments, int n)
{
    return n == 2 ? log(arguments[0]) / log(arguments[1]) : log(arguments[0]);
}

END
swap builtin.c '    { "floor", 1, 1, call_floor },' '    { "exp", 1, 1, call_exp },
    { "floor", 1, 1, call_floor },
    { "log", 1, 2, call_log },'
case_of 'log(1024, 2)' 10
next eli 'Add exponential function and logarithm'

swap README.md '    abs(x)  ceil(x)  floor(x)  max(x, ...)' '    abs(x)  ceil(x)  cos(x)  exp(x)  floor(x)  log(x)  log(x, base)  max(x, ...)'
swap README.md 'round(x, digits)  sqrt(x)' 'round(x, digits)  sin(x)  sqrt(x)  tan(x)'
next eli 'List the new functions'

swap lexer.c "isdigit((unsigned char)text[i]) || text[i] == '.' || text[i] == '_')) {" "is_part(text, i))) {"
before lexer.c '/* strtod, but underscores between the digits are skipped. */' <<'END'
/* Whether the character can be part of a number: digits, point, underscore, or an exponent with its sign. */
static int is_part(const char *text, int i)
{
    if (isdigit((unsigned char)text[i]) || strchr("._eE", text[i]) != NULL)
        return text[i] != '\0';
    return i > 0 && (text[i] == '-' || text[i] == '+') && (text[i - 1] == 'e' || text[i - 1] == 'E');
}

END
swap lexer.c 'while (n < 63 && (is_part(text, i))) {' 'while (n < 63 && is_part(text, i)) {'
case_of '1.5e3 + 1e-1' 1500.1
next bob 'Read exponents again'

before builtin.c 'static double call_max(' <<'END'
static double call_gcd(const double *arguments, int n)
{
    double a = fabs(arguments[0]), b, rest;
    int i;

    for (i = 1; i < n; i++) {
        b = fabs(arguments[i]);
        while (b != 0) {
            rest = fmod(a, b);
            a = b;
            b = rest;
        }
    }
    return a;
}

END
swap builtin.c '    { "log", 1, 2, call_log },' '    { "gcd", 1, MAX_ARGUMENTS, call_gcd },
    { "log", 1, 2, call_log },'
case_of 'gcd(12, 18, 27)' 3
next bob 'Add the greatest common divisor'

before builtin.c 'static const struct builtin builtins[] = {' <<'END'
static double call_sum(const double *arguments, int n)
{
    double result = 0;

    while (n > 0)
        result += arguments[--n];
    return result;
}

static double call_mean(const double *arguments, int n)
{
    return call_sum(arguments, n) / n;
}

END
swap builtin.c '    { "min", 1, MAX_ARGUMENTS, call_min },' '    { "mean", 1, MAX_ARGUMENTS, call_mean },
    { "min", 1, MAX_ARGUMENTS, call_min },'
swap builtin.c '    { "tan", 1, 1, call_tan },' '    { "sum", 0, MAX_ARGUMENTS, call_sum },
    { "tan", 1, 1, call_tan },'
case_of 'sum() + mean(1, 2, 6)' 3
next cho 'Add sum and mean'

swap parser.c '        return fail(parser, "a number is missing");' '        return fail(parser, parser->lexer.kind == TOKEN_BAD ? "this character has no meaning" : "a number is missing");'
case_of '2 * $' 'abacus: column 5: this character has no meaning'
next ada 'Tell bad characters from missing numbers'

before eval.c 'static double call(struct context *context, const struct node *node)' <<'END'
/* What the C library answers when there is no answer. */
static double checked(struct context *context, double result, const char *name)
{
    if (isnan(result))
        return fail_about(context, "no real number", name);
    return result;
}

END
swap eval.c '    return builtin->call(arguments, n);' '    return checked(context, builtin->call(arguments, n), node->name);'
case_of 'sqrt(-1)' 'abacus: no real number: sqrt'
next dee 'Refuse results that are no numbers'
tag v0.3

swap options.h 'void print_help(void);' 'void print_help(void);

void print_version(void);'
add options.c <<'END'

void print_version(void)
{
    puts("abacus 0.3");
}
END
swap main.c '        puts("abacus 0.2");' '        print_version();'
add NEWS <<'END'

0.3
 - the operators ^, == != < > <= >=, && || ! and ? :
 - cos, exp, gcd, log, mean, sin, sum, tan
END
next ada 'Tell what is new in 0.3'

swap tests/run.sh 'status=0' 'status=0
n=0'
swap tests/run.sh '    expression=${line%% => *}' '    n=$((n + 1))
    expression=${line%% => *}'
swap tests/run.sh 'exit $status' 'echo "$n cases"
exit $status'
next bob 'Count the test cases'

swap vars.h 'enum { NAME_SIZE = 32, MAX_VARIABLES = 64 };' 'enum { NAME_SIZE = 32, MAX_VARIABLES = 256 };'
next eli 'Make room for more variables'
