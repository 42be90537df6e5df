#!/usr/bin/env bash
# Makes a history of a small C program whose test fails at HEAD, and hunts in it. Nothing outside a temporary directory is
# touched. Arguments are handed on to `git idd`, in front of the test.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

scratch=$(mktemp -d "${TMPDIR:-/tmp}/git-idd-demo.XXXXXX")
trap 'rm -rf -- "$scratch"' EXIT

# `cargo install` puts the program here, and it need not be in PATH yet.
export PATH="${CARGO_INSTALL_ROOT:-${CARGO_HOME:-$HOME/.cargo}}/bin:$PATH"

fixtures-repos/linear-c/make.sh "$scratch/repo" >/dev/null
cd -- "$scratch/repo"
echo "\$ git log --oneline | head -n 3    # of $(git rev-list --count HEAD) commits" >&2
git --no-pager log --oneline -n 3 >&2
echo "\$ git idd ${*:+$* }--build make -- ./test.sh" >&2
git idd "$@" --build make -- ./test.sh
