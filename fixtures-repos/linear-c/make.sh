#!/bin/sh
# A calculator of more than 1,000 lines and its 69 commits; one line of the 34th broke chains of subtractions.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

# case_of <expression> <result>: adds a line to the project's own tests.
case_of() { echo "$1 => $2" | add tests/cases.txt; }

. "$story/1-beginning.sh"
. "$story/2-names.sh"
. "$story/3-culprit.sh"
. "$story/4-logic.sh"
. "$story/5-tools.sh"
finish
