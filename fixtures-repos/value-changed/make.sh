#!/bin/sh
# No test fails; but a command prints another value than it did.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put retry.sh <<'END'
# retry.sh: prints the seconds that a client waits in all before it gives up.
attempts=6
first=2
factor=2

waiting() {
    sum=0
    pause=$first
    n=1
    while [ "$n" -lt "$attempts" ]; do
        sum=$((sum + pause))
        pause=$((pause * factor))
        n=$((n + 1))
    done
    echo "$sum"
}

waiting
END
put_test
commit ada 0 'Compute how long a client waits'
news bob 'Announce the client'
swap retry.sh 'attempts=6' 'attempts=4'
next cho 'Give up earlier'
for topic in proxies timeouts; do news dee "Collect wishes about $topic"; done

put retry.sh <<'END'
# retry.sh: prints the seconds that a client waits in all before it gives up.
attempts=${RETRY_ATTEMPTS:-4}
first=${RETRY_FIRST:-2}
factor=${RETRY_FACTOR:-2}
longest=${RETRY_LONGEST:-60}

shorter() {
    if [ "$1" -lt "$2" ]; then echo "$1"; else echo "$2"; fi
}

waiting() {
    sum=0
    pause=$first
    n=0
    while [ "$n" -lt "$attempts" ]; do
        sum=$((sum + pause))
        pause=$(shorter $((pause * factor)) "$longest")
        n=$((n + 1))
    done
    echo "$sum"
}

waiting
END
next eli 'Read the settings of retries from the environment, and bound them'
news bob 'Thank the testers'
for topic in proxies certificates names; do news cho "Plan $topic"; done
finish
