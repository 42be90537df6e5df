//! Error invariants of recorded programs.

use serde_json::Value;
use std::fs;
use std::path::Path;

use crate::fixture::root;
use crate::plain::{git, idd};

/// A repository with a program of `tests/programs/invariants`, recorded.
fn recorded(name: &str) -> tempfile::TempDir {
    let source = fs::read_to_string(root().join(format!("tests/programs/invariants/{name}.c"))).unwrap();
    recording(name, &source, &format!("./{name}"))
}

/// A repository with a program, recorded.
fn recording(name: &str, source: &str, test: &str) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join(format!("{name}.c")), source).unwrap();
    git(place.path(), &["init", "--quiet", "."]);
    git(place.path(), &["add", "."]);
    git(place.path(), &["commit", "--quiet", "-m", "All"]);
    let build = format!("$CC -o {name} {name}.c");
    let (said, progress, code) = idd(place.path(), &["record", "--once", "--build", &build, "--", test]);
    assert_eq!(code, Some(0), "{said}{progress}");
    place
}

/// The call of the command, with time enough on a busy machine.
fn call<'w>(words: &[&'w str]) -> Vec<&'w str> {
    [&["invariants", "--budget", "10m"], words].concat()
}

fn invariants(place: &Path, words: &[&str]) -> Value {
    let (said, progress, code) = idd(place, &call(&[&["--json"], words].concat()));
    assert_eq!(code, Some(0), "{said}{progress}");
    serde_json::from_str(&said).unwrap()
}

fn error(place: &Path, words: &[&str]) -> (String, Option<i32>) {
    let (said, progress, code) = idd(place, &call(words));
    assert_eq!(said, "");
    (progress, code)
}

fn lines(found: &Value) -> Vec<u64> {
    found["statements"].as_array().unwrap().iter().map(|statement| statement["line"].as_u64().unwrap()).collect()
}

