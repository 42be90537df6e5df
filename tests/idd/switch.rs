//! `git idd explain --switch` on small C programs.

use std::process::Output;

use serde_json::Value;

use crate::fixture::Fixture;

/// Sums up what is not negative; the limit makes it leave out the last number. The test runs it twice, the first time well.
const SUM: &str = "#include <stdio.h>
#include <stdlib.h>
static int sum(int n, char **words) {
    int total = 0;
    for (int i = 0; i < n; i++) {
        int value = atoi(words[i]);
        int is_left_out = value < 0 || value >= 9;
        if (is_left_out)
            value = 0;
        total += value;
    }
    return total;
}
int main(int argc, char **argv) {
    int total = sum(argc - 1, argv + 1);
    printf(\"%d\\n\", total);
    return 0;
}
";

/// A wrong number that no decision stands before.
const CONSTANT: &str = "#include <stdio.h>
int main(int argc, char **argv) {
    int factor = 3;
    int product = factor * argc;
    if (product > 100 && argv)
        product = 100;
    if (product < 0)
        product = 0;
    printf(\"%d\\n\", product);
    return 0;
}
";

fn fixture(program: &str) -> Fixture {
    Fixture::of(&format!("cat >a.c <<'END'\n{program}END\ngit add a.c && git commit -qm one"))
}

fn explained(fixture: &Fixture, args: &[&str]) -> Output {
    let words = ["explain", "--switch", "--json"];
    fixture.run(&words.iter().chain(args).copied().collect::<Vec<_>>())
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_switched_decision_that_makes_the_test_pass_begins_the_chain() {
    // Products are ignored by no rule; a test that leaves something behind finds it gone in its next run.
    let command = "mkdir fresh && test $(./a 1 2) = 3 && test $(./a 2 9 3) = 14";
    let fixture = fixture(SUM);
    let command = format!("test -d made/empty && test -e made/list && rm -r made && {command}");
    let build = "mkdir -p made/empty && cp -p a.c made/list && $CC -o a a.c";
    let found = json(&explained(&fixture, &["--build", build, "--", &command]));
    let switched = &found["switched"];
    assert_eq!((&switched["file"], &switched["line"]), (&"a.c".into(), &7.into()), "{found}");
    let link = |link: &Value| {
        let text = |key: &str| link[key].as_str().unwrap_or_default().to_owned();
        (link["line"].as_u64().unwrap_or_default(), text("variable"), text("value"), text("reference"))
    };
    let chain: Vec<_> = found["chain"].as_array().unwrap().iter().map(link).collect();
    let expected =
        [(7, "is_left_out", "1", "0"), (8, "", "true", "false"), (9, "value", "0", "9"), (10, "total", "2", "11")];
    let expected = expected.map(|(line, variable, value, other)| (line, variable.into(), value.into(), other.into()));
    assert_eq!(chain.get(..4), Some(&expected[..]), "{found}");
    assert_eq!(found["failure"]["line"], 16, "{found}");
    assert_eq!(chain.last().unwrap(), &(15, "total".to_owned(), "5".to_owned(), "14".to_owned()), "{found}");
    assert_eq!(switched["step"], found["chain"][0]["step"], "{found}");
    assert_eq!(switched["others"][0]["line"], 8, "{found}");
}

#[test]
fn of_decisions_that_make_the_test_pass_the_one_made_first_is_switched_not_the_one_begun_first() {
    let program = "#include <stdio.h>
#include <stdlib.h>
static int is_large(int n) {
    if (n > 2)
        return 1;
    return 0;
}
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 0;
    if (is_large(n))
        n = 2;
    printf(\"%d\\n\", n);
    return 0;
}
";
    let found = json(&explained(&fixture(program), &["--build", "$CC -o a a.c", "--", "test $(./a 3) = 3"]));
    assert_eq!(found["switched"]["line"], 4, "{found}");
    let links = found["chain"].as_array().unwrap();
    assert_eq!(
        (&links[0]["line"], &links[0]["variable"], &links[0]["replaced"]),
        (&10.into(), &"n".into(), &true.into())
    );
    assert_eq!(links.iter().find(|link| link["replaced"] == false).unwrap()["line"], 4, "{found}");
    // That of `main` makes it pass, too.
    let switched = &found["switched"];
    assert_eq!(
        (&switched["n_passing"], &switched["n_forks"], &switched["is_prefix"]),
        (&2.into(), &3.into(), &false.into())
    );
    assert_eq!(switched["others"][0]["line"], 10, "{found}");
    let (step, failure) = (switched["step"].as_u64().unwrap(), found["failure"]["step"].as_u64().unwrap());
    assert_eq!(switched["distance"], failure - step, "{found}");
}

#[test]
fn a_choice_for_which_the_compiler_makes_no_branch_is_switched() {
    let program = "#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 0;
    int step = n >= 0 ? 1 : -1;
    int is_even = n % 2 == 0;
    printf(\"%d\\n\", n + step + 10 * is_even);
}
";
    // The arms of a `select`, and a condition that is kept.
    for (expected, line) in [("13", 5), ("5", 6)] {
        let test = format!("test $(./a 4) = {expected}");
        let output = explained(&fixture(program), &["--build", "$CC -o a a.c", "--", &test]);
        let chain = json(&output);
        assert_eq!(chain["switched"]["line"], line, "{chain}");
    }
}

#[test]
fn the_same_is_told_in_words_when_the_test_builds_the_program() {
    let fixture = fixture(SUM);
    let command = "printf '' | cc -o a a.c && test $(./a 2 9 3) = 14";
    let said = fixture.run(&["explain", "--switch", "--bad", "HEAD", "--", command]);
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    assert!(text.contains("switched: a.c:7 (2nd time of 3)  the condition, inverted\n"), "{text}");
    assert!(text.contains(" switched decisions make") && text.contains(" before the failure)\n"), "{text}");
    assert!(text.starts_with("HEAD fails; the same run with one decision switched passes:\n"), "{text}");
}

#[test]
fn no_decision_that_makes_the_test_pass_is_an_error() {
    let fixture = fixture(CONSTANT);
    let build = "$CC -o a a.c";
    let output = explained(&fixture, &["--build", build, "--", "test $(./a) = 4"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // Switched, they say 100 and 0.
    assert!(
        said.contains("no decision makes the test pass when it is switched (switched: 2, runs of the test: 2)"),
        "{said}"
    );
    assert!(said.contains("all decisions were tried"), "{said}");
    let output = explained(&fixture, &["--switch-budget", "1", "--build", build, "--", "test $(./a) = 4"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("(switched: 1, runs of the test: 1)") && said.contains("`--switch-budget`"), "{said}");
}

#[test]
fn a_failure_that_comes_with_the_instrumentation_is_told_apart_from_one_that_no_decision_avoids() {
    let program = CONSTANT.replace(
        "    int factor = 3;\n",
        "#ifdef __clang__\n    int factor = 3;\n#else\n    int factor = 4;\n#endif\n",
    );
    let output = explained(&fixture(&program), &["--build", "${CC:-cc} -o a a.c", "--", "test $(./a) = 4"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("as it is, and fails only under instrumentation"), "{said}");
    assert!(said.contains("clang -O0") && !said.contains("--good"), "{said}");
}

#[test]
fn a_switch_goes_by_another_value_and_input_from_a_pipe_is_seen() {
    let program = "#include <stdio.h>
int main(void) {
    int left = 0, right = 0;
    for (int letter = getchar(); letter != EOF; letter = getchar()) {
        switch (letter) {
        case 'l':
            left += 1;
            break;
        case 'r':
            right += 1;
            break;
        case 'x':
            left += 2;
            right += 2;
            break;
        default:
            break;
        }
    }
    printf(\"%d %d\\n\", left, right);
    return 0;
}
";
    let fixture = fixture(program);
    // As if the second letter were an `x`.
    let command = "test \"$(printf 'lor' | ./a)\" = '3 3'";
    let found = json(&explained(&fixture, &["--build", "$CC -o a a.c", "--", command]));
    assert_eq!(found["switched"]["line"], 5, "{found}");
    assert_eq!(found["switched"]["reference"], "decided for line 13", "{found}");
    let last = found["chain"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&last["variable"], &last["value"], &last["reference"]),
        (&"right".into(), &"1".into(), &"3".into()),
        "{found}"
    );
}

#[test]
fn versions_and_switching_exclude_each_other() {
    let fixture = fixture(CONSTANT);
    let with_good = explained(&fixture, &["--good", "HEAD", "--", "false"]);
    assert_eq!(with_good.status.code(), Some(129));
    let without_test = explained(&fixture, &["--bad", "HEAD"]);
    assert_eq!(without_test.status.code(), Some(129));
    assert!(String::from_utf8_lossy(&without_test.stdout).contains("must be given together"));
}

#[test]
fn a_wrong_value_that_the_decision_uses_is_a_link_before_it() {
    let program = "#include <stdio.h>
#include <stdlib.h>
static int limit_of(int n) {
    int limit = n * 2 + 3;
    return limit;
}
int main(int argc, char **argv) {
    int n = atoi(argv[argc - 1]);
    int limit = limit_of(4);
    if (n < limit)
        puts(\"small\");
    else
        puts(\"large\");
    return 0;
}
";
    let found = json(&explained(&fixture(program), &["--build", "$CC -o a a.c", "--", "test $(./a 10) = large"]));
    let before: Vec<(u64, &str, &str, &str)> = found["chain"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|link| link["replaced"] == true)
        .map(|link| {
            let text = |key: &str| link[key].as_str().unwrap();
            (link["line"].as_u64().unwrap(), text("variable"), text("value"), text("reference"))
        })
        .collect();
    // The input is not replaced.
    assert_eq!(
        before,
        [(9, "n", "4", "3"), (4, "limit", "11", "10"), (5, "limit_of", "11", "10"), (9, "limit", "11", "10")],
        "{found}"
    );
    assert_eq!(found["switched"]["line"], 10, "{found}");
    assert!(found["beginning"].as_str().unwrap().contains("by replacing one value at a time"), "{found}");
}

#[test]
fn a_reference_that_does_not_pass_when_it_is_recorded_is_replaced_by_a_switched_run() {
    let good = SUM.replace("value >= 9;", "value >= 90;");
    let write = |program: &str, subject: &str| {
        format!("cat >a.c <<'END'\n{program}END\ngit add a.c && git commit -qm {subject}\n")
    };
    let fixture = Fixture::of(&(write(&good, "one") + &write(SUM, "two")));
    // The first test after the hunt is that of the reference.
    let mark = fixture.place().join("mark");
    let test = format!("if rm {} 2>/dev/null; then exit 1; fi; test $(./a 2 9 3) = 14", mark.display());
    let hunted = fixture.run(&["--quiet", "--good", "HEAD~1", "--build", "cc -o a a.c", "--", &test]);
    assert!(hunted.status.success(), "{}", String::from_utf8_lossy(&hunted.stderr));
    std::fs::write(&mark, "").unwrap();
    let found = json(&fixture.run(&["explain", "--json"]));
    assert_eq!(found["good"], "the same run with one decision switched", "{found}");
    assert_eq!(found["switched"]["line"], 7, "{found}");
    assert!(found["remarks"].to_string().contains("the reference of the hunt could not be recorded"), "{found}");
}

#[test]
fn the_failing_version_of_a_hunt_is_explained_without_its_reference() {
    let good = SUM.replace("value >= 9;", "value >= 90;");
    let write = |program: &str, subject: &str| {
        format!("cat >a.c <<'END'\n{program}END\ngit add a.c && git commit -qm {subject}\n")
    };
    let fixture = Fixture::of(&(write(&good, "one") + &write(SUM, "two")));
    let hunted =
        fixture.run(&["--quiet", "--good", "HEAD~1", "--build", "cc -o a a.c", "--", "test $(./a 2 9 3) = 14"]);
    assert!(hunted.status.success(), "{}", String::from_utf8_lossy(&hunted.stderr));
    let found = json(&explained(&fixture, &[]));
    assert_eq!((&found["switched"]["line"], &found["chain"][0]["line"]), (&7.into(), &7.into()), "{found}");
    assert_eq!(found["good"], "the same run with one decision switched");
    assert_eq!(found["failure"]["line"], 16, "{found}");
}
