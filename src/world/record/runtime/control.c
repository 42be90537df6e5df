/* Control of a run: turning one instance of a branch, and parking at one record to try what overwritten memory changes.
 *
 * IDD_SWITCH=<segment>:<n>[:<case>]  the branch at the end of the n-th instance (from 1) of the segment goes the other way
 * IDD_STOP=<segment>:<n>             parks there, and obeys what comes from the socket IDD_CONTROL
 * IDD_PARK=<n>                       parks before its n-th segment
 *
 * Unarmed, none of this is ever called. Armed, the limit of the buffer is 0, so that every segment comes by here.
 *
 * A parked process answers one command after the other; numbers are as the machine has them.
 *   READ  n, n x (address, length)                  -> the bytes
 *   TEST  a struct test, patches, dumps             -> a struct reply, output, bytes of the dumps
 *   SPAWN n                                         forks a child that parks before the n-th segment of the process, and connects for itself
 *   TURN  segment, n, case                          the process itself goes another way there
 *   GLOBAL                                          -> number of units; for each: unit, count, addresses of its global variables
 *   GO                                              goes on as if nothing had been
 * Numbers that a process begins with: its own (0 if it ended before its place came, then how), its threads, and whether what it holds cannot
 * be forked: children, pipes and the like, shared memory. A test runs in a forked child: it takes the patches in, at once or later, runs on until the n-th next
 * instance of a segment, the end of the program, or a limit, and answers. It shares no file offset with anybody, what it writes goes nowhere or below the
 * scratch directory, and it is killed at its time limit.
 *
 * What a program forks is not asked: it keeps nothing of the connection, and ends with the test. */

#include <poll.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { READ = 1, TEST = 2, GO = 3, SPAWN = 4, GLOBAL = 5, TURN = 6 };
enum { REACHED = 1, ENDED = 2, DIED = 3, OUT_OF_BUDGET = 4, OUT_OF_TIME = 5, REFUSED = 6, UNHEARD = 7 };
enum { MAX_OUTPUT = 1 << 20, MAX_DUMPS = 4096, MAX_FDS = 256, ANSWERED = 113 };

/* As fork, but nothing that is registered for forks runs. */
pid_t __real_fork(void);
pid_t __real__Fork(void) __attribute__((weak));

int __real_dup3(int from, int to, int flags);

struct range {
    uint64_t address, length;
};

struct test {
    uint32_t stop_id, n_patches;
    uint64_t stop_n, budget;
    uint32_t milliseconds, n_dumps;
    uint32_t switch_id, is_traced;
    uint64_t switch_n, switch_case;
    /* Which choice without a branch is inverted, from 1; 0 if the decision at the end of the segment is switched. */
    uint64_t switch_choice;
    /* The segment before which it begins, if that is still to come. */
    uint64_t from;
};

struct reply {
    uint32_t kind, code;
    uint64_t n_segments, n_output, n_dumped, n_records;
};

static struct {
    uint32_t switch_id, stop_id;
    uint64_t switch_n, switch_choice, stop_n, stop_at, test_at, budget, n_segments, n_before;
    int is_child, is_bystander, is_turned, is_on_its_way;
    int output, result, records;
    pid_t pid;
} control = {.output = -1, .result = -1, .records = -1};

/* Whether this process is the one that was given its orders; on a page that is zeros in whatever it forks. */
static int *is_obeying, is_always_obeying;

/* What became of the answer of a test, as its parent sees it. */
enum { SILENT, TOLD, UNTOLD };
static int *answered;

/* Where each parked process has its own of that, behind the number of those given out: one may look at it only when another one is asked already. */
enum { N_ANSWERED = 1000 };
static int *all_answered;

/* The child of `vfork` runs in the same memory, but may not answer. */
static int is_obeyed(void) { return *is_obeying && (pid_t)syscall(SYS_getpid) == control.pid; }

static char control_path[sizeof ((struct sockaddr_un *)0)->sun_path];
/* Below these the forks may write: what is there is thrown away with the checkout. */
static char places[3][4096];
static int is_armed;

static int parse_point(const char *text, uint32_t *id, uint64_t *n) {
    char *end;
    if (text == NULL)
        return 0;
    *id = (uint32_t)strtoul(text, &end, 10);
    if (*end != ':')
        return 0;
    *n = strtoull(end + 1, &end, 10);
    if (*end == ':')
        __idd_case = strtoull(end + 1, &end, 10);
    return *n > 0;
}

