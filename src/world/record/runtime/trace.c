/* The part of git-idd that is linked into an instrumented program: takes its records to the socket named by IDD_TRACE.
 *
 * Without IDD_TRACE the buffer is used again and again, and nothing is said. The program must behave as if this were not there: no
 * file descriptor below 200 is taken, errno is kept, nothing is printed, nothing is allocated with malloc. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define INITIAL __attribute__((tls_model("initial-exec")))

enum { BUFFER_SIZE = 1 << 20, FIRST_FD = 200 };
enum { RECORDS = 1, GLOBALS = 2, END = 3, REPLACED = 0x200 };
enum { PROTOCOL = 1, BY_EXEC = 0, BY_FORK = 1 };

EXPORT INITIAL __thread char *__idd_cur;
EXPORT INITIAL __thread char *__idd_lim;
EXPORT INITIAL __thread unsigned char __idd_flip;
EXPORT uint64_t __idd_case;

/* One for each thread that ever ran a segment; never freed, used again when its thread has ended: then `cur` is null. */
struct thread {
    struct thread *next;
    char *buffer, *end, **cur, **lim;
    uint32_t number;
    uint64_t n_sent;
};

static INITIAL __thread struct thread *self;
static struct thread *threads;
static uint32_t n_threads;
static int out = -1;
/* The process whose records these are, and one that is forking. */
static pid_t own, forking;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static char socket_path[sizeof ((struct sockaddr_un *)0)->sun_path];

/* Addresses of the global variables of each unit, put beside each other by the linker. */
struct globals {
    uint32_t unit, count;
    void **addresses;
};
extern struct globals *__start_idd_globals[] __attribute__((weak, visibility("hidden")));
extern struct globals *__stop_idd_globals[] __attribute__((weak, visibility("hidden")));

static int is_armed;
static void arm(void);
static void set_clock(void);
static void control_at(uint32_t id);
static void control_end(uint32_t status);
static void keep_records(const char *bytes, size_t length);

/* The child of vfork runs in the memory of its parent, but is another process. */
static int is_own_process(void) { return (pid_t)syscall(SYS_getpid) == own; }

static void put(const void *bytes, size_t length) {
    const char *at = bytes;
    while (length > 0 && out >= 0) {
        ssize_t n = send(out, at, length, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            /* Nobody listens any more; the program goes on. */
            close(out);
            out = -1;
            return;
        }
        at += n;
        length -= (size_t)n;
    }
}

static void message(uint32_t kind, uint32_t thread, const void *bytes, uint64_t length) {
    struct {
        uint32_t kind, thread;
        uint64_t length;
    } head = {kind, thread, length};
    put(&head, sizeof head);
    put(bytes, length);
}

static void flush(struct thread *thread) {
    if (thread->cur == NULL)
        return;
    size_t length = (size_t)(*thread->cur - thread->buffer);
    if (length == 0)
        return;
    if (out >= 0)
        message(RECORDS, thread->number, thread->buffer, length);
    else if (thread == self)
        keep_records(thread->buffer, length);
    thread->n_sent += length;
    *thread->cur = thread->buffer;
}

static size_t read_file(const char *path, char *to, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    while (fd >= 0 && length < size) {
        ssize_t n = read(fd, to + length, size - length);
        if (n <= 0)
            break;
        length += (size_t)n;
    }
    if (fd >= 0)
        close(fd);
    return length;
}

/* Begins a stream; `parent` and `n_before` say where in the stream of the parent a forked child begins. */
static void begin(uint32_t how, uint32_t parent, uint32_t thread, uint64_t n_before) {
    struct {
        char magic[4];
        uint32_t protocol, how, pid, parent, thread;
        uint64_t n_before;
        uint32_t exe_length, words_length;
        char text[1 << 16];
    } static hello = {{'I', 'D', 'D', 'T'}, PROTOCOL};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (socket_path[0] == 0)
        return;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    strcpy(address.sun_path, socket_path);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return;
    }
    out = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
    close(fd);
    own = (pid_t)syscall(SYS_getpid);
    hello.how = how, hello.pid = (uint32_t)own, hello.parent = parent, hello.thread = thread, hello.n_before = n_before;
    ssize_t n = readlink("/proc/self/exe", hello.text, 4096);
    hello.exe_length = n > 0 ? (uint32_t)n : 0;
    hello.words_length =
        (uint32_t)read_file("/proc/self/cmdline", hello.text + hello.exe_length, sizeof hello.text - hello.exe_length);
    /* In one piece: whoever is killed meanwhile is not to be left half named. */
    put(&hello, offsetof(__typeof__(hello), text) + hello.exe_length + hello.words_length);
    if (how == BY_EXEC)
        for (struct globals **unit = __start_idd_globals; unit < __stop_idd_globals; unit++) {
            message(GLOBALS, (*unit)->unit, (*unit)->addresses, (*unit)->count * sizeof(void *));
        }
}

static void flush_all(void) {
    for (struct thread *thread = threads; thread != NULL; thread = thread->next)
        flush(thread);
}

