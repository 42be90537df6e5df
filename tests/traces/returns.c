/* A decision in a function that another one calls: BAD turns it. */
#include <stdio.h>
#ifdef BAD
enum { LIMIT = 4100 };
#else
enum { LIMIT = 41000 };
#endif

static int may_climb(int height)
{
    if (height >= LIMIT)
        return 0;
    return 1;
}

static int answer(int height)
{
    return may_climb(height) + 10;
}

int main(void)
{
    int chosen = 1;
    int both = may_climb(5000) && answer(1) > 0;
    if (chosen && answer(5000) == 10)
        chosen = 2;
    printf("%d %d\n", chosen, both);
    return 0;
}
