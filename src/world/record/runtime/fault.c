/* Where a program crashed: a record is reserved before its statements run, so the address of the fault tells how far they came.
 *
 * A program may handle the fault itself, so its handlers are called by ours. One that leaves by a jump leaves the statements behind the fault undone;
 * one that returns has them done: then the fault is taken back, unless it comes again at once. */

#include <ucontext.h>

enum { ANY = 0, READS = 1, WRITES = 2, FETCHES = 3 };

/* Where the record is that a handler returned to, and where the next one would be; counted as the thread's records are. */
static INITIAL __thread uint64_t returned_to, returned_at;

static uint64_t here(void) { return self->n_sent + (uint64_t)(__idd_cur - self->buffer); }

/* What the processor says of an access that faulted. */
static uint32_t access_of(const void *context) {
#if defined(__x86_64__)
    greg_t error = ((const ucontext_t *)context)->uc_mcontext.gregs[REG_ERR];
    return error & 0x10 ? FETCHES : error & 2 ? WRITES : READS;
#else
    (void)context;
    return ANY;
#endif
}

static int is_fault(int number) { return number == SIGSEGV || number == SIGBUS || number == SIGFPE; }

/* Says that the record which ends there was broken off, or that it was not. Only what a statement did itself is a fault: a signal that was sent says
 * nothing of where the program is. */
static void tell_fault(const siginfo_t *info, const void *context, uint64_t offset, int is_over) {
    if (self == NULL || out < 0 || info->si_code <= 0 || !is_fault(info->si_signo) || !is_own_process())
        return;
    struct {
        uint64_t offset, address;
        uint32_t signal, code, access, is_over;
    } fault = {
        offset, (uint64_t)(uintptr_t)info->si_addr, (uint32_t)info->si_signo, (uint32_t)info->si_code,
        info->si_signo == SIGFPE ? ANY : access_of(context), (uint32_t)is_over,
    };
    message(FAULT, self->number, &fault, sizeof fault);
}

static uint64_t place_of_fault(void) {
    if (self == NULL)
        return 0;
    return here() == returned_at ? returned_to : here();
}

/* What the program handles itself. */
static struct sigaction handled[_NSIG];

static void on_handled_fault(int number, siginfo_t *info, void *context) {
    struct sigaction action = handled[number];
    int saved = errno;
    uint64_t place = place_of_fault();
    pthread_mutex_lock(&lock);
    tell_fault(info, context, place, 0);
    pthread_mutex_unlock(&lock);
    errno = saved;
    if (action.sa_flags & SA_SIGINFO)
        action.sa_sigaction(number, info, context);
    else
        action.sa_handler(number);
    saved = errno;
    pthread_mutex_lock(&lock);
    tell_fault(info, context, place, 1);
    pthread_mutex_unlock(&lock);
    if (self != NULL)
        returned_to = place, returned_at = here();
    errno = saved;
}

EXPORT int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *before) {
    if (!is_fault(number) || (out < 0 && !is_armed))
        return __real_sigaction(number, action, before);
    struct sigaction ours, kept = handled[number], old;
    if (action != NULL) {
        ours = *action;
        if (ours.sa_handler == SIG_DFL && !(ours.sa_flags & SA_SIGINFO)) {
            ours.sa_sigaction = on_fatal_signal;
            ours.sa_flags = SA_ONSTACK | SA_NODEFER | SA_SIGINFO;
        } else if (ours.sa_handler != SIG_IGN) {
            handled[number] = *action;
            ours.sa_sigaction = on_handled_fault;
            ours.sa_flags |= SA_SIGINFO;
        }
    }
    int result = __real_sigaction(number, action != NULL ? &ours : NULL, &old);
    if (result == 0 && before != NULL) {
        *before = old;
        if (old.sa_sigaction == on_handled_fault) {
            *before = kept;
        } else if (old.sa_sigaction == on_fatal_signal) {
            before->sa_handler = SIG_DFL;
            before->sa_flags = 0;
        }
    }
    return result;
}

static void (*set_handler(int number, void (*handler)(int), int flags))(int) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, before;
    return __wrap_sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

EXPORT void (*__wrap_signal(int number, void (*handler)(int)))(int) {
    return is_fault(number) ? set_handler(number, handler, SA_RESTART) : __real_signal(number, handler);
}

void (*__real___sysv_signal(int number, void (*handler)(int)))(int);
EXPORT void (*__wrap___sysv_signal(int number, void (*handler)(int)))(int) {
    return is_fault(number) ? set_handler(number, handler, SA_RESETHAND | SA_NODEFER) : __real___sysv_signal(number, handler);
}
