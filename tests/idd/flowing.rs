//! Slices of values that are not simply stored in variables: structures, library functions, streams.

use serde_json::Value;

use crate::fixture::Fixture;

/// Records a program, which is run with its input `in` as standard input, and its name as argument.
fn recorded(program: &str, input: &str) -> Fixture {
    let script = format!(
        "cat >a.c <<'END'\n{program}END\nprintf '{input}' >in\n\
         printf '#!/bin/sh\\nexec ./a in <in\\n' >run.sh; chmod +x run.sh\ncommit one"
    );
    Fixture::recorded(&script, &["--once", "--build", "$CC -o a a.c", "--", "./run.sh"])
}

fn text(fixture: &Fixture, words: &[&str]) -> String {
    let output = fixture.run(words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(fixture: &Fixture, words: &[&str]) -> Value {
    serde_json::from_str(&text(fixture, words)).unwrap()
}

/// The texts of the lines of a slice, without those of a brace alone.
fn slice(fixture: &Fixture, program: &str, words: &[&str]) -> Vec<String> {
    let slice = json(fixture, &[&["slice", "--json"], words].concat());
    let source: Vec<&str> = program.lines().collect();
    let number = |line: &Value| usize::try_from(line["line"].as_u64().unwrap()).unwrap();
    let mut numbers: Vec<usize> = slice["lines"].as_array().unwrap().iter().map(number).collect();
    numbers.sort_unstable();
    numbers.iter().map(|number| source[number - 1].trim().to_owned()).collect()
}

#[track_caller]
fn check_has(lines: &[String], expected: &[&str], missing: &[&str]) {
    let is_there = |text: &&&str| lines.iter().any(|line| line.contains(**text));
    assert_eq!(expected.iter().filter(|text| !is_there(text)).collect::<Vec<_>>(), [&""; 0], "{lines:#?}");
    assert_eq!(missing.iter().filter(is_there).collect::<Vec<_>>(), [&""; 0], "{lines:#?}");
}

/// The step of the first line with a text.
fn step(fixture: &Fixture, program: &str, text: &str) -> u64 {
    let line = 1 + program.lines().position(|line| line.contains(text)).unwrap();
    let criterion = format!("line:a.c:{line}");
    json(fixture, &["slice", "--json", "--data", "--backward", &criterion])["lines"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["line"] == line)
        .unwrap()["last"]
        .as_u64()
        .unwrap()
}

const STRUCTURES: &str = r#"#include <stdio.h>
#include <stdlib.h>
struct order { long a, b, c, d, e; };
static struct order table[2];
static long inner(struct order one, int unused)
{
    return one.b * one.c + unused * 0;
}
static long outer(int extra, struct order two)
{
    two.b += extra;
    return inner(two, extra);
}
static struct order make(long n)
{
    struct order made = {1, 2, 3, 4, 5};
    made.c = n;
    return made;
}
static long (*through)(int, struct order) = outer;
int main(void)
{
    char line[64];
    struct order first, second, many[3];
    long noise = 1;
    if (fgets(line, sizeof line, stdin) == NULL)
        return 1;
    first = make(atoi(line));
    first.b = 7;
    second = first;
    first.b = 100 + noise;
    table[1] = second;
    many[noise + 1] = table[1];
    printf("%ld\n", outer(1, second));
    printf("%ld\n", outer(2, many[noise + 1]));
    printf("%ld\n", through(3, *(&table[0] + noise)));
    second.b = 9;
    printf("%ld\n", outer(4, second));
    return 0;
}
"#;

#[test]
fn a_structure_that_is_passed_by_value_carries_its_fields() {
    let fixture = recorded(STRUCTURES, "5\\n");
    // What is printed: 40, 45, 50, 65.
    for byte in ["output:0", "output:3", "output:6"] {
        let lines = slice(&fixture, STRUCTURES, &["--data", "--backward", byte]);
        let expected = ["first.b = 7;", "second = first;", "made.c = n;", "two.b += extra;", "atoi(line)", "fgets"];
        check_has(&lines, &expected, &["second.b = 9;", "first.b = 100"]);
    }
    let last = slice(&fixture, STRUCTURES, &["--data", "--backward", "output:9"]);
    check_has(&last, &["second.b = 9;", "made.c = n;"], &["first.b = 100", "table[1] = second;"]);
    let forward = slice(&fixture, STRUCTURES, &["--data", "--forward", "input:-"]);
    check_has(
        &forward,
        &["return one.b", "outer(1, second)", "outer(2, many", "through(3", "outer(4"],
        &["first.b = 7;"],
    );

    let at = step(&fixture, STRUCTURES, "return one.b");
    let detail = json(&fixture, &["trace", "step", &at.to_string(), "--json"]);
    assert_eq!(detail["variables"].to_string().matches("b = 13, c = 5").count(), 1, "{detail:#}");
    let read =
        |name: &str| detail["reads"].as_array().unwrap().iter().find(|read| read["name"] == name).unwrap().clone();
    assert_eq!((&read("one.b")["value"], &read("one.c")["value"]), (&"13".into(), &"5".into()), "{detail:#}");
    let why = text(&fixture, &["trace", "why", &at.to_string(), "one.b"]);
    assert!(why.contains("one.b = 13"), "{why}");
    assert!(why.contains("reads  second = {a = 1, b = 9, c = 5, d = 4, e = 5}"), "{why}");
    assert!(!why.contains("one = ?") && !why.contains("two = ?"), "{why}");
}

const PRINTS: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
    char buffer[64], name[16], *made, *token;
    size_t size;
    int first, second, saved;
    FILE *stream;
    if (scanf("%d %d", &first, &second) != 2)
        return 1;
    memset(buffer, 'x', sizeof buffer);
    buffer[10] = 'a' + first;
    buffer[11] = 'a' + second;
    fwrite(buffer, 1, 20, stdout);
    name[0] = 'a' + first;
    name[1] = 'a' + second;
    name[2] = '\0';
    printf("name %s.\n", name);
    stream = open_memstream(&made, &size);
    fprintf(stream, "%d,", first);
    fputs("between,", stream);
    fprintf(stream, "%d", second);
    fclose(stream);
    puts(made);
    token = strtok(made, ",");
    puts(token);
    strtok(NULL, ",");
    token = strtok(NULL, ",");
    puts(token);
    fflush(stdout);
    setvbuf(stdout, NULL, _IONBF, 0);
    saved = dup(1);
    close(1);
    if (printf("lost\n") != -1)
        return 2;
    dup2(saved, 1);
    puts("end");
    return 0;
}
"#;

#[test]
fn a_byte_of_the_output_depends_on_the_steps_that_stored_it() {
    let fixture = recorded(PRINTS, "3 5\\n");
    let backward = |byte: &str| slice(&fixture, PRINTS, &["--data", "--backward", byte]);
    // "xxxxxxxxxxdfxxxxxxxxname df.\n3,between,5\n3\n5\n"
    let (first, second) = ("'a' + first", "'a' + second");
    check_has(&backward("output:10"), &["buffer[10]", "fwrite", "scanf"], &["buffer[11]", "memset"]);
    check_has(&backward("output:11"), &["buffer[11]", "fwrite", "scanf"], &["buffer[10]", "memset"]);
    check_has(&backward("output:12"), &["memset", "fwrite"], &["buffer[10]", "buffer[11]", "scanf"]);
    check_has(&backward("output:25"), &["name[0]", first, "printf(\"name"], &["name[1]", second]);
    check_has(&backward("output:26"), &["name[1]", second], &["name[0]", first]);
    // What follows a text moves with it.
    check_has(&backward("output:27"), &["name[0]", "name[1]", "name[2]"], &["buffer"]);
    let (prints_first, prints_second) = ("fprintf(stream, \"%d,\"", "fprintf(stream, \"%d\"");
    check_has(&backward("output:29"), &[prints_first, "puts(made)"], &[prints_second, "between"]);
    check_has(&backward("output:39"), &[prints_second, "puts(made)"], &[prints_first, "between"]);
    check_has(&backward("output:41"), &[prints_first, "puts(token)"], &[prints_second]);
    check_has(&backward("output:43"), &[prints_second, "puts(token)"], &[prints_first]);
    let forward = slice(&fixture, PRINTS, &["--data", "--forward", "input:-"]);
    check_has(&forward, &["printf(\"name", "puts(made)", "puts(token)", "fwrite"], &["puts(\"end\")"]);
    let output = fixture.run(&["slice", "--backward", "output:45"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("the number of bytes that step"), "{said}");
}

const OUTSIDE: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    char line[64], key[16];
    long long value;
    FILE *memory;
    if (fgets(line, sizeof line, stdin) == NULL)
        return 1;
    memory = fmemopen(line, strlen(line), "r");
    if (fscanf(memory, "%15s %lld", key, &value) != 2)
        return 1;
    fclose(memory);
    strfry(key);
    printf("%lld %lu\n", value, (unsigned long)strlen(key));
    return 0;
}
"#;

#[test]
fn a_slice_names_the_library_functions_whose_effects_are_not_known() {
    let fixture = recorded(OUTSIDE, "abc 7\\n");
    let data = slice(&fixture, OUTSIDE, &["--data", "--backward", "line:a.c:16"]);
    check_has(&data, &["fgets", "fscanf(memory", "printf"], &[]);
    let forward = json(&fixture, &["slice", "--json", "--forward", "input:-"]);
    let remark =
        "What these library functions read and write through pointers or references is not modelled: `strfry`.";
    assert_eq!(forward["remarks"], serde_json::json!([remark]));
    assert!(text(&fixture, &["slice", "--forward", "input:-"]).ends_with(&format!("\n\n{remark}\n")));
    // The file that is redirected to standard input has a name, too.
    let redirected = json(&fixture, &["slice", "--json", "--forward", "input:in"]);
    assert_eq!(redirected["lines"], forward["lines"]);
    assert!(!fixture.run(&["slice", "--forward", "input:other"]).status.success());
    // The stream in memory is no input.
    let inputs = text(&fixture, &["trace", "inputs"]);
    assert!(inputs.contains("standard input") && !inputs.contains("stream"), "{inputs}");
}

const READS: &str = r#"#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
int main(void)
{
    char one[3], other[8], third[4], joined[16];
    struct iovec parts[2] = {{one, 3}, {other, 4}};
    if (readv(0, parts, 2) != 7)
        return 1;
    parts[0].iov_base = third;
    parts[0].iov_len = 2;
    if (preadv(0, parts, 1, 1) != 2)
        return 1;
    putchar(one[0]);
    putchar(other[3]);
    putchar(third[1]);
    strcpy(joined, "ab");
    strncat(joined, other, 2);
    printf("%s", joined);
    return 0;
}
"#;

#[test]
fn input_that_is_read_into_several_buffers_is_found() {
    let fixture = recorded(READS, "0123456789");
    let inputs = json(&fixture, &["trace", "inputs", "--json"]);
    let entries = inputs["inputs"].as_array().unwrap_or_else(|| panic!("{inputs:#}"));
    let entries: Vec<(u64, u64)> =
        entries.iter().map(|entry| (entry["begin"].as_u64().unwrap(), entry["length"].as_u64().unwrap())).collect();
    assert_eq!(entries, [(0, 3), (3, 4), (1, 2)]);
    let forward = |bytes: &str| slice(&fixture, READS, &["--data", "--forward", &format!("input:-:{bytes}")]);
    check_has(&forward("0-0"), &["putchar(one[0])"], &["putchar(other[3])", "putchar(third[1])", "strncat"]);
    check_has(&forward("6-6"), &["putchar(other[3])"], &["putchar(one[0])", "putchar(third[1])", "strncat"]);
    check_has(&forward("2-2"), &["putchar(third[1])"], &["putchar(one[0])", "putchar(other[3])", "strncat"]);
    check_has(&forward("3-3"), &["strncat", "printf(\"%s\""], &["putchar"]);
    // What was appended ends after two bytes.
    let at = step(&fixture, READS, "printf(\"%s\"");
    let detail = text(&fixture, &["trace", "step", &at.to_string()]);
    assert!(detail.contains("joined = \"ab\"?  from #10 #11\n"), "{detail}");
}

const SKIPS: &str = r#"#include <stdio.h>
struct order { long a, b, c, d, e; };
static struct order table[2], fixed = {1, 2, 3, 4, 5};
static void set(struct order *to, const struct order *from)
{
    *to = *from;
}
int main(void)
{
    struct order one = {1, 2, 3, 4, 5}, two = {6, 7, 8, 9, 10};
    int n = 0;
    if (scanf("%d", &n) != 1)
        return 1;
    if (n > 1)
        one = two;
    if (n > 2)
        table[1].c = 5;
    if (n > 3)
        table[0] = two;
    if (n > 4)
        set(&table[n & 1], &two);
    if (n > 5)
        two.b = 3;
    char name[8] = "a";
    if (n > 6)
        name[0] = 'b';
    puts(name);
    printf("%ld\n", one.b);
    printf("%ld\n", table[1].c);
    printf("%ld\n", table[n].d);
    one = two;
    printf("%ld\n", one.d);
    printf("%ld\n", fixed.e);
    return 0;
}
"#;

#[test]
fn a_decision_that_skips_the_assignment_of_a_structure_could_have_led_to_another_value() {
    let fixture = recorded(SKIPS, "0\\n");
    let relevant = |line: &str| {
        let number = 1 + SKIPS.lines().position(|found| found.contains(line)).unwrap();
        slice(&fixture, SKIPS, &["--potential", "--backward", &format!("line:a.c:{number}")])
    };
    check_has(&relevant("one.b);"), &["n > 1"], &["n > 2", "n > 3"]);
    check_has(&relevant("table[1].c);"), &["n > 2", "n > 3", "n > 4"], &["n > 1", "n > 5"]);
    check_has(&relevant("table[n].d);"), &["n > 3", "n > 4"], &["n > 2", "n > 5"]);
    check_has(&relevant("one.d);"), &["one = two;", "n > 5"], &[]);
    // A function of the library reads it.
    check_has(&relevant("puts(name);"), &["n > 6"], &["n > 1"]);
}
