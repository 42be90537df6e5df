#!/bin/sh
# The area of a rectangle and of a square.
area=$(./area 3 7)
[ "$area" = 21 ] || { echo "FAIL: the area of the rectangle is $area, want 21"; exit 1; }
area=$(./area 4)
[ "$area" = 18 ] || { echo "FAIL: the area of the square is $area, want 18"; exit 1; }
