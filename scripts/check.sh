#!/usr/bin/env bash
# The whole gate: everything that must hold before a change is taken.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

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
if cargo nextest --version >/dev/null 2>&1; then
    # Some tests wait for a limit of time: two more at once than there are processors.
    step cargo nextest run --locked --no-fail-fast --test-threads "$(($(nproc) + 2))"
else
    step cargo test --locked --no-fail-fast
fi
if cargo deny --version >/dev/null 2>&1; then
    step cargo deny check
else
    echo '==> cargo deny check: left out, cargo-deny is not installed' >&2
fi
echo '==> all good' >&2
