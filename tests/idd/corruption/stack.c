/* A word without its end runs from a buffer of a function into a pointer beside it. */
#include <stdio.h>

struct word {
    char text[8];
    const char *rest;
};

static int shout(const char *line)
{
    struct word word = { "", "!" };
    int length = 0;
    while (line[length] != ' ' && line[length] != '\0' && line[length] != '\n') {
        word.text[length] = line[length]; /* overwrites */
        length++;
    }
    printf("%.8s", word.text);
    putchar(word.rest[0]);
    return length;
}

int main(void)
{
    char line[128];
    int sum = 0;
    while (fgets(line, sizeof line, stdin) != NULL)
        sum += shout(line);
    printf("%d\n", sum);
    return 0;
}
