#!/bin/sh
# C as it is really written: tables that are included, macros that open what others close, half a header in an #ifdef,
# old-style definitions. One of some 150 changed lines is wrong.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

# edit <file> <awk program>: rewrites the file line by line.
edit() {
    awk "$2" "$1" >.git/edited
    cat .git/edited >"$1"
    rm .git/edited
}

# sample <author> <file> <line>...: an everyday commit, one more sample program.
sample() {
    _author=$1 _file=samples/$2
    shift 2
    printf '%s\n' "$@" | put "$_file"
    next "$_author" "Add the sample ${_file##*/}"
}

put .gitignore <<'END'
*.o
*.d
/stack
END
put Makefile <<'END'
CC = cc
CFLAGS = -O0 -std=gnu89 -Werror=implicit-function-declaration -DTRACE=0
OBJS = main.o parse.o run.o error.o

stack: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)

.c.o:
	$(CC) $(CFLAGS) -MMD -MP -c $<

$(OBJS): Makefile

-include $(OBJS:.o=.d)
END
put ops.def <<'END'
/* OP(name, operands, results): every operation of the machine. */
OP(push, 0, 1)
OP(add, 2, 1)
OP(sub, 2, 1)
OP(mul, 2, 1)
OP(div, 2, 1)
OP(mod, 2, 1)
OP(neg, 1, 1)
OP(abs, 1, 1)
OP(min, 2, 1)
OP(max, 2, 1)
OP(dup, 1, 2)
OP(drop, 1, 0)
OP(swap, 2, 2)
OP(over, 2, 3)
OP(rot, 3, 3)
OP(eq, 2, 1)
OP(lt, 2, 1)
OP(gt, 2, 1)
OP(not, 1, 1)
OP(print, 1, 0)
#undef OP
END
put errors.def <<'END'
/* The texts of errors; an initializer without its braces. */
[ERROR_NONE] = "no error",
[ERROR_UNDERFLOW] = "too few operands",
[ERROR_OVERFLOW] = "too many operands",
[ERROR_ZERO] = "division by zero",
[ERROR_NAME] = "no such operation",
[ERROR_SIZE] = "the program is too long",
END
put machine.h <<'END'
#ifndef MACHINE_H
#define MACHINE_H

#include <stdio.h>

#define LIMIT 64

enum op {
#define OP(name, operands, results) OP_##name,
#include "ops.def"
    N_OPS
};

enum error {
    ERROR_NONE,
    ERROR_UNDERFLOW,
    ERROR_OVERFLOW,
    ERROR_ZERO,
    ERROR_NAME,
    ERROR_SIZE
};

struct code {
    enum op op;
    long value;
};

struct machine {
    long stack[LIMIT];
    int depth;
    struct code program[LIMIT];
    int size;
};

#ifdef __STDC__
#define P(list) list
#else
#define P(list) ()
#endif

enum error parse P((struct machine *machine, FILE *file));
enum error run P((struct machine *machine, FILE *file));
const char *error_text P((enum error error));

#endif
END
put error.c <<'END'
#include "machine.h"

static const char *const texts[] = {
#include "errors.def"
};

const char *error_text(error)
enum error error;
{
    return texts[error];
}
END
put parse.c <<'END'
#include "machine.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
#define OP(name, operands, results) #name,
#include "ops.def"
};

static int find_op(word)
const char *word;
{
    int op;

    for (op = 0; op < N_OPS; op++)
        if (strcmp(names[op], word) == 0)
            break;
    return op;
}

enum error parse(machine, file)
struct machine *machine;
FILE *file;
{
    char word[32];
    char *end;
    int op;

    while (fscanf(file, "%31s", word) == 1) {
        long value = strtol(word, &end, 10);

        if (machine->size == LIMIT)
            return ERROR_SIZE;
        op = *end == '\0' ? OP_push : find_op(word);
        if (op == N_OPS)
            return ERROR_NAME;
        machine->program[machine->size].op = op;
        machine->program[machine->size].value = value;
        machine->size++;
    }
    return ERROR_NONE;
}
END
put run.c <<'END'
#include "machine.h"

#define BEGIN_CASES switch (code->op) {
#define CASE(name) case OP_##name: {
#define END_CASE break; }
#define END_CASES default: return ERROR_NAME; }

