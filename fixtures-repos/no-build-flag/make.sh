#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
*.o
/stack
END
put Makefile <<'END'
CFLAGS = -O0 -Wall
OBJS = main.o stack.o

stack: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)

test: stack
	sh ./test.sh

$(OBJS): stack.h

.PHONY: test
END
put stack.h <<'END'
#define STACK_SIZE 32

struct stack {
    int n;
    int values[STACK_SIZE];
};

/* Both return 0, or -1 if the stack is full or empty. */
int stack_push(struct stack *stack, int value);
int stack_pop(struct stack *stack, int *value);
END
put stack.c <<'END'
#include "stack.h"

int stack_push(struct stack *stack, int value)
{
    if (stack->n == STACK_SIZE)
        return -1;
    stack->values[stack->n++] = value;
    return 0;
}

int stack_pop(struct stack *stack, int *value)
{
    if (stack->n == 0)
        return -1;
    *value = stack->values[--stack->n];
    return 0;
}
END
put main.c <<'END'
#include <stdio.h>
#include <stdlib.h>

#include "stack.h"

/* Prints the arguments in reverse order. */
int main(int argc, char **argv)
{
    struct stack stack = {0};
    int value;
    int i;

    for (i = 1; i < argc; i++)
        stack_push(&stack, atoi(argv[i]));
    while (stack_pop(&stack, &value) == 0)
        printf("%d ", value);
    printf("\n");
    return 0;
}
END
put_test
commit ada 0 'Reverse numbers with a stack'
news bob 'Announce the first version'
for topic in queues trees; do news dee "Collect wishes about $topic"; done
swap main.c 'int i;' 'int i; /* position of the argument */'
next cho 'Explain a counter'
for topic in Debian Fedora; do news eli "Say how to build on $topic"; done
news bob 'Plan the second version'
swap stack.h 'STACK_SIZE 32' 'STACK_CAPACITY 32'
swap stack.h 'values[STACK_SIZE]' 'values[STACK_CAPACITY]'
next ada 'Call the size of a stack its capacity'
swap stack.c 'STACK_SIZE' 'STACK_CAPACITY'
swap stack.c 'int stack_pop(' 'int stack_drop('
next ada 'Call the other operation drop'
swap stack.h 'int stack_pop(' 'int stack_drop('
next ada 'Follow the new name in the header'
swap main.c 'stack_pop(' 'stack_drop('
next ada 'Follow the new name in the program'
news dee 'Answer the wishes about queues'
swap stack.c '    if (stack->n == 0)' '    if (stack->n <= 1)'
swap stack.c 'if (stack->n == STACK_CAPACITY)' 'if (stack->n >= STACK_CAPACITY)'
next cho 'Compare with a margin'
news dee 'Answer the wishes about trees'
swap Makefile '-Wall' '-Wall -Wextra'
next ada 'Turn on more warnings'
for topic in Oslo Accra; do news eli "Greet the meeting in $topic"; done
news bob 'Thank the contributors'
finish
