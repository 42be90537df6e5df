#!/bin/sh
# A picture is wrong. No command says so, but a person sees it.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put draw.sh <<'END'
# draw.sh: prints a picture of a tank that is filled by a half.
width=8
height=4
ink='#'

awk -v width="$width" -v height="$height" -v ink="$ink" '
    BEGIN {
        for (y = 0; y < height; y++) {
            line = ""
            for (x = 0; x < width; x++)
                line = line (x == 0 || y == height - 1 || x == width - 1 || y >= height / 2 ? ink : " ")
            print line
        }
    }
'
END
put .gitignore <<'END'
picture
END
put_test
commit ada 0 'Draw a tank'
news bob 'Announce the picture'
for topic in pipes valves; do news dee "Collect wishes about $topic"; done
swap draw.sh 'height=4' 'height=6'
next cho 'Draw a higher tank'
for topic in scales pumps; do news bob "Collect wishes about $topic"; done

put draw.sh <<'END'
# draw.sh: prints a picture of a tank that is filled by a half. $TANK_WIDTH and $TANK_HEIGHT are its size.
width=${TANK_WIDTH:-8}
height=${TANK_HEIGHT:-6}
ink='#'

awk -v width="$width" -v height="$height" -v ink="$ink" '
    function is_wall(x, y) { return x == 0 || y == height - 1 || x == width }
    function is_water(x, y) { return y >= height / 2 }
    BEGIN {
        for (y = 0; y < height; y++) {
            line = ""
            for (x = 0; x < width; x++)
                line = line (is_wall(x, y) || is_water(x, y) ? ink : " ")
            print line
        }
    }
'
END
next eli 'Take the size of the tank from the environment'
news ada 'Name the maintainers'
swap draw.sh "ink='#'" "ink=' '"
next cho 'Draw with a lighter ink'
news bob 'Thank the testers'
swap draw.sh "ink=' '" "ink='@'"
next cho 'Draw with an ink that can be seen'
for topic in floats colours; do news dee "Plan $topic"; done
swap draw.sh 'print line' 'prin line)'
next bob 'Print each line'
news bob 'Announce the second version'
swap draw.sh 'prin line)' 'print line'
next ada 'Take a slip back'
for topic in sieves taps; do news dee "Plan $topic"; done
finish
