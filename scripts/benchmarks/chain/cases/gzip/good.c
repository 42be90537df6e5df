/* Packs standard input by counting repeated letters, unless the name says that it is packed already.
 *
 * usage: gzip [-f] [-q] NAME <data
 *   -f  pack whatever the name is */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MAX_SUFFIX 30
#define MAX_NAME 64

enum result { OK, WARNING };

static const char *const known_suffixes[] = {".gz", ".z", ".taz", ".tgz"};

static char suffix_buffer[MAX_SUFFIX + 1];
static char ifname[MAX_NAME];
static char ofname[MAX_NAME + 4];
static int force;
static int quiet;
static int n_in;
static int n_out;

static char *strlwr(char *s) {
    char *t;
    for (t = s; *t; t++) {
        *t = (char)tolower((unsigned char)*t);
    }
    return s;
}

/* The suffix that tells that a file is packed, or NULL; long names are not looked at. */
static const char *get_suffix(const char *filename) {
    size_t i;
    int slen;
    int length;
    if (strlen(filename) <= MAX_SUFFIX) {
        strcpy(suffix_buffer, filename);
    } else {
        strcpy(suffix_buffer, "");
    }
    strlwr(suffix_buffer);
    slen = (int)strlen(suffix_buffer);
    for (i = 0; i < sizeof known_suffixes / sizeof known_suffixes[0]; i++) {
        length = (int)strlen(known_suffixes[i]);
        if (slen > length && strcmp(suffix_buffer + slen - length, known_suffixes[i]) == 0) {
            return known_suffixes[i];
        }
    }
    return NULL;
}

static enum result make_ofname(void) {
    const char *suff;
    strcpy(ofname, ifname);
    suff = get_suffix(ofname);
    if (suff != NULL && !force) {
        if (!quiet) {
            printf("%s already has %s suffix -- unchanged\n", ifname, suff);
        }
        return WARNING;
    }
    strcat(ofname, ".gz");
    return OK;
}

static void emit(int letter, int count) {
    if (count > 1) {
        n_out += printf("%d", count);
    }
    putchar(letter);
    n_out++;
}

static void pack(void) {
    int last = getchar();
    int count = 1;
    if (last == EOF) {
        return;
    }
    n_in = 1;
    for (;;) {
        int c = getchar();
        if (c == last) {
            n_in++;
            count++;
            continue;
        }
        emit(last, count);
        if (c == EOF) {
            break;
        }
        n_in++;
        last = c;
        count = 1;
    }
}

static int treat_file(const char *name) {
    if (strlen(name) >= MAX_NAME) {
        return 1;
    }
    strcpy(ifname, name);
    if (make_ofname() != OK) {
        return 1;
    }
    printf("%s:\n", ofname);
    pack();
    if (!quiet) {
        printf("%d to %d\n", n_in, n_out);
    }
    return 0;
}

int main(int argc, char **argv) {
    int i;
    for (i = 1; i < argc && argv[i][0] == '-'; i++) {
        if (argv[i][1] == 'f') {
            force = 1;
        } else if (argv[i][1] == 'q') {
            quiet = 1;
        }
    }
    if (i >= argc) {
        printf("usage: gzip [-f] [-q] NAME\n");
        return 1;
    }
    if (force && !quiet) {
        printf("forced\n");
    }
    return treat_file(argv[i]);
}
