#!/bin/sh
# Checks that histories are what their expect.toml says: verify.sh [<story>...]; without arguments, all of them.
#
# Each is made twice, under another HOME, TZ, umask and place; both ids must be the one in expect.toml. Then the ends of
# the finding are built and tested (with repair.patch where the story has one), bare and with culprit.patch put on the
# good one and taken out of the bad one, and `git bisect run` is asked for its own answer. The hunt itself is not run.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
n_wrong=0

# field <name>: the value of a top-level string or number of expect.toml.
field() {
    sed -n -e '/^\[/q' -e "s/^$1 = //p" "$here/$name/expect.toml" | sed -e 's/^"\(.*\)"$/\1/' -e 's/\\"/"/g' -e 's/\\\\/\\/g'
}

# named <subject>: the commit of that subject.
named() {
    git log --format='%H %s' main | SUBJECT=$1 awk '{ s = $0; sub(/^[^ ]* /, "", s) } s == ENVIRON["SUBJECT"] { print $1 }'
}

check() { # check <what> <expected> <found>
    if [ "$2" = "$3" ]; then
        echo "  ok     $1: $3"
    else
        echo "  WRONG  $1: expected '$2', found '$3'"
        n_wrong=$((n_wrong + 1))
    fi
}

# verdict <revision> [<patch or -patch>...]: builds and tests it; a leading minus takes the patch out.
verdict() {
    git checkout -q -f --detach "$1"
    git clean -q -f -d -x
    shift
    for patch; do
        [ -f "${patch#-}" ] || continue
        case $patch in
        -*) git apply --unidiff-zero -R "${patch#-}" || { echo 'does not apply'; return; } ;;
        *) git apply --unidiff-zero "$patch" || { echo 'does not apply'; return; } ;;
        esac
    done
    status=0
    timeout 20 sh -c "$(field bisect_command)" >"$scratch/output" 2>&1 </dev/null || status=$?
    case $status in
    0) echo pass ;;
    125) echo skip ;;
    1) echo fail ;;
    *) echo "exit $status" ;;
    esac
}

bisect() {
    git checkout -q -f main
    git clean -q -f -d -x
    git bisect start HEAD "$(field bisect_good)" >/dev/null 2>&1
    timeout 120 git bisect run sh -c "$(field bisect_command)" >"$scratch/bisect" 2>&1 </dev/null || :
    if grep -q 'only .skip.* commits left' "$scratch/bisect"; then
        answer='only skipped'
    elif id=$(sed -n 's/^\([0-9a-f]\{40\}\) is the first .*bad.* commit$/\1/p' "$scratch/bisect" | head -n 1) && [ -n "$id" ]; then
        answer=$(git log -1 --format=%s "$id")
        [ "$answer" = "$(field first_bad_subject)" ] || answer="wrong: $answer"
    else
        answer='n/a'
    fi
    git bisect reset main >/dev/null 2>&1
    echo "$answer"
}

story() {
    name=$1
    patches=$here/$name
    echo "$name"
    (umask 077 && HOME=/tmp TZ=Asia/Tokyo "$here/$name/make.sh" "$scratch/$name" >"$scratch/first")
    (umask 002 && HOME=$scratch TZ=America/Lima LC_ALL=C.UTF-8 "$here/$name/make.sh" "$scratch/elsewhere/$name" >"$scratch/second")
    check 'HEAD id' "$(field head)" "$(cat "$scratch/first")"
    check 'HEAD id, made again' "$(field head)" "$(cat "$scratch/second")"
    [ -n "$(field bisect_command)" ] || return 0
    git clone -q "$scratch/$name" "$scratch/clone" 2>/dev/null
    cd "$scratch/clone"
    echo "         $(git rev-list --count main) commits"
    check 'test at HEAD' fail "$(verdict main)"
    [ "$(field status)" != never_passed ] || check 'test at the root' fail "$(verdict "$(git rev-list --max-parents=0 main)")"
    good=$(named "$(field last_good_subject)")
    bad=$(named "$(field first_bad_subject)")
    if [ -n "$good" ] && [ -n "$bad" ]; then
        repair=$patches/repair.patch
        [ ! -f "$repair" ] || {
            check 'last good without the repair' "$(field bare_last_good)" "$(verdict "$good")"
            check 'first bad without the repair' "$(field bare_first_bad)" "$(verdict "$bad")"
        }
        check 'last good' pass "$(verdict "$good" "$repair")"
        check 'first bad' fail "$(verdict "$bad" "$repair")"
        if [ -f "$patches/culprit.patch" ]; then
            base=$(named "$(field sufficient_base)")
            check 'last good (or base) with the culprit' fail "$(verdict "${base:-$good}" "$repair" "$patches/culprit.patch")"
            check 'first bad without the culprit' pass "$(verdict "$bad" "$repair" "-$patches/culprit.patch")"
            [ -z "$(field sufficient_lines)" ] ||
                check 'lines of the culprit' "$(field sufficient_lines)" "$(grep -c '^[-+][^-+]' "$patches/culprit.patch")"
        fi
        [ ! -f "$patches/fix.patch" ] || check 'HEAD with the fix' pass "$(verdict main "$patches/fix.patch")"
    fi
    [ -z "$(field bisect_good)" ] || check 'git bisect run' "$(field bisect)" "$(bisect)"
    cd "$here"
    rm -rf "$scratch/clone"
}

[ $# -gt 0 ] || set -- $(cd "$here" && ls -d */ | tr -d /)
for one; do
    story "$one"
done
[ "$n_wrong" -eq 0 ] || echo "$n_wrong wrong"
[ "$n_wrong" -eq 0 ]
