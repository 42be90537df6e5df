#!/usr/bin/env bash
# Makes docs/report.png: the page of a hunt with its explanation. Needs git-idd, clang, and what tests/browser needs.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
root=$PWD

scratch=$(mktemp -d "${TMPDIR:-/tmp}/git-idd-picture.XXXXXX")
trap 'rm -rf -- "$scratch"' EXIT
export PATH="${CARGO_INSTALL_ROOT:-${CARGO_HOME:-$HOME/.cargo}}/bin:$PATH"
program=${GIT_IDD:-git-idd}

fixtures-repos/huge-culprit/make.sh "$scratch/repo" >/dev/null
cd -- "$scratch/repo"
"$program" --quiet --build make -- ./test.sh >/dev/null
"$program" explain --quiet >/dev/null
"$program" report --html "$scratch/report.html"
cd -- "$root/tests/browser"
node picture.mjs "$(command -v chromium || command -v chromium-browser || command -v google-chrome)" "$scratch/report.html" "$root/docs/report.png"
