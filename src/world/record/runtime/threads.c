/* The order of threads: what a thread did before it synchronises with others is sent before, so that in the stream it stands before what they do behind it. */

#include <semaphore.h>

/* Sends what the thread has done so far. A handler of a signal may call this while the thread is sending: then there is nothing to do. */
static void settle(void) {
    if (self == NULL || out < 0 || is_sending)
        return;
    int saved = errno;
    flush_own();
    errno = saved;
}

#define SETTLES(name, parameters, arguments)       \
    int __real_##name parameters;                  \
    EXPORT int __wrap_##name parameters {          \
        if (n_threads > 1)                         \
            settle();                              \
        return __real_##name arguments;            \
    }

SETTLES(pthread_join, (pthread_t thread, void **to), (thread, to))
SETTLES(pthread_mutex_trylock, (pthread_mutex_t *mutex), (mutex))
SETTLES(pthread_cond_wait, (pthread_cond_t *condition, pthread_mutex_t *mutex), (condition, mutex))
SETTLES(pthread_cond_timedwait, (pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until), (condition, mutex, until))
SETTLES(pthread_cond_signal, (pthread_cond_t *condition), (condition))
SETTLES(pthread_cond_broadcast, (pthread_cond_t *condition), (condition))
SETTLES(pthread_rwlock_rdlock, (pthread_rwlock_t *rwlock), (rwlock))
SETTLES(pthread_rwlock_wrlock, (pthread_rwlock_t *rwlock), (rwlock))
SETTLES(pthread_rwlock_unlock, (pthread_rwlock_t *rwlock), (rwlock))
SETTLES(pthread_barrier_wait, (pthread_barrier_t *barrier), (barrier))
SETTLES(sem_wait, (sem_t *semaphore), (semaphore))
SETTLES(sem_post, (sem_t *semaphore), (semaphore))

/* The runtime's own lock goes to the library directly. */
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
EXPORT int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex) {
    if (n_threads > 1 && mutex != &lock)
        settle();
    return __real_pthread_mutex_lock(mutex);
}

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
EXPORT int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex) {
    if (n_threads > 1 && mutex != &lock)
        settle();
    return __real_pthread_mutex_unlock(mutex);
}

/* The first thread may be the only one that ever ran: it is asked in any case. */
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
EXPORT int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
    settle();
    return __real_pthread_create(thread, attributes, run, argument);
}
