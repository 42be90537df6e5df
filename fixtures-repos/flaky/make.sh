#!/bin/sh
# The test fails and passes by turns; it is the user's own file, outside of the history.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
. "$story/../units.sh"
begin "$@"

units_program
commit ada 0 'Convert length, mass and time'
routines 9

# The test keeps its count outside of the repository, by absolute path: it is the same from every worktree.
counter=$(pwd -P).turns
mkdir -p "$counter"
awk -v counter="$counter" '{ sub(/@COUNTER@/, counter); print }' "$story/test.sh" >test.sh
chmod 755 test.sh
finish