/* Takes the order from the environment; called once. */
static void arm(void) {
    static const char *const names[] = {"IDD_SCRATCH", "IDD_WORKTREE", "TMPDIR"};
    const char *path = getenv("IDD_CONTROL");
    if (parse_point(getenv("IDD_SWITCH"), &control.switch_id, &control.switch_n))
        is_armed = 1;
    int is_called = path != NULL && path[0] != 0 && strlen(path) < sizeof control_path;
    if (is_called && parse_point(getenv("IDD_STOP"), &control.stop_id, &control.stop_n)) {
        strcpy(control_path, path);
        is_armed = 1;
    }
    if (is_called && getenv("IDD_PARK") != NULL) {
        strcpy(control_path, path);
        control.stop_at = strtoull(getenv("IDD_PARK"), NULL, 10);
        is_armed = 1;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *place = getenv(names[i]);
        /* Without a checkout TMPDIR is that of everybody. */
        if (place != NULL && strlen(place) < sizeof places[i] && (i == 0 || getenv("IDD_WORKTREE") != NULL))
            strcpy(places[i], place);
    }
    is_obeying = &is_always_obeying;
    if (!is_armed)
        return;
    void *wiped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (wiped != MAP_FAILED && madvise(wiped, 4096, MADV_WIPEONFORK) == 0)
        is_obeying = wiped;
    all_answered = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all_answered == MAP_FAILED)
        is_armed = 0;
    answered = all_answered + 1;
    *is_obeying = 1;
    control.pid = (pid_t)syscall(SYS_getpid);
}

