/* File descriptors of the runtime: above those that a program takes, and spared where it closes all that it does not know. */

enum { N_KEPT = 4, SPARE_FDS = 16 };

/* The places of the descriptors that are needed while the program runs. */
static int *const kept[N_KEPT] = {&out, &control.result, &control.output, &control.records};

/* Whether the n-th of them is needed by this process, which may be a child in the memory of another one. */
static int is_needed(int n) {
    return *kept[n] >= 0 && (n == 0 ? is_own_process() : control.is_child && is_obeyed());
}

static int is_kept(int fd) {
    for (int n = 0; fd >= 0 && n < N_KEPT; n++)
        if (*kept[n] == fd && is_needed(n))
            return 1;
    return 0;
}

static int not_open(void) {
    errno = EBADF;
    return -1;
}

/* Another number for a descriptor: not below 200, or one of the last where fewer can be open. */
static int high_copy(int fd) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= FIRST_FD + SPARE_FDS)
        return fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
    int number = -1;
    for (int least = (int)limit.rlim_cur - 1; number < 0 && least > 2; least--)
        number = fcntl(fd, F_DUPFD_CLOEXEC, least);
    return number;
}

static int high(int fd) {
    int number = high_copy(fd);
    if (fd >= 0)
        syscall(SYS_close, fd);
    return number;
}

EXPORT int __wrap_close(int fd) { return is_kept(fd) ? not_open() : close(fd); }

/* Closes all in a range but those that are kept. */
static int close_between(unsigned first, unsigned last, int flags) {
    for (;;) {
        unsigned next = UINT32_MAX;
        for (int n = 0; n < N_KEPT; n++)
            if (is_needed(n) && (unsigned)*kept[n] >= first && (unsigned)*kept[n] < next)
                next = (unsigned)*kept[n];
        unsigned end = next <= last ? next - 1 : last;
        if ((next > last || next > first) && syscall(SYS_close_range, first, end, flags) != 0)
            return -1;
        if (next >= last)
            return 0;
        first = next + 1;
    }
}

EXPORT int __wrap_close_range(unsigned first, unsigned last, int flags) {
    if (first > last) {
        errno = EINVAL;
        return -1;
    }
    return close_between(first, last, flags);
}

EXPORT void __wrap_closefrom(int first) {
    int saved = errno;
    if (close_between(first > 0 ? (unsigned)first : 0, UINT32_MAX - 1, 0) != 0)
        /* A kernel that cannot do it at once. */
        for (long fd = first > 0 ? first : 0, end = sysconf(_SC_OPEN_MAX); fd < end; fd++)
            __wrap_close((int)fd);
    errno = saved;
}

/* The program takes a number that is ours. */
static void give_way(int fd) {
    for (int n = 0; n < N_KEPT; n++)
        if (*kept[n] == fd && is_needed(n))
            *kept[n] = high_copy(fd);
}

int __real_dup2(int from, int to);
EXPORT int __wrap_dup2(int from, int to) {
    if (is_kept(from))
        return not_open();
    if (is_kept(to))
        give_way(to);
    return __real_dup2(from, to);
}

int __real_dup3(int from, int to, int flags);
EXPORT int __wrap_dup3(int from, int to, int flags) {
    if (is_kept(from))
        return not_open();
    if (is_kept(to))
        give_way(to);
    return __real_dup3(from, to, flags);
}
