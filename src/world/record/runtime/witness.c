/* Loaded into every program that a build starts (LD_PRELOAD). A compiler with the name of a link in the directory IDD_WITNESS_BIN becomes the
 * instrumenting one, unless that one or a compiler has called it. For each other program, a line is added to the file IDD_WITNESS, of four parts: the
 * program, the name by which it was called, the program that called it, and the second word of that one, which is the script if it is a shell. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_PART = 1000 };

/* Reads words of a command line, each ended by a zero byte. */
static size_t words_of(int pid, char *to, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, to, size - 1);
    if (fd >= 0)
        close(fd);
    to[n > 0 ? n : 0] = 0;
    return n > 0 ? (size_t)n : 0;
}

static void program_of(int pid, char *to, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    ssize_t n = readlink(path, to, size - 1);
    to[n > 0 ? n : 0] = 0;
}

/* Whether there is a link with the name of a program; writes its path. */
static int has_link(const char *program, char *link, size_t size) {
    const char *bin = getenv("IDD_WITNESS_BIN"), *slash = strrchr(program, '/');
    snprintf(link, size, "%s/%s", bin == NULL ? "" : bin, slash == NULL ? program : slash + 1);
    return bin != NULL && access(link, X_OK) == 0;
}

/* glibc hands the words of the program to each constructor. */
static void become_instrumenting(char **words, const char *program, const char *caller) {
    char link[PATH_MAX], other[PATH_MAX], ours[PATH_MAX];
    if (words == NULL || words[0] == NULL || !has_link(words[0], link, sizeof link) || realpath(link, ours) == NULL)
        return;
    if (strcmp(program, ours) != 0 && strcmp(caller, ours) != 0 && !has_link(caller, other, sizeof other))
        execv(link, words);
}

__attribute__((constructor)) static void note(int n_words, char **arguments) {
    const char *file = getenv("IDD_WITNESS");
    char program[MAX_PART], name[MAX_PART], caller[MAX_PART], words[MAX_PART], line[5 * MAX_PART];
    if (file == NULL)
        return;
    program_of(getpid(), program, sizeof program);
    words_of(getpid(), name, sizeof name);
    program_of(getppid(), caller, sizeof caller);
    become_instrumenting(n_words > 0 ? arguments : NULL, program, caller);
    size_t length = words_of(getppid(), words, sizeof words), first = strlen(words) + 1;
    const char *second = first < length ? words + first : "";
    int n = snprintf(line, sizeof line, "%s\t%s\t%s\t%s\n", program, name, caller, second);
    int fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    if (n > 0 && (size_t)n < sizeof line && write(fd, line, (size_t)n) < 0)
        n = 0;
    close(fd);
}
