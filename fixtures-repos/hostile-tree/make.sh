#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

# The sentinel: no probe may write there. The history names it by a path that holds everywhere: a process whose working directory is the
# repository reaches it through the link below .git, which is not part of the history.
sentinel=$PWD.outside
mkdir -p -- "$sentinel"
echo 'nobody may touch this' >"$sentinel/sentinel.txt"
ln -s "$sentinel" .git/outside
outside=/proc/self/cwd/.git/outside

# entry <mode> <type> <id> <name>: one line for raw_tree.
entry() { printf '%s %s %s\t%s\n' "$@"; }

# tree_with: the tree of the index, plus the lines of standard input; prints the id. git mktree takes any name without a slash.
tree_with() { { git ls-tree "$(git write-tree)"; cat; } | git mktree; }

# raw_id <hex id>: the bytes of an id, as they stand in a tree object.
raw_id() {
    for byte in $(echo "$1" | sed 's/../& /g'); do printf "\\$(printf %03o "0x$byte")"; done
}

# commit_tree <author> <tree> <message>: commits the tree without looking at it; the work tree stays as it was.
commit_tree() {
    as "$1" $((clock + 97 + clock % 613))
    git update-ref refs/heads/main "$(git commit-tree "$2" -p HEAD -m "$3")"
}

# hostile <author> <name> <message>: a commit whose tree holds a directory of this name with a file in it.
hostile() {
    commit_tree "$1" "$(entry 040000 tree "$evil_tree" "$2" | tree_with)" "$3"
}

put .gitignore <<'END'
*.o
/even
END
put Makefile <<'END'
CFLAGS = -O0 -Wall

even: even.o
	$(CC) $(CFLAGS) -o $@ even.o
END
put even.c <<'END'
#include <stdio.h>
#include <stdlib.h>

static int is_even(long number)
{
    return number % 2 == 0;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 64;
    puts(is_even(atol(argv[1])) ? "even" : "odd");
    return 0;
}
END
put_test
commit ada 0 'Tell even numbers from odd ones'
evil=$(echo 'touched' | git hash-object -w --stdin)
evil_tree=$(entry 100644 blob "$evil" sentinel.txt | git mktree)

news bob 'Announce the first version'
for topic in zero primes; do news dee "Collect wishes about $topic"; done
ln -s /etc/hostname host
next cho 'Link to an absolute path'
for topic in Debian Fedora; do news eli "Say how to build on $topic"; done
ln -s "$outside" extra
next cho 'Link to the extras'
rm extra
put extra/sentinel.txt <<'END'
touched
END
put extra/wishes.txt <<'END'
primes
END
swap even.c 'number % 2 == 0' 'number % 2 != 1'
swap even.c 'static int is_even(long number)' 'static int is_even(long number) /* any sign */'
swap even.c 'argc != 2' 'argc < 2'
next bob 'Ship the extras and take any sign'
news dee 'Answer the wishes about zero'

# Nobody could have made these with git add.
hostile eli .. 'Leave the work tree'
hostile eli .git 'Enter the repository'
hostile eli .GIT 'Enter the repository in capitals'
hostile eli git~1 'Enter the repository by its short name'
hostile eli "$(printf '.g\342\200\214it')" 'Enter the repository by an ignored code point'
hostile eli '..\up' 'Leave the work tree by a backslash'
link=$(printf '%s' "$outside" | git hash-object -w --stdin)
commit_tree eli "$({ entry 120000 blob "$link" swap; entry 040000 tree "$evil_tree" swap; } | tree_with)" 'Be a link and a directory at once'
{
    git cat-file tree "$(git write-tree)"
    printf '100644 zz/../../up.txt\000'
    raw_id "$evil"
} >.git/raw.tree
commit_tree eli "$(git hash-object -t tree --literally -w .git/raw.tree)" 'Leave the work tree by a slash inside a name'
rm -f .git/raw.tree

# The index never saw them, so from here on the trees are clean again.
news dee 'Answer the wishes about primes'
swap Makefile '-Wall' '-Wall -Wextra'
next ada 'Turn on more warnings'
for topic in Oslo Accra; do news cho "Greet the meeting in $topic"; done
news bob 'Thank the contributors'
finish
