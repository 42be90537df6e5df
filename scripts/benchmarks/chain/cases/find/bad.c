/* Lists what is in directories, as a listing on standard input has it.
 *
 * usage: find DIRECTORY... [-printf FORMAT] <listing
 *   %H the directory as given, %P the path below it, %d how deep, \n and \t
 * A line of the listing is a path; what is in a directory follows it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PATH 128

struct entry {
    char path[MAX_PATH];
    int path_length;
    int level;
    struct entry *next;
};

struct state {
    int starting_length;
    int n_visited;
};

static struct state state;
static struct entry *first_entry;
static const char *format = "%H/%P\\n";

static void add_entry(const char *path) {
    struct entry **link = &first_entry;
    struct entry *entry = calloc(1, sizeof *entry);
    if (entry == NULL) {
        exit(1);
    }
    strcpy(entry->path, path);
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = entry;
}

static void read_listing(void) {
    char line[MAX_PATH];
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '\0') {
            add_entry(line);
        }
    }
}

static int depth_of(const char *path) {
    int depth = 0;
    for (; *path != '\0'; path++) {
        if (*path == '/') {
            depth++;
        }
    }
    return depth;
}

static void pred_fprintf(char *pathname, const struct entry *entry) {
    const char *at;
    char cc;
    for (at = format; *at != '\0'; at++) {
        if (*at == '\\') {
            at++;
            putchar(*at == 'n' ? '\n' : '\t');
            continue;
        }
        if (*at != '%') {
            putchar(*at);
            continue;
        }
        at++;
        switch (*at) {
        case 'H':
            cc = pathname[state.starting_length];
            pathname[state.starting_length] = '\0';
            printf("%s", pathname);
            pathname[state.starting_length] = cc;
            break;
        case 'P':
            if (strchr(pathname, '/') != NULL) {
                printf("%s", strchr(pathname, '/') + 1);
            }
            break;
        case 'd':
            printf("%d", entry->level);
            break;
        default:
            putchar(*at);
            break;
        }
    }
}

static void consider_visiting(struct entry *entry) {
    if (0 == state.starting_length) {
        state.starting_length = entry->path_length;
    }
    state.n_visited++;
    pred_fprintf(entry->path, entry);
}

static void find(const char *directory) {
    size_t length = strlen(directory);
    struct entry *entry;
    for (entry = first_entry; entry != NULL; entry = entry->next) {
        if (strncmp(entry->path, directory, length) != 0) {
            continue;
        }
        if (entry->path[length] != '\0' && entry->path[length] != '/') {
            continue;
        }
        entry->path_length = (int)strlen(entry->path);
        entry->level = depth_of(entry->path);
        consider_visiting(entry);
    }
}

int main(int argc, char **argv) {
    int n_directories = 0;
    int i;
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-printf") == 0) {
            break;
        }
        n_directories++;
    }
    if (i + 1 < argc) {
        format = argv[i + 1];
    }
    read_listing();
    for (i = 1; i <= n_directories; i++) {
        find(argv[i]);
    }
    while (first_entry != NULL) {
        struct entry *next = first_entry->next;
        free(first_entry);
        first_entry = next;
    }
    return state.n_visited > 0 ? 0 : 1;
}
