#!/bin/sh
# Builds the check against the objects of conv and runs it; CHECK may name another copy of its source.
directory=$(mktemp -d) || exit 2
trap 'rm -rf "$directory"' EXIT
cc -O0 -I. -Werror=implicit-function-declaration -o "$directory/check" "${CHECK:-tests/check.c}" table.o alias.o parse.o format.o || exit 2
"$directory/check"
