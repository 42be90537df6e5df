/* Another program takes the place of this one: what was recorded till then is sent before. Where that fails, the program goes on, and so do its records. */

#include <stdarg.h>

/* Takes the lock if the process has records of its own to send, so that no other thread sends any behind the end; the result goes to `stay`. */
static int leave(void) {
    int saved = errno;
    if (control.is_child && is_obeyed())
        answer(ENDED, 0);
    /* A child that shares its memory with its parent leaves the records to it. A handler of a signal may have interrupted the sending. */
    int is_ours = self != NULL && out >= 0 && !is_sending && is_own_process();
    if (is_ours) {
        pthread_mutex_lock(&lock);
        flush_all();
        message(END, REPLACED, NULL, 0);
    }
    errno = saved;
    return is_ours;
}

static int stay(int is_ours, int result) {
    if (is_ours)
        pthread_mutex_unlock(&lock);
    return result;
}

#define LEAVES(name, parameters, arguments)        \
    int __real_##name parameters;                  \
    EXPORT int __wrap_##name parameters {          \
        int is_ours = leave();                     \
        return stay(is_ours, __real_##name arguments); \
    }

LEAVES(execve, (const char *path, char *const words[], char *const variables[]), (path, words, variables))
LEAVES(execv, (const char *path, char *const words[]), (path, words))
LEAVES(execvp, (const char *file, char *const words[]), (file, words))
LEAVES(execvpe, (const char *file, char *const words[], char *const variables[]), (file, words, variables))
LEAVES(fexecve, (int fd, char *const words[], char *const variables[]), (fd, words, variables))
LEAVES(execveat, (int fd, const char *path, char *const words[], char *const variables[], int flags), (fd, path, words, variables, flags))

/* The words of a call that lists them; `after` is what comes behind their end. */
#define LISTED(call, after)                                        \
    va_list list, copy;                                            \
    size_t n = 1;                                                  \
    va_start(list, word);                                          \
    va_copy(copy, list);                                           \
    for (const char *next = word; next != NULL; n++)               \
        next = va_arg(copy, const char *);                         \
    va_end(copy);                                                  \
    char *words[n];                                                \
    words[0] = (char *)word;                                       \
    for (size_t i = 1; i < n && words[i - 1] != NULL; i++)         \
        words[i] = va_arg(list, char *);                           \
    after;                                                         \
    va_end(list);                                                  \
    return call;

EXPORT int __wrap_execl(const char *path, const char *word, ...) { LISTED(__wrap_execv(path, words), ) }
EXPORT int __wrap_execlp(const char *file, const char *word, ...) { LISTED(__wrap_execvp(file, words), ) }
EXPORT int __wrap_execle(const char *path, const char *word, ...) {
    LISTED(__wrap_execve(path, words, variables), char *const *variables = va_arg(list, char *const *))
}