#define TOP (machine->stack[machine->depth - 1])
#define POP() (machine->stack[--machine->depth])
#define PUSH(x) (machine->stack[machine->depth++] = (x))

#define BINARY(name, expression)                                      \
    CASE(name)                                                        \
        long right = POP();                                           \
        long left = POP();                                            \
        PUSH(expression);                                             \
    END_CASE

static const struct {
    int operands, results;
} arity[] = {
#define OP(name, operands, results) [OP_##name] = { operands, results },
#include "ops.def"
};

#if TRACE
static void trace(machine, code, file)
FILE *file;
#else
static void trace(machine, code)
#endif
struct machine *machine;
struct code *code;
{
#if TRACE
    fprintf(file, "%d %d\n", code->op, machine->depth);
#else
    (void)machine, (void)code;
#endif
}

static enum error check(machine, op)
struct machine *machine;
enum op op;
{
    if (machine->depth < arity[op].operands)
        return ERROR_UNDERFLOW;
    if (machine->depth - arity[op].operands + arity[op].results > LIMIT)
        return ERROR_OVERFLOW;
    return ERROR_NONE;
}

enum error run(machine, file)
struct machine *machine;
FILE *file;
{
    struct code *code;
    enum error error;

    for (code = machine->program; code < machine->program + machine->size; code++) {
        if ((error = check(machine, code->op)) != ERROR_NONE)
            return error;
#if TRACE
        trace(machine, code, file);
#else
        trace(machine, code);
#endif
        BEGIN_CASES
        CASE(push) PUSH(code->value); END_CASE
        BINARY(add, left + right)
        BINARY(sub, left - right)
        BINARY(mul, left * right)
        CASE(div)
            long right = POP();
            if (right == 0)
                return ERROR_ZERO;
            TOP /= right;
        END_CASE
        CASE(mod)
            long right = POP();
            if (right == 0)
                return ERROR_ZERO;
            TOP %= right;
        END_CASE
        CASE(neg) TOP = -TOP; END_CASE
        CASE(abs) if (TOP < 0) TOP = -TOP; END_CASE
        BINARY(min, left < right ? left : right)
        BINARY(max, left > right ? left : right)
        CASE(dup) long top = TOP; PUSH(top); END_CASE
        CASE(drop) machine->depth--; END_CASE
        CASE(swap)
            long right = POP();
            long left = POP();
            PUSH(right);
            PUSH(left);
        END_CASE
        CASE(over) long below = machine->stack[machine->depth - 2]; PUSH(below); END_CASE
        CASE(rot)
            long third = POP();
            long second = POP();
            long first = POP();
            PUSH(second);
            PUSH(third);
            PUSH(first);
        END_CASE
        BINARY(eq, left == right)
        BINARY(lt, left < right)
        BINARY(gt, left > right)
        CASE(not) TOP = !TOP; END_CASE
        CASE(print) fprintf(file, "%ld\n", POP()); END_CASE
        END_CASES
    }
    return ERROR_NONE;
}
END
put main.c <<'END'
/* stack: runs the program on its standard input. */
#include "machine.h"

int main()
{
    static struct machine machine;
    enum error error = parse(&machine, stdin);

    if (error == ERROR_NONE)
        error = run(&machine, stdout);
    if (error != ERROR_NONE)
        fprintf(stderr, "stack: %s\n", error_text(error));
    return error != ERROR_NONE;
}
END
put README <<'END'
stack runs programs for a machine with a stack; its operations are in ops.def.
END
commit ada 0 'Run programs for a machine with a stack'
sample bob square.st '7 dup mul print'
sample cho mean.st '4 10 add 2 div print'
swap run.c 'CASE(neg) TOP = -TOP; END_CASE' 'CASE(neg) TOP = 0 - TOP; END_CASE'
next dee 'Negate by a subtraction'
sample eli larger.st '4 10 max print'
sample ada sign.st '-3 0 lt print'

