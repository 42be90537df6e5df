/* Ends, or hides, in the way that its argument names, after it has done a little. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int worked;

static int work(int how_often)
{
    for (int i = 0; i < how_often; i++)
        worked += i;
    return worked;
}

static int child(void *how_often)
{
    work(*(int *)how_often);
    raise(SIGKILL);
    return 0;
}

static void *thread(void *started)
{
    work(5);
    pthread_barrier_wait(started);
    pause();
    return NULL;
}

static int is(const char *word, const char *name)
{
    return strcmp(word, name) == 0;
}

int main(int argc, char **argv)
{
    static char stack[1 << 16];
    const char *way = argv[1];
    int five = 5;
    if (is(way, "kill")) {
        work(5);
        kill(getpid(), SIGKILL);
    }
    if (is(way, "threads")) {
        pthread_t id;
        pthread_barrier_t started;
        pthread_barrier_init(&started, NULL, 261);
        for (int n = 0; n < 260; n++)
            pthread_create(&id, NULL, thread, &started);
        pthread_barrier_wait(&started);
        kill(getpid(), SIGKILL);
    }
    if (is(way, "hangs")) {
        work(5);
        pause();
    }
    if (is(way, "close"))
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
    if (is(way, "unseen") || is(way, "long")) {
        int (*close_unseen)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "close");
        for (int fd = 3; fd < 1024; fd++)
            close_unseen(fd);
        if (is(way, "long"))
            work(300000);
        if (is(way, "long"))
            return 0;
    }
    if (is(way, "closefrom"))
        closefrom(3);
    if (is(way, "range"))
        syscall(SYS_close_range, 3, ~0u, 0);
    if (is(way, "dup"))
        for (int fd = 3; fd < 1024; fd++)
            dup2(1, fd);
    if (is(way, "fork") && fork() == 0)
        return child(&five);
    if (is(way, "raw") && syscall(SYS_fork) == 0)
        return child(&five);
    if (is(way, "clone"))
        clone(child, stack + sizeof stack, SIGCHLD, &five);
    if (is(way, "leaves")) {
        /* It leaves a process behind that has done its work: one that never ran would have nothing to record. */
        int ready[2];
        char byte;

        if (pipe(ready) != 0)
            return 9;
        if (fork() == 0) {
            work(5);
            if (write(ready[1], "", 1) == 1)
                pause();
        }
        if (read(ready[0], &byte, 1) != 1)
            return 9;
    }
    if (!is(way, "leaves"))
        while (wait(NULL) > 0)
            ;
    return work(7) == 21 ? 3 : 4;
}
