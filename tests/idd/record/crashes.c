/* Goes wrong in the way that its argument names. What stands behind the statement that is marked with the name is never executed. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct large {
    long all[40];
};

static int zero, one = 1, after;
static struct large full;
static struct large *nowhere;
static char *page;
static sigjmp_buf back;

static void go_back(int number)
{
    siglongjmp(back, number);
}

static void make_it_writable(int number, siginfo_t *info, void *context)
{
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static int is(const char *word, const char *name)
{
    return strcmp(word, name) == 0;
}

static void read_null(int *where)
{
    after = 1;
    int found = where[3]; /* read */
    after = found;
}

static void write_text(char *text)
{
    char first = text[0];
    after = first;
    text[0] = 'x'; /* text */
    after = text[0];
}

static void copy_from_null(void)
{
    full.all[0] = 1;
    struct large kept = *nowhere; /* copy */
    full = kept;
}

static void divide(int a, long b)
{
    after = a / one;
    after = a / b; /* divide */
    after = a + 1;
}

static void remainder_of(unsigned a)
{
    after = a % 7;
    after = a % (unsigned)zero; /* remainder */
    after = a + 1;
}

static void divide_twice(int a)
{
    after = a / one;
    after = a / zero; /* twice */
    after = a / one;
}

static void least(int a, int b)
{
    after = 3;
    after = a / b; /* overflow */
    after = 4;
}

static void read_wild(char *where)
{
    after = 1;
    after = where[0x10]; /* wild */
    after = 2;
}

static void crash_in_library(char *text)
{
    after = 1;
    after = (int)strlen(text); /* library */
    after = 2;
}

static int jump_out(int *where)
{
    if (sigsetjmp(back, 1) != 0)
        return after;
    after = 1; /* before jump */
    *where = 5;
    after = 2;
    return 7;
}

static void try_again(void)
{
    after = 1;
    page[1] = 5;
    after = 2;
}

int main(int argc, char **argv)
{
    const char *way = argv[1];
    if (is(way, "read"))
        read_null(NULL);
    if (is(way, "text"))
        write_text("text");
    if (is(way, "copy"))
        copy_from_null();
    if (is(way, "divide"))
        divide(argc, zero);
    if (is(way, "remainder"))
        remainder_of(argc);
    if (is(way, "twice"))
        divide_twice(argc);
    if (is(way, "overflow"))
        least(INT32_MIN, -one);
    if (is(way, "wild"))
        read_wild((char *)0x4141414141414141);
    if (is(way, "library"))
        crash_in_library(NULL);
    if (is(way, "jump")) {
        signal(SIGSEGV, go_back);
        if (jump_out(NULL) == 1)
            exit(3); /* jump */
        exit(4);
    }
    if (is(way, "again")) {
        struct sigaction action = {.sa_sigaction = make_it_writable, .sa_flags = SA_SIGINFO}, before;
        page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        sigaction(SIGSEGV, &action, NULL);
        sigaction(SIGSEGV, NULL, &before);
        try_again();
        if (after == 2 && page[1] == 5 && before.sa_sigaction == make_it_writable)
            exit(3); /* again */
        exit(4);
    }
    return after;
}
