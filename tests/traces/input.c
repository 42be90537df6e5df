/* A number that is read from a file, and that differs. */
#include <stdio.h>

static int doubled(int number)
{
    return number * 2;
}

int main(void)
{
    int number = 0;
    FILE *file = fopen("number", "r");
    if (file == NULL || fscanf(file, "%d", &number) != 1)
        return 2;
    fclose(file);
    int result = doubled(number);
    printf("%d\n", result);
    return 0;
}
