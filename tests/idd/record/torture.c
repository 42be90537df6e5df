/* Everything of C that is hard to instrument, in one program; what it prints depends on all of it. */
#define _GNU_SOURCE
#include <complex.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct bits {
    int a : 3;
    unsigned b : 7;
    unsigned long long c : 40;
    _Bool d : 1;
};
struct point {
    double x, y;
};
struct large {
    int n[20];
    struct point p;
    struct bits b;
    char name[9];
};
union any {
    int i;
    float f;
    unsigned char bytes[8];
    struct bits b;
};
struct __attribute__((packed)) tight {
    char c;
    int i;
    short s;
};
enum color { RED = -1, GREEN = 5, BLUE = 1 << 20 };
typedef int vector __attribute__((vector_size(16)));

static jmp_buf place;
static volatile sig_atomic_t n_signals;
static _Thread_local int mine = 3;
static atomic_int counter;
static int order[] = {5, 3, 9, -1, 7, 0, 2};
static struct large global = {{1, 2, 3}, {1.5, -2.5}, {-1, 100, 1ULL << 39, 1}, "global"};
static const char *const words[] = {"zero", "one", "two"};

static int compare(const void *x, const void *y) { return *(const int *)x - *(const int *)y; }

static struct large passed(struct large l, struct point p, int i) {
    l.n[i] += (int)p.x;
    l.b.c += 3;
    l.p.y = p.y;
    return l;
}

static struct point small(struct point p) { return (struct point){p.y, p.x}; }

static double sum(int n, ...) {
    va_list list, copy;
    double total = 0;
    va_start(list, n);
    va_copy(copy, list);
    for (int i = 0; i < n; i++)
        total += i % 2 ? va_arg(list, double) : (double)va_arg(list, long);
    total += (double)va_arg(copy, long);
    va_end(copy);
    va_end(list);
    return total;
}

static int count_down(int n) {
    jmp_buf inner;
    int kept = n;
    if (n == 0)
        longjmp(place, 42);
    if (setjmp(inner) == 0)
        return count_down(n - 1) + kept;
    return -1;
}

static int again(int depth) {
    jmp_buf here;
    volatile int local = depth;
    int code = setjmp(here);
    if (code < 2)
        longjmp(here, code + 1);
    return depth == 0 ? local : again(depth - 1) + local;
}

static int interpret(const unsigned char *code) {
    static void *const labels[] = {&&add, &&twice, &&skip, &&stop};
    int value = 1;
next:
    goto *labels[*code++];
add:
    value += 7;
    goto next;
twice:
    value *= 2;
    goto next;
skip:
    code++;
    goto next;
stop:
    return value;
}

static int classify(int n) {
    switch (n) {
    case -5 ... -1:
        return 1;
    case 0:
        n++; /* falls through */
    case 1:
        n += 2;
        break;
    case 100:
        return 100;
    default:
        if (n > 1000)
            goto large;
        n = -n;
    }
    return n;
large:
    for (;;) {
        if (n % 7 == 0)
            break;
        if (++n % 5 == 0)
            continue;
        n += 2;
    }
    return n;
}

static void on_signal(int number) {
    n_signals += number == SIGUSR1 ? 1 : 100;
    for (int i = 0; i < 50; i++)
        n_signals += 0;
}

static void *work(void *argument) {
    int *n = argument;
    for (int i = 0; i < 1000; i++) {
        atomic_fetch_add(&counter, 1);
        mine += i & 1;
    }
    *n = mine;
    return NULL;
}

static unsigned hash(const char *text) {
    unsigned h = 2166136261u;
    while (*text)
        h = (h ^ (unsigned char)*text++) * 16777619u;
    return h;
}

