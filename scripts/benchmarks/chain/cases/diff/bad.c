/* Compares two directories, each a sorted list of names and contents in a file.
 *
 * usage: diff [-i] ONE OTHER
 *   -i  letters of both cases are the same in names
 * A line of a list is a name, a space, and what is in the file. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILES 16
#define MAX_NAME 32

struct file {
    char name[MAX_NAME];
    char content[MAX_NAME];
};

struct directory {
    const char *path;
    struct file files[MAX_FILES];
    int n_files;
};

static int ignore_file_name_case;

static int compare_folded(const char *one, const char *other) {
    while (*one != '\0' && tolower((unsigned char)*one) == tolower((unsigned char)*other)) {
        one++;
        other++;
    }
    return tolower((unsigned char)*one) - tolower((unsigned char)*other);
}

static int compare_letters(const char *one, const char *other) {
    while (*one != '\0' && *one == *other) {
        one++;
        other++;
    }
    return (unsigned char)*one - (unsigned char)*other;
}

static int compare_names(const char *name1, const char *name2) {
    if (ignore_file_name_case) {
        int r = compare_folded(name1, name2);
        if (r) {
            return r;
        }
    }
    return compare_letters(name1, name2);
}

static int compare_files(const struct directory *both, const struct file *name0, const struct file *name1) {
    if (!(name0 && name1)) {
        const struct directory *where = name0 == NULL ? &both[1] : &both[0];
        printf("Only in %s: %s\n", where->path, name0 == NULL ? name1->name : name0->name);
        return 1;
    }
    if (strcmp(name0->content, name1->content) != 0) {
        printf("Files %s/%s and %s/%s differ\n", both[0].path, name0->name, both[1].path, name1->name);
        return 1;
    }
    return 0;
}

static int diff_dirs(const struct directory *both) {
    int status = 0;
    int at0 = 0;
    int at1 = 0;
    while (at0 < both[0].n_files || at1 < both[1].n_files) {
        const struct file *fname0 = at0 < both[0].n_files ? &both[0].files[at0] : NULL;
        const struct file *fname1 = at1 < both[1].n_files ? &both[1].files[at1] : NULL;
        int order = 0;
        int v1;
        if (fname0 == NULL) {
            order = 1;
        } else if (fname1 == NULL) {
            order = -1;
        } else {
            order = compare_names(fname0->name, fname1->name);
        }
        if (order < 0) {
            fname1 = NULL;
        } else if (order > 0) {
            fname0 = NULL;
        }
        v1 = compare_files(both, fname0, fname1);
        if (v1 > status) {
            status = v1;
        }
        if (fname0 != NULL) {
            at0++;
        }
        if (fname1 != NULL) {
            at1++;
        }
    }
    return status;
}

static int by_name(const void *one, const void *other) {
    const struct file *first = one;
    const struct file *second = other;
    return compare_names(first->name, second->name);
}

static void read_directory(struct directory *directory, const char *path) {
    FILE *list = fopen(path, "r");
    directory->path = path;
    directory->n_files = 0;
    if (list == NULL) {
        printf("diff: no directory %s\n", path);
        exit(1);
    }
    while (directory->n_files < MAX_FILES) {
        struct file *file = &directory->files[directory->n_files];
        if (fscanf(list, "%31s %31s", file->name, file->content) != 2) {
            break;
        }
        directory->n_files++;
    }
    fclose(list);
    qsort(directory->files, (size_t)directory->n_files, sizeof directory->files[0], by_name);
}

int main(int argc, char **argv) {
    static struct directory both[2];
    int first = 1;
    if (argc > 1 && strcmp(argv[1], "-i") == 0) {
        ignore_file_name_case = 1;
        first = 2;
    }
    if (argc != first + 2) {
        return 1;
    }
    read_directory(&both[0], argv[first]);
    read_directory(&both[1], argv[first + 1]);
    return diff_dirs(both);
}
