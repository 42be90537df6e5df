/* Reads lines, single bytes, blocks, an argument, and a variable of the environment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    char line[32], block[4];
    int sum = 0;
    FILE *file = fopen("letters", "r");
    if (file == NULL || argc < 2)
        return 2;
    while (fgets(line, sizeof line, file) != NULL) {
        for (char *at = line; *at != '\0' && *at != '\n'; at++)
            sum += *at;
        if (line[0] == 'd')
            break;
    }
    int next = getc(file);
    ungetc(next, file);
    size_t n = fread(block, 1, 3, file);
    for (size_t i = 0; i < n; i++)
        sum += block[i];
    if (strcmp(argv[1], "--width") == 0)
        sum += atoi(argv[2]);
    char *size = getenv("SIZE");
    if (size != NULL)
        sum += size[0];
#ifdef BAD
    sum += next;
#endif
    printf("%d\n", sum);
    return 0;
}
