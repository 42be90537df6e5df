//! Error invariants of recorded programs.

use serde_json::Value;
use std::fs;
use std::path::Path;

use crate::fixture::root;
use crate::plain::git;
use crate::plain::idd;

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

fn invariants(place: &Path, words: &[&str]) -> Value {
    let (said, progress, code) = idd(place, &[&["invariants", "--json"], words].concat());
    assert_eq!(code, Some(0), "{said}{progress}");
    serde_json::from_str(&said).unwrap()
}

fn error(place: &Path, words: &[&str]) -> (String, Option<i32>) {
    let (said, progress, code) = idd(place, &[&["invariants"], words].concat());
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
