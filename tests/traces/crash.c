/* A pointer that BAD leaves null is followed. */
#include <stdio.h>

struct part { int size; };
struct whole { struct part *part; };

static struct part part = { 3 };

static int size(const struct whole *whole)
{
    return whole->part->size;
}

int main(void)
{
    struct whole whole = { NULL };
#ifndef BAD
    whole.part = &part;
#else
    part.size = 4;
#endif
    printf("%d\n", size(&whole));
    return 0;
}
