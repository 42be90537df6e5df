#!/bin/sh
# A calculator of more than 1,000 lines and its 69 commits; one line of the 34th broke chains of subtractions.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

# case_of <expression> <result>: adds a line to the project's own tests.
case_of() { echo "$1 => $2" | add tests/cases.txt; }

# rewrite <file> <text>: puts standard input in the place of the function that begins in the only line with this text.
rewrite() {
    cat >.git/function
    TEXT=$2 awk '
        index($0, ENVIRON["TEXT"]) == 1 && !/;$/ { while ((getline line < ".git/function") > 0) print line; is_inside = 1 }
        !is_inside { print }
        is_inside && /^}/ { is_inside = 0; n_hits++ }
        END { exit n_hits != 1 }
    ' "$1" >.git/edited || die "no such function in $1: $2"
    cat .git/edited >"$1"
    rm .git/function .git/edited
}

. "$story/1-beginning.sh"
. "$story/2-names.sh"
. "$story/3-culprit.sh"
. "$story/4-logic.sh"
. "$story/5-tools.sh"
finish
