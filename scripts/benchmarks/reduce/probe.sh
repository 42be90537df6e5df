#!/bin/sh
# One probe in the current directory: the same judge for every algorithm, so that they differ in what they ask only.
#
# probe.sh build|test|both. Exit code: 0 the test passes, 1 it fails as the bad revision does, 125 anything else.
# Environment: BENCH_DIR has build.sh, test.sh, and `log`, which gets a line for every command; BENCH_FAIL is the exit code
# of the hunted failure; BENCH_SECONDS limits each command. The tree is named by IDD_TREE, or BENCH_KEY.
set -u

stage() {
    begin=$(date +%s.%N)
    timeout -k 1 "$BENCH_SECONDS" sh "$BENCH_DIR/$1.sh" </dev/null 2>&1
    code=$?
    printf '%s %s %s %s %s\n' "${IDD_TREE-${BENCH_KEY--}}" "$1" "$begin" "$(date +%s.%N)" "$code" >>"$BENCH_DIR/log"
    return $code
}

case $1 in
    build | both) stage build || exit 125 ;;
esac
case $1 in
    test | both)
        stage test
        case $? in
            0) exit 0 ;;
            "$BENCH_FAIL") exit 1 ;;
            *) exit 125 ;;
        esac
        ;;
esac
