/* A long run: numbers are sorted, kept in a tree, and added up by recursion and in loops. */
#include <stdlib.h>

enum { N = 40000 };

struct node { unsigned key, n; struct node *left, *right; };

static unsigned values[N];

static void sort(int from, int to)
{
    if (to - from < 2)
        return;
    unsigned pivot = values[(from + to) / 2];
    int i = from, j = to - 1;
    while (i <= j) {
        while (values[i] < pivot)
            i++;
        while (values[j] > pivot)
            j--;
        if (i <= j) {
            unsigned value = values[i];
            values[i++] = values[j];
            values[j--] = value;
        }
    }
    sort(from, j + 1);
    sort(i, to);
}

static unsigned sum(int from, int to)
{
    if (to - from == 1)
        return values[from] % 1000;
    int middle = (from + to) / 2;
    return sum(from, middle) + sum(middle, to);
}

static struct node *insert(struct node *node, unsigned key)
{
    if (node == NULL) {
        node = calloc(1, sizeof *node);
        node->key = key;
    }
    node->n++;
    if (key < node->key)
        node->left = insert(node->left, key);
    else if (key > node->key)
        node->right = insert(node->right, key);
    return node;
}

static unsigned height(const struct node *node)
{
    if (node == NULL)
        return 0;
    unsigned left = height(node->left), right = height(node->right);
    return 1 + (left > right ? left : right);
}

int main(void)
{
    unsigned seed = 7, mixed = 0, total, deep;
    struct node *tree = NULL;
    for (int i = 0; i < N; i++) {
        seed = seed * 1103515245u + 12345u;
        values[i] = seed >> 8;
        tree = insert(tree, values[i] % 4096);
    }
    sort(0, N);
    total = sum(0, N);
    deep = height(tree);
    for (int i = 0; i < N; i++)
        mixed = (mixed ^ values[i]) * 16777619u;
    return (total + deep + mixed) % 2 == 2;
}
