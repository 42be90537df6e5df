/* The part of git-idd that is linked into an instrumented program: takes its records to the socket named by IDD_TRACE.
 *
 * They are made in memory that the recorder gives, and is sent when it is full: what was not sent when the process died is still there. Behind the
 * last record everything is zero, and no segment has that number.
 *
 * Without IDD_TRACE the buffer is used again and again, and nothing is said. The program must behave as if this were not there: no
 * file descriptor below 200 is taken if that many can be open, errno is kept, nothing is printed, nothing is allocated with malloc. */

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

/* Within the runtime these are the functions of the library, not those that stand before them in the program. */
long __real_syscall(long number, ...);
int __real_close(int fd);
#define syscall __real_syscall
#define close __real_close

enum { BUFFER_SIZE = 1 << 20, FIRST_FD = 200, HEAD_SIZE = 4096, SLOT_SIZE = HEAD_SIZE + BUFFER_SIZE, N_SLOTS = 256 };
enum { USED = 1, LOST = 2 };
enum { RECORDS = 1, GLOBALS = 2, END = 3, FAULT = 4, FORKED = 5, REPLACED = 0x200 };
enum { PROTOCOL = 2, BY_EXEC = 0, BY_FORK = 1 };

EXPORT INITIAL __thread char *__idd_cur;
EXPORT INITIAL __thread char *__idd_lim;
EXPORT INITIAL __thread unsigned char __idd_flip;
EXPORT INITIAL __thread unsigned char __idd_choice;
EXPORT uint64_t __idd_case;

/* One for each thread that ever ran a segment; never freed, used again when its thread has ended: then `cur` is null. */
struct thread {
    struct thread *next;
    char *buffer, *end, **cur, **lim;
    uint32_t number;
    uint64_t n_sent;
    struct head *head;
    /* That of a buffer which could not be sent, until there is more. */
    struct head *left;
};

/* Before the buffer of a thread in the memory that the recorder holds, too: whether it is used, whose records begin there, and how many bytes it had sent before. */
struct head {
    uint32_t is_used, thread;
    uint64_t n_sent;
    /* In the first one: how the process ended, and 1. */
    uint32_t end;
};

/* That memory, and how many buffers of it can be used and are. */
static char *slots;
static uint32_t n_slots, n_used_slots;

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
static void disown(void);
static int high(int fd);

/* The child of vfork runs in the memory of its parent, but is another process. */
static int is_own_process(void) { return (pid_t)syscall(SYS_getpid) == own; }

static void hang_up(void) {
    close(out);
    out = -1;
}