static void end(uint32_t status) {
    control_end(status);
    int saved = errno;
    pthread_mutex_lock(&lock);
    flush_all();
    if (out >= 0 && is_own_process())
        message(END, status, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = saved;
}

static void on_fatal_signal(int number) {
    control_end(0x100u | (uint32_t)number);
    /* The lock is not taken: the thread may hold it. */
    flush_all();
    if (out >= 0)
        message(END, 0x100u | (uint32_t)number, NULL, 0);
    signal(number, SIG_DFL);
    raise(number);
}

static void watch_signals(void) {
    static char stack[64 << 10];
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGTERM, SIGALRM, SIGXCPU, SIGXFSZ, SIGPIPE, SIGHUP, SIGINT};
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack}, before;
    if (sigaltstack(NULL, &before) == 0 && (before.ss_flags & SS_DISABLE))
        sigaltstack(&other, NULL);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
        struct sigaction action = {.sa_handler = on_fatal_signal, .sa_flags = SA_ONSTACK | SA_NODEFER}, old;
        if (sigaction(fatal[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(fatal[i], &action, NULL);
    }
}

static void thread_ends(void *value) {
    struct thread *thread = value;
    pthread_mutex_lock(&lock);
    flush(thread);
    /* What it may still run begins anew, as another thread. */
    __idd_cur = __idd_lim = NULL;
    thread->cur = NULL;
    self = NULL;
    pthread_mutex_unlock(&lock);
}

static void before_fork(void) {
    pthread_mutex_lock(&lock);
    /* In the child it may be too late to ask: the parent may have ended by then. */
    forking = (pid_t)syscall(SYS_getpid);
    flush_all();
}

static void in_parent(void) { pthread_mutex_unlock(&lock); }

static void in_child(void) {
    int saved = errno;
    if (out >= 0) {
        close(out);
        out = -1;
        begin(BY_FORK, (uint32_t)forking, self ? self->number : 0, self ? self->n_sent : 0);
    }
    for (struct thread *thread = threads; thread != NULL; thread = thread->next)
        thread->n_sent = 0;
    pthread_mutex_init(&lock, NULL);
    errno = saved;
}

static int exit_status;

static void keep_status(int status, void *unused) {
    (void)unused;
    exit_status = status;
    /* What is still in the program's buffers belongs to the output of a test. */
    if (is_armed)
        fflush(NULL);
}

/* Where a program's variables end depends on its text; its heap begins behind them. From here on it begins at the next such boundary, which two versions of a
 * program have in common: blocks that correspond have the same address then, and what is computed from addresses is the same. */
static void level_heap(void) {
    enum { BOUNDARY = 16 << 20 };
    uintptr_t rest = (uintptr_t)sbrk(0) % BOUNDARY;
    if (rest != 0)
        sbrk((intptr_t)(BOUNDARY - rest));
}

__attribute__((constructor(101))) static void start(void) {
    static int is_started;
    if (is_started)
        return;
    is_started = 1;
    int saved = errno;
    const char *path = getenv("IDD_TRACE");
    pthread_key_create(&key, thread_ends);
    arm();
    on_exit(keep_status, NULL);
    set_clock();
    if (path != NULL && path[0] != 0 && strlen(path) < sizeof socket_path) {
        strcpy(socket_path, path);
        pthread_atfork(before_fork, in_parent, in_child);
        begin(BY_EXEC, (uint32_t)getppid(), 0, 0);
    }
    if (out >= 0 || is_armed) {
        level_heap();
        watch_signals();
    }
    errno = saved;
}

__attribute__((destructor(101))) static void stop(void) { end((uint32_t)exit_status & 0xff); }

static void new_thread(void) {
    /* A constructor of the program may come before ours. */
    start();
    pthread_mutex_lock(&lock);
    struct thread *thread = threads;
    while (thread != NULL && thread->cur != NULL)
        thread = thread->next;
    if (thread == NULL) {
        char *memory = mmap(NULL, BUFFER_SIZE + sizeof *thread, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            syscall(SYS_exit_group, 127);
        thread = (struct thread *)(memory + BUFFER_SIZE);
        thread->buffer = memory;
        thread->end = memory + BUFFER_SIZE;
        thread->next = threads;
        threads = thread;
    }
    thread->number = n_threads++;
    thread->n_sent = 0;
    thread->cur = &__idd_cur;
    thread->lim = &__idd_lim;
    __idd_cur = thread->buffer;
    __idd_lim = is_armed ? NULL : thread->end;
    self = thread;
    pthread_mutex_unlock(&lock);
    pthread_setspecific(key, thread);
}

/* Whether this thread holds the lock in order to send. */
static INITIAL __thread int is_sending;

static void flush_own(void) {
    is_sending = 1;
    pthread_mutex_lock(&lock);
    flush(self);
    pthread_mutex_unlock(&lock);
    is_sending = 0;
}

EXPORT void *__idd_slow(uint32_t id, uint64_t size) {
    int saved = errno;
    if (self == NULL) {
        new_thread();
    } else if (__idd_cur + size > self->end) {
        flush_own();
    }
    if (is_armed)
        control_at(id);
    errno = saved;
    char *record = __idd_cur;
    __idd_cur = record + size;
    memcpy(record, &id, sizeof id);
    return record;
}

void __real__exit(int status) __attribute__((noreturn));
EXPORT __attribute__((noreturn)) void __wrap__exit(int status) {
    end((uint32_t)status & 0xff);
    __real__exit(status);
}

void __real__Exit(int status) __attribute__((noreturn));
EXPORT __attribute__((noreturn)) void __wrap__Exit(int status) {
    end((uint32_t)status & 0xff);
    __real__Exit(status);
}
