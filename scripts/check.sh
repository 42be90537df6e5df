#!/usr/bin/env bash
# The gate: everything that must hold before a change is taken. Installs what it needs first; see scripts/setup.sh.
#
# usage: scripts/check.sh [--quick | --all]
#
# The slowest checks are the nightly tier: the tests that `.config/nextest.toml` leaves out, documentation, dependencies, and other configurations of the program.
# The gate runs one sixth of it. The number of commits chooses the sixth, so that six gates on successive commits run everything. `--all` runs all of it.
# `--quick` installs nothing. It runs rules, lints, three hunts, and the unit tests that take no seconds of the members that changed, and of those that use them: what is not committed, or else the last commit.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

case ${1-} in
'' | --quick | --all) tier=${1-} ;;
*)
    echo 'usage: scripts/check.sh [--quick | --all]' >&2
    exit 2
    ;;
esac

step() {
    printf '==> %s\n' "$*" >&2
    "$@"
}

# The lints run while the tests are compiled: one front end does both. This is how `cargo clippy` calls its compiler.
linted() {
    RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS='-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__' "$@"
}

has_nextest=false
! cargo nextest --version >/dev/null 2>&1 || has_nextest=true
counts='no counts: cargo-nextest is not installed'
# Runs tests, and keeps the line with their counts.
run_tests() {
    local log
    log=$(mktemp)
    linted step cargo nextest run --locked --no-fail-fast --test-threads "$threads" "$@" 2>&1 | tee "$log" >&2 || {
        rm -f "$log"
        return 1
    }
    counts=$(sed -n 's/.*\] *\([0-9]* tests* run: .*\)/\1/p' "$log" | tail -n 1)
    rm -f "$log"
}

# The part of the nightly tier that a gate runs, from 1 to 6. Without the whole history, the day chooses it.
chosen_sixth() {
    local number
    if [ "$(git rev-parse --is-shallow-repository 2>/dev/null)" = false ]; then
        number=$(git rev-list --count HEAD)
    else
        number=$(($(date +%s) / 86400))
    fi
    echo $((number % 6 + 1))
}

# Whether this run has a part of the nightly tier: all of them, or the chosen one.
has_part() { # has_part <number>
    [ "$tier" = --all ] || [ "$sixth" -eq "$1" ]
}

# The tests make many small files, which is quicker in memory.
if [ "$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)" -gt $((4 << 20)) ] 2>/dev/null; then
    export GIT_IDD_TEST_SCRATCH=/dev/shm
fi
# The same inputs of tests of properties each time: what this finds is due to the change. Without it, they are random.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED-1}
# Some tests wait for a limit of time: two more at once than there are processors.
threads=$(($(nproc) + 2))

# The unit tests of the members of the workspace that changed, and of those that use them, as a filter of nextest.
tests_of_changed_members() {
    local files member filter='none()'
    files=$(git diff --name-only HEAD && git ls-files --others --exclude-standard)
    [ -n "$files" ] || files=$(git diff --name-only HEAD^ HEAD)
    for member in $(sed -n 's#^src/\([a-z]*\)/.*#idd-\1#p; s#^Cargo\..*#idd-base\nidd-trace#p' <<<"$files" | sort -u); do
        filter="$filter | rdeps(${member/idd-app/git-idd})"
    done
    echo "kind(lib) & ($filter)"
}

if [ "$tier" = --quick ]; then
    step cargo fmt --check
    if $has_nextest; then
        run_tests --lib --test idd -E "$(tests_of_changed_members)"' - test(/(properties|simulation|::control::tests|::python::tests|repo::patch::)/) | kind(test) & test(/^(docs|tidy|tools|usage)::|^hunt::(crash|merge_culprit|stale_header)::the_hunt_finds/)'
    else
        linted step cargo test --locked --no-fail-fast --lib
    fi
    echo "==> good as far as the quick tests go; $counts; ${SECONDS} s" >&2
    exit
fi

step scripts/setup.sh
step cargo fmt --check
sixth=$(chosen_sixth)
tests='no tests of the nightly tier'
if $has_nextest; then
    run_tests
    tests=$counts
    if [ "$tier" = --all ]; then
        run_tests --ignore-default-filter -E 'not default()'
    else
        run_tests --ignore-default-filter -E 'not default()' --partition "hash:$sixth/6"
    fi
    tests="$tests; nightly tier: $counts"
else
    linted step cargo test --locked --no-fail-fast
    tests=$counts
fi
skipped=''
if has_part 1; then
    RUSTDOCFLAGS='-D warnings' step cargo doc --locked --no-deps --lib --document-private-items
fi
if has_part 2; then
    # The program without its optional parts.
    if $has_nextest; then
        run_tests --no-default-features --test idd -E 'test(/^(usage|shrink|trial|hunt)::/)'
        tests="$tests; without features: $counts"
    else
        step cargo check --locked --no-default-features
    fi
    linted step cargo check --locked --no-default-features --features explain
fi
if has_part 3; then
    step scripts/macos.sh
fi
if has_part 4; then
    if step scripts/setup.sh --dependencies; then
        step cargo deny --offline check
    else
        skipped='; dependencies not checked, their advisories or cargo-deny could not be fetched'
    fi
fi
part="part $sixth of 6"
[ "$tier" != --all ] || part='all parts'
echo "==> all good; $tests, $part$skipped; ${SECONDS} s" >&2
