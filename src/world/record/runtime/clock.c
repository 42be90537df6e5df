/* Time and process numbers that are the same in every run of a recording: IDD_CLOCK=<nanoseconds since 1970> is when the program
 * starts, and each look at a clock moves it on by a microsecond; IDD_PID is the number that the first process is told. */

#include <sys/random.h>
#include <time.h>

static uint64_t clock_base, clock_looks, random_state = 0x9e3779b97f4a7c15u;
static pid_t told_pid, true_pid;

static void set_clock(void) {
    const char *clock = getenv("IDD_CLOCK"), *pid = getenv("IDD_PID");
    if (clock != NULL)
        clock_base = strtoull(clock, NULL, 10);
    if (pid != NULL) {
        told_pid = (pid_t)strtoul(pid, NULL, 10);
        true_pid = getpid();
    }
}

static uint64_t now(void) { return clock_base + 1000 * __atomic_add_fetch(&clock_looks, 1, __ATOMIC_RELAXED); }

time_t __real_time(time_t *to);
EXPORT time_t __wrap_time(time_t *to) {
    if (clock_base == 0)
        return __real_time(to);
    time_t seconds = (time_t)(now() / 1000000000u);
    if (to != NULL)
        *to = seconds;
    return seconds;
}

int __real_gettimeofday(struct timeval *to, void *zone);
EXPORT int __wrap_gettimeofday(struct timeval *to, void *zone) {
    if (clock_base == 0 || to == NULL)
        return __real_gettimeofday(to, zone);
    uint64_t ns = now();
    *to = (struct timeval){(time_t)(ns / 1000000000u), (suseconds_t)(ns % 1000000000u / 1000u)};
    return 0;
}

int __real_clock_gettime(clockid_t which, struct timespec *to);
EXPORT int __wrap_clock_gettime(clockid_t which, struct timespec *to) {
    if (clock_base == 0)
        return __real_clock_gettime(which, to);
    uint64_t ns = now();
    *to = (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    return 0;
}

clock_t __real_clock(void);
EXPORT clock_t __wrap_clock(void) {
    if (clock_base == 0)
        return __real_clock();
    return (clock_t)((now() - clock_base) / 1000u);
}

pid_t __real_getpid(void);
EXPORT pid_t __wrap_getpid(void) {
    pid_t pid = __real_getpid();
    /* A parked process and its tests are told the same. */
    return told_pid != 0 && (pid == true_pid || (control.is_child && is_obeyed())) ? told_pid : pid;
}

int __real_kill(pid_t pid, int number);
EXPORT int __wrap_kill(pid_t pid, int number) {
    return __real_kill(told_pid != 0 && pid == told_pid ? __real_getpid() : pid, number);
}

static void fill(unsigned char *to, size_t length) {
    while (length-- > 0) {
        random_state ^= random_state << 13;
        random_state ^= random_state >> 7;
        random_state ^= random_state << 17;
        *to++ = (unsigned char)(random_state >> 32);
    }
}

ssize_t __real_getrandom(void *to, size_t length, unsigned flags);
EXPORT ssize_t __wrap_getrandom(void *to, size_t length, unsigned flags) {
    if (clock_base == 0)
        return __real_getrandom(to, length, flags);
    fill(to, length);
    return (ssize_t)length;
}

int __real_getentropy(void *to, size_t length);
EXPORT int __wrap_getentropy(void *to, size_t length) {
    if (clock_base == 0)
        return __real_getentropy(to, length);
    fill(to, length);
    return 0;
}
