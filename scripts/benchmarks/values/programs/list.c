/* Lists, recursion, structures passed and returned, sorting through a callback. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum shade { DARK, MIDDLE = 4, BRIGHT };

struct point {
    int x, y;
    enum shade shade;
};

struct node {
    struct point at;
    char name[12];
    unsigned flags : 5;
    int small : 3;
    struct node *next;
};

static int n_made;

static struct point moved(struct point from, int by) {
    struct point to = from;
    to.x += by;
    to.y -= by;
    if (to.x % 2 == 0)
        to.shade = BRIGHT;
    else
        to.shade = from.y > 3 ? MIDDLE : DARK;
    return to;
}

static struct node *make(struct node *next, int number) {
    struct node *node = calloc(1, sizeof *node);
    struct point start = {number, 2 * number, DARK};
    node->at = moved(start, number % 5);
    sprintf(node->name, "n%d", number);
    node->flags = (unsigned)number * 3;
    node->small = number % 4;
    node->next = next;
    n_made++;
    return node;
}

static int by_x(const void *one, const void *other) {
    const struct point *a = one;
    const struct point *b = other;
    int difference = a->x - b->x;
    return difference != 0 ? difference : a->y - b->y;
}

static int depth(const struct node *node) {
    if (node == NULL)
        return 0;
    int behind = depth(node->next);
    return behind + 1;
}

int main(void) {
    struct node *list = NULL;
    struct point all[10];
    int sum = 0;
    for (int i = 0; i < 10; i++) {
        list = make(list, (i * 7) % 10);
        all[i] = list->at;
    }
    qsort(all, 10, sizeof *all, by_x);
    for (int i = 0; i < 10; i++) {
        struct point point = all[i];
        sum += point.x * (i + 1);
    }
    int length = depth(list);
    printf("%d %d %d\n", sum, length, n_made);
    return 0;
}
