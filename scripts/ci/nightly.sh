#!/bin/sh
# nightly.sh <arguments of git idd>: one night's work on a test that may be broken.
#
# Run in a clone with its whole history. Goes on with what an earlier night left, if .git/idd was kept. Writes the finding into
# IDD_REPORTS (default: idd-reports) as finding.json and, as soon as the first bad commit is known, in the other forms; and
# the state as badge.json. Ends with 0 unless something broke down.
#
# IDD_BUDGET  how long a night is (default: 2h)
# IDD_TELL    shell line that gets the finding as Markdown on its stdin, once for each first bad commit
set -eu
reports=${IDD_REPORTS:-idd-reports}
mkdir -p -- "$reports"
rm -f -- "$reports"/finding.* "$reports/badge.json"

git idd --exit-zero --json --budget "${IDD_BUDGET:-2h}" "$@" >"$reports/finding.json"
git idd list --badge >"$reports/badge.json"

status=$(sed -n 's/^{"schema":"[^"]*","status":"\([a-z_]*\)".*/\1/p' "$reports/finding.json")
# The budget may end after the first bad commit is proved; it is told of then, and the rest follows another night.
first_bad=$(sed -n 's/.*"first_bad":{"commit":"\([0-9a-f]*\)".*/\1/p' "$reports/finding.json")
if [ -z "$status" ]; then
    echo 'this was no hunt' >&2
    exit 1
fi
if [ -z "$first_bad" ]; then
    echo "no finding yet: $status" >&2
    exit 0
fi
for form in markdown:md sarif:sarif gitlab:gitlab.json junit:junit.xml; do
    git idd report --format "${form%%:*}" >"$reports/finding.${form#*:}"
done

told=$(git rev-parse --git-path idd)/told
if [ -n "${IDD_TELL:-}" ] && ! grep -qsx "$first_bad" "$told"; then
    sh -c "$IDD_TELL" <"$reports/finding.md"
    echo "$first_bad" >>"$told"
fi