# The culprit: a column more in ops.def, checked arithmetic, a trace that can be switched off, other names of macros.
edit ops.def '
    /^OP/ {
        match($0, /\([a-z]+/)
        name = substr($0, RSTART + 1, RLENGTH - 1)
        kind = name ~ /^(add|sub|mul|div|mod|neg|abs|min|max)$/ ? "ARITHMETIC" : name ~ /^(eq|lt|gt|not)$/ ? "LOGIC" : "STACK"
        sub(/\)$/, ", " kind ")")
    }
    /^\/\*/ { $0 = "/* OP(name, operands, results, kind): every operation of the machine, and what it is about. */" }
    { print }'
edit errors.def '
    /^\[/ { gsub(/^\[/, "TEXT("); sub(/\] = /, ", "); sub(/,$/, ")") }
    /^\/\*/ { $0 = "/* TEXT(error, text): the texts of errors. */" }
    { print }
    END { print "TEXT(ERROR_RANGE, \"the result is too large\")"; print "#undef TEXT" }'
edit error.c '
    /^#include "errors.def"/ { print "#define TEXT(error, text) [error] = text," }
    { print }'
edit machine.h '
    /ERROR_SIZE/ { print "    ERROR_SIZE,"; print "    ERROR_RANGE"; next }
    /^#define OP/ { sub(/results\)/, "results, kind)") }
    /^enum error \{/ { print "enum kind {\n    STACK,\n    ARITHMETIC,\n    LOGIC\n};\n" }
    { gsub(/ P\(\(/, " ARGS(("); sub(/define P\(/, "define ARGS("); print }'
edit parse.c '/^#define OP/ { sub(/results\)/, "results, kind)") } { print }'
edit run.c '
    /^#define OP/ { sub(/results\)/, "results, kind)"); sub(/operands, results \},/, "operands, results, kind },") }
    /^    int operands, results;/ { print; print "    enum kind kind;"; next }
    /^#define BEGIN_CASES/ { $0 = "#define DISPATCH switch (code->op) {" }
    /^#define CASE/ { $0 = "#define ON(name) case OP_##name: {" }
    /^#define END_CASE / { $0 = "#define DONE break; }" }
    /^#define END_CASES/ { $0 = "#define END_DISPATCH default: return ERROR_NAME; }" }
    /^#define BINARY/ { $0 = "#define ON2(name, expression)                                         \\" }
    /^    CASE\(name\) / { $0 = "    ON(name)                                                          \\" }
    /^        PUSH\(expression\)/ {
        print "        if (OVERFLOWS(expression))                                    \\"
        print "            return ERROR_RANGE;                                       \\"
    }
    /^#define PUSH/ { print; print "#define OVERFLOWS(x) ((double)(x) > 9e18 || (double)(x) < -9e18)"; next }
    /^#if TRACE/ { $0 = "#if TRACE > 0" }
    /fprintf\(file, "%d %d/ { $0 = "    fprintf(file, \"%d %d%s\\n\", code->op, machine->depth, arity[code->op].kind == LOGIC ? \" ?\" : \"\");" }
    /^    END_CASE$/ { $0 = "    DONE" }
    /^        / && !/\\$/ {
        gsub(/BEGIN_CASES/, "DISPATCH"); gsub(/END_CASES/, "END_DISPATCH"); gsub(/END_CASE/, "DONE")
        gsub(/CASE\(/, "ON("); gsub(/BINARY\(/, "ON2(")
    }
    /ON2\(min/ { sub(/left < right/, "right < left") ; sub(/\? left : right/, "? right : left") }
    /ON2\(max/ { sub(/left > right/, "right > left") ; sub(/\? left : right/, "? right : left") }
    /TOP %= right;/ { $0 = "            TOP -= right * (TOP / right + (TOP % right < 0));" }
    { print }'
swap README 'its operations are in ops.def.' 'its operations and their kinds are in ops.def.'
next bob 'Check the results of arithmetic and mark the kinds of operations'

sample cho cube.st '3 dup dup mul mul print'
swap main.c '        fprintf(stderr, "stack: %s\n", error_text(error));' '        fprintf(stderr, "stack: error %d: %s\n", (int)error, error_text(error));'
next dee 'Print the number of an error'
sample eli turn.st '1 2 3 rot print'
swap errors.def '"no such operation"' '"no operation has this name"'
next ada 'Word an error better'
sample bob power.st '2 dup mul dup mul print'
put_test
next cho 'Test the remainder of a negative number'
sample dee zero.st '1 0 div print'
finish
