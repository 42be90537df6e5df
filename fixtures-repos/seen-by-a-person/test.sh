#!/bin/sh
# What a person sees in the picture: 0 for a wall at the right of the first line, 1 for none, 125 if there is nothing to see.
grep -q '[^ ]' picture || exit 125
head -n 1 picture | grep -q '[^ ]  *[^ ]'