static int take(int fd, void *to, size_t length) {
    char *at = to;
    while (length > 0) {
        ssize_t n = read(fd, at, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        at += n;
        length -= (size_t)n;
    }
    return 1;
}

static int give(int fd, const void *bytes, size_t length) {
    const char *at = bytes;
    while (length > 0) {
        ssize_t n = send(fd, at, length, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        at += n;
        length -= (size_t)n;
    }
    return 1;
}

/* Sends the first bytes of a file. */
static int give_file(int to, int from, uint64_t length) {
    static char bytes[1 << 16];
    lseek(from, 0, SEEK_SET);
    while (length > 0) {
        ssize_t n = read(from, bytes, length < sizeof bytes ? length : sizeof bytes);
        if (n <= 0 || !give(to, bytes, (size_t)n))
            return 0;
        length -= (uint64_t)n;
    }
    return 1;
}

/* Keeps the records of a test. They are no output of the program, whose limit does not hold for them. */
static void keep_records(const char *bytes, size_t length) {
    struct rlimit limit;
    if (control.records < 0 || getrlimit(RLIMIT_FSIZE, &limit) != 0)
        return;
    struct rlimit open = {limit.rlim_max, limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &open);
    for (ssize_t n; length > 0 && (n = write(control.records, bytes, length)) > 0; length -= (size_t)n)
        bytes += n;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* Sends memory; what cannot be read is sent as zeros. */
static int give_memory(int fd, const struct range *range) {
    static char page[1 << 16];
    for (uint64_t done = 0; done < range->length;) {
        uint64_t length = range->length - done;
        if (length > sizeof page)
            length = sizeof page;
        struct {
            void *base;
            size_t length;
        } local = {page, length}, remote = {(void *)(uintptr_t)(range->address + done), length};
        long n = syscall(SYS_process_vm_readv, syscall(SYS_getpid), &local, 1UL, &remote, 1UL, 0UL);
        if (n < 0)
            n = 0;
        memset(page + n, 0, length - (size_t)n);
        if (!give(fd, page, length))
            return 0;
        done += length;
    }
    return 1;
}

static struct range dumps[MAX_DUMPS];
static uint32_t n_dumps;

/* The end of a test: answers and goes. */
__attribute__((noreturn)) static void answer(uint32_t kind, uint32_t code) {
    if (control.is_on_its_way) {
        uint32_t hello[3] = {0, kind, 0};
        give(control.result, hello, sizeof hello);
        syscall(SYS_exit_group, ANSWERED);
    }
    /* What stands in the program's own buffers is output, too, if it came so far. */
    if (kind == REACHED || kind == OUT_OF_BUDGET)
        fflush(NULL);
    off_t n = lseek(control.output, 0, SEEK_END);
    if (control.test_at > 0)
        kind = REFUSED, code = 3;
    struct reply reply = {kind, code, control.n_segments - control.n_before, n > MAX_OUTPUT ? MAX_OUTPUT : n > 0 ? (uint64_t)n : 0, 0, 0};
    if (control.records >= 0 && self != NULL) {
        flush(self);
        n = lseek(control.records, 0, SEEK_END);
        reply.n_records = n > 0 ? (uint64_t)n : 0;
    }
    if (kind == REACHED)
        for (uint32_t i = 0; i < n_dumps; i++)
            reply.n_dumped += dumps[i].length;
    int is_told = give(control.result, &reply, sizeof reply) && give_file(control.result, control.output, reply.n_output);
    if (kind == REACHED)
        for (uint32_t i = 0; is_told && i < n_dumps; i++)
            is_told = give_memory(control.result, &dumps[i]);
    *answered = is_told && give_file(control.result, control.records, reply.n_records) ? TOLD : UNTOLD;
    syscall(SYS_exit_group, ANSWERED);
    __builtin_unreachable();
}

struct below {
    uint64_t files;
    int32_t parent;
} __attribute__((packed));

/* What every child of a parked process needs, prepared once: that one does not open or close anything meanwhile. */
static struct {
    int is_ready, null, rules, n_open;
    struct {
        int fd, cloexec, is_regular;
    } open[MAX_FDS];
} prepared;

/* A child of a child is confined already, and there are only so many layers. */
static int is_confined;

/* Nothing that the child opens can be written, but /dev/null and what is below the places (Landlock). */
static int rules(void) {
    enum { CREATE_RULES = 444, ADD_RULE, WRITE_FILE = 1 << 1, CHANGE = 0x1ff0, TRUNCATE = 1 << 14 };
    long version = syscall(CREATE_RULES, NULL, 0, 1);
    uint64_t changes = WRITE_FILE | CHANGE | (version >= 3 ? TRUNCATE : 0);
    int fd = (int)syscall(CREATE_RULES, &changes, sizeof changes, 0);
    if (fd < 0)
        return -1;
    struct below null = {WRITE_FILE, open("/dev/null", O_PATH | O_CLOEXEC)};
    syscall(ADD_RULE, fd, 1, &null, 0);
    close(null.parent);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (places[i][0] == 0)
            continue;
        struct below place = {changes, open(places[i], O_PATH | O_CLOEXEC)};
        syscall(ADD_RULE, fd, 1, &place, 0);
        close(place.parent);
    }
    return fd;
}

static int confine(void) {
    enum { RESTRICT = 446 };
    if (!is_confined)
        is_confined = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(RESTRICT, prepared.rules, 0) == 0;
    return is_confined;
}

/* `own` is the connection of the process. */
static void prepare(int own) {
    if (prepared.is_ready)
        return;
    prepared.n_open = 0;
    for (int fd = 0; fd < MAX_FDS; fd++) {
        struct stat stat;
        if (fd == own || fd == out || fstat(fd, &stat) != 0)
            continue;
        int cloexec = (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0, n = prepared.n_open++;
        prepared.open[n].fd = fd, prepared.open[n].cloexec = cloexec, prepared.open[n].is_regular = S_ISREG(stat.st_mode);
    }
    prepared.null = high(open("/dev/null", O_RDWR | O_CLOEXEC));
    prepared.rules = is_confined ? -1 : high(rules());
    prepared.is_ready = 1;
}

/* It goes on, and may open and close what it wants. */
static void forget(void) {
    if (!prepared.is_ready)
        return;
    close(prepared.null);
    if (prepared.rules >= 0)
        close(prepared.rules);
    prepared.is_ready = 0;
}

/* Gives the child file descriptions of its own: regular files at the same offset, written ones as copies; the rest is /dev/null. */
static int separate(void) {
    for (int i = 0; i < prepared.n_open; i++) {
        int fd = prepared.open[i].fd, cloexec = prepared.open[i].cloexec, own = -1;
        if (fd == 1 || fd == 2 || !prepared.open[i].is_regular) {
            if (__real_dup3(fd == 1 || fd == 2 ? control.output : prepared.null, fd, cloexec) < 0)
                return 0;
            continue;
        }
        char path[64];
        int flags = fcntl(fd, F_GETFL);
        off_t at = lseek(fd, 0, SEEK_CUR);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if ((flags & O_ACCMODE) == O_RDONLY) {
            own = open(path, (flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | O_CLOEXEC);
        } else {
            static char bytes[1 << 16];
            off_t from = 0;
            ssize_t n;
            int source = open(path, O_RDONLY | O_CLOEXEC);
            own = memfd_create("copy", MFD_CLOEXEC);
            while (source >= 0 && (n = pread(source, bytes, sizeof bytes, from)) > 0)
                from += write(own, bytes, (size_t)n);
            if (source >= 0)
                close(source);
        }
        if (own < 0)
            return 0;
        lseek(own, at, SEEK_SET);
        __real_dup3(own, fd, cloexec);
        close(own);
    }
    return 1;
}

static void on_time(int number) {
    (void)number;
    if (is_obeyed())
        answer(OUT_OF_TIME, 0);
}

static int memory_file(void) { return high(memfd_create("idd", MFD_CLOEXEC)); }

/* What a test runs is not to park: the variable is emptied where it stands. */
static void forget_path(void) {
    for (char **word = environ; word != NULL && *word != NULL; word++)
        if (strncmp(*word, "IDD_CONTROL=", 12) == 0)
            (*word)[12] = 0;
}

/* A child on its own: what it says goes to `fd`, what it writes is kept apart. */
static void set_apart(int fd) {
    control.is_child = 1;
    *is_obeying = 1;
    control.pid = (pid_t)syscall(SYS_getpid);
    if (out >= 0)
        hang_up();
    control.result = fd;
    control.output = memory_file();
    control.switch_n = control.stop_n = control.stop_at = control.test_at = 0;
    control.budget = UINT64_MAX;
    control.n_before = control.n_segments;
    forget_path();
    if (!separate() || !confine())
        answer(REFUSED, 0);
}

/* A process that the program forked goes its own way; what a test forked ends with it. */
static void disown(void) {
    if (*is_obeying)
        return;
    int own[] = {control.result, control.output, control.records};
    int is_tests = control.is_child || control.is_bystander;
    if (is_tests)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    control.switch_n = control.stop_n = control.stop_at = control.test_at = 0;
    control.is_child = control.is_on_its_way = 0;
    control.is_bystander = is_tests;
    control.result = control.output = control.records = -1;
    for (int i = 0; i < 3; i++)
        if (own[i] >= 0)
            close(own[i]);
    if (control.is_turned)
        control.is_turned = 0, __idd_flip = 0, __idd_choice = 0;
    *is_obeying = 1;
    control.pid = (pid_t)syscall(SYS_getpid);
}

static struct test pending;
static char patches[1 << 20];

/* The test begins. */
static void take_effect(void) {
    const struct test *test = &pending;
    const char *at = patches;
    control.test_at = 0;
    control.n_before = control.n_segments;
    for (struct thread *thread = threads; thread != NULL; thread = thread->next)
        if (thread->cur != NULL)
            *thread->cur = thread->buffer;
    if (test->is_traced)
        control.records = memory_file();
    for (uint32_t i = 0; i < test->n_patches; i++) {
        struct range range;
        memcpy(&range, at, sizeof range);
        at += sizeof range;
        struct {
            const void *base;
            size_t length;
        } local = {at, range.length}, remote = {(void *)(uintptr_t)range.address, range.length};
        if (syscall(SYS_process_vm_writev, syscall(SYS_getpid), &local, 1UL, &remote, 1UL, 0UL) != (long)range.length) {
            /* Constants can be written once their pages can be. */
            uint64_t first = range.address & ~4095UL, end = (range.address + range.length + 4095) & ~4095UL;
            if (mprotect((void *)(uintptr_t)first, end - first, PROT_READ | PROT_WRITE) != 0)
                answer(REFUSED, 1);
            memcpy((void *)(uintptr_t)range.address, at, range.length);
        }
        at += range.length;
    }
    control.stop_id = test->stop_id;
    control.stop_n = test->stop_n;
    control.switch_id = test->switch_id;
    control.switch_n = test->switch_n;
    control.switch_choice = test->switch_choice;
    __idd_case = test->switch_case;
    control.budget = test->budget;
}

static void become_child(int fd) {
    /* It ends with the process that waits for it; one that parks later lives as long as its connection. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_apart(fd);
    struct sigaction action = {.sa_handler = on_time};
    sigaction(SIGVTALRM, &action, NULL);
    if (pending.from > control.n_segments)
        control.test_at = pending.from;
    else
        take_effect();
}

/* Waits for a child, and answers in its place if it could not. */
static void follow(int fd, pid_t child, uint32_t milliseconds) {
    int status = 0;
    struct reply reply = {DIED, 0, 0, 0, 0, 0};
    int pidfd = (int)syscall(SYS_pidfd_open, child, 0);
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    int n = poll(&ended, 1, milliseconds > 0 ? (int)milliseconds : -1);
    if (n == 0) {
        /* It can answer itself unless it is stuck in a call: half a second is given for that. */
        kill(child, SIGVTALRM);
        if (poll(&ended, 1, 500) == 0)
            kill(child, SIGKILL);
    }
    close(pidfd);
    waitpid(child, &status, 0);
    if (*answered == TOLD)
        return;
    if (WIFEXITED(status))
        reply.kind = *answered == UNTOLD ? UNHEARD : ENDED;
    reply.code = WIFSIGNALED(status) ? (uint32_t)WTERMSIG(status) : (uint32_t)WEXITSTATUS(status);
    if (n == 0)
        reply.kind = OUT_OF_TIME;
    give(fd, &reply, sizeof reply);
}

static int call_control(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = high(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    strcpy(address.sun_path, control_path);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Whether memory that was mapped since is shared with others; that of the answers is. */
static int shares_memory(void) {
    static char bytes[1 << 16];
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), is_shared = 0, column = 0;
    uintptr_t begin = 0;
    char flags[4] = "";
    for (ssize_t n; (n = read(fd, bytes, sizeof bytes)) > 0;)
        for (ssize_t i = 0; i < n; i++) {
            /* A line is `begin-end rw-s ...`. */
            char c = bytes[i];
            if (c == '\n') {
                is_shared |= flags[1] == 'w' && flags[3] == 's' && (void *)begin != (void *)all_answered;
                begin = 0, column = 0, flags[3] = 0;
            } else if (column == 0 && c != '-') {
                begin = begin * 16 + (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
            } else if (c == '-' && column == 0) {
                column = 1;
            } else if (column == 1 && c == ' ') {
                column = 2;
            } else if (column >= 2 && column < 6) {
                flags[column++ - 2] = c;
            }
        }
    close(fd);
    return is_shared;
}

/* Whether a fork would lack something of this process that came since it was set apart: children, pipes and the like, shared memory. */
static int is_bound(int own) {
    siginfo_t info;
    if (!control.is_child)
        return 0;
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
        return 1;
    for (int fd = 0; fd < MAX_FDS; fd++) {
        struct stat stat;
        if (fd != own && fstat(fd, &stat) == 0 && !S_ISREG(stat.st_mode) && !S_ISCHR(stat.st_mode) && !S_ISDIR(stat.st_mode))
            return 1;
    }
    return shares_memory();
}

/* Reads what another process writes to standard input to its end, so that each child can read it for itself. */
static void keep_input(void) {
    static char bytes[1 << 16];
    struct stat stat;
    if (fstat(0, &stat) != 0 || !(S_ISFIFO(stat.st_mode) || S_ISSOCK(stat.st_mode)))
        return;
    int kept = memory_file();
    struct pollfd ready = {.fd = 0, .events = POLLIN};
    ssize_t n;
    while (poll(&ready, 1, 5000) > 0 && (n = read(0, bytes, sizeof bytes)) > 0)
        if (write(kept, bytes, (size_t)n) != n)
            break;
    lseek(kept, 0, SEEK_SET);
    dup2(kept, 0);
    close(kept);
}

/* Reaps the copies that ended because nobody needs them any more. Later than its first segment, a process may have children of its own. */
static void reap(void) {
    if (!control.is_child && control.n_segments > 1)
        return;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

/* Obeys until it is told to go on; returns in the child of a test, too. */
static void park(void) {
    sigset_t children, before;
    int fd = control.is_on_its_way ? control.result : call_control();
    uint32_t hello[3] = {(uint32_t)syscall(SYS_getpid), n_threads, (uint32_t)is_bound(fd)};
    control.is_on_its_way = 0;
    if (fd < 0 || !give(fd, hello, sizeof hello)) {
        close(fd);
        return;
    }
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, &before);
    uint32_t command;
    while (take(fd, &command, sizeof command) && command != GO) {
        if (command == READ) {
            uint32_t n;
            if (!take(fd, &n, sizeof n) || n > MAX_DUMPS || !take(fd, dumps, n * sizeof *dumps))
                break;
            for (uint32_t i = 0; i < n; i++)
                give_memory(fd, &dumps[i]);
        } else if (command == TEST) {
            uint64_t length;
            if (!take(fd, &pending, sizeof pending) || !take(fd, &length, sizeof length) || length > sizeof patches ||
                !take(fd, patches, length) || pending.n_dumps > MAX_DUMPS || !take(fd, dumps, pending.n_dumps * sizeof *dumps))
                break;
            n_dumps = pending.n_dumps;
            *answered = SILENT;
            reap();
            keep_input();
            prepare(fd);
            pid_t child = __real__Fork != NULL ? __real__Fork() : __real_fork();
            if (child == 0) {
                sigprocmask(SIG_SETMASK, &before, NULL);
                become_child(fd);
                return;
            }
            if (child < 0) {
                struct reply reply = {REFUSED, 2, 0, 0, 0, 0};
                give(fd, &reply, sizeof reply);
            } else {
                follow(fd, child, pending.milliseconds);
            }
        } else if (command == GLOBAL) {
            uint32_t n = (uint32_t)(__stop_idd_globals - __start_idd_globals);
            give(fd, &n, sizeof n);
            for (struct globals **unit = __start_idd_globals; unit < __stop_idd_globals; unit++) {
                uint32_t head[2] = {(*unit)->unit, (*unit)->count};
                give(fd, head, sizeof head);
                give(fd, (*unit)->addresses, (*unit)->count * sizeof(void *));
            }
        } else if (command == TURN) {
            if (!take(fd, &control.switch_id, sizeof control.switch_id) || !take(fd, &control.switch_n, sizeof control.switch_n) ||
                !take(fd, &__idd_case, sizeof __idd_case) || !take(fd, &control.switch_choice, sizeof control.switch_choice))
                break;
        } else if (command == SPAWN) {
            uint64_t at;
            if (!take(fd, &at, sizeof at))
                break;
            reap();
            keep_input();
            prepare(fd);
            pid_t child = __real__Fork != NULL ? __real__Fork() : __real_fork();
            if (child == 0) {
                sigprocmask(SIG_SETMASK, &before, NULL);
                control.result = -1;
                answered = all_answered + 1 + (1 + __atomic_fetch_add(all_answered, 1, __ATOMIC_RELAXED)) % N_ANSWERED;
                close(fd);
                fd = call_control();
                if (fd < 0)
                    syscall(SYS_exit_group, ANSWERED);
                control.is_on_its_way = 1;
                /* Signals for the group of the program are not for it. */
                setsid();
                set_apart(fd);
                forget();
                control.stop_at = at;
                /* The segment before which this one is parked may be meant. */
                if (at > control.n_segments)
                    return;
                park();
                return;
            }
        } else {
            break;
        }
    }
    /* A child has nothing to go on for. */
    if (control.is_child)
        syscall(SYS_exit_group, ANSWERED);
    forget();
    close(fd);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* One segment begins; what it has to do with the order. */
static void control_at(uint32_t id) {
    disown();
    if (control.is_turned) {
        control.is_turned = 0;
        __idd_flip = 0;
        __idd_choice = 0;
    }
    control.n_segments++;
    if (control.test_at > 0 && control.n_segments >= control.test_at && is_obeyed())
        take_effect();
    if (control.stop_n > 0 && id == control.stop_id && --control.stop_n == 0 && is_obeyed()) {
        if (control.is_child)
            answer(REACHED, 0);
        park();
    } else if (control.stop_at > 0 && control.n_segments >= control.stop_at && is_obeyed()) {
        control.stop_at = 0;
        park();
    }
    if (control.is_child && control.n_segments - control.n_before > control.budget && is_obeyed())
        answer(OUT_OF_BUDGET, 0);
    if (control.switch_n > 0 && id == control.switch_id && --control.switch_n == 0) {
        control.is_turned = 1;
        if (control.switch_choice)
            __idd_choice = (unsigned char)control.switch_choice;
        else
            __idd_flip = 1;
    }
}

/* The program ends. */
static void control_end(uint32_t status) {
    if (control.is_child && is_obeyed())
        answer(status & 0x100 ? DIED : ENDED, status & 0xff);
}
