/* Characters of a text, one of which BAD makes another one. */
#include <stdio.h>
#include <string.h>

static char text[16];

static void fill(const char *from)
{
    int n = 0;
    while (from[n] != 0 && n < 15) {
        text[n] = from[n];
        n++;
    }
    text[n] = 0;
}

int main(void)
{
#ifdef BAD
    const char *from = "ho there";
#else
    const char *from = "hi there";
#endif
    fill(from);
    puts(text);
    return strlen(text) != 8;
}
