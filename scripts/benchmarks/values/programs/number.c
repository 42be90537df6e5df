/* Floating point, matrices, bits, setjmp, recursion, variable arrays. */
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>

static jmp_buf back;
static double matrix[3][3] = {{2, 1, 0}, {1, 3, -1}, {0, -1, 4}};
static uint32_t state = 2463534242u;

static uint32_t next(void) {
    uint32_t x = state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    state = x;
    return x;
}

static double determinant(double m[3][3]) {
    double first = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]);
    double second = m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]);
    double third = m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    return first - second + third;
}

static int ackermann(int m, int n) {
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    int inner = ackermann(m, n - 1);
    return ackermann(m - 1, inner);
}

static void check(int value) {
    if (value > 12)
        longjmp(back, value);
}

int main(void) {
    float single = 0.1f;
    double det = determinant(matrix);
    int n = 4;
    long squares[n];
    for (int i = 0; i < n; i++) {
        squares[i] = (long)i * i;
        single = single * 1.5f + (float)i;
    }
    int deep = ackermann(2, 3);
    volatile int tries = 0;
    int code = setjmp(back);
    if (code == 0) {
        for (int i = 0; i < 20; i++) {
            tries = tries + 1;
            check(i);
        }
    }
    _Bool is_odd = next() & 1;
    int16_t narrow = (int16_t)next();
    uint64_t wide = (uint64_t)next() << 20;
    double root = sqrt(det);
    printf("%f %f %d %d %d %d %d %llu %ld\n", single, root, deep, code, tries, is_odd, narrow, (unsigned long long)wide, squares[n - 1]);
    return 0;
}
