#!/usr/bin/env bash
# The whole gate: everything that must hold before a change is taken.
#
# usage: scripts/check.sh [--quick]
#
# --quick leaves out the tests that run whole hunts, but for three of them.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

case ${1-} in
'') is_quick=false ;;
--quick) is_quick=true ;;
*)
    echo 'usage: scripts/check.sh [--quick]' >&2
    exit 2
    ;;
esac

step() {
    printf '==> %s\n' "$*" >&2
    "$@"
}

step cargo fmt --check
step cargo clippy --locked --all-targets -- -D warnings
# The tests make many small files, which is quicker in memory.
if [ "$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)" -gt $((4 << 20)) ] 2>/dev/null; then
    export GIT_IDD_TEST_SCRATCH=/dev/shm
fi
# Some tests wait for a limit of time: two more at once than there are processors.
threads=$(($(nproc) + 2))
if $is_quick; then
    tests='kind(lib) | test(/^(docs|tidy|tools|usage)::/) | test(/^hunt::(crash|merge_culprit|stale_header)::the_hunt_finds/)'
    if cargo nextest --version >/dev/null 2>&1; then
        step cargo nextest run --locked --no-fail-fast --test-threads "$threads" -E "$tests"
    else
        step cargo test --locked --no-fail-fast --lib
    fi
    echo '==> all good, as far as the quick tests see' >&2
    exit
fi
if cargo nextest --version >/dev/null 2>&1; then
    step cargo nextest run --locked --no-fail-fast --test-threads "$threads"
else
    step cargo test --locked --no-fail-fast
fi
RUSTDOCFLAGS='-D warnings' step cargo doc --locked --no-deps --lib --document-private-items
if cargo deny --version >/dev/null 2>&1; then
    step cargo deny check
else
    echo '==> cargo deny check: left out, cargo-deny is not installed' >&2
fi
echo '==> all good' >&2
