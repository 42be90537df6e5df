#!/usr/bin/env bash
# The whole gate: everything that must hold before a change is taken. Installs what it needs first; see scripts/setup.sh.
#
# usage: scripts/check.sh [--quick]
#
# --quick installs nothing, and leaves out the tests that run whole hunts, but for three of them.
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

counts='no counts: cargo-nextest is not installed'
# Runs tests, and keeps the line with their counts.
run_tests() {
    local log
    log=$(mktemp)
    step cargo nextest run --locked --no-fail-fast --test-threads "$threads" "$@" 2>&1 | tee "$log" >&2 || {
        rm -f "$log"
        return 1
    }
    counts=$(sed -n 's/.*\] *\([0-9]* tests* run: .*\)/\1/p' "$log" | tail -n 1)
    rm -f "$log"
}

$is_quick || step scripts/setup.sh
step cargo fmt --check
step cargo clippy --locked --all-targets -- -D warnings
# The tests make many small files, which is quicker in memory.
if [ "$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)" -gt $((4 << 20)) ] 2>/dev/null; then
    export GIT_IDD_TEST_SCRATCH=/dev/shm
fi
# The same inputs of tests of properties each time: what this finds is due to the change. Without it, they are random.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED-1}
# Some tests wait for a limit of time: two more at once than there are processors.
threads=$(($(nproc) + 2))
has_nextest=false
! cargo nextest --version >/dev/null 2>&1 || has_nextest=true
if $is_quick; then
    tests='kind(lib) | test(/^(docs|tidy|tools|usage)::/) | test(/^hunt::(crash|merge_culprit|stale_header)::the_hunt_finds/)'
    if $has_nextest; then
        run_tests -E "$tests"
    else
        step cargo test --locked --no-fail-fast --lib
    fi
    echo "==> good as far as the quick tests go; $counts; ${SECONDS} s" >&2
    exit
fi
if $has_nextest; then
    run_tests
else
    step cargo test --locked --no-fail-fast
fi
step scripts/macos.sh
# The program without its optional parts.
step cargo check --locked --no-default-features
RUSTDOCFLAGS='-D warnings' step cargo doc --locked --no-deps --lib --document-private-items
denied='dependencies checked'
if cargo deny --version >/dev/null 2>&1; then
    step cargo deny check
else
    denied='dependencies not checked, cargo-deny is not installed'
fi
echo "==> all good; $counts; $denied; ${SECONDS} s" >&2
