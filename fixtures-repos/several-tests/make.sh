#!/bin/sh
# The list of failing tests, which is not committed, names five. Two commits broke three of them.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put text.sh <<'END'
# text.sh: functions for lines of text, each from standard input to standard output.
capitals() {
    tr 'a-y' 'A-Y'
}

trimmed() {
    sed -e 's/^ *//' -e 's/ *$//'
}

quoted() {
    trimmed | sed -e "s/.*/'&'/"
}

n_words() {
    awk '{ n += NF } END { print n + 0 }'
}

reversed() {
    awk '{ line = ""; for (i = 1; i <= NF; i++) line = line " " $i; print substr(line, 2) }'
}
END
put_test
commit ada 0 'Add functions for text'
for topic in tabs colons; do news bob "Collect wishes about $topic"; done
replace text.sh "sed -e 's/^ *//'" <<'END'
    # Both ends at once.
    sed -e 's/^ *\(.*\) $/\1/'
END
next cho 'Trim lines in one step'
for topic in quotes numbers; do news dee "Collect wishes about $topic"; done
replace text.sh 'n += NF' <<'END'
    # A number is no word.
    awk '{ n += NF - gsub(/[0-9]*/, "") } END { print n + 0 }'
END
next eli 'Count words only, and no numbers'
for topic in names dates; do news bob "Plan $topic"; done
swap text.sh "'a-y' 'A-Y'" "'a-z' 'A-Z'"
next ada 'Know all letters'

printf '%s\n' 'trim both sides' 'count words' "quote a line's end" 'reverse words' 'write capitals' >failing.txt
finish
