/* A list on the heap: BAD makes one of its values another one. */
#include <stdio.h>
#include <stdlib.h>

struct node { struct node *next; int value; };

#ifdef BAD
static const int weights[] = { 2, 4, 5 };
#else
static const int weights[] = { 2, 3, 5 };
#endif

static int total(const struct node *node)
{
    int sum = 0;
    for (; node != NULL; node = node->next)
        sum += node->value;
    return sum;
}

int main(void)
{
    struct node *list = NULL;
    for (int i = 0; i < 3; i++) {
        struct node *node = malloc(sizeof *node);
        node->value = weights[i];
        node->next = list;
        list = node;
    }
    printf("%d\n", total(list));
    return 0;
}
