/* The size of a block is computed in a type that is too narrow for it. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};

int main(void)
{
    unsigned count = 0;
    if (scanf("%u", &count) != 1)
        return 1;
    unsigned char size = count * sizeof(int);
    int *values = malloc(size);
    struct node *node = malloc(sizeof *node);
    node->next = malloc(sizeof *node);
    node->next->value = 7;
    for (unsigned i = 0; i < count; i++)
        if (scanf("%d", &values[i]) != 1) /* overwrites */
            break;
    printf("%d\n", node->next->value);
    return 0;
}
