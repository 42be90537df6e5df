/* Loaded into every program that a build starts (LD_PRELOAD): adds a line to the file IDD_WITNESS, of four parts: the program, the name by which it
 * was called, the program that called it, and the second word of that one, which is the script if it is a shell. */

#define _GNU_SOURCE
#include <fcntl.h>
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

__attribute__((constructor)) static void note(void) {
    const char *file = getenv("IDD_WITNESS");
    char program[MAX_PART], name[MAX_PART], caller[MAX_PART], words[MAX_PART], line[5 * MAX_PART];
    if (file == NULL)
        return;
    program_of(getpid(), program, sizeof program);
    words_of(getpid(), name, sizeof name);
    program_of(getppid(), caller, sizeof caller);
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
