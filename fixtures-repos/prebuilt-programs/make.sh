#!/bin/sh
# A service built some of the revisions, and kept what it built; most revisions have no program there.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put parts/10-read.sh <<'END'
# Prints the durations of a time sheet, in minutes.
minutes() {
    awk '/^[0-9]/ { split($1, at, ":"); print at[1] * 60 + at[2] }' "$1"
}
END
put parts/20-print.sh <<'END'
# Prints the sum of its input as hours and minutes.
total() {
    awk '
        { sum += $1 }
        END { printf "%d:%02d\n", sum / 60, sum % 60 }
    '
}
END
put parts/90-main.sh <<'END'
minutes "$1" | total
END
put build.sh <<'END'
# Makes the program of its parts; the comments stay out.
cat parts/*.sh | grep -v '^ *#' >hours
END
put .gitignore <<'END'
hours
END
put_test
commit ada 0 'Add up the hours of a time sheet'
for topic in weeks names rates; do news bob "Collect wishes about $topic"; done
swap parts/10-read.sh 'Prints the durations' 'Prints all durations'
next cho 'Say that all durations count'
for topic in holidays breaks; do news dee "Collect wishes about $topic"; done

put parts/20-print.sh <<'END'
# Prints the sum of its input as hours and minutes; nothing if there is no input.
total() {
    awk '
        { sum += $1 }
        END { if (NR > 0) printf "%2d:%02d\n", sum / 60, sum % 24 }
    '
}
END
swap parts/10-read.sh '^[0-9]' '^ *[0-9]'
next eli 'Print nothing for an empty time sheet, and align the hours'
for topic in months projects; do news bob "Plan $topic"; done
swap parts/90-main.sh 'minutes "$1"' 'minutes "${1:?names no time sheet}"'
next ada 'Complain if no time sheet is named'
for topic in years teams; do news cho "Plan $topic"; done

# The programs of revisions 1, 5, 9, ... of 13, each under the id of its commit.
main=$(git rev-parse main)
mkdir .git/programs
n=0
for id in $(git rev-list --reverse main); do
    [ $((n % 4)) -ne 0 ] || {
        git checkout -q "$id"
        sh build.sh
        mv hours ".git/programs/$id"
    }
    n=$((n + 1))
done
git checkout -q --orphan programs "$main"
git rm -r -q -f .
mv .git/programs/* .
next dee 'Keep programs'
rmdir .git/programs
git checkout -q main
finish
