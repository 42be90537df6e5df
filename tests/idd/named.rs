//! What `git idd debug` calls the values of a step, on small C programs.

use std::path::Path;
use std::process::Stdio;

use crate::debug::recorded_as;
use crate::plain::program;

fn recording(source: &str) -> tempfile::TempDir {
    recorded_as(["", source], &["printf 'apple 3\npear 7\n' | ./a; false"])
}

/// Checks the question about the step that a walk from a line begins with; addresses are left out.
#[track_caller]
fn check(place: &Path, line: u32, expected: &[&str]) {
    let from = format!("line:a.c:{line}");
    let mut command = program(place);
    command.args(["debug", "--restart", "--from", &from]).stdin(Stdio::null());
    let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
    // Behind the step and its source, and the calls around it if there are any.
    let is_around = |line: &&str| line.starts_with("   main > ");
    let lines = said.lines().skip_while(|line| !line.starts_with("1. step ")).filter(|line| !is_around(line)).skip(2);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let plain = lines.map(|line| line.split("0x").next().unwrap_or_default().trim().to_owned());
    assert_eq!(plain.collect::<Vec<_>>(), expected, "{said}");
}

const LIST: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct item { char name[16]; long cents; double rate; struct item *next; };
static long price(const struct item *it, int factor) {
    return it->cents * factor;
}
int main(void) {
    char line[64];
    struct item *first = NULL;
    while (fgets(line, sizeof line, stdin)) {
        struct item *it = malloc(sizeof *it);
        if (sscanf(line, "%15s %ld", it->name, &it->cents) != 2)
            continue;
        it->rate = 1.5;
        it->next = first;
        first = it;
    }
    long total = 0;
    for (struct item *at = first; at; at = at->next)
        total += price(at, 2);
    double rate = first->next->rate * total;
    int *sums = calloc(3, sizeof *sums);
    sums[1] = (int)rate;
    char *text = strdup(first->next->name);
    while (*text)
        text++;
    struct item copy = *first;
    free(first);
    return first->cents > copy.rate;
}
"#;

#[test]
fn parts_of_the_heap_are_called_by_the_pointers_that_lead_there() {
    let place = recording(LIST);
    let check = |line, expected: &[&str]| check(place.path(), line, expected);
    check(6, &["1: uses it =", "2: uses it->cents = 3", "3: uses factor = 2", "returns 6"]);
    check(15, &["1: uses it =", "gives it->rate = 1.5"]);
    check(16, &["1: uses first =", "2: uses it =", "gives it->next ="]);
    let nexts = ["1: uses first =", "2: uses first->next =", "3: uses first->next->rate = 1.5", "4: uses total = 20"];
    check(22, &[&nexts[..], &["gives rate = 30"]].concat());
    check(23, &["gives the new block = 12 bytes of 0", "gives sums =", "calls calloc(3, 4) ="]);
    check(24, &["1: uses rate = 30", "2: uses sums =", "gives sums[1] = 30"]);
    check(30, &["1: uses first =", "2: uses first->cents (freed) = 7", "3: uses copy.rate = 1.5"]);
}

#[test]
fn what_the_library_wrote_is_known_although_the_program_never_reads_it() {
    let place = recording(LIST);
    let check = |line, expected: &[&str]| check(place.path(), line, expected);
    let texts = [
        "2: uses line = \"pear 7\\n\"",
        "gives it->name = \"pear\"",
        "calls __isoc99_sscanf(\"pear 7\\n\", \"%15s %ld\", \"pear\",",
    ];
    let expected = ["1: uses it =", texts[0], texts[1], "gives it->cents = 7", texts[2]];
    check(13, &[&expected[..], &["decides: false"]].concat());
}

const READS: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
    char word[20], rest[8], block[8] = "", *line = NULL;
    size_t size = 0;
    ssize_t n = 0;
    if (read(0, block, 3) == 3)
        puts(block);
    if (scanf("%19s %7[^\n]", word, rest) == 2)
        printf("%s %s", word, rest);
    while ((n = getline(&line, &size, stdin)) > 0)
        puts(line);
    return 1;
}
"#;

