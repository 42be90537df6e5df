/* A long name runs from its block on the heap into the next block. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *next;
    char *name;
};

static struct entry *add(struct entry *first, const char *name)
{
    char *copy = malloc(24);
    struct entry *entry = malloc(sizeof *entry);
    entry->next = first;
    entry->name = copy;
    memcpy(copy, name, strlen(name) + 1); /* overwrites */
    return entry;
}

int main(void)
{
    char line[128];
    struct entry *first = NULL;
    int n_bytes = 0;
    while (fgets(line, sizeof line, stdin) != NULL)
        first = add(first, line);
    for (struct entry *entry = first; entry != NULL; entry = entry->next)
        n_bytes += entry->name[0] != '#';
    printf("%d\n", n_bytes);
    return 0;
}
