#!/bin/sh
# A list is unlocked before it is written; the test cannot see whether it is unlocked at all.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/todo
END
put Makefile <<'END'
CC = gcc
CFLAGS = -O0

todo: todo.c
	$(CC) $(CFLAGS) -o $@ todo.c
END
put todo.c <<'END'
/* todo: adds its arguments to the list in the file that $TODO names; -v tells what it does. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char lock_path[512];
static int is_verbose;

static void tell(const char *what)
{
    if (is_verbose)
        puts(what);
}

/* Takes the lock of the list; -1 when somebody else has it. */
static int lock(const char *path)
{
    int fd;

    snprintf(lock_path, sizeof lock_path, "%s.lock", path);
    fd = open(lock_path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd < 0)
        return -1;
    tell("locked");
    return close(fd);
}

static void unlock(void)
{
    if (unlink(lock_path) == 0)
        tell("unlocked");
}

/* Adds the tasks to the list; -1 when it cannot be written. */
static int add_tasks(const char *path, char **tasks, int n)
{
    FILE *file;
    int i;

    file = fopen(path, "a");
    if (file == NULL)
        return -1;
    for (i = 0; i < n; i++)
        fprintf(file, "%s\n", tasks[i]);
    tell("written");
    fclose(file);
    unlock();
    return 0;
}

int main(int argc, char **argv)
{
    const char *path = getenv("TODO");

    is_verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    if (path == NULL || lock(path) != 0) {
        fputs("todo: the list is in use\n", stderr);
        return 1;
    }
    return add_tasks(path, argv + 1 + is_verbose, argc - 1 - is_verbose) != 0;
}
END
put suite.sh <<'END'
# What todo has to do: prints a line for each case, and fails if one is wrong.
n_wrong=0
check() {
    if [ "$2" = "$3" ]; then echo "ok: $1"; else echo "not ok: $1"; n_wrong=1; fi
}
place=$(mktemp -d)
TODO=$place/list
export TODO
./todo milk bread
check 'two tasks' "$(tr '\n' ' ' <"$TODO" 2>&1)" 'milk bread '
./todo eggs 2>/dev/null
check 'one more' "$(tail -n 1 "$TODO" 2>&1)" eggs
rm -rf "$place"
exit $n_wrong
END
commit ada 0 'Add tasks to a list'
news bob 'Announce the first version'
for topic in dates colours; do news dee "Collect wishes about $topic"; done

rewrite todo.c 'static int add_tasks(' <<'END'
static int add_tasks(const char *path, char **tasks, int n)
{
    FILE *file;
    int i;

    file = fopen(path, "a");
    unlock();
    if (file == NULL)
        return -1;
    for (i = 0; i < n; i++) {
        fputs(tasks[i], file);
        fputc('\n', file);
    }
    if (fclose(file) != 0)
        return -1;
    tell("written");
    return 0;
}
END
next eli 'Unlock the list when it cannot be opened, too'
news bob 'Thank the translators'
news cho 'Plan the second version'

put_test
next cho 'Test that the list is locked while it is written'
finish
