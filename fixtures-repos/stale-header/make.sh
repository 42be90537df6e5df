#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
*.o
/queue
END
put Makefile <<'END'
CFLAGS = -O0 -Wall
OBJS = main.o queue.o

queue: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)
END
put queue.h <<'END'
#define CAPACITY 8

struct queue {
    int first;
    int n;
    int values[CAPACITY];
};

/* Both return 0, or -1 if the queue is full or empty. */
int queue_put(struct queue *queue, int value);
int queue_take(struct queue *queue, int *value);
END
put queue.c <<'END'
#include "queue.h"

int queue_put(struct queue *queue, int value)
{
    if (queue->n == CAPACITY)
        return -1;
    queue->values[(queue->first + queue->n++) % CAPACITY] = value;
    return 0;
}

int queue_take(struct queue *queue, int *value)
{
    if (queue->n == 0)
        return -1;
    *value = queue->values[queue->first];
    queue->first = (queue->first + 1) % CAPACITY;
    queue->n--;
    return 0;
}
END
put main.c <<'END'
#include <stdio.h>
#include <stdlib.h>

#include "queue.h"

/* Prints the arguments in their order. */
int main(int argc, char **argv)
{
    struct queue queue = {0};
    int value;
    int i;

    for (i = 1; i < argc; i++)
        queue_put(&queue, atoi(argv[i]));
    while (queue_take(&queue, &value) == 0)
        printf("%d ", value);
    printf("\n");
    return 0;
}
END
put_test
commit ada 0 'Print numbers in their order'
news bob 'Announce the first version'
for topic in stacks trees; do news dee "Collect wishes about $topic"; done
swap main.c 'int i;' 'int i; /* position of the argument */'
next cho 'Explain a counter'
for topic in Debian Fedora Alpine; do news eli "Say how to build on $topic"; done
swap queue.h 'CAPACITY 8' 'CAPACITY 4'
next ada 'Save memory'
for topic in Oslo Accra; do news eli "Greet the meeting in $topic"; done
swap main.c 'Prints the arguments' 'Prints the numbers'
next cho 'Say numbers'
news bob 'Plan the second version'
for topic in Lima Quito; do news eli "Greet the meeting in $topic"; done
news bob 'Thank the contributors'
finish
