/* Evaluates expressions over whole numbers, with variables and functions of one's own.
 *
 * usage: calc [-t] <lines
 *   let NAME = EXPRESSION
 *   def NAME(NAME, ...) = EXPRESSION
 *   EXPRESSION           + - * / % ** < <= > >= == != && || ! ?: ( ) and calls; abs, gcd, max, min are built in
 *   -t  shows the tree of each expression
 * Exit status: 0, or 1 if some line was wrong. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAME 16
#define MAX_ARGUMENTS 4
#define MAX_DEPTH 200

enum kind { NUMBER, VARIABLE, UNARY, BINARY, CHOICE, CALL };

struct node {
    enum kind kind;
    char operator[3];
    char name[MAX_NAME];
    long number;
    int n_children;
    struct node *children[MAX_ARGUMENTS];
};

struct binding {
    char name[MAX_NAME];
    long value;
    struct binding *next;
};

struct function {
    char name[MAX_NAME];
    int n_parameters;
    char parameters[MAX_ARGUMENTS][MAX_NAME];
    struct node *body;
    struct function *next;
};

struct builtin {
    const char *name;
    int n_parameters;
    long (*run)(const long *arguments);
};

struct operator {
    const char *text;
    int strength;
    int is_right;
};

/* The longer of two that begin alike stands first. */
static const struct operator operators[] = {
    {"||", 1, 0}, {"&&", 2, 0}, {"==", 3, 0}, {"!=", 3, 0}, {"<=", 4, 0}, {">=", 4, 0}, {"<", 4, 0},
    {">", 4, 0},  {"+", 5, 0},  {"-", 5, 0},  {"**", 8, 1}, {"*", 6, 0},  {"/", 6, 0},  {"%", 6, 0},
};

static const char *at;
static const char *error;
static struct binding *globals;
static struct function *functions;
static int depth;
static int n_calls;
static int n_wrong;

static struct node *parse_expression(void);

static void complain(const char *reason) {
    if (error == NULL) {
        error = reason;
    }
}

static struct node *new_node(enum kind kind) {
    struct node *node = calloc(1, sizeof *node);
    if (node == NULL) {
        exit(1);
    }
    node->kind = kind;
    return node;
}

static void add_child(struct node *node, struct node *child) {
    if (node->n_children >= MAX_ARGUMENTS) {
        complain("too many arguments");
        return;
    }
    node->children[node->n_children] = child;
    node->n_children++;
}

static void free_node(struct node *node) {
    int i;
    if (node == NULL) {
        return;
    }
    for (i = 0; i < node->n_children; i++) {
        free_node(node->children[i]);
    }
    free(node);
}

static void skip_spaces(void) {
    while (*at == ' ' || *at == '\t' || *at == '\n') {
        at++;
    }
}

static int take(const char *text) {
    size_t length = strlen(text);
    skip_spaces();
    if (strncmp(at, text, length) != 0) {
        return 0;
    }
    at += length;
    return 1;
}

static int take_name(char *name) {
    int length = 0;
    skip_spaces();
    if (!isalpha((unsigned char)*at)) {
        return 0;
    }
    while (isalnum((unsigned char)*at) || *at == '_') {
        if (length + 1 < MAX_NAME) {
            name[length] = *at;
            length++;
        }
        at++;
    }
    name[length] = '\0';
    return 1;
}

static struct node *parse_call(const char *name) {
    struct node *node = new_node(CALL);
    strcpy(node->name, name);
    if (take(")")) {
        return node;
    }
    do {
        add_child(node, parse_expression());
    } while (take(",") && error == NULL);
    if (!take(")")) {
        complain("`)` expected");
    }
    return node;
}

static struct node *parse_primary(void) {
    struct node *node;
    char name[MAX_NAME];
    skip_spaces();
    if (isdigit((unsigned char)*at)) {
        node = new_node(NUMBER);
        while (isdigit((unsigned char)*at)) {
            node->number = node->number * 10 + (*at - '0');
            at++;
        }
        return node;
    }
    if (take("(")) {
        node = parse_expression();
        if (!take(")")) {
            complain("`)` expected");
        }
        return node;
    }
    if (take_name(name)) {
        if (take("(")) {
            return parse_call(name);
        }
        node = new_node(VARIABLE);
        strcpy(node->name, name);
        return node;
    }
    complain("value expected");
    return new_node(NUMBER);
}

static const struct operator *peek_operator(void) {
    size_t i;
    skip_spaces();
    for (i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        if (strncmp(at, operators[i].text, strlen(operators[i].text)) == 0) {
            return &operators[i];
        }
    }
    return NULL;
}

