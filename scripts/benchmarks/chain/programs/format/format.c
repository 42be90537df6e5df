/* Formats text: fills lines, justifies them, hyphenates words, draws tables.
 *
 * usage: format [WIDTH] <text
 *   .width N  .indent N  .hang N     in letters, from the next line on
 *   .fill  .nofill  .left  .right  .both
 *   .hyphen N                        words of at least N letters may be divided; 0: none
 *   .center N                        the next N lines stand in the middle
 *   .break  .space N
 *   .table ALIGNMENT ... .end        rows of cells between bars; one of l, c, r for each column
 * Exit status: 0, or 1 if some command is unknown. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE 256
#define MAX_COLUMNS 6
#define MAX_CELL 24

enum justify { LEFT, RIGHT, BOTH };

struct word {
    char *text;
    int length;
    struct word *next;
};

struct row {
    char cells[MAX_COLUMNS][MAX_CELL];
    int n_cells;
    struct row *next;
};

struct layout {
    int width;
    int indent;
    int hang;
    int fill;
    int hyphen;
    int center;
    enum justify justify;
};

static struct layout layout = {60, 0, 0, 1, 0, 0, BOTH};
static struct word *first_word;
static struct word *last_word;
static int line_length;
static int n_words;
static int is_first_line = 1;
static int n_output;
static int n_wrong;
static int extra_left;

static void *allocate(size_t n_bytes) {
    void *memory = calloc(1, n_bytes);
    if (memory == NULL) {
        fprintf(stderr, "format: out of memory\n");
        exit(1);
    }
    return memory;
}

static void spaces(int n) {
    while (n > 0) {
        putchar(' ');
        n--;
    }
}

static void end_line(void) {
    putchar('\n');
    n_output++;
}

static int current_indent(void) {
    return is_first_line ? layout.indent : layout.indent + layout.hang;
}

static int room(void) {
    int left = layout.width - current_indent();
    return left < 8 ? 8 : left;
}

/* Spaces between words are widened from the left and from the right in turn. */
static void write_words(int is_last) {
    struct word *word = first_word;
    int n_gaps = n_words - 1;
    int missing = room() - line_length;
    int gap = 0;
    spaces(current_indent());
    if (layout.justify == RIGHT) {
        spaces(missing);
    }
    while (word != NULL) {
        struct word *next = word->next;
        printf("%s", word->text);
        if (next != NULL) {
            int width = 1;
            if (layout.justify == BOTH && !is_last) {
                int rest = missing % n_gaps;
                width += missing / n_gaps;
                if (extra_left ? gap < rest : gap >= n_gaps - rest) {
                    width++;
                }
            }
            spaces(width);
            gap++;
        }
        free(word->text);
        free(word);
        word = next;
    }
    end_line();
    extra_left = !extra_left;
    first_word = NULL;
    last_word = NULL;
    n_words = 0;
    line_length = 0;
    is_first_line = 0;
}

static void flush(void) {
    if (n_words > 0) {
        write_words(1);
    }
    is_first_line = 1;
}

static void add_word(const char *text, int length) {
    struct word *word = allocate(sizeof *word);
    word->text = allocate((size_t)length + 2);
    memcpy(word->text, text, (size_t)length);
    word->length = length;
    if (last_word == NULL) {
        first_word = word;
    } else {
        last_word->next = word;
        line_length++;
    }
    last_word = word;
    line_length += length;
    n_words++;
}

static int is_vowel(int c) {
    return strchr("aeiouyAEIOUY", c) != NULL;
}

/* After how many letters a word may be divided so that at most `most` stay; 0 if nowhere. Divides between two
 * consonants that stand between vowels, or before a single consonant between vowels. */
static int division(const char *text, int length, int most) {
    int best = 0;
    int i;
    if (layout.hyphen == 0 || length < layout.hyphen) {
        return 0;
    }
    for (i = 2; i <= most && i <= length - 3; i++) {
        int before = (unsigned char)text[i - 1];
        int after = (unsigned char)text[i];
        if (!isalpha(before) || !isalpha(after)) {
            continue;
        }
        if (!is_vowel(before) && !is_vowel(after) && is_vowel((unsigned char)text[i - 2]) && is_vowel((unsigned char)text[i + 1])) {
            best = i;
        } else if (is_vowel(before) && !is_vowel(after) && is_vowel((unsigned char)text[i + 1])) {
            best = i;
        }
    }
    return best;
}

static void place(const char *text, int length) {
    int left = room() - line_length - (n_words > 0 ? 1 : 0);
    int part;
    if (length <= left) {
        add_word(text, length);
        return;
    }
    part = division(text, length, left - 1);
    if (part > 0) {
        add_word(text, part);
        strcat(last_word->text, "-");
        last_word->length++;
        line_length++;
        write_words(0);
        place(text + part, length - part);
        return;
    }
    if (n_words > 0) {
        write_words(n_words == 1);
        place(text, length);
        return;
    }
    add_word(text, length);
    write_words(1);
}

static void fill(const char *line) {
    const char *begin = line;
    while (*begin != '\0') {
        const char *end;
        while (*begin == ' ' || *begin == '\t') {
            begin++;
        }
        end = begin;
        while (*end != '\0' && *end != ' ' && *end != '\t') {
            end++;
        }
        if (end > begin) {
            place(begin, (int)(end - begin));
        }
        begin = end;
    }
}

static void center(const char *line) {
    int length = (int)strlen(line);
    int left = (layout.width - length) / 2;
    if (length == 0) {
        left = 0;
    }
    spaces(left);
    printf("%s", line);
    end_line();
}

