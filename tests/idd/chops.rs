//! Chops of failing runs: the input that is shrunk first, and the passing runs that rank the lines.

use serde_json::Value;
use std::fs;

use crate::fixture::Fixture;

/// Sums the values of the lines of its file; the second revision replaces what is more than the limit by a wrong value.
const SUMS: &str = r#"cat >sums.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int limit = 10;
static int limited(int value)
{
    if (value > limit)
        value = limit;
    return value;
}
int main(int argc, char **argv)
{
    char line[64];
    int sum = 0;
    FILE *file = argc > 1 ? fopen(argv[1], "r") : stdin;
    while (fgets(line, sizeof line, file) != NULL) {
        char *equals = strchr(line, '=');
        if (equals == NULL)
            continue;
        sum += limited(atoi(equals + 1));
    }
    if (argc > 2 && sum % 10 == 1)
        abort();
    printf("summed\n");
    printf("%d\n", sum);
    return 0;
}
END
printf 'a=3\n# note\nq=4\nt=5\n# note\nb=12\n' >input
echo sums >.gitignore
commit good
sed -i 's/value = limit;/value = limit - 1;/' sums.c
commit bad"#;

const BUILD: [&str; 3] = ["chop", "--build", "test -e sums || $CC -o sums sums.c"];

#[track_caller]
fn json(fixture: &Fixture, words: &[&str]) -> Value {
    let output = fixture.run(&[&BUILD[..], &["--once", "--json"], words].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[track_caller]
fn check_error(fixture: &Fixture, words: &[&str], expected: &str) {
    let output = fixture.run(&[&BUILD[..], &["--once"], words].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains(expected), "{words:?}: {said}");
}

#[test]
fn a_chop_shrinks_its_input_and_ranks_lines_by_passing_runs() {
    let fixture = Fixture::of(SUMS);
    // Neither the file nor the way it is given to the program must be named.
    fixture.sh("printf './sums <input\\n' >test.sh");
    for words in [
        &["--good", "HEAD~1", "--", "sh test.sh"][..],
        &["--good", "HEAD~1", "--input", "input", "--", "./sums", "input"],
    ] {
        let chop = json(&fixture, words);
        let reduced = &chop["reduced"][0];
        assert_eq!((&reduced["name"], &reduced["text"]), (&"input".into(), &"=12".into()), "{words:?}: {chop:#}");
        assert_eq!((&reduced["n_bytes_before"], &reduced["n_bytes"]), (&31.into(), &3.into()));
        assert!(chop["n_passing"].as_u64().unwrap() > 3, "{words:?}: {chop:#}");
        // The name of the file is an argument of the program.
        let is_left_out =
            chop["remarks"].to_string().contains("`--input` leaves out other inputs of the program: argument 1");
        assert_eq!(is_left_out, words.contains(&"--input"), "{words:?}: {chop:#}");
        let failure = chop["failure"].as_str().unwrap();
        assert!(failure.starts_with("byte 7 of standard") && failure.ends_with(", at sums.c:25 in main"), "{failure}");
        let first = &chop["lines"][0];
        assert_eq!((&first["line"], &first["n_passing"]), (&8.into(), &0.into()), "{chop:#}");
        assert!(chop["lines"].as_array().unwrap().iter().any(|line| line["n_passing"].as_u64().unwrap() > 0));
        assert_eq!(fs::read(fixture.repo().join("input")).unwrap().len(), 31, "the file of the user is not changed");
    }
    // What `trace` shows is the recording of the failing run, with the reduced input.
    let inputs = fixture.run(&["trace", "inputs"]);
    assert!(String::from_utf8_lossy(&inputs.stdout).contains("bytes 0 to 2"), "{inputs:?}");
    let whole = json(&fixture, &["--good", "HEAD~1", "--no-shrink", "--input", "input", "--", "./sums input"]);
    assert_eq!((&whole["reduced"], &whole["n_passing"]), (&serde_json::json!([]), &0.into()));
    let isolated = ["--good", "HEAD~1", "--passing", "near", "--input", "input", "--", "./sums input"];
    fs::write(fixture.repo().join("near"), "a=3\n# note\nq=4\nt=5\n# note\nb=2\n").unwrap();
    assert_eq!(json(&fixture, &isolated)["lines"][0]["line"], 8);
}

#[test]
fn a_file_from_outside_is_put_into_the_checkout() {
    let fixture = Fixture::of(SUMS);
    let outside = fixture.repo().parent().unwrap().join("other.txt");
    fs::write(&outside, "z=11\nk=2\n").unwrap();
    let name = outside.to_str().unwrap();
    let chop = json(&fixture, &["--no-shrink", "--good", "HEAD~1", "--input", name, "--", "./sums", name]);
    assert_eq!(chop["inputs"], serde_json::json!(["other.txt"]));
}

#[test]
fn a_file_that_differs_between_the_versions_is_not_shrunk() {
    let data = "sed -i s/b=12/b=2/ input; commit right; sed -i s/b=2/b=12/ input; commit wrong";
    let fixture = Fixture::of(&format!("{SUMS}\n{data}"));
    let chop = json(&fixture, &["--good", "HEAD~1", "--", "./sums", "input", "abort"]);
    let remarks = chop["remarks"].to_string();
    assert!(remarks.contains("The input is not shrunk") && remarks.contains("are the same tree"), "{chop:#}");
}

#[test]
fn the_chop_of_a_hunt_with_a_smaller_input_stands_in_its_reports() {
    let fixture = Fixture::of(SUMS);
    fixture.report(&["--build", "cc -o sums sums.c", "./sums input abort"]);
    let chop: Value = json(&fixture, &[]);
    assert!(chop["reduced"][0]["n_bytes"].as_u64().unwrap() < 31, "{chop:#}");
    let report = String::from_utf8(fixture.run(&["report"]).stdout).unwrap();
    assert!(report.contains("**What leads to the failure**"), "{report}");
}

#[test]
fn an_input_that_the_program_does_not_read_is_refused() {
    let fixture = Fixture::of(SUMS);
    check_error(&fixture, &["--good", "HEAD~1", "--input", "none", "--", "./sums <input"], "did not read `none`");
    check_error(&fixture, &["--input", ".git", "--", "./sums input"], "the input `.git` is a directory");
    check_error(&fixture, &["--input", ".git/config", "--", "false"], "is in a git directory, which no checkout has");
    check_error(&fixture, &["--good", "HEAD~1", "--input", "sums.c", "--", "./sums <input"], "the same tree once");
    check_error(&fixture, &["--input", "input", "--", "./sums input"], "the test passes, so there");
    check_error(&fixture, &["--", "./sums input"], "the test passes under instrumentation, so there is no");
    check_error(&fixture, &["--good", "HEAD", "--", "./sums input"], "are the same tree");
    fs::write(fixture.repo().join("right"), "summed\n21\n").unwrap();
    check_error(&fixture, &["--expected", "right", "--", "./sums input"], "prints what is expected");
}

#[test]
fn a_text_that_is_too_short_belongs_to_the_chop_of_the_byte_after_it() {
    let fixture = Fixture::of(
        r#"cat >names.c <<'END'
#include <stdio.h>
int main(void)
{
    char line[64];
    while (fgets(line, sizeof line, stdin) != NULL) {
        char name[64];
        int length = 0;
        while (line[length] != '\n') {
            if (length >= 32)
                break;
            name[length] = line[length];
            length++;
        }
        name[length] = '\0';
        fputs("<", stdout);
        fputs(name, stdout);
        fputs(">\n", stdout);
    }
    return 0;
}
END
printf 'ann\nfrederic\n' >input
echo names >.gitignore
commit good
sed -i 's/length >= 32/length >= 4/' names.c
commit bad"#,
    );
    let words = ["chop", "--once", "--json", "--no-shrink", "--good", "HEAD~1", "--build", "$CC -o names names.c"];
    let output = fixture.run(&[&words[..], &["--", "./names <input"]].concat());
    let chop: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(chop["failure"].as_str().unwrap().split(',').next(), Some("byte 11 of standard output (line 2)"));
    let lines = chop["lines"].as_array().unwrap();
    let condition = lines.iter().find(|line| line["line"] == 9).expect("the condition of the wrong end");
    assert!(condition["distance"].is_u64(), "{chop:#}");
}

#[test]
fn a_smaller_input_without_a_failure_under_instrumentation_is_not_used() {
    let fixture = Fixture::of(
        r#"cat >sums.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    char line[64];
    unsigned sum = 0, n = 0;
    void *block = malloc(8);
    while (fgets(line, sizeof line, stdin) != NULL) {
        sum += (unsigned)atoi(line);
        n++;
    }
    if (n > 0 && n < 3)
        sum = (unsigned)(unsigned long)block;
    printf("%u\n", sum);
    return 0;
}
END
printf '1\n2\n3\n4\n' >input
echo sums >.gitignore
commit good
sed -i 's/sum += /sum += 1 + /' sums.c
commit bad"#,
    );
    let words = ["chop", "--once", "--json", "--good", "HEAD~1", "--build", "$CC -o sums sums.c"];
    let output = fixture.run(&[&words[..], &["--input", "input", "--", "./sums <input"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let chop: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(chop["reduced"], serde_json::json!([]));
    let remark = "The input is not shrunk: under instrumentation, the failure does not occur with the smaller input.";
    assert!(chop["remarks"].as_array().unwrap().contains(&remark.into()), "{chop:#}");
}

#[test]
fn output_after_copied_lines_is_compared() {
    let fixture = Fixture::of(
        r#"cat >sums.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    char line[64];
    int sum = 0;
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (line[0] == '#')
            fputs(line, stdout);
        else
            sum += atoi(line);
    }
    printf("%d\n", sum);
    return 0;
}
END
printf '# a note\n2\n# another\n40\n' >input
echo sums >.gitignore
commit good
sed -i 's/sum += /sum -= /' sums.c
commit bad"#,
    );
    let words = ["chop", "--once", "--json", "--no-shrink", "--good", "HEAD~1", "--build", "$CC -o sums sums.c"];
    let output = fixture.run(&[&words[..], &["--", "./sums <input"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let chop: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(chop["lines"].as_array().unwrap().iter().any(|line| line["line"] == 11), "{chop:#}");
}