static int ackermann(int m, int n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

int main(int argc, char **argv) {
    struct bits b = {.a = -2, .b = 99, .c = 0x1234567890, .d = 1};
    b.a++, b.b *= 3, b.c <<= 3, b.d ^= 1;
    printf("bits %d %u %llx %d\n", b.a, (unsigned)b.b, (unsigned long long)b.c, b.d);
    union any u = {.f = 1.5f};
    u.bytes[3] ^= 0x80;
    printf("union %x %g %d\n", (unsigned)u.i, (double)u.f, u.b.a);
    struct tight t = {'x', 1 << 30, -3};
    int *inside = &t.i;
    memcpy(&u.i, inside, sizeof u.i);
    printf("tight %zu %d %d\n", sizeof t, u.i, t.s);

    struct large l = passed(global, (struct point){3.7, 4.25}, 2), l2;
    l2 = l;
    printf("large %d %g %llx %s\n", l2.n[2], l2.p.y, (unsigned long long)l2.b.c, l2.name);
    struct point p = small(small(small((struct point){1, 2})));
    printf("small %g %g\n", p.x, p.y);
    printf("varargs %g\n", sum(5, 1L, 2.5, 3L, 4.5, 5L));

    int n = argc + 6;
    long vla[n][2];
    for (int i = 0; i < n; i++)
        vla[i][0] = i * i, vla[i][1] = -i;
    char *room = __builtin_alloca((size_t)n * 3);
    snprintf(room, (size_t)n * 3, "alloca %d", n);
    printf("vla %ld %ld %zu %s\n", vla[n - 1][0], vla[n - 2][1], sizeof vla, room);

    printf("goto %d\n", interpret((const unsigned char[]){0, 1, 2, 9, 0, 1, 3}));
    for (int i = -6; i < 3; i++)
        printf("%d ", classify(i));
    printf("%d %d\n", classify(100), classify(5003));
    printf("expression %d\n", ({
               int z = n;
               z > 3 ? z * 2 : z;
           }));

    int code = setjmp(place);
    if (code == 0)
        count_down(6);
    printf("longjmp %d again %d\n", code, again(4));
    qsort(order, sizeof order / sizeof *order, sizeof *order, compare);
    int key = 7, *found = bsearch(&key, order, sizeof order / sizeof *order, sizeof *order, compare);
    printf("sorted %d %d %td\n", order[0], order[6], found - order);

    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGUSR1, &action, NULL);
    signal(SIGUSR2, on_signal);
    for (int i = 0; i < 5; i++)
        raise(i % 2 ? SIGUSR2 : SIGUSR1);
    printf("signals %d\n", (int)n_signals);

    long double ld = 1.0L / 3;
    ld = ld * argc + 2;
    complex double z = 1.0 + 2.0 * I;
    z *= z;
    __int128 wide = (__int128)1 << 100;
    wide += argc;
    printf("wide %.15Lf %g%+gi %llx\n", ld, creal(z), cimag(z), (unsigned long long)(wide >> 64));
    vector v = {1, 2, 3, 4}, w = {4, 3, 2, 1};
    v = v * w + (v > w);
    printf("vector %d %d %d %d\n", v[0], v[1], v[2], v[3]);

    unsigned low = 5, high = 7;
#if defined(__x86_64__)
    __asm__ volatile("addl %1, %0" : "+r"(low) : "r"(high) : "cc");
    unsigned memory = 1;
    __asm__("incl %0" : "+m"(memory));
    low += memory;
#else
    low += high + 2;
#endif
    printf("asm %u\n", low);

    pthread_t threads[3];
    int results[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, &results[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    int expected = 3000;
    int is_exchanged = atomic_compare_exchange_strong(&counter, &expected, 9);
    printf("atomic %d %d %d %d\n", atomic_load(&counter), results[0], results[2], is_exchanged);
    int before = __sync_fetch_and_add(&order[0], 4), exchanged = atomic_exchange(&counter, 1);
    printf("atomic %d %d %d %d\n", before, exchanged, expected, order[0]);

    enum color c = argc > 1 ? RED : BLUE;
    _Bool is_blue = c == BLUE && argv[0] != NULL;
    printf("enum %d %d %u\n", c, is_blue, hash(words[is_blue]));
    printf("recursion %d\n", ackermann(2, 3));
    char *grown = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&grown, &length);
    fprintf(file, "%s-%d", words[2], 17);
    fclose(file);
    grown = realloc(grown, 1000);
    memmove(grown + 3, grown, 6);
    grown[9] = 0;
    memset(grown, '*', 2);
    printf("heap %s %zu\n", grown, length);
    free(grown);

    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        printf("child %d\n", again(2));
        fflush(stdout);
        _exit(classify(-3));
    }
    int status;
    waitpid(child, &status, 0);
    printf("parent %d\n", WEXITSTATUS(status));
    errno = 0;
    (void)interpret((const unsigned char[]){3});
    printf("errno %d\n", errno);
    return 7;
}
