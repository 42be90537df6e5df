#!/usr/bin/env bash
# hunt.sh: the step of action.yml.
#
# Installs git-idd unless it is there, hunts, and writes idd-reports/finding.json, finding.md, change.patch and fix.patch.
# The outputs culprit, change, fix and report go to GITHUB_OUTPUT, the report to GITHUB_STEP_SUMMARY.
#
# IDD_TEST, IDD_BUILD, IDD_GOOD   shell lines, and a revision
# IDD_BUDGET                      how long the hunt may take (default: 2h)
# IDD_COMMENT                     true: comment on the pull request IDD_NUMBER, or else on the first bad commit
# IDD_RELEASES, IDD_VERSION       where the archives of releases are, and the version
set -euo pipefail
: "${IDD_TEST:?the input test is missing}"
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

if ! command -v git-idd >/dev/null; then
    name=git-idd-$IDD_VERSION-$(uname -m)-unknown-linux-gnu
    place=${RUNNER_TEMP:-$(mktemp -d)}/git-idd
    mkdir -p -- "$place"
    for file in "$name.tar.gz" SHA256SUMS; do
        curl --fail --silent --show-error --location --output "$place/$file" "$IDD_RELEASES/v$IDD_VERSION/$file"
    done
    (cd -- "$place" && grep -F "  $name.tar.gz" SHA256SUMS | sha256sum --check --quiet -)
    tar --extract --gzip --strip-components=1 --directory="$place" --file="$place/$name.tar.gz"
    PATH=$place/bin:$PATH
    # Later steps have it, too.
    [ -z "${GITHUB_PATH:-}" ] || echo "$place/bin" >>"$GITHUB_PATH"
fi

reports=idd-reports
export IDD_BUDGET=${IDD_BUDGET:-2h}
options=()
[ -z "${IDD_BUILD:-}" ] || options+=(--build "$IDD_BUILD")
[ -z "${IDD_GOOD:-}" ] || options+=(--good "$IDD_GOOD")
IDD_REPORTS=$reports "$here/../nightly.sh" "${options[@]}" -- "$IDD_TEST"

# Writes the patches, and prints the first bad commit.
culprit=$(
    python3 - "$reports" <<'PYTHON'
import json, pathlib, sys

reports = pathlib.Path(sys.argv[1])
finding = json.loads((reports / "finding.json").read_bytes())
change = finding.get("change") or {}
for name, part in (("change", change.get("sufficient") or change.get("necessary")), ("fix", finding.get("fix"))):
    file = reports / f"{name}.patch"
    file.unlink(missing_ok=True)
    if part and part.get("patch"):
        file.write_text(part["patch"], errors="surrogateescape")
print((finding.get("first_bad") or {}).get("commit", ""))
PYTHON
)

output() { # output <name> <file>
    local file=$reports/$2
    [ -s "$file" ] || file=
    echo "$1=$file" >>"${GITHUB_OUTPUT:-/dev/stdout}"
}
echo "culprit=$culprit" >>"${GITHUB_OUTPUT:-/dev/stdout}"
output change change.patch
output fix fix.patch
output report finding.md

report=$reports/finding.md
if [ ! -s "$report" ]; then
    echo 'No first bad commit is known. The log of this step says why.' >>"${GITHUB_STEP_SUMMARY:-/dev/stdout}"
    exit 0
fi
cat -- "$report" >>"${GITHUB_STEP_SUMMARY:-/dev/stdout}"
if [ "${IDD_COMMENT:-}" = true ]; then
    if [ -n "${IDD_NUMBER:-}" ]; then
        gh pr comment "$IDD_NUMBER" --body-file "$report"
    else
        gh api --silent "repos/$GITHUB_REPOSITORY/commits/$culprit/comments" --field "body=@$report"
    fi
fi
