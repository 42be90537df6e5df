/* A long path runs over the buffer of a function into its return address. */
#include <stdio.h>
#include <string.h>

static int is_hidden(const char *directory, const char *name)
{
    char path[24] = "";
    strcat(path, directory);
    strcat(path, "/");
    strcat(path, name); /* overwrites */
    return strstr(path, "/.") != NULL;
}

int main(void)
{
    char line[256];
    int n_hidden = 0;
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *slash = strrchr(line, '/');
        if (slash != NULL) {
            *slash = '\0';
            n_hidden += is_hidden(line, slash + 1);
        }
    }
    printf("%d\n", n_hidden);
    return 0;
}
