//! Slices and chops of recorded runs.

use serde_json::Value;

use crate::fixture::Fixture;

/// Sums the values of its lines; 12 is more than the limit, and is replaced by 9, which is wrong.
const PROGRAM: &str = r#"cat >sums.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int limit = 10;
static int limited(int value)
{
    if (value > limit)
        value = limit - 1;
    return value;
}
int main(void)
{
    char line[64];
    int sum = 0, unused = 0;
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *equals = strchr(line, '=');
        if (equals == NULL)
            continue;
        sum += limited(atoi(equals + 1));
        unused += line[0];
    }
    if (sum > 100)
        sum = 100;
    printf("summed\n");
    printf("%d\n", sum);
    return 0;
}
END
printf 'a=3\n# note\nb=12\n' >input
printf 'summed\n15\n' >expected
printf '#!/bin/sh\n./sums <input | cmp - expected\n' >test.sh; chmod +x test.sh
commit sums"#;

const CHOP: [&str; 7] = ["chop", "--once", "--json", "--build", "$CC -o sums sums.c", "--input", "input"];

fn json(fixture: &Fixture, words: &[&str]) -> Value {
    let output = fixture.run(words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn error(fixture: &Fixture, words: &[&str]) -> String {
    let output = fixture.run(words);
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

fn lines(value: &Value) -> Vec<u64> {
    let mut lines: Vec<u64> = value.as_array().unwrap().iter().map(|line| line["line"].as_u64().unwrap()).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn a_chop_has_what_leads_from_the_input_to_the_first_wrong_output() {
    let fixture = Fixture::of(PROGRAM);
    let words = [&CHOP[..], &["--expected", "expected", "--", "./test.sh"]].concat();
    let chop = json(&fixture, &words);
    assert_eq!(chop["inputs"], serde_json::json!(["standard input"]));
    assert!(chop["failure"].as_str().unwrap().starts_with("byte 8 of standard output (line 2)"), "{chop}");
    // The decision of line 22 could have led to another sum.
    assert_eq!(lines(&chop["lines"]), [7, 8, 9, 15, 16, 17, 19, 22, 25]);
    assert_eq!(lines(&chop["constant_lines"]), [4, 14]);
    assert_eq!(chop["constant_lines"][1]["function"], "initial value of limit");
    // The nearest to the failure is the failure itself.
    assert_eq!(chop["lines"][0]["line"], 25);
    let last = |line: u64| chop["lines"].as_array().unwrap().iter().find(|one| one["line"] == line).unwrap().clone();
    assert_eq!(last(8)["values"], serde_json::json!(["value = 9"]));
    assert_eq!(last(8)["source"], "value = limit - 1;");
    assert!(chop["chop"]["n_statements"].as_u64() < chop["run"]["n_statements"].as_u64());

    // The same by slices of the recording. The first line of the output is of no concern to the input.
    let slice = json(&fixture, &["slice", "--json", "--backward", "output:8"]);
    assert_eq!(lines(&slice["lines"]), [7, 8, 9, 14, 15, 16, 17, 19, 25]);
    let relevant = json(&fixture, &["slice", "--json", "--potential", "--backward", "output:8"]);
    assert_eq!(lines(&relevant["lines"]), [7, 8, 9, 14, 15, 16, 17, 19, 22, 25]);
    let data = json(&fixture, &["slice", "--json", "--data", "--backward", "output:8"]);
    assert_eq!(lines(&data["lines"]), [8, 9, 14, 15, 16, 19, 25]);
    assert_eq!(lines(&json(&fixture, &["slice", "--json", "--data", "--backward", "output:0"])["lines"]), [24]);
    let forward = json(&fixture, &["slice", "--json", "--data", "--forward", "input:-"]);
    assert_eq!(lines(&forward["lines"]), [7, 9, 15, 16, 17, 19, 20, 22, 25]);

    for (words, expected) in [
        (&["slice", "--backward", "output:99"][..], "standard output has only 10 bytes in this process"),
        (&["slice", "--backward", "crash"], "did not crash"),
        (&["slice", "--backward", "99999"], "there is no such step"),
        (&["slice", "--backward", "1:nothing"], "no variable `nothing` is visible"),
        (&["slice", "--backward", "line:sums.c:1"], "no statement of sums.c:1 ran"),
        (&["slice", "--backward", "input:-"], "nothing in the program comes before its input"),
        (&["slice", "--forward", "input:other"], "the program did not read `other`"),
        (&["slice"], "--backward"),
    ] {
        let said = error(&fixture, words);
        assert!(said.contains(expected), "{words:?}: {said}");
    }
}

#[test]
fn a_chop_needs_a_failure() {
    let fixture = Fixture::of(PROGRAM);
    for (words, expected) in [
        (&["--", "./sums <input"][..], "the test passes, so there is no failure"),
        (&["--", "./test.sh"], "its first wrong value is not known"),
        (&["--expected", "none", "--", "./test.sh"], "failed to read `none`"),
        (&[], "there is no hunt in this worktree"),
    ] {
        let said = error(&fixture, &[&CHOP[..], words].concat());
        assert!(said.contains(expected), "{words:?}: {said}");
    }
}