static void put(const void *bytes, size_t length) {
    const char *at = bytes;
    while (length > 0 && out >= 0) {
        ssize_t n = send(out, at, length, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            /* Nobody listens any more, or the program closed the file in a way that is not seen; it goes on. */
            if (errno == EBADF || errno == ENOTSOCK)
                out = -1;
            else
                hang_up();
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

static char *memory_for(size_t size) {
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        syscall(SYS_exit_group, 127);
    return memory;
}

/* The buffer could not be sent, and stays as it is for the recorder; the thread goes on in one that nobody looks at. */
static void turn_away(struct thread *thread) {
    thread->left = thread->head;
    thread->head = NULL;
    thread->buffer = memory_for(BUFFER_SIZE);
    thread->end = thread->buffer + BUFFER_SIZE;
    *thread->cur = *thread->lim = thread->buffer;
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
    if (thread->head != NULL && out < 0) {
        turn_away(thread);
        return;
    }
    thread->n_sent += length;
    if (thread->head != NULL) {
        /* In this order: whoever is killed meanwhile has sent more than the head says. */
        memset(thread->buffer, 0, length);
        __atomic_store_n(&thread->head->n_sent, thread->n_sent, __ATOMIC_RELEASE);
    }
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

/* Takes the memory that the recorder gives; `at` is where a forked child has that of its parent, which it must not touch. */
static void take_memory(int fd, char *at) {
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec to = {&byte, 1};
    struct msghdr message = {.msg_iov = &to, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    int given = -1;
    ssize_t n = -1;
    do
        n = fd >= 0 ? recvmsg(fd, &message, MSG_CMSG_CLOEXEC) : 0;
    while (n < 0 && errno == EINTR);
    struct cmsghdr *head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head != NULL && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
        memcpy(&given, CMSG_DATA(head), sizeof given);
    uint32_t n_wanted = at != NULL ? n_slots : N_SLOTS;
    char *memory = MAP_FAILED;
    for (; given >= 0 && memory == MAP_FAILED && n_wanted > 0; n_wanted = at == NULL && n_wanted > 1 ? 1 : 0) {
        memory = mmap(at, (size_t)n_wanted * SLOT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | (at != NULL ? MAP_FIXED : 0), given, 0);
        if (memory != MAP_FAILED)
            slots = memory, n_slots = n_wanted;
    }
    if (memory == MAP_FAILED && at != NULL)
        mmap(at, (size_t)n_slots * SLOT_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (memory != MAP_FAILED)
        madvise(memory, (size_t)n_slots * SLOT_SIZE, MADV_DONTDUMP);
    if (given >= 0)
        close(given);
}

/* Begins a stream; `parent` and `n_before` say where in the stream of the parent a forked child begins. */
static void connect_to_recorder(uint32_t how, uint32_t parent, uint32_t thread, uint64_t n_before) {
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
    out = high(fd);
    own = (pid_t)syscall(SYS_getpid);
    hello.how = how, hello.pid = (uint32_t)own, hello.parent = parent, hello.thread = thread, hello.n_before = n_before;
    ssize_t n = readlink("/proc/self/exe", hello.text, 4096);
    hello.exe_length = n > 0 ? (uint32_t)n : 0;
    hello.words_length =
        (uint32_t)read_file("/proc/self/cmdline", hello.text + hello.exe_length, sizeof hello.text - hello.exe_length);
    /* In one piece: whoever is killed meanwhile is not to be left half named. */
    put(&hello, offsetof(__typeof__(hello), text) + hello.exe_length + hello.words_length);
    take_memory(out, slots);
    if (how == BY_EXEC)
        for (struct globals **unit = __start_idd_globals; unit < __stop_idd_globals; unit++) {
            message(GLOBALS, (*unit)->unit, (*unit)->addresses, (*unit)->count * sizeof(void *));
        }
}

static void begin(uint32_t how, uint32_t parent, uint32_t thread, uint64_t n_before) {
    connect_to_recorder(how, parent, thread, n_before);
    if (out < 0 && slots != NULL)
        take_memory(-1, slots);
}

static void flush_all(void) {
    for (struct thread *thread = threads; thread != NULL; thread = thread->next)
        flush(thread);
}

/* It may be that nobody can be told any more. */
static void tell_end(uint32_t status) {
    if (out >= 0)
        message(END, status, NULL, 0);
    if (n_slots > 0)
        ((struct head *)slots)->end = status + 1;
}

static void end(uint32_t status) {
    control_end(status);
    int saved = errno;
    pthread_mutex_lock(&lock);
    flush_all();
    if (is_own_process())
        tell_end(status);
    pthread_mutex_unlock(&lock);
    errno = saved;
}

static uint64_t place_of_fault(void);
static void tell_fault(const siginfo_t *info, const void *context, uint64_t offset, int is_over);
void (*__real_signal(int number, void (*handler)(int)))(int);
int __real_sigaction(int number, const struct sigaction *action, struct sigaction *before);

static void on_fatal_signal(int number, siginfo_t *info, void *context) {
    control_end(0x100u | (uint32_t)number);
    /* The lock is not taken: the thread may hold it. */
    tell_fault(info, context, place_of_fault(), 0);
    flush_all();
    tell_end(0x100u | (uint32_t)number);
    __real_signal(number, SIG_DFL);
    raise(number);
}

static void watch_signals(void) {
    static char stack[64 << 10];
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGTERM, SIGALRM, SIGXCPU, SIGXFSZ, SIGPIPE, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGPROF, SIGIO};
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack}, before;
    if (sigaltstack(NULL, &before) == 0 && (before.ss_flags & SS_DISABLE))
        sigaltstack(&other, NULL);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
        struct sigaction action = {.sa_sigaction = on_fatal_signal, .sa_flags = SA_ONSTACK | SA_NODEFER | SA_SIGINFO}, old;
        if (__real_sigaction(fatal[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            __real_sigaction(fatal[i], &action, NULL);
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

/* While records are sent no handler of the program may run: it would make others. */
static void block_signals(uint64_t *before) {
    uint64_t all = ~0ul;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, before, sizeof all);
}

static void unblock_signals(const uint64_t *before) { syscall(SYS_rt_sigprocmask, SIG_SETMASK, before, NULL, sizeof *before); }

static uint64_t before_fork_mask;

static void before_fork(void) {
    uint64_t mask;
    block_signals(&mask);
    pthread_mutex_lock(&lock);
    before_fork_mask = mask;
    /* In the child it may be too late to ask: the parent may have ended by then. */
    forking = (pid_t)syscall(SYS_getpid);
    flush_all();
}

static void in_parent(void) {
    uint64_t mask = before_fork_mask;
    pthread_mutex_unlock(&lock);
    unblock_signals(&mask);
}

static void describe(struct thread *thread) {
    if (thread->head->is_used == 0)
        thread->head->is_used = USED;
    thread->head->thread = thread->number;
    thread->head->n_sent = thread->n_sent;
}

static void in_child(void) {
    int saved = errno;
    disown();
    if (out >= 0) {
        hang_up();
        begin(BY_FORK, (uint32_t)forking, self ? self->number : 0, self ? self->n_sent : 0);
    } else if (slots != NULL) {
        take_memory(-1, slots);
    }
    for (struct thread *thread = threads; thread != NULL; thread = thread->next) {
        thread->n_sent = 0;
        if (thread->head != NULL)
            describe(thread);
    }
    pthread_mutex_init(&lock, NULL);
    unblock_signals(&before_fork_mask);
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
        begin(BY_EXEC, (uint32_t)getppid(), 0, 0);
    }
    if (out >= 0 || is_armed) {
        pthread_atfork(before_fork, in_parent, in_child);
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
        thread = (struct thread *)memory_for(sizeof *thread);
        if (n_used_slots < n_slots && !is_armed) {
            thread->head = (struct head *)(slots + (size_t)n_used_slots++ * SLOT_SIZE);
            thread->buffer = (char *)thread->head + HEAD_SIZE;
        } else {
            thread->buffer = memory_for(BUFFER_SIZE);
            if (n_slots > 0 && !is_armed)
                ((struct head *)slots)->is_used = LOST;
        }
        thread->end = thread->buffer + BUFFER_SIZE;
        thread->next = threads;
        threads = thread;
    }
    thread->number = n_threads++;
    thread->n_sent = 0;
    if (thread->head != NULL)
        describe(thread);
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
    uint64_t mask;
    block_signals(&mask);
    is_sending = 1;
    pthread_mutex_lock(&lock);
    flush(self);
    pthread_mutex_unlock(&lock);
    is_sending = 0;
    unblock_signals(&mask);
}

/* How many bytes of a text are read back: with its zero, and none of null. */
EXPORT uint64_t __idd_readback_length(const char *text) { return text == NULL ? 0 : strnlen(text, 4095) + 1; }

EXPORT void *__idd_slow(uint32_t id, uint64_t size) {
    int saved = errno;
    if (self == NULL) {
        uint64_t mask;
        block_signals(&mask);
        new_thread();
        unblock_signals(&mask);
    } else if (__idd_cur + size > self->end) {
        flush_own();
    }
    if (self->left != NULL) {
        self->left->is_used = LOST;
        self->left = NULL;
        __idd_lim = self->end;
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
