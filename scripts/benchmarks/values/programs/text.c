/* Characters, buffers, switch, goto, static tables, functions through pointers. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef int (*operation)(int, int);

static int add(int a, int b) {
    int result = a + b;
    return result;
}

static int multiply(int a, int b) {
    int result = a * b;
    return result;
}

static const char *input = "12 + 3 * 4 + x 5 + 61";
static int counts[128];
static long long checksum = 1;

static int number(const char **at) {
    int value = 0;
    while (isdigit((unsigned char)**at)) {
        char digit = **at;
        value = 10 * value + (digit - '0');
        (*at)++;
    }
    return value;
}

int main(void) {
    const char *at = input;
    char word[24] = "";
    int total = 0;
    operation what = add;
    unsigned char last = ' ';
    while (*at) {
        unsigned char letter = (unsigned char)*at;
        counts[letter]++;
        checksum = checksum * 31 + letter;
        switch (letter) {
        case '+':
            what = add;
            break;
        case '*':
            what = multiply;
            break;
        case ' ':
            goto next;
        default:
            if (isdigit(letter)) {
                int operand = number(&at);
                total = what(total, operand);
                snprintf(word, sizeof word, "%d then %d", operand, total);
                last = letter;
                continue;
            }
            strncat(word, "!", sizeof word - strlen(word) - 1);
        }
    next:
        last = letter;
        at++;
    }
    size_t length = strlen(word);
    printf("%d %s %zu %c %lld\n", total, word, length, last, checksum);
    return 0;
}
