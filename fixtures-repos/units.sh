# The small program that many stories are about: conv, which converts units. Sourced after lib.sh.
#
# units_program writes its first state; `routine <author>` makes one more everyday commit (a unit, an alias or an
# example, in turn); `routines <n>` makes n of them by changing people. Everyday commits touch only the rows of
# table.c and alias.c, NEWS and examples.txt, so a story has the rest of the program for itself.

n_routines=0

units_program() {
    put .gitignore <<'END'
*.o
*.d
/conv
END
    put Makefile <<'END'
CC = cc
CFLAGS = -O0
OBJS = conv.o table.o alias.o parse.o format.o

conv: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)

.c.o:
	$(CC) $(CFLAGS) -MMD -MP -c $<

$(OBJS): Makefile

clean:
	rm -f conv *.o *.d

-include $(OBJS:.o=.d)
END
    put units.h <<'END'
#ifndef UNITS_H
#define UNITS_H

#define DIGITS 6

struct unit {
    const char *name;
    const char *kind;
    double factor; /* how many base units of the kind one of it is */
};

const struct unit *find_unit(const char *name);
double convert(double value, const struct unit *from, const struct unit *to);

const char *resolve_alias(const char *name);

int parse_number(const char *text, double *value);

void format_number(char *text, int size, double value);

#endif
END
    put conv.c <<'END'
/* conv: converts a value from one unit to another. */
#include "units.h"

#include <stdio.h>
#include <string.h>

static int usage(void)
{
    fputs("usage: conv <value> <unit> <unit>\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    const struct unit *from, *to;
    double value;
    char text[64];

    if (argc != 4)
        return usage();

    if (parse_number(argv[1], &value) != 0) {
        fprintf(stderr, "conv: not a number: %s\n", argv[1]);
        return 1;
    }

    from = find_unit(argv[2]);
    to = find_unit(argv[3]);
    if (from == NULL || to == NULL) {
        fprintf(stderr, "conv: unknown unit: %s\n", from == NULL ? argv[2] : argv[3]);
        return 1;
    }
    if (strcmp(from->kind, to->kind) != 0) {
        fprintf(stderr, "conv: %s is no %s\n", from->name, to->kind);
        return 1;
    }

    format_number(text, sizeof text, convert(value, from, to));
    printf("%s\n", text);
    return 0;
}
END
    put table.c <<'END'
#include "units.h"

#include <stddef.h>
#include <string.h>

static const struct unit units[] = {
    { "metre", "length", 1 },
    { "kilometre", "length", 1000 },
    { "foot", "length", 0.3048 },
    { "mile", "length", 1609.344 },
    { "gram", "mass", 1 },
    { "kilogram", "mass", 1000 },
    { "second", "time", 1 },
    { "minute", "time", 60 },
    { "hour", "time", 3600 },
    { NULL, NULL, 0 }
};

const struct unit *find_unit(const char *name)
{
    int i;

    name = resolve_alias(name);
    for (i = 0; units[i].name != NULL; i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

double convert(double value, const struct unit *from, const struct unit *to)
{
    return value * from->factor / to->factor;
}
END
    put alias.c <<'END'
#include "units.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    const char *unit;
} aliases[] = {
    { "m", "metre" },
    { "km", "kilometre" },
    { "ft", "foot" },
    { "mi", "mile" },
    { "g", "gram" },
    { "kg", "kilogram" },
    { "s", "second" },
    { "min", "minute" },
    { "h", "hour" },
    { NULL, NULL }
};

const char *resolve_alias(const char *name)
{
    int i;

    for (i = 0; aliases[i].name != NULL; i++)
        if (strcmp(aliases[i].name, name) == 0)
            return aliases[i].unit;
    return name;
}
END
    put parse.c <<'END'
#include "units.h"

#include <ctype.h>

/* Reads a decimal number; 0 on success, -1 when the text is none. */
int parse_number(const char *text, double *value)
{
    double sign = 1, scale = 1, number = 0;
    int n_digits = 0;

    if (*text == '-') {
        sign = -1;
        text++;
    }

    while (isdigit((unsigned char)*text)) {
        number = number * 10 + (*text++ - '0');
        n_digits++;
    }

    if (*text == '.') {
        text++;
        while (isdigit((unsigned char)*text)) {
            scale /= 10;
            number += (*text++ - '0') * scale;
            n_digits++;
        }
    }

    if (n_digits == 0 || *text != '\0')
        return -1;
    *value = sign * number;
    return 0;
}
END
    put format.c <<'END'
#include "units.h"

#include <stdio.h>
#include <string.h>

/* Takes away the zeros behind the last digit of a fraction. */
static void trim(char *text)
{
    char *end = text + strlen(text);

    if (strchr(text, '.') == NULL)
        return;

    while (end[-1] == '0')
        *--end = '\0';
    if (end[-1] == '.')
        *--end = '\0';
}

/* Writes the value with at most DIGITS decimals. */
void format_number(char *text, int size, double value)
{
    if (value == (double)(long)value)
        snprintf(text, size, "%ld", (long)value);
    else
        snprintf(text, size, "%.*f", DIGITS, value);

    trim(text);
}
END
    put examples.txt <<'END'
conv 5 foot metre
conv 90 min h
END
    put NEWS <<'END'
Changes of conv, oldest first
- the first units of length, mass and time
END
    put README <<'END'
conv converts a value from one unit to another:

    conv 5 foot metre

Build it with make. Names of units are in table.c, their short forms in alias.c.
END
}

# routine <author>: one everyday commit.
routine() {
    set -- "$1" $(_unit_row $((n_routines / 3 + 1))) || die 'out of units'
    [ $# -eq 5 ] || die 'out of units'
    case $((n_routines % 3)) in
    0)
        before table.c '{ NULL, NULL, 0 }' <<END
    { "$2", "$3", $4 },
END
        echo "- the $2" | add NEWS
        next "$1" "Know the $2"
        ;;
    1)
        before alias.c '{ NULL, NULL }' <<END
    { "$5", "$2" },
END
        next "$1" "Accept $5 for the $2"
        ;;
    2)
        echo "conv $((n_routines + 1)) $5 $2" | add examples.txt
        next "$1" "Show an example with the $2"
        ;;
    esac
    n_routines=$((n_routines + 1))
}

