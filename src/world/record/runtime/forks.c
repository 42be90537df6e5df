/* A child that is made without the handlers of `fork` needs a connection and memory of its own all the same. */

static int is_sharing(void) { return slots != NULL && !is_armed && is_own_process(); }

/* The recorder is told of a child: that one may be killed before it can say that it is there. */
static pid_t announced(pid_t child) {
    if (child <= 0 || out < 0 || !is_own_process())
        return child;
    int saved = errno;
    uint64_t mask;
    block_signals(&mask);
    pthread_mutex_lock(&lock);
    message(FORKED, (uint32_t)child, NULL, 0);
    pthread_mutex_unlock(&lock);
    unblock_signals(&mask);
    errno = saved;
    return child;
}

static pid_t made(pid_t child) {
    if (child == 0)
        in_child();
    else
        in_parent();
    return announced(child);
}

/* The library calls the handlers. */
EXPORT pid_t __wrap_fork(void) { return announced(__real_fork()); }

EXPORT pid_t __wrap__Fork(void) {
    if (!is_sharing())
        return __real__Fork();
    before_fork();
    return made(__real__Fork());
}

struct start {
    int (*run)(void *);
    void *argument;
};

static int run_apart(void *start) {
    struct start kept = *(struct start *)start;
    in_child();
    return kept.run(kept.argument);
}

int __real_clone(int (*run)(void *), void *stack, int flags, void *argument, ...);
EXPORT int __wrap_clone(int (*run)(void *), void *stack, int flags, void *argument, ...) {
    va_list list;
    va_start(list, argument);
    void *parent = va_arg(list, void *), *local = va_arg(list, void *), *child = va_arg(list, void *);
    va_end(list);
    if (!is_sharing() || (flags & CLONE_VM))
        return __real_clone(run, stack, flags, argument, parent, local, child);
    struct start start = {run, argument};
    before_fork();
    return made(__real_clone(run_apart, stack, flags, &start, parent, local, child));
}

EXPORT long __wrap_syscall(long number, ...) {
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    int makes_child = 0;
    switch (number) {
    case SYS_close:
        return __wrap_close((int)a[0]);
    case SYS_close_range:
        return __wrap_close_range((unsigned)a[0], (unsigned)a[1], (int)a[2]);
#ifdef SYS_fork
    case SYS_fork:
        makes_child = 1;
        break;
#endif
    case SYS_clone:
        makes_child = !(a[0] & CLONE_VM) && a[1] == 0;
        break;
    case SYS_clone3:
        makes_child = a[0] != 0 && !(*(uint64_t *)a[0] & CLONE_VM);
        break;
    }
    if (!makes_child || !is_sharing())
        return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    before_fork();
    return made((pid_t)syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}
