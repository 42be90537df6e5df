# Shell functions for the make.sh of every story; POSIX sh, sourced, never run.
#
#     #!/bin/sh
#     set -eu
#     story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
#     . "$story/../lib.sh"
#     begin "$@"                      # makes the repository, enters it
#     put hello.c <<'END'             # writes a file from standard input
#     ...
#     END
#     commit ada 0 'Say hello'        # adds everything, commits, minute 0
#     next bob 'Say it twice'         # the same, at a later minute of its own choice
#     finish                          # prints the id of HEAD
#
# The ids depend on nothing but the script: dates, names, modes, time zone and configuration are fixed here. FIXTURE_HASH=sha256
# and FIXTURE_REFS=reftable make the same history in another format of git.

umask 022
LC_ALL=C TZ=UTC HOME=/nonexistent
GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
export LC_ALL TZ HOME
unset CDPATH LANG LANGUAGE XDG_CONFIG_HOME
for _name in $(env | sed -n 's/^\(GIT_[A-Za-z0-9_]*\)=.*/\1/p'); do unset "$_name"; done
GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_TERMINAL_PROMPT=0 GIT_EDITOR=:
GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=gc.auto GIT_CONFIG_VALUE_0=0 GIT_CONFIG_KEY_1=maintenance.auto GIT_CONFIG_VALUE_1=false
export GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL GIT_TERMINAL_PROMPT GIT_EDITOR
GIT_DEFAULT_HASH=${FIXTURE_HASH:-sha1} GIT_DEFAULT_REF_FORMAT=${FIXTURE_REFS:-files}
export GIT_DEFAULT_HASH GIT_DEFAULT_REF_FORMAT
export GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0 GIT_CONFIG_KEY_1 GIT_CONFIG_VALUE_1

epoch_base=1614589200 # 2021-03-01 09:00:00 UTC
clock=0               # minutes since epoch_base of the last commit

die() {
    echo "${story##*/}: $*" >&2
    exit 1
}

# begin <target-dir>: creates an empty repository there (the directory must be absent or empty) and enters it.
begin() {
    [ $# -eq 1 ] || die 'usage: make.sh <target-dir>'
    mkdir -p -- "$1"
    [ -z "$(ls -A -- "$1")" ] || die "$1 is not empty"
    cd -- "$1"
    git init -q -b main --template= .
    mkdir -p .git/info
    git config core.autocrlf false
}

# as <author> <minutes>: sets the person and the date for the git commands that follow.
as() {
    case $1 in
    ada) GIT_AUTHOR_NAME='Ada Brandt' ;;
    bob) GIT_AUTHOR_NAME='Bob Okafor' ;;
    cho) GIT_AUTHOR_NAME='Cho Min-ji' ;;
    dee) GIT_AUTHOR_NAME='Dee Lindqvist' ;;
    eli) GIT_AUTHOR_NAME='Eli Navarro' ;;
    *) die "unknown author $1" ;;
    esac
    clock=$2
    GIT_AUTHOR_EMAIL=$1@example.org
    GIT_AUTHOR_DATE="$((epoch_base + $2 * 60)) +0000"
    GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
    export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE
}

# commit <author> <minutes since epoch base> <message>: commits the whole work tree; an empty commit is an error.
commit() {
    as "$1" "$2"
    git add -A
    git commit -q --no-verify --no-gpg-sign -m "$3"
}

# next <author> <message>: the same, some hours after the commit before.
next() { commit "$1" $((clock + 97 + clock % 613)) "$2"; }

# news <author> <text>: the same, for an everyday commit that only adds the text to the news file.
news() {
    printf '* %s\n' "$2" >>NEWS
    next "$1" "$2"
}

# branch <name> [<start>]: creates the branch and switches to it; switch <name>: goes back to one.
branch() { git checkout -q -b "$@"; }
switch() { git checkout -q "$1"; }

# merge <author> <minutes> <branch> <message>: a true merge of the branch into the current one; a conflict is an error.
merge() {
    as "$1" "$2"
    git merge -q --no-ff --no-gpg-sign -m "$4" "$3" >/dev/null
}

# tag <name>: a light tag on HEAD.
tag() { git tag "$1"; }

# put <file>, add <file>: writes standard input to the file, or appends it; directories are made.
put() {
    case $1 in */*) mkdir -p -- "${1%/*}" ;; esac
    cat >"$1"
}
add() { cat >>"$1"; }

# put_test: copies the story's test.sh into the work tree, executable.
put_test() {
    cp -- "$story/test.sh" test.sh
    chmod 755 test.sh
}

# _edit <file> <what> <text> <replacement>: one awk pass over the only line that holds the text (a fixed string).
_edit() {
    cat >.git/edit.in
    FILE=$1 WHAT=$2 TEXT=$3 WITH=$4 awk '
        function stdin_lines(  line) { while ((getline line < ".git/edit.in") > 0) print line }
        BEGIN { text = ENVIRON["TEXT"]; with = ENVIRON["WITH"]; what = ENVIRON["WHAT"] }
        { at = index($0, text) }
        at == 0 { print; next }
        { n_hits++ }
        what == "after" { print; stdin_lines() }
        what == "before" { stdin_lines(); print }
        what == "replace" { stdin_lines() }
        what == "swap" { print substr($0, 1, at - 1) with substr($0, at + length(text)) }
        END { if (n_hits != 1) { print ENVIRON["FILE"] ": " n_hits + 0 " lines hold: " text > "/dev/stderr"; exit 1 } }
    ' "$1" >.git/edit.out || die "edit of $1 failed"
    cat .git/edit.out >"$1"
    rm -f .git/edit.in .git/edit.out
}

# Edits of the only line of <file> that holds <text>; it is an error when there is none or more than one.
# after, before <file> <text>: inserts standard input below or above it.    replace <file> <text>: puts standard input in its place.
# swap <file> <text> <new>: replaces the text inside the line.              drop <file> <text>: removes the line.
after() { _edit "$1" after "$2" ''; }
before() { _edit "$1" before "$2" ''; }
replace() { _edit "$1" replace "$2" ''; }
swap() { _edit "$1" swap "$2" "$3" </dev/null; }
drop() { _edit "$1" replace "$2" '' </dev/null; }

# rewrite <file> <text>: puts standard input in the place of the function or type that begins in the only line with this
# text, up to the next line that begins with a closing brace.
rewrite() {
    cat >.git/edit.in
    TEXT=$2 awk '
        index($0, ENVIRON["TEXT"]) == 1 && !/;$/ { while ((getline line < ".git/edit.in") > 0) print line; is_inside = 1 }
        !is_inside { print }
        is_inside && /^}/ { is_inside = 0; n_hits++ }
        END { exit n_hits != 1 }
    ' "$1" >.git/edit.out || die "no such function in $1: $2"
    cat .git/edit.out >"$1"
    rm .git/edit.in .git/edit.out
}

# finish: leaves main checked out and clean, and prints the id of HEAD.
finish() {
    [ "$(git symbolic-ref --short HEAD)" = main ] || die 'not on main'
    git diff --quiet HEAD || die 'the work tree is not clean'
    git rev-parse HEAD
}
