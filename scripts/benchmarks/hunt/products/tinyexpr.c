/* The values of these expressions, and where the first error is. */
#include "tinyexpr.h"
#include <stdio.h>

int main(void)
{
    const char *texts[] = {"1+2*3", "-2^2", "1e3", "pi", "sqrt 4", "2--1", "5%3", "log 100", "fac 5", "ncr(6,2)", "1/0", "(1", "$"};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        int error = 0;
        double value = te_interp(texts[i], &error);
        printf("%s = %g %d\n", texts[i], value, error);
    }
    return 0;
}