static struct node *parse_binary(int least);

static struct node *parse_unary(void) {
    struct node *node;
    skip_spaces();
    if (*at != '-' && *at != '!') {
        return parse_primary();
    }
    node = new_node(UNARY);
    node->operator[0] = *at;
    at++;
    add_child(node, parse_binary(7));
    return node;
}

static struct node *parse_binary(int least) {
    struct node *left = parse_unary();
    while (error == NULL) {
        const struct operator *operator = peek_operator();
        struct node *node;
        int next;
        if (operator == NULL || operator->strength < least) {
            break;
        }
        at += strlen(operator->text);
        next = operator->strength;
        if (!operator->is_right) {
            next++;
        }
        node = new_node(BINARY);
        strcpy(node->operator, operator->text);
        add_child(node, left);
        add_child(node, parse_binary(next));
        left = node;
    }
    return left;
}

static struct node *parse_expression(void) {
    struct node *condition = parse_binary(1);
    struct node *node;
    if (error != NULL || !take("?")) {
        return condition;
    }
    node = new_node(CHOICE);
    add_child(node, condition);
    add_child(node, parse_expression());
    if (!take(":")) {
        complain("`:` expected");
    }
    add_child(node, parse_expression());
    return node;
}

static void show_tree(const struct node *node, int indent) {
    int i;
    printf("%*s", indent, "");
    switch (node->kind) {
    case NUMBER:
        printf("%ld\n", node->number);
        break;
    case VARIABLE:
        printf("%s\n", node->name);
        break;
    case CALL:
        printf("%s()\n", node->name);
        break;
    case CHOICE:
        printf("?:\n");
        break;
    default:
        printf("%s\n", node->operator);
        break;
    }
    for (i = 0; i < node->n_children; i++) {
        show_tree(node->children[i], indent + 2);
    }
}

static long absolute(const long *arguments) {
    return arguments[0] < 0 ? -arguments[0] : arguments[0];
}