#[test]
fn what_each_function_of_the_library_reads_is_known() {
    let place = recorded_as(["", READS], &["printf 'abcword and\\nlast' | ./a"]);
    let check = |line, expected: &[&str]| check(place.path(), line, expected);
    check(9, &["1: uses block = \"abc\"", "calls puts(\"abc\") = 4"]);
    check(11, &["1: uses word = \"word\"", "2: uses rest = \"and\"", "calls printf(\"%s %s\", \"word\", \"and\") = 8"]);
    check(13, &["1: uses line =", "calls puts(\"last\") = 5"]);
}

/// What no conversion has reached, what a function of the program does that has a name of the library, and what does not fit.
const OTHERS: &str = r#"#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
static long getdelim_(const char *s) { return s[0]; }
#define getdelim getdelim_
static char *readv(const char *s) { return (char *)s + 1; }
int main(void) {
    int x = 0, n = 0, *wild = (int *)0x1234, ends[2];
    char *page = (char *)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(page + 4096, 4096, PROT_NONE);
    int scanned = sscanf("5 zz", "%d%n %d", &x, &n, wild);
    socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
    write(ends[1], "0123456789", 10);
    long got = recv(ends[0], page + 4093, 3, MSG_TRUNC);
    long none = recv(ends[0], NULL, 0, MSG_DONTWAIT);
    printf("%d %d %d %ld %ld %.3s %s\n", scanned, x, n, got, none, page + 4093, readv("abc"));
    return getdelim("a") == 97 && got == 10 && scanned == 1;
}
"#;

#[test]
fn only_what_a_call_has_read_is_read_back() {
    let place = recorded_as(["", OTHERS], &["./a"]);
    let scans = "calls __isoc99_sscanf(\"5 zz\", \"%d%n %d\",";
    check(place.path(), 13, &["1: uses wild =", "gives x = 5", "gives n = 1", "gives scanned = 1", scans]);
    let mut command = program(place.path());
    command.args(["record", "--build", "cc -g -o a a.c", "--", "./a | grep -qx '1 5 1 10 -1 012 bc'"]);
    let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(
        said.contains("the test ended with exit code 0\nsources instrumented: 1, compiled as they are: 0\n"),
        "{said}"
    );
}

const PAIRS: &str = r#"#include <stdio.h>
struct pair { long one; long two; long three; };
static struct pair turn(struct pair it, int by) {
    it.one += by;
    return it;
}
static int last(int n) {
    return n < 2 ? n : last(n - 1);
}
int main(void) {
    int k = 4, m;
    scanf("%*s %d", &m);
    struct pair *p = &(struct pair){ k, m, 7 };
    struct pair q = turn(turn(*p, 1), 2);
    int both = k && last(m);
    return both + p->two;
}
"#;

#[test]
fn variables_of_other_functions_stand_after_its_name_and_those_of_the_compiler_have_none() {
    let place = recording(PAIRS);
    let check = |line, expected: &[&str]| check(place.path(), line, expected);
    check(10, &[]);
    check(12, &["gives m = 3", "calls __isoc99_scanf(\"%*s %d\","]);
    check(13, &["1: uses k = 4", "2: uses m = 3", "gives p ="]);
    check(
        14,
        &[
            "1: uses p =",
            "2: uses *p = {one = 4, two = 3, three = 7}",
            "3: uses turn() = {one = 5, two = 3, three = 7}",
            "gives turn.it = {one = 4, two = 3, three = 7}",
            "gives turn.by = 1",
            "gives turn.it = {one = 5, two = 3, three = 7}",
            "gives turn.by = 2",
        ],
    );
    check(8, &["1: uses n = 3", "2: uses last() = 1", "gives last.n = 2", "returns 1", "decides: false"]);
    check(16, &["1: uses both = 1", "2: uses p =", "3: uses p->two = 3"]);
}
