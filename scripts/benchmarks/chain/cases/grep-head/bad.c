/* Prints the lines of files that hold a string, with the name of the file in front where there are several.
 *
 * usage: grep [-H] [-h] [-n] [-v] STRING FILE...
 *   -H with names, -h without; of both the last counts */
#include <stdio.h>
#include <string.h>

#define MAX_LINE 128

static int out_file;
static int out_line;
static int invert;
static const char *filename;
static int n_found;

static void print_filename(void) {
    printf("%s", filename);
}

static void print_line_head(int line_number) {
    if (out_file) {
        print_filename();
        putchar(':');
    }
    if (out_line) {
        printf("%d:", line_number);
    }
}

static void print_line(const char *line, int line_number) {
    print_line_head(line_number);
    printf("%s\n", line);
}

static int matches(const char *line, const char *string) {
    int is_there = strstr(line, string) != NULL;
    return invert ? !is_there : is_there;
}

static int grep(FILE *file, const char *string) {
    char line[MAX_LINE];
    int line_number = 0;
    int n = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        line_number++;
        if (!matches(line, string)) {
            continue;
        }
        print_line(line, line_number);
        n++;
    }
    return n;
}

int main(int argc, char **argv) {
    int with_names = 0;
    int no_names = 0;
    int index = 1;
    int num_files;
    const char *string;
    while (index < argc && argv[index][0] == '-') {
        switch (argv[index][1]) {
        case 'H':
            with_names = 1;
            break;
        case 'h':
            no_names = 1;
            break;
        case 'n':
            out_line = 1;
            break;
        case 'v':
            invert = 1;
            break;
        default:
            fprintf(stderr, "grep: unknown option %s\n", argv[index]);
            return 1;
        }
        index++;
    }
    if (index + 1 >= argc) {
        return 1;
    }
    string = argv[index];
    index++;
    num_files = argc - index;
    if ((num_files > 1 && !no_names) || with_names) {
        out_file = 1;
    }
    for (; index < argc; index++) {
        FILE *file = fopen(argv[index], "r");
        if (file == NULL) {
            printf("grep: no file %s\n", argv[index]);
            continue;
        }
        filename = argv[index];
        n_found += grep(file, string);
        fclose(file);
    }
    return n_found > 0 ? 0 : 1;
}
