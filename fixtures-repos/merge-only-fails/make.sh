#!/bin/sh
# Both parents of a merge pass, and the merge, which has no conflict, fails.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
. "$story/../units.sh"
begin "$@"

units_program
after conv.c '#include <string.h>' <<'END'

static char lowered[2][32];

/* Names of units are written in small letters. */
static const char *lower(const char *name, int which)
{
    int i;

    for (i = 0; name[i] != '\0' && i < 31; i++)
        lowered[which][i] = name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 32 : name[i];
    lowered[which][i] = '\0';
    return lowered[which];
}
END
swap conv.c 'find_unit(argv[2])' 'find_unit(lower(argv[2], 0))'
swap conv.c '    to = find_unit(argv[3])' '
    to = find_unit(lower(argv[3], 1))'
swap table.c '#include <string.h>' '#include <string.h>
#include <strings.h>'
swap table.c 'strcmp(units[i].name, name)' 'strcasecmp(units[i].name, name)'
put_test
commit ada 0 'Convert length, mass and time'
routines 10

branch exact-names
swap table.c 'strcasecmp(units[i].name, name)' 'strcmp(units[i].name, name)'
after table.c '    int i;' <<'END'

    /* Callers have made the letters small already. */
END
next cho 'Compare names exactly'
add README <<'END'

Names of units are compared byte by byte.
END
next cho 'Say how names are compared'
back=$clock

switch main
clock=$((back - 900))
swap conv.c 'from = find_unit(lower(argv[2], 0));' 'from = find_unit(argv[2]);'
swap examples.txt 'conv 90 min h' 'conv 90 min h
conv 1 Foot metre'
echo '- the unit on the left is looked up as it was written' | add NEWS
next dee 'Look the unit up as it was written'
routines 4
merge ada $((back + 2000)) exact-names 'Merge branch exact-names'
routines 7
finish
