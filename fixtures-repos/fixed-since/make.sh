#!/bin/sh
# A test that failed for a while passes again; which commit mended it, and which lines of it?
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put ledger.sh <<'END'
# ledger.sh <file>: prints the balance of a ledger, a line for each account.
balance() {
    awk '
        /^#/ { next }
        NF >= 2 { sum[$1] += $2 }
        END { for (name in sum) print name, sum[name] }
    ' "$1" | sort
}

title() {
    echo "Balance of $1"
}

title "$1"
balance "$1"
END
put_test
commit ada 0 'Print the balance of a ledger'
news bob 'Announce the ledger'
news dee 'Collect wishes'

swap ledger.sh '/^#/ { next }' '/^#/ || /^;/ { next }'
next cho 'Skip remarks that begin with a semicolon'
swap ledger.sh 'NF >= 2' 'NF == 2'
next eli 'Read only lines with two fields'
news bob 'Thank the accountants'
news cho 'Plan the second version'
swap ledger.sh 'echo "Balance of $1"' 'echo "Balance: $1"'
next dee 'Shorten the title'
news bob 'Announce the second version'
news ada 'Name the maintainers'

put ledger.sh <<'END'
# ledger.sh <file>: prints the balance of a ledger, a line for each account.
#
# A line has an account, an amount and, if need be, a remark.
balance() {
    awk '
        /^#/ || /^;/ || /^%/ { next }
        NF >= 2 { sum[$1] += $2 }
        END { for (name in sum) print name, sum[name] }
    ' "$1" | sort -k 1,1
}

title() {
    echo "Balance: $1"
    date=${LEDGER_DATE-}
    [ -z "$date" ] || echo "Date: $date"
}

title "$1"
balance "$1"
END
next eli 'Print a date, skip lines with a percent sign, and tidy up'
for topic in totals dates names; do news dee "Collect wishes about $topic"; done
finish
