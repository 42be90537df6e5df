/* Checks the parts of conv from within. */
#include "units.h"

#include <stdio.h>

#ifndef UNITS_HAS_COUNT
#error "units.h is too old for this check"
#endif

int main(void)
{
    double value = 0;

    if (unit_count() < 9) {
        puts("ERROR: units are missing");
        return 3;
    }

    if (parse_number("-0.5", &value) != 0 || value != -0.5) {
        puts("FAIL: -0.5 is no number");
        return 1;
    }
    return 0;
}