static long greatest(const long *arguments) {
    long a = labs(arguments[0]);
    long b = labs(arguments[1]);
    while (b != 0) {
        long rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static long larger(const long *arguments) {
    return arguments[0] > arguments[1] ? arguments[0] : arguments[1];
}

static long smaller(const long *arguments) {
    return arguments[0] < arguments[1] ? arguments[0] : arguments[1];
}

static const struct builtin builtins[] = {
    {"abs", 1, absolute},
    {"gcd", 2, greatest},
    {"max", 2, larger},
    {"min", 2, smaller},
};

static long power(long base, long exponent) {
    long result = 1;
    if (exponent < 0) {
        complain("negative exponent");
        return 0;
    }
    while (exponent > 0 && error == NULL) {
        if (exponent % 2 == 1) {
            result = result * base;
        }
        exponent = exponent / 2;
        if (exponent > 0) {
            base = base * base;
        }
        if (labs(base) > 1000000 || labs(result) > 1000000000) {
            complain("too large");
        }
    }
    return result;
}

static long apply(const char *operator, long left, long right) {
    switch (operator[0]) {
    case '+':
        return left + right;
    case '-':
        return left - right;
    case '*':
        if (operator[1] == '*') {
            return power(left, right);
        }
        return left * right;
    case '/':
    case '%':
        if (right == 0) {
            complain("division by zero");
            return 0;
        }
        return operator[0] == '/' ? left / right : left % right;
    case '<':
        return operator[1] == '=' ? left <= right : left < right;
    case '>':
        return operator[1] == '=' ? left >= right : left > right;
    case '=':
        return left == right;
    default:
        return left != right;
    }
}

static struct binding *bind(struct binding *scope, const char *name, long value) {
    struct binding *binding = calloc(1, sizeof *binding);
    if (binding == NULL) {
        exit(1);
    }
    strcpy(binding->name, name);
    binding->value = value;
    binding->next = scope;
    return binding;
}

static struct binding *look_up(struct binding *scope, const char *name) {
    while (scope != NULL && strcmp(scope->name, name) != 0) {
        scope = scope->next;
    }
    return scope;
}

static struct function *find_function(const char *name) {
    struct function *function = functions;
    while (function != NULL && strcmp(function->name, name) != 0) {
        function = function->next;
    }
    return function;
}

static long evaluate(const struct node *node, struct binding *scope);

static long call(const struct node *node, struct binding *scope) {
    long arguments[MAX_ARGUMENTS] = {0};
    const struct function *function = find_function(node->name);
    struct binding *inner = NULL;
    long result;
    size_t b;
    int i;
    for (i = 0; i < node->n_children; i++) {
        arguments[i] = evaluate(node->children[i], scope);
    }
    n_calls++;
    if (function == NULL) {
        for (b = 0; b < sizeof builtins / sizeof builtins[0]; b++) {
            if (strcmp(builtins[b].name, node->name) == 0 && builtins[b].n_parameters == node->n_children) {
                return builtins[b].run(arguments);
            }
        }
        complain("unknown function");
        return 0;
    }
    if (function->n_parameters != node->n_children) {
        complain("wrong number of arguments");
        return 0;
    }
    if (depth >= MAX_DEPTH) {
        complain("too deep");
        return 0;
    }
    for (i = 0; i < function->n_parameters; i++) {
        inner = bind(inner, function->parameters[i], arguments[i]);
    }
    depth++;
    result = evaluate(function->body, inner);
    depth--;
    while (inner != NULL) {
        struct binding *next = inner->next;
        free(inner);
        inner = next;
    }
    return result;
}

static long evaluate(const struct node *node, struct binding *scope) {
    const struct binding *binding;
    long value;
    if (error != NULL) {
        return 0;
    }
    switch (node->kind) {
    case NUMBER:
        return node->number;
    case VARIABLE:
        binding = look_up(scope, node->name);
        if (binding == NULL) {
            binding = look_up(globals, node->name);
        }
        if (binding == NULL) {
            complain("unknown name");
            return 0;
        }
        return binding->value;
    case UNARY:
        value = evaluate(node->children[0], scope);
        return node->operator[0] == '-' ? -value : !value;
    case CHOICE:
        value = evaluate(node->children[0], scope);
        return evaluate(node->children[value ? 1 : 2], scope);
    case CALL:
        return call(node, scope);
    case BINARY:
        break;
    }
    value = evaluate(node->children[0], scope);
    if (strcmp(node->operator, "&&") == 0) {
        return value && evaluate(node->children[1], scope);
    }
    if (strcmp(node->operator, "||") == 0) {
        return value || evaluate(node->children[1], scope);
    }
    return apply(node->operator, value, evaluate(node->children[1], scope));
}

static void expect_end(void) {
    skip_spaces();
    if (*at != '\0') {
        complain("end expected");
    }
}

static void define(void) {
    struct function *function = calloc(1, sizeof *function);
    if (function == NULL) {
        exit(1);
    }
    if (!take_name(function->name) || !take("(")) {
        complain("name and `(` expected");
        free(function);
        return;
    }
    while (function->n_parameters < MAX_ARGUMENTS && take_name(function->parameters[function->n_parameters])) {
        function->n_parameters++;
        if (!take(",")) {
            break;
        }
    }
    if (!take(")") || !take("=")) {
        complain("`) =` expected");
        free(function);
        return;
    }
    function->body = parse_expression();
    expect_end();
    function->next = functions;
    functions = function;
}

static void assign(void) {
    char name[MAX_NAME];
    struct binding *binding;
    struct node *node;
    long value;
    if (!take_name(name) || !take("=")) {
        complain("name and `=` expected");
        return;
    }
    node = parse_expression();
    expect_end();
    value = evaluate(node, NULL);
    free_node(node);
    if (error != NULL) {
        return;
    }
    binding = look_up(globals, name);
    if (binding != NULL) {
        binding->value = value;
    } else {
        globals = bind(globals, name, value);
    }
}

static void answer(int with_tree) {
    struct node *node = parse_expression();
    long value;
    expect_end();
    if (with_tree && error == NULL) {
        show_tree(node, 2);
    }
    value = evaluate(node, NULL);
    if (error == NULL) {
        printf("%ld\n", value);
    }
    free_node(node);
}

int main(int argc, char **argv) {
    char line[200];
    int n_lines = 0;
    int with_tree = argc > 1 && strcmp(argv[1], "-t") == 0;
    while (fgets(line, sizeof line, stdin) != NULL) {
        n_lines++;
        at = line;
        error = NULL;
        depth = 0;
        skip_spaces();
        if (*at == '\0' || *at == '#') {
            continue;
        }
        if (take("let ")) {
            assign();
        } else if (take("def ")) {
            define();
        } else {
            answer(with_tree);
        }
        if (error != NULL) {
            printf("line %d, column %d: %s\n", n_lines, (int)(at - line) + 1, error);
            n_wrong++;
        }
    }
    printf("%d lines, %d calls, %d wrong\n", n_lines, n_calls, n_wrong);
    while (globals != NULL) {
        struct binding *next = globals->next;
        free(globals);
        globals = next;
    }
    while (functions != NULL) {
        struct function *next = functions->next;
        free_node(functions->body);
        free(functions);
        functions = next;
    }
    return n_wrong > 0;
}
