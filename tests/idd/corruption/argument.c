/* A long argument runs from one global variable into the next one. */
#include <stdio.h>
#include <string.h>

static char unpacked[] = "unpacked";
static struct {
    char name[16];
    char *suffix;
} current = { "", ".z" };

static void take(const char *argument)
{
    strcpy(current.name, argument); /* overwrites */
}

int main(int argc, char **argv)
{
    take(argc > 1 ? argv[1] : unpacked);
    size_t length = strlen(current.suffix);
    printf("%s %zu\n", current.name, length);
    return 0;
}
