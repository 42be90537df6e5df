#!/bin/sh
# One commit, and its test fails.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
. "$story/../units.sh"
begin "$@"

units_program
swap alias.c '{ "km", "kilometre" }' '{ "km", "kilogram" }'
put_test
commit ada 0 'Convert length, mass and time'
finish
