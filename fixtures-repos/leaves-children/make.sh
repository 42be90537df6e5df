#!/bin/sh
# The test leaves processes behind, some of them in a session of their own.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
. "$story/../units.sh"
begin "$@"

units_program
put_test
commit ada 0 'Convert length, mass and time'
routines 14

swap conv.c '    if (from == NULL || to == NULL) {' '    if (from == NULL && to == NULL) {'
swap conv.c '    if (strcmp(from->kind, to->kind) != 0) {' '    if (from != NULL && to != NULL && strcmp(from->kind, to->kind) != 0) {'
swap conv.c 'conv: %s is no %s' 'conv: no way from %s to %s'
echo '- better messages' | add NEWS
next cho 'Say why units do not fit'
routines 5
finish