static void text_line(const char *line) {
    if (layout.center > 0) {
        layout.center--;
        center(line);
    } else if (line[0] == '\0') {
        flush();
        end_line();
    } else if (!layout.fill) {
        spaces(layout.indent);
        printf("%s", line);
        end_line();
    } else {
        if (line[0] == ' ') {
            flush();
        }
        fill(line);
    }
}

static int read_line(char *line) {
    size_t length;
    if (fgets(line, MAX_LINE, stdin) == NULL) {
        return 0;
    }
    length = strlen(line);
    while (length > 0 && isspace((unsigned char)line[length - 1])) {
        length--;
    }
    line[length] = '\0';
    return 1;
}

static struct row *parse_row(const char *line) {
    struct row *row = allocate(sizeof *row);
    while (row->n_cells < MAX_COLUMNS) {
        char *cell = row->cells[row->n_cells];
        int length = 0;
        row->n_cells++;
        while (*line == ' ') {
            line++;
        }
        while (*line != '\0' && *line != '|') {
            if (length + 1 < MAX_CELL) {
                cell[length] = *line;
                length++;
            }
            line++;
        }
        while (length > 0 && cell[length - 1] == ' ') {
            length--;
        }
        cell[length] = '\0';
        if (*line == '\0') {
            break;
        }
        line++;
    }
    return row;
}

static void write_cell(const char *text, int width, int alignment) {
    int missing = width - (int)strlen(text);
    int before = 0;
    if (alignment == 'r') {
        before = missing;
    } else if (alignment == 'c') {
        before = missing / 2;
    }
    spaces(before);
    printf("%s", text);
    spaces(missing - before);
}

static void write_rule(const int *widths, int n_columns) {
    int column;
    spaces(layout.indent);
    for (column = 0; column < n_columns; column++) {
        int i;
        putchar('+');
        for (i = 0; i < widths[column] + 2; i++) {
            putchar('-');
        }
    }
    putchar('+');
    end_line();
}

static void write_table(const struct row *rows, const char *alignments) {
    int widths[MAX_COLUMNS] = {0};
    int n_columns = 0;
    int column;
    const struct row *row;
    for (row = rows; row != NULL; row = row->next) {
        if (row->n_cells > n_columns) {
            n_columns = row->n_cells;
        }
        for (column = 0; column < row->n_cells; column++) {
            int length = (int)strlen(row->cells[column]);
            if (length > widths[column]) {
                widths[column] = length;
            }
        }
    }
    if (n_columns == 0) {
        return;
    }
    write_rule(widths, n_columns);
    for (row = rows; row != NULL; row = row->next) {
        spaces(layout.indent);
        for (column = 0; column < n_columns; column++) {
            int alignment = column < (int)strlen(alignments) ? alignments[column] : 'l';
            printf("| ");
            write_cell(row->cells[column], widths[column], row == rows ? 'c' : alignment);
            putchar(' ');
        }
        putchar('|');
        end_line();
        if (row == rows) {
            write_rule(widths, n_columns);
        }
    }
    write_rule(widths, n_columns);
}

static void table(const char *words) {
    struct row *rows = NULL;
    struct row **link = &rows;
    char line[MAX_LINE];
    char alignments[MAX_COLUMNS + 1];
    int n = 0;
    for (; *words != '\0'; words++) {
        if (n < MAX_COLUMNS && strchr("lcr", *words) != NULL) {
            alignments[n] = *words;
            n++;
        }
    }
    alignments[n] = '\0';
    while (read_line(line) && strcmp(line, ".end") != 0) {
        *link = parse_row(line);
        link = &(*link)->next;
    }
    write_table(rows, alignments);
    while (rows != NULL) {
        struct row *next = rows->next;
        free(rows);
        rows = next;
    }
}

static int limited(int value, int least, int most) {
    if (value < least) {
        return least;
    }
    return value > most ? most : value;
}

static void command(const char *line) {
    char name[16];
    int n = 0;
    int n_read = sscanf(line, ".%15s %d", name, &n);
    if (n_read < 1) {
        goto unknown;
    }
    flush();
    if (strcmp(name, "width") == 0) {
        layout.width = limited(n, 16, 120);
    } else if (strcmp(name, "indent") == 0) {
        layout.indent = limited(n, 0, layout.width / 2);
    } else if (strcmp(name, "hang") == 0) {
        layout.hang = limited(n, -layout.indent, 20);
    } else if (strcmp(name, "fill") == 0) {
        layout.fill = 1;
    } else if (strcmp(name, "nofill") == 0) {
        layout.fill = 0;
    } else if (strcmp(name, "left") == 0) {
        layout.justify = LEFT;
    } else if (strcmp(name, "right") == 0) {
        layout.justify = RIGHT;
    } else if (strcmp(name, "both") == 0) {
        layout.justify = BOTH;
    } else if (strcmp(name, "hyphen") == 0) {
        layout.hyphen = n;
    } else if (strcmp(name, "center") == 0) {
        layout.center = n_read == 2 ? n : 1;
    } else if (strcmp(name, "space") == 0) {
        for (n = limited(n, 1, 10); n > 0; n--) {
            end_line();
        }
    } else if (strcmp(name, "table") == 0) {
        table(line + strlen(".table"));
    } else if (strcmp(name, "break") != 0) {
        goto unknown;
    }
    return;
unknown:
    printf("?%s\n", line);
    n_wrong++;
}

int main(int argc, char **argv) {
    char line[MAX_LINE];
    if (argc > 1) {
        layout.width = limited(atoi(argv[1]), 16, 120);
    }
    while (read_line(line)) {
        if (line[0] == '.' && line[1] != '.') {
            command(line);
        } else {
            text_line(line);
        }
    }
    flush();
    printf("%d lines\n", n_output);
    return n_wrong > 0;
}
