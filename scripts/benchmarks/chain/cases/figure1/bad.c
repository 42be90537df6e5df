/* The program of Figure 1; correct is x = 0. */
#include <stdbool.h>
#include <stdio.h>

int main(void) {
    int x;
    int y;
    int s;
    int t;
    x = 1;
    y = x << 1;
    if (x > 0)
        t = x << 2;
    else
        t = 0;
    s = y << 1;
    bool output = s + t > 0;
    printf("%s\n", output ? "True" : "False");
    return 0;
}
