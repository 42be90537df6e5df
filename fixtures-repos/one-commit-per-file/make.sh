#!/bin/sh
# Three releases were imported file by file; each builds only when its last file is there.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
. "$story/../units.sh"
begin "$@"

# import <release>: commits what differs from HEAD file by file, one a minute, by the same author.
import() {
    clock=$((clock + 1440))
    for file in Makefile units.h alias.c conv.c format.c parse.c table.c examples.txt README NEWS; do
        [ -n "$(git status --porcelain -- "$file")" ] || continue
        as eli $((clock + 1))
        git add -- "$file"
        git commit -q --no-verify --no-gpg-sign -m "$1: $file"
    done
}

# rename <word> <new word>: renames an identifier in all sources.
rename() {
    for file in units.h alias.c conv.c format.c parse.c table.c; do
        sed "s/$1/$2/g" "$file" >.git/renamed
        cat .git/renamed >"$file"
    done
    rm .git/renamed
}

units_program
as eli 0
git add .gitignore
git commit -q --no-verify --no-gpg-sign -m 'Ignore what is built'
import 'Import conv 1.0'
tag v1.0
routines 9

rename find_unit unit_named
rename format_number number_to_text
rename '>kind' '>dimension'
rename 'char \*kind' 'char *dimension'
swap README 'conv converts a value' 'conv 2.0 converts a value'
echo '- conv 2.0: names that say more' | add NEWS
import 'Import conv 2.0'

swap table.c 'strcmp(units[i].name, name) == 0' 'strncmp(units[i].name, name, strlen(name)) == 0'
before table.c 'const struct unit *unit_named' <<'END'
/* The first unit whose name begins like this. */
END
swap README '    conv 5 foot metre' '    conv 5 foot metre
    conv 5 foot met'
echo '- names may be shortened' | add NEWS
next dee 'Accept the beginning of a name'
routines 8

rename parse_number text_to_number
rename resolve_alias unit_of_alias
rename 'struct unit ' 'struct measure '
swap README 'conv 2.0 converts a value' 'conv 2.1 converts a value'
echo '- conv 2.1: measures' | add NEWS
import 'Import conv 2.1'
routines 3
put_test
next bob 'Test a name that is cut off'
finish
