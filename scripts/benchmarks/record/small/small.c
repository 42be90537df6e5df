/* A program that is parked with about 1 MiB in memory. `small [n]`: n rounds, 6000 if none are given. */

#include <stdio.h>
#include <stdlib.h>

static int table[64];

static int step(int i)
{
    int *cell = &table[i % 64];
    *cell += i;
    if (*cell > 1000)
        *cell = 0;
    return *cell;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 6000;
    unsigned sum = 0;
    for (int i = 0; i < n; i++)
        sum += (unsigned)step(i);
    printf("%u\n", sum);
    return 0;
}
