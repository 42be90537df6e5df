#!/bin/sh
# Runs every case: the first line of a case holds the arguments, the second the expected output.
n_cases=0
for case in tests/*.case; do
    [ -e "$case" ] || continue
    n_cases=$((n_cases + 1))
    { read -r arguments && read -r want; } <"$case"
    got=$(./days $arguments)
    [ "$got" = "$want" ] || { echo "FAIL: $case: got $got, want $want"; exit 1; }
done
echo "$n_cases cases passed"