# routines <n>: n everyday commits by changing people.
routines() {
    _left=$1
    while [ "$_left" -gt 0 ]; do
        case $((n_routines * 7 % 5)) in
        0) routine ada ;;
        1) routine bob ;;
        2) routine cho ;;
        3) routine dee ;;
        4) routine eli ;;
        esac
        _left=$((_left - 1))
    done
}

# _unit_row <n>: name, kind, factor and short form of the n-th further unit.
_unit_row() {
    sed -n "$1p" <<'END'
inch length 0.0254 in
yard length 0.9144 yd
furlong length 201.168 fur
chain length 20.1168 ch
rod length 5.0292 rd
fathom length 1.8288 ftm
league length 4828.032 lea
cable length 185.2 cbl
hand length 0.1016 hh
span length 0.2286 sp
cubit length 0.4572 cu
ell length 1.143 el
verst length 1066.8 vst
arshin length 0.7112 ars
point length 0.000352778 pt
pica length 0.004233333 pc
angstrom length 1e-10 ang
micron length 1e-6 um
decimetre length 0.1 dm
centimetre length 0.01 cm
millimetre length 0.001 mm
hectometre length 100 hm
ounce mass 28.349523125 oz
pound mass 453.59237 lb
stone mass 6350.29318 st
dram mass 1.7718451953125 dr
grain mass 0.06479891 gr
carat mass 0.2 ct
tonne mass 1000000 t
quintal mass 100000 q
slug mass 14593.903 slg
tael mass 37.429 tl
catty mass 604.79 cty
pood mass 16380.7 pd
scruple mass 1.2959782 scr
milligram mass 0.001 mg
microgram mass 1e-6 ug
hectogram mass 100 hg
day time 86400 d
week time 604800 wk
fortnight time 1209600 fn
month time 2629746 mo
year time 31556952 a
decade time 315569520 dec
century time 3155695200 cen
millisecond time 0.001 ms
microsecond time 1e-6 us
nanosecond time 1e-9 ns
litre volume 1 l
gallon volume 4.54609 gal
quart volume 1.1365225 qt
pint volume 0.56826125 pnt
gill volume 0.1420653125 gi
barrel volume 158.987294928 bbl
bushel volume 36.36872 bu
peck volume 9.09218 pk
firkin volume 40.91481 fir
hogshead volume 286.4237 hhd
millilitre volume 0.001 ml
hectolitre volume 100 hl
acre area 4046.8564224 ac
hectare area 10000 ha
are area 100 ar
rood area 1011.7141056 ro
barn area 1e-28 b
joule energy 1 J
calorie energy 4.184 cal
erg energy 1e-7 erg
therm energy 105505585.262 thm
watthour energy 3600 Wh
pascal pressure 1 Pa
bar pressure 100000 br
torr pressure 133.322368 Torr
atmosphere pressure 101325 atm
millibar pressure 100 mbar
knot speed 0.514444 kn
END
}