/// What holds before the last statement of a line.
fn before(found: &Value, line: u64) -> Vec<String> {
    let statements = found["statements"].as_array().unwrap();
    let statement = statements.iter().rfind(|statement| statement["line"] == line).unwrap();
    let invariant = statement["invariant"].as_array().unwrap();
    invariant.iter().map(|condition| condition.as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_slices_of_the_sed_example_are_those_of_the_paper() {
    let place = recorded("sed");
    // Figure 2. Line 3 is the initial value of a variable.
    let value = invariants(place.path(), &["--mode", "value", "--verify"]);
    assert_eq!(lines(&value), [3, 42, 65, 73]);
    assert_eq!(before(&value, 42), ["last_regex == NULL"]);
    assert_eq!(before(&value, 65), ["addr->addr_regex == NULL"]);
    assert_eq!(before(&value, 73), ["rxb == NULL"]);
    assert_eq!((&value["verified"]["n_refuted"], &value["verified"]["n_unknown"]), (&0.into(), &0.into()));
    // Figure 3, in the order of the run: the assignment of line 16 ends after the call in it.
    let address = invariants(place.path(), &["--mode", "address", "--verify"]);
    assert_eq!(lines(&address), [3, 27, 29, 31, 42, 16, 48, 56, 58, 65, 73]);
    for (line, expected) in [
        (27, &["last_regex == NULL"][..]),
        (29, &["last_regex == NULL", "vector->v_length == 0"]),
        (31, &["cur_cmd == vector->v", "last_regex == NULL"]),
        (42, &["addr == vector->v", "last_regex == NULL"]),
        (48, &["the_program->v->a1.addr_regex == NULL"]),
        (56, &["vec->v->a1.addr_regex == NULL"]),
        (58, &["cur_cmd->a1.addr_regex == NULL"]),
        (65, &["addr->addr_regex == NULL"]),
        (73, &["rxb == NULL"]),
    ] {
        let found: Vec<String> =
            before(&address, line).iter().map(|condition| condition.replace("compile_program.", "")).collect();
        assert_eq!(found, expected, "line {line}");
    }
    assert_eq!((&address["verified"]["n_refuted"], &address["verified"]["n_unknown"]), (&0.into(), &0.into()));
    assert!(address["verified"]["n_proved"].as_u64().unwrap() >= 10);
    // The text of section V also needs the addresses that `malloc` returned.
    let absolute = invariants(place.path(), &["--mode", "absolute"]);
    assert_eq!(lines(&absolute), [3, 23, 25, 27, 29, 31, 42, 16, 48, 56, 58, 65, 73]);
    // No decision of this run matters, and no statement can be left out.
    let minimal = invariants(place.path(), &["--minimal", "--depth", "9"]);
    assert_eq!(lines(&minimal), lines(&address));
    assert!(minimal["statements"].as_array().unwrap().iter().skip(1).all(|one| one["is_necessary"] == true));
}

#[test]
fn the_slice_of_the_gzip_example_has_the_wrong_error_code() {
    let place = recorded("gzip");
    let value = invariants(place.path(), &["--mode", "value", "--data", "--verify"]);
    let found = lines(&value);
    // The pointer is null because of these; not because of line 95, which is overwritten.
    for line in [44, 67, 68, 108] {
        assert!(found.contains(&line), "{line} in {found:?}");
    }
    assert!(!found.contains(&95), "{found:?}");
    assert_eq!(value["verified"]["n_refuted"], 0);
    // The wrong code is returned in line 73, and tested in line 105.
    let decided = invariants(place.path(), &["--depth", "2"]);
    let found = lines(&decided);
    for line in [44, 73, 105, 108] {
        assert!(found.contains(&line), "{line} in {found:?}");
    }
    for line in [77, 78, 89] {
        assert!(!found.contains(&line), "{line} in {found:?}");
    }
}

const COUNTS: &str = "#include <stdio.h>
int main(void)
{
    int large = 0, even = 0;
    for (int i = 0; i < 1000; i++) {
        large += 1;
        if (i % 2 == 0)
            even += 2;
    }
    printf(\"%d %d\\n\", large, even);
    return large > 3;
}
";

#[test]
fn iterations_that_keep_the_invariant_are_counted() {
    let place = recording("counts", COUNTS, "./counts");
    let found = invariants(place.path(), &["--assert", "large <= 100 at counts.c:10", "--data"]);
    assert_eq!(found["failure"], "`large <= 100` does not hold at counts.c:10, step 4506");
    let statements = found["statements"].as_array().unwrap();
    let times = |one: &Value| {
        one["skipped"]["kept"].as_array().map_or(0, |kept| kept.iter().map(|kept| kept[1].as_u64().unwrap()).sum())
    };
    let kept: u64 = statements.iter().map(times).sum();
    // 101 additions lead to the first number that is too large; the rest keeps that it is.
    assert_eq!((kept, lines(&found).iter().filter(|line| **line == 6).count()), (899, 101), "{found:#}");
    assert_eq!(before(&found, 10), ["large > 100"]);
    let assumed = found["remarks"][0].as_str().unwrap();
    assert_eq!(assumed, "Assumed: no signed overflow in counts.c, line 6.");
    // A limit leaves the last statements, and what holds before them.
    let partial =
        invariants(place.path(), &["--assert", "large <= 100 at counts.c:10", "--data", "--max-statements", "5"]);
    assert_eq!((&partial["is_partial"], lines(&partial).len()), (&true.into(), 6));
    assert_eq!(partial["rest"], serde_json::json!(["large > 95"]));
    // A value of the run, and its end.
    let value = invariants(place.path(), &["--from", "4506:even", "--data"]);
    assert_eq!(before(&value, 10), ["even == 1000"]);
    assert!(lines(&invariants(place.path(), &["--from", "end", "--data"])).contains(&6));
}

#[test]
fn what_cannot_be_explained_is_an_error_with_advice() {
    let place = recording("counts", COUNTS, "./counts");
    let (said, code) = error(place.path(), &["--assert", "even < 2000 at counts.c:10"]);
    assert!(said.contains("error: `even < 2000` holds each time that counts.c:10 runs (1 time)"), "{said}");
    assert_ne!(code, Some(0));
    let (said, _) = error(place.path(), &["--assert", "none < 2 at counts.c:10"]);
    assert!(said.contains("no variable `none` is visible here"), "{said}");
    let (said, _) = error(place.path(), &["--assert", "even / 3 > 1000 at counts.c:10"]);
    assert!(said.contains("`/`, `%` and `>>` cannot be part of `--assert`"), "{said}");
    let (said, _) = error(place.path(), &["--from", "line:counts.c:3"]);
    assert!(said.contains("this criterion is no failure"), "{said}");
    let (said, _) = error(place.path(), &["--from", "99999"]);
    assert!(said.contains("there is no such step"), "{said}");
    let (said, _) = error(place.path(), &["--data", "--verify", "no-such-solver"]);
    assert!(said.contains("failed to run `no-such-solver`"), "{said}");
    let (said, _) = error(place.path(), &["--data", "--verify", "true"]);
    assert!(said.contains("`true` is no solver"), "{said}");
}

/// Signs and unions; one condition of the source is four decisions.
const SIGNS: &str = "int main(int argc, char **argv)
{
    unsigned char u = argc + 199;
    signed char c = u;
    union { double d; unsigned char b[8]; } w;
    w.d = 1.5;
    w.b[0] = argc + 240;
    if (c < -50 && w.b[0] > 200 && argv != 0 && u != 7)
        return 1;
    return 0;
}
";

#[test]
fn conditions_have_the_signs_of_the_types() {
    let place = recording("signs", SIGNS, "./signs");
    let found = invariants(place.path(), &["--verify", "--depth", "1"]);
    assert!(before(&found, 3).contains(&"(signed char)(argc + 199) < -50".to_owned()), "{found:#}");
    assert!(before(&found, 4).contains(&"(signed char)u < -50".to_owned()), "{found:#}");
    // All parts of the condition are as near as it is.
    let told: Vec<String> =
        found["statements"].as_array().unwrap().iter().map(|one| one["invariant"].to_string()).collect();
    assert!(told.iter().any(|told| told.contains("*(unsigned char *)&w.d > 200")), "{told:#?}");
    assert!(told.iter().any(|told| told.contains("u != 7")), "{told:#?}");
    assert_eq!(found["verified"]["n_refuted"], 0);
}

#[test]
fn a_solver_that_does_not_behave_is_an_error() {
    let place = recording("signs", SIGNS, "./signs");
    for (solver, expected) in [("yes unsat", "is no solver: it gives"), ("echo hello", "it prints `hello`")] {
        let (said, _) = error(place.path(), &["--verify", solver]);
        assert!(said.contains(expected), "{said}");
    }
}

/// A program that sums up numbers, of two versions.
const PASSING: &str = "#include <stdio.h>
#include <stdlib.h>
struct account { int sum; int n; };
static struct account book[4];
static struct account *of(int owner)
{
    return &book[owner % 4];
}
static int tax(int amount)
{
    if (amount > 100)
        return amount / 10;
    return 0;
}
int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        struct account *account = of(atoi(argv[i]));
        int amount = atoi(argv[i + 1]);
        account->sum += amount - tax(amount);
        account->n++;
    }
    for (int i = 0; i < 4; i++)
        if (book[i].n > 0)
            printf(\"%d: %d\\n\", i, book[i].sum);
    return 0;
}
";

/// A repository with both versions of a program, of which the second one fails, and the recordings 0001 and 0002.
fn compared(from: &str, to: &str) -> (tempfile::TempDir, u64) {
    assert_eq!(PASSING.matches(from).count(), 1, "{from}");
    let place = recording("book", PASSING, "./book 1 50 2 200 6 7");
    fs::write(place.path().join("book.c"), PASSING.replace(from, to)).unwrap();
    git(place.path(), &["commit", "--quiet", "-a", "-m", "Break"]);
    let build = "$CC -o book book.c";
    let (said, progress, code) =
        idd(place.path(), &["record", "--once", "--build", build, "--", "./book 1 50 2 200 6 7"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    let line = PASSING[..PASSING.find(from).unwrap()].lines().count() as u64;
    (place, line)
}

#[test]
fn what_holds_in_the_passing_run_too_is_left_out() {
    let (place, line) = compared("return amount / 10;", "return amount / 20;");
    let alone = invariants(place.path(), &["--passing", "1", "--alone", "--verify"]);
    assert_eq!((&alone["compared"], &alone["depth"]), (&Value::Null, &2.into()));
    let found = invariants(place.path(), &["--passing", "1", "--verify"]);
    assert_eq!((&found["compared"], &found["depth"]), (&"0001".into(), &Value::Null));
    assert_eq!(lines(&found), [line, 20, 20, 25], "{found:#}");
    assert!(lines(&alone).len() > lines(&found).len());
    assert_eq!((&found["verified"]["n_refuted"], &found["verified"]["n_unknown"]), (&0.into(), &0.into()), "{found:#}");
    assert!(found["verified"]["n_proved"].as_u64().unwrap() >= 3);
}

#[test]
fn a_decision_that_goes_another_way_is_where_the_runs_part() {
    // The condition is another one; nothing that it uses differs.
    let (place, line) = compared("if (amount > 100)", "if (amount > 300)");
    let found = invariants(place.path(), &["--passing", "1"]);
    let statements = found["statements"].as_array().unwrap();
    let partings: Vec<&Value> = statements.iter().filter(|one| one["is_parting"] == true).collect();
    assert_eq!(partings.iter().map(|one| one["line"].as_u64().unwrap()).collect::<Vec<_>>(), [line], "{found:#}");
    // No condition says how it went: the values are those of the passing run.
    assert_eq!(partings[0]["invariant"], serde_json::json!([]));
}

#[test]
fn what_only_the_passing_run_stored_leads_to_the_place_of_the_missing_statement() {
    let (place, line) = compared("        account->n++;\n", "");
    let found = invariants(place.path(), &["--passing", "1"]);
    let statements = found["statements"].as_array().unwrap();
    let parting = statements.iter().find(|one| one["is_parting"] == true).unwrap();
    assert_eq!(parting["line"], line, "the statement before it: {found:#}");
}

#[test]
fn a_store_at_another_address_is_followed_by_its_pointer() {
    let (place, line) = compared("owner % 4", "owner % 4 + (owner == 6)");
    let found = invariants(place.path(), &["--passing", "1"]);
    assert!(lines(&found).contains(&line), "{found:#}");
    let statements = found["statements"].as_array().unwrap();
    assert!(statements.iter().any(|one| one["is_elsewhere"] == true && one["line"] == 20), "{found:#}");
}

#[test]
fn an_endless_recursion_is_explained_where_it_begins_to_repeat() {
    let source = "static int down(int n)
{
    if (n == 0)
        return 0;
    return 1 + down(n - 2);
}
int main(int argc, char **argv)
{
    return down(argc == 1 ? 7 : 8);
}
";
    let place = recording("deep", source, "ulimit -s 256; ./deep");
    let found = invariants(place.path(), &[]);
    let failure = found["failure"].as_str().unwrap();
    assert!(failure.starts_with("the endless recursion of `down` ("), "{failure}");
    assert_eq!(lines(&found).last(), Some(&5));
    assert!(found["slice"]["n_steps"].as_u64().unwrap() < 20, "{found:#}");
    // One that ends, and a crash of another kind in it, is none.
    let finite = source.replace("return 0;", "return *(int *)0;").replace("7 : 8", "4000 : 8");
    let place = recording("deep", &finite, "./deep");
    let found = invariants(place.path(), &[]);
    assert!(found["failure"].as_str().unwrap().starts_with("the crash at step "), "{found:#}");
}

#[test]
fn a_number_that_is_printed_beside_others_is_compared_as_it_was() {
    let source = "#include <stdio.h>
int main(void)
{
    int a = 3, b = 1, c = 8;
    printf(\"%s%d\", \"x\", a);
    printf(\"%d%o\\n\", b, c);
    return 0;
}
";
    let place = versions(source, "b = 1", "b = 2", "./both");
    let found = invariants(place.path(), &["--passing", "1"]);
    assert_eq!((lines(&found), before(&found, 6)), (vec![4, 6], vec!["b == 2".to_owned()]));
    let place = versions(source, "a = 3", "a = 4", "./both");
    let found = invariants(place.path(), &["--passing", "1"]);
    assert_eq!((lines(&found), before(&found, 5)), (vec![4, 5], vec!["a == 4".to_owned()]));
}

/// A repository with two versions of a program and the recordings 0001 and 0002; both pass as tests.
fn versions(source: &str, from: &str, to: &str, test: &str) -> tempfile::TempDir {
    assert_eq!(source.matches(from).count(), 1, "{from}");
    let place = recording("both", source, test);
    fs::write(place.path().join("both.c"), source.replace(from, to)).unwrap();
    git(place.path(), &["commit", "--quiet", "-a", "-m", "Break"]);
    let (said, progress, code) = idd(place.path(), &["record", "--once", "--build", "$CC -o both both.c", "--", test]);
    assert_eq!(code, Some(0), "{said}{progress}");
    place
}

#[test]
fn reading_too_far_leads_to_the_call_that_only_one_run_made() {
    let source = "#include <stdio.h>
static int digit(void)
{
    return getchar() - '0';
}
static void skip(int n)
{
    for (int i = 0; i < n; i++)
        getchar();
}
int main(void)
{
    int n = digit();
    skip(n);
    printf(\"%d\\n\", digit());
    return 0;
}
";
    let place = versions(source, "i < n", "i <= n", "echo 2abcd | ./both");
    let found = invariants(place.path(), &["--passing", "1"]);
    let statements = found["statements"].as_array().unwrap();
    let loops = statements.iter().any(|one| one["line"] == 8 && one["is_parting"] == true);
    assert!(loops, "one more byte was read: {found:#}");
    // By itself, nothing says why this byte came.
    let alone = invariants(place.path(), &["--passing", "1", "--alone"]);
    assert!(!lines(&alone).contains(&8), "{alone:#}");
}

const ORDERED: &str = "#include <stdio.h>
#include <string.h>
static char *(*volatile get)(char *, int, FILE *) = fgets;
int main(void)
{
    char line[64], name[3][32] = {{0}};
    int n = 0;
    while (n < 3 && get(line, sizeof line, stdin) != NULL) {
        strcpy(name[n], line);
        n++;
    }
    for (int i = 0; i < n; i++) {
        int order = strcmp(name[i], \"m\\n\");
        if (order > 0)
            printf(\"%d %s\", i + 1, name[i]);
    }
    return 0;
}
";

/// What a call through a pointer has read is not known.
#[test]
fn text_that_is_not_known_is_compared_by_the_steps_that_print_it() {
    for is_known in [false, true] {
        let source = if is_known { ORDERED.replace("get(line", "fgets(line") } else { ORDERED.to_owned() };
        let place = versions(&source, "order > 0", "order >= 0", "printf 'a\\nm\\nz\\n' | ./both");
        let found = invariants(place.path(), &["--passing", "1"]);
        let failure = found["failure"].as_str().unwrap();
        assert!(failure.starts_with("what step ") || failure.starts_with("byte 0 "), "{failure}");
        let statements = found["statements"].as_array().unwrap();
        assert!(statements.iter().any(|one| one["line"] == 14 && one["is_parting"] == true), "{found:#}");
        // Bytes that nobody knows are in no condition, in either mode.
        let alone = invariants(place.path(), &["--passing", "1", "--alone", "--depth", "9"]);
        let all = statements.iter().chain(alone["statements"].as_array().unwrap());
        let conditions: Vec<String> = all.map(|one| one["invariant"].to_string()).collect();
        assert_eq!(conditions.iter().any(|text| text.contains("name[")), is_known, "{conditions:#?}");
    }
}

#[test]
fn only_another_run_that_passed_is_compared() {
    let place = recording("both", "int main(int argc, char **argv) { return argc - 1; }\n", "./both");
    let (_, progress, code) =
        idd(place.path(), &["record", "--once", "--build", "$CC -o both both.c", "--", "./both 1"]);
    assert_eq!(code, Some(0), "{progress}");
    let same = error(place.path(), &["--passing", "2"]);
    assert!(same.0.contains("error: recording 0002 is the one that is examined\n"), "{}", same.0);
    let failed = error(place.path(), &["--recording", "1", "--passing", "2"]);
    assert!(
        failed.0.contains("error: recording 0002 is no passing run: its test ended with exit code 1\n"),
        "{}",
        failed.0
    );
    let missing = error(place.path(), &["--passing", "9"]);
    assert!(missing.0.contains("hint: `--passing` takes the recording of a run that passed"), "{}", missing.0);
    assert_eq!([same.1, failed.1, missing.1], [Some(1); 3]);
}

#[test]
fn what_a_condition_chose_is_compared_by_the_way_that_it_went() {
    let source = "#include <stdio.h>
static int is_long(int n)
{
    return n > 3;
}
int main(void)
{
    int n = 3;
    puts(is_long(n) ? \"long\" : \"short\");
    return 0;
}
";
    let place = versions(source, "n > 3", "n > 2", "./both");
    let found = invariants(place.path(), &["--passing", "1", "--verify"]);
    assert!(lines(&found).contains(&4), "{found:#}");
    assert_eq!(found["remarks"], serde_json::json!([]), "{found:#}");
}

#[test]
fn a_crash_in_the_library_is_explained_by_what_it_was_given() {
    let source = "#include <stdio.h>
#include <string.h>
static int twice(int n)
{
    return n + n;
}
int main(int argc, char **argv)
{
    char *text = NULL;
    int numbers[2] = {2, 1}, n = 0;
    if (argv[1][0] == 'l')
        n = twice(argc) + (int)strlen(text);
    else if (argv[1][0] == 'c')
        strcpy(text, \"ab\");
    else if (argv[1][0] == 's')
        sscanf(\"7\", \"%d\", (int *)(long)numbers[0]);
    printf(\"%d\\n\", n);
    return 0;
}
";
    for (letter, line, origin) in [("l", 12, 9), ("c", 14, 9), ("s", 16, 10)] {
        let place = recording("given", source, &format!("./given {letter}"));
        let (said, progress, code) = idd(place.path(), &["slice", "--json", "--backward", "crash"]);
        assert_eq!(code, Some(0), "{said}{progress}");
        let slice: Value = serde_json::from_str(&said).unwrap();
        let lines = |found: &Value| {
            found.as_array().unwrap().iter().map(|one| one["line"].as_u64().unwrap()).collect::<Vec<_>>()
        };
        assert!([line, origin].iter().all(|line| lines(&slice["lines"]).contains(line)), "{slice:#}");
        let found = invariants(place.path(), &[]);
        assert!([line, origin].iter().all(|line| lines(&found["statements"]).contains(line)), "{found:#}");
    }
}
