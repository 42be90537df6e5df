//! `git idd debug` on small C programs.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::explain::repository;
use crate::kits;
use crate::plain::{idd, program};

/// The largest of some numbers, and their sum. The fault is in `larger`.
const GOOD: &str = "#include <stdio.h>
static int larger(int one, int other) {
    return one > other ? one : other;
}
int main(void) {
    int numbers[] = {3, 9, 4};
    int most = 0;
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        most = larger(most, numbers[i]);
        sum += numbers[i];
    }
    int both = most + sum;
    printf(\"%d\\n\", both);
    return both != 25;
}
";

fn bad() -> String {
    GOOD.replace("one > other ? one", "one < other ? one")
}

/// What a walk with these answers prints, and its exit code.
fn walked(place: &Path, answers: &str, more: &[&str]) -> (String, Option<i32>) {
    fs::write(place.join(".git/answers"), answers).unwrap();
    let mut words = vec!["debug", "--answers", ".git/answers"];
    words.extend(more);
    let (said, complaint, code) = idd(place, &words);
    (said + &complaint, code)
}

pub fn recorded() -> tempfile::TempDir {
    recorded_as([GOOD, &bad()], &["./a"])
}

/// A repository of two versions, the second one of which is recorded; made once for all tests.
///
/// - `test`: the words of the test.
pub fn recorded_as(versions: [&str; 2], test: &[&str]) -> tempfile::TempDir {
    let words = [&["record", "--build", "cc -g -o a a.c", "--"], test].concat();
    kits::once(&[&versions, &words[..]].concat(), || {
        let place = repository(versions[0], versions[1]);
        let (said, complaint, code) = idd(place.path(), &words);
        assert_eq!(code, Some(0), "{said}{complaint}");
        place
    })
}

#[test]
fn a_walk_over_a_recording_leads_from_the_failure_to_the_first_wrong_step() {
    let place = recorded();
    let place = place.path();
    let answers = "w both\n";
    let (said, code) = walked(place, answers, &["--from", "line:a.c:15"]);
    assert_eq!(code, Some(130), "without a further answer it ends: {said}");
    assert!(said.contains("return both != 25;\n  1: uses both = 16\n"), "{said}");
    // Each question says what the step does.
    assert!(said.contains("return one < other ? one : other;\n"), "{said}");
    assert!(said.contains("uses other = "), "{said}");
    let step = |line: &str| -> String {
        let (before, _) = said.split_once(line).unwrap();
        before.rsplit_once(". step ").unwrap().1.split_once(',').unwrap().0.to_owned()
    };
    let wrong = step("return one < other ? one : other;");

    let (said, code) = walked(place, &format!("w both\ng {wrong}\nz\nw 1\ng {wrong}\nh\n"), &["--from", "line:a.c:15"]);
    assert_eq!(code, Some(0), "{said}");
    let (_, found) = said.split_once("The first wrong step:\n").unwrap();
    let expected =
        format!("  step {wrong}, a.c:3, in larger: decides wrongly\n      return one < other ? one : other;\n");
    assert!(found.starts_with(&expected), "{found}");
    assert!(found.contains("a.c:15, in main: uses the wrong both = 16\n"), "{found}");
}

#[test]
fn a_test_command_is_recorded_before_the_walk() {
    let place = repository(GOOD, &bad());
    let test = ["--from", "line:a.c:15", "--build", "cc -g -o a a.c", "--", "./a"];
    let (said, code) = walked(place.path(), "h\n", &test);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("The first wrong step:\n"), "{said}");
    assert!(said.contains("recording 0001: the test ended with exit code 1\n"), "{said}");
    // The answers are those of that recording.
    let (said, code) = walked(place.path(), "h\n", &["--recording", "1", "--from", "line:a.c:15"]);
    assert_eq!(code, Some(0), "{said}");
    let (said, code) = walked(place.path(), "", &["--recording", "1", "--", "./a"]);
    assert_eq!(code, Some(129), "{said}");
}

#[test]
fn a_test_that_passes_has_no_failure_to_debug() {
    let place = repository(&bad(), GOOD);
    let (said, code) = walked(place.path(), "", &["--build", "cc -g -o a a.c", "--", "./a"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("the test passes at HEAD, so there is no failure to debug"), "{said}");
    assert!(said.contains("--recording 0001 --from <criterion>"), "{said}");
}

#[test]
fn what_the_passing_version_has_as_well_is_presumed_to_be_right() {
    let place = repository(GOOD, &bad());
    let order = ["--bad", "HEAD", "--good", "HEAD~1", "--build", "cc -g -o a a.c", "--", "./a"];
    // The first question is about the faulty line, whose values are the same in both versions.
    let (said, code) = walked(place.path(), "h\n", &order);
    assert_eq!(code, Some(0), "{said}");
    let (first, _) = said.split_once("[c w h").unwrap();
    assert!(first.contains("return one < other ? one : other;"), "{said}");
    assert!(first.contains("uses one = 0  (as in the passing run)\n"), "{said}");
    assert!(said.contains("The first wrong step:\n"), "{said}");
}

#[test]
fn a_line_that_was_changed_lately_is_asked_about_early() {
    let place = recorded();
    let (said, _) = walked(place.path(), "w both\n", &["--from", "line:a.c:15", "--json"]);
    let asked: Vec<Value> = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!(asked[1]["line"], 3, "the last commit changed line 3: {said}");
}

/// A recording of a program.
fn recording(program: &str) -> tempfile::TempDir {
    recorded_as([GOOD, program], &["sh -c './a; false'"])
}

#[test]
fn a_pointer_to_a_structure_is_shown_with_it() {
    let program = "struct node { int value; struct node *next; };
int sum(struct node *node) {
    return node ? node->value + sum(node->next) : 0;
}
int main(void) {
    struct node last = {2, 0}, first = {1, &last};
    return sum(&first);
}
";
    let place = recording(program);
    let (said, _) = walked(place.path(), "g a.c:3\n", &["--from", "line:a.c:7"]);
    let first = "node = 0x7ffffffff000 -> first of main {value = 1, next = 0x7ffffffff000 -> last of main}";
    let said = regex::Regex::new("0x7f[0-9a-f]+").unwrap().replace_all(&said, "0x7ffffffff000");
    assert!(said.contains(first), "{said}");
}

/// A program that reads and allocates by functions in a table, and reverses a line.
const HOOKS: &str = "#include <stdio.h>
#include <stdlib.h>
struct hooks { void *(*allocate)(size_t); char *(*read)(char *, int, FILE *); };
static struct hooks hooks = {malloc, fgets};
static char *copy(const char *from) {
    char *to = hooks.allocate(16);
    for (int i = 0; i < 4; i++)
        to[i] = from[3 - i];
    to[4] = 0;
    return to;
}
int main(void) {
    char line[16];
    if (!hooks.read(line, 16, stdin))
        return 2;
    char *shown = copy(line);
    puts(shown);
    return shown[0] != line[0];
}
";

#[test]
fn a_function_of_the_library_is_known_when_it_is_called_through_a_pointer() {
    let place = recorded_as([GOOD, HOOKS], &["sh", "-c", "echo abcd | ./a"]);
    let (said, _) = walked(place.path(), "", &["--from", "line:a.c:14"]);
    assert!(said.contains("uses hooks.read = fgets  (initial value of hooks)"), "{said}");
    assert!(said.contains("gives line = ") && said.contains("calls fgets("), "{said}");
    let (said, _) = walked(place.path(), "", &["--from", "line:a.c:6"]);
    assert!(said.contains("calls malloc(16) = "), "{said}");
}

#[test]
fn a_wrong_text_comes_from_the_pointer_and_from_what_wrote_the_text() {
    let place = recorded_as([GOOD, HOOKS], &["sh", "-c", "echo abcd | ./a"]);
    let uses = |line: &str| -> Value {
        let (said, _) = walked(place.path(), "", &["--from", line, "--json"]);
        serde_json::from_str::<Value>(said.lines().next().unwrap()).unwrap()["uses"].clone()
    };
    // The pointer itself, four characters, and the end of the text; a call gives the value of its `return`.
    for line in ["line:a.c:17", "line:a.c:16"] {
        let uses = uses(line);
        let text = |used: &&Value| used["value"].as_str().is_some_and(|value| value.ends_with("\"dcba\""));
        let makers = uses.as_array().unwrap().iter().find(text).unwrap_or_else(|| panic!("{uses}"))["makers"].clone();
        assert_eq!(makers.as_array().unwrap().len(), 6, "{line}: {uses}");
    }
}

#[test]
fn values_that_are_the_same_in_a_passing_run_are_marked() {
    let place = repository(GOOD, &bad());
    let record = |at: &str| {
        let (said, complaint, code) =
            idd(place.path(), &["record", "--at", at, "--build", "cc -g -o a a.c", "--", "./a"]);
        assert_eq!(code, Some(0), "{said}{complaint}");
    };
    record("HEAD~1");
    record("HEAD");
    let (said, _) = walked(place.path(), "g a.c:11\n", &["--passing", "1", "--from", "line:a.c:15"]);
    assert!(said.contains("  1: uses both = 16\n"), "{said}");
    assert!(said.contains("      sum += numbers[i];\n") && said.contains("  (as in the passing run)\n"), "{said}");
    let (said, code) = walked(place.path(), "", &["--passing", "2", "--from", "line:a.c:15"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("recording 0002 is the one that is debugged"), "{said}");
    let (said, code) = walked(place.path(), "", &["--recording", "1", "--passing", "2", "--from", "line:a.c:15"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("in recording 0002, the program did not exit with 0"), "{said}");
}

#[test]
fn a_call_that_the_passing_version_does_not_make_is_not_as_there() {
    let program = |callee: &str| {
        format!(
            "static int one(void) {{\n    return 1;\n}}\nstatic int two(void) {{\n    return 2;\n}}
int main(void) {{\n    int kept = two() + {callee}();\n    return kept != 3;\n}}\n"
        )
    };
    let place = repository(&program("one"), &program("two"));
    let order = ["--bad", "HEAD", "--good", "HEAD~1", "--build", "cc -g -o a a.c", "--", "./a"];
    let (said, _) = walked(place.path(), "g a.c:8\n", &order);
    let (_, line) = said.split_once("      int kept = two() + two();\n").unwrap();
    let uses: Vec<&str> = line.lines().filter(|line| line.contains("uses two() = 2")).take(2).collect();
    assert_eq!(uses.len(), 2, "{said}");
    assert!(uses[0].ends_with("  (as in the passing run)") && uses[1].ends_with("two() = 2"), "{said}");
    let (said, _) = walked(place.path(), "g a.c:5\n", &order);
    assert!(said.contains("returns 2\n"), "{said}");
}

#[test]
fn an_expectation_that_names_several_values_asks_which_one_is_wrong() {
    let place = recorded();
    let (said, _) = walked(place.path(), "", &["--expect", "most + sum == 25 at a.c:13"]);
    assert!(said.contains(", a.c:13: the walk begins there.\n"), "{said}");
    assert!(said.contains("1. step ") && said.contains("      int both = most + sum;\n"), "{said}");
}

#[test]
fn bytes_that_are_no_text_are_no_answer() {
    let place = recorded();
    let mut debug = program(place.path());
    debug.args(["debug", "--plain", "--from", "line:a.c:15"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut debug = debug.spawn().unwrap();
    debug.stdin.take().unwrap().write_all(b"\xff\xfe\0\nw both\nq\n").unwrap();
    let output = debug.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("there is no answer ") && said.contains("\n2. step "), "{said}");
}

/// A program whose sum counts one value too many, with assertions.
const ASSERTING: &str = "#include <assert.h>
#include <stdlib.h>
struct list { int n; int values[8]; };
static void add(struct list *l, int value) {
    assert(l->n < 8);
    l->values[l->n++] = value;
}
static int sum(const struct list *l) {
    int sum = 0;
    for (int i = 0; i <= l->n; i++)
        sum += l->values[i];
    return sum;
}
int main(void) {
    struct list *l = calloc(1, sizeof *l);
    l->values[2] = 9;
    add(l, 1);
    add(l, 2);
    int all = sum(l);
    assert(all == 3);
    return 0;
}
";

#[test]
fn an_assertion_that_fails_is_the_first_answer_and_one_that_held_is_as_expected() {
    let place = recorded_as([GOOD, ASSERTING], &["./a"]);
    let (said, _) = walked(place.path(), "g a.c:5\nq\n", &[]);
    assert!(said.starts_with("`all == 3` does not hold before step "), "{said}");
    assert!(said.contains(", a.c:20: it uses the wrong all = 12.\n"), "{said}");
    assert!(said.contains("1. step ") && !said.contains("      assert(all == 3);\n"), "{said}");
    assert!(said.contains("      assert(l->n < 8);\n"), "{said}");
    assert!(said.contains("uses l->n = ") && said.contains("  (as expected)\n"), "{said}");
    // Taken back, it is asked about.
    let (said, _) = walked(place.path(), "z\n", &[]);
    assert!(said.contains("      assert(all == 3);\n"), "{said}");
}

#[test]
fn an_answer_that_contradicts_an_earlier_one_is_named() {
    let place = recorded();
    // The value of `both` is wrong where it is tested, and where it is printed before.
    let answers = |printed: &str, tested: &str| format!("g a.c:14\n{printed}\ng a.c:15\n{tested}\nq\n");
    let contradiction = "the last answer contradicts answer 1 about step ";
    let (said, _) = walked(place.path(), &answers("w both", "c"), &["--from", "line:a.c:15"]);
    assert!(said.contains(contradiction), "{said}");
    for (printed, tested) in [("c", "w both"), ("w both", "w both")] {
        let (said, _) = walked(place.path(), &answers(printed, tested), &["--from", "line:a.c:15"]);
        assert!(!said.contains("contradicts"), "{said}");
    }
    let (said, _) = walked(place.path(), "w both\ng a.c:15\nc\n", &["--from", "line:a.c:15"]);
    assert!(said.contains("contradicts answer 1 about the same step; `z` takes the last answer back"), "{said}");
}

#[test]
fn the_return_of_a_variable_is_a_line_of_its_own() {
    let place = recording(
        "#include <stdio.h>
static int total(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}
int main(void) {
    printf(\"%d\\n\", total(4));
    return 0;
}
",
    );
    let (said, _) = walked(place.path(), "", &["--from", "line:a.c:6"]);
    assert!(said.contains("      return sum;\n  1: uses sum = 6\n     returns 6\n"), "{said}");
}

#[test]
fn without_a_crash_the_walk_begins_at_the_last_output() {
    let place = recording(
        "#include <stdio.h>\nint main(void) {\n    int x = 3;\n    printf(\"%d\\n\", x);\n    return 0;\n}\n",
    );
    let (said, _) = walked(place.path(), "", &[]);
    assert!(said.contains(", a.c:4, in main"), "{said}");
}

#[test]
fn a_person_to_whom_all_is_unclear_is_not_asked_forever() {
    let place = recorded();
    let (said, code) = walked(place.path(), &"u\n".repeat(300), &["--from", "line:a.c:15"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("The steps that are left were unclear each time."), "{said}");
}

#[test]
fn an_expectation_that_does_not_hold_is_the_first_answer() {
    let place = recorded();
    let expected = ["--from", "line:a.c:15", "--expect", "most == 9 at a.c:13", "--expect", "i >= 0 at ./a.c:10"];
    let (said, code) = walked(place.path(), "h\n", &expected);
    assert_eq!(code, Some(0), "{said}");
    let (before, rest) = said.split_once(", a.c:13: it uses the wrong most = 0.\n").unwrap();
    let (_, wrong) = before.split_once("`most == 9` does not hold before step ").unwrap();
    assert!(rest.starts_with("`i >= 0` holds before 3 steps of a.c:10.\n\n1. step "), "{said}");
    // Neither the failure nor that step is asked about; both end the story.
    let (asked, found) = said.split_once("The first wrong step:\n").unwrap();
    assert!(!asked.contains("int both") && !asked.contains("return both"), "{said}");
    let end = format!("  step {wrong}, a.c:13, in main: uses the wrong most = 0\n      int both = most + sum;\n");
    assert!(found.contains(&end), "{said}");

    // Taken back, it is asked.
    let (said, _) = walked(place.path(), "z\n", &expected);
    assert!(said.contains(&format!("1. step {wrong}, a.c:13, in main\n")), "{said}");

    let (said, _) = walked(place.path(), "", &["--json", "--expect", "most == 9 at a.c:13"]);
    let first: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    assert_eq!(first["schema"], "git-idd debug expectation 1");
    assert_eq!((&first["wrong"], first["step"].to_string()), (&serde_json::json!(["most = 0"]), wrong.to_owned()));
}

#[test]
fn an_expectation_about_what_its_line_does_not_use_says_where_the_walk_begins() {
    let place = recorded();
    let (said, code) = walked(place.path(), "h\n", &["--expect", "most > 0 at a.c:11"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("`most > 0` does not hold before step "), "{said}");
    assert!(said.contains(", a.c:11: the walk begins there.\n"), "{said}");
    assert!(said.contains("1. step ") && said.contains("      sum += numbers[i];\n"), "{said}");
}

#[test]
fn values_that_are_as_expected_are_marked() {
    let place = recorded();
    let (said, _) = walked(place.path(), "", &["--from", "line:a.c:3", "--expect", "one <= other at a.c:3"]);
    assert!(said.contains("`one <= other` holds before 3 steps of a.c:3.\n"), "{said}");
    assert!(said.contains("uses one = 0  (as expected)\n"), "{said}");
}

#[test]
fn an_expectation_that_says_nothing_is_an_error() {
    let place = recorded();
    let (said, code) = walked(place.path(), "", &["--expect", "nothing > 0 at a.c:13"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("cannot be evaluated before any step of a.c:13: no variable `nothing` is visible"), "{said}");
    assert!(said.contains(" are: ") && said.contains("most"), "{said}");
    let (said, code) = walked(place.path(), "", &["--expect", "most > 0 at a.c:900"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("no statement of a.c:900 ran up to the failure"), "{said}");
    let (said, code) = walked(place.path(), "", &["--expect", "most > 0"]);
    assert_eq!(code, Some(129), "{said}");
    assert!(said.contains("an expectation has the form"), "{said}");
}

#[test]
fn the_reports_of_a_hunt_show_the_walk_over_its_version() {
    let place = repository(GOOD, &bad());
    let place = place.path();
    let build = ["--build", "cc -g -o a a.c", "--", "./a"];
    idd(place, &[&["--quiet"][..], &build].concat());
    let (said, code) = walked(place, "w both\nh\n", &[&["--from", "line:a.c:15"][..], &build].concat());
    assert_eq!(code, Some(0), "{said}");
    let (said, complaint, code) = idd(place, &["report", "--html", "page.html"]);
    assert_eq!(code, Some(0), "{said}{complaint}");
    let page = fs::read_to_string(place.join("page.html")).unwrap();
    assert!(page.contains("found with 2 answers"), "{page}");
    assert!(page.contains("<code>a.c:15</code> in <code>main</code>"), "{page}");
    let (said, complaint, _) = idd(place, &["report", "--format", "markdown"]);
    assert!(said.contains("**The first wrong step**"), "{said}{complaint}");
    assert!(said.contains("uses the wrong both = 16`\n"), "{said}");
    for words in [&["report", "--format", "text"][..], &["show"]] {
        let (said, complaint, _) = idd(place, words);
        let (_, found) = said.split_once("\nThe first wrong step:\n").unwrap();
        let end = ", a.c:15, in main: uses the wrong both = 16\n      return both != 25;\n";
        assert!(found.ends_with(end), "{said}{complaint}");
    }
    for words in [&["report", "--format", "json"][..], &["report", "--json"], &["show", "--json"]] {
        let (said, complaint, _) = idd(place, words);
        let value: Value = serde_json::from_str(&said).unwrap();
        let walk = &value["explanations"][0];
        assert_eq!(
            (&walk["schema"], &walk["n_answers"]),
            (&"git-idd/feedback/1".into(), &2.into()),
            "{said}{complaint}"
        );
        assert_eq!(walk["steps"].as_array().unwrap().len(), 2, "{said}");
    }
}

#[test]
fn a_walk_without_a_hunt_is_reported_by_its_recording() {
    let place = recorded();
    let place = place.path();
    let report = |more: &[&str]| idd(place, &[&["report", "--recording", "1"], more].concat());
    let (said, complaint, code) = report(&[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(complaint.contains("no walk over the recording 0001 has a result"), "{complaint}");
    walked(place, "w both\nh\n", &["--from", "line:a.c:15"]);
    let (said, _, code) = report(&[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("**The first wrong step**: "), "{said}");
    let (said, ..) = report(&["--format", "text"]);
    assert!(said.starts_with("The first wrong step:\n  step "), "{said}");
    // A walk from another failure has another result, and a walk that ends without one keeps the last one.
    walked(place, "h\n", &["--from", "line:a.c:11"]);
    walked(place, "", &["--from", "line:a.c:15"]);
    let (said, ..) = report(&["--json"]);
    let value: Value = serde_json::from_str(&said).unwrap();
    let lines = value["explanations"].as_array().unwrap().iter().map(|walk| walk["steps"][0]["line"].clone());
    assert_eq!(lines.collect::<Vec<_>>().len(), 2, "{said}");
    let (_, complaint, code) = report(&["--format", "sarif"]);
    assert_eq!(code, Some(129), "{complaint}");
    let (_, complaint, code) = idd(place, &["report", "--recording", "7"]);
    assert_eq!(code, Some(1));
    assert!(complaint.contains("there is no recording `0007`"), "{complaint}");
}

#[test]
fn the_kind_of_fault_is_printed() {
    let place = recorded();
    let (said, _) = walked(place.path(), "w both\nw most\nm\n", &["--from", "line:a.c:15"]);
    assert!(said.contains("Code is missing before this step:\n"), "{said}");
    assert!(said.contains(": code that should have run before it is missing\n"), "{said}");
    let (said, _) = walked(place.path(), "w both\nm\n", &["--from", "line:a.c:15", "--json"]);
    let last: Value = serde_json::from_str(said.lines().rfind(|line| line.starts_with('{')).unwrap()).unwrap();
    assert_eq!((&last["result"], &last["bug"]), (&Value::from("found"), &Value::from("missing code")));
}

#[test]
fn a_walk_is_taken_up_where_it_ended() {
    let place = recorded();
    let debug = |more: &[&str]| {
        let mut words = vec!["debug", "--from", "line:a.c:15"];
        words.extend(more);
        idd(place.path(), &words)
    };
    let (first, _, _) = debug(&[]);
    assert_eq!(first.matches(". step ").count(), 1, "{first}");
    let kept = fs::read_dir(place.path().join(".git/idd/recordings/0001")).unwrap();
    let kept: Vec<_> = kept.map(|entry| entry.unwrap().path()).collect();
    let kept = kept.iter().find(|path| path.extension().is_some_and(|end| end == "answers")).unwrap();
    fs::write(kept, "w both\n").unwrap();
    let (second, said, _) = debug(&[]);
    assert_eq!(second.matches(". step ").count(), 2, "{second}");
    assert!(said.contains("Taking up an earlier walk of 1 answer; `--restart` forgets them."), "{said}");
    let (again, _, _) = debug(&["--restart"]);
    assert_eq!(again, first);
    assert_eq!(fs::read_to_string(kept).unwrap(), "");
}

/// The bodies of the responses of `git idd dap` to requests after a launch: command and arguments.
fn told_by_editor(place: &Path, requests: &[(&str, Value)]) -> Vec<Value> {
    let launch = [("launch", Value::Null)];
    let messages = launch.iter().chain(requests).map(|(command, arguments)| {
        let message = json!({"type": "request", "seq": 1, "command": command, "arguments": arguments}).to_string();
        format!("Content-Length: {}\r\n\r\n{message}", message.len())
    });
    fs::write(place.join(".git/requests"), messages.collect::<String>()).unwrap();
    let output =
        program(place).arg("dap").stdin(fs::File::open(place.join(".git/requests")).unwrap()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let messages = said
        .split("\r\n\r\n")
        .skip(1)
        .map(|text| serde_json::Deserializer::from_str(text).into_iter::<Value>().next().unwrap().unwrap());
    messages.filter(|message| message["type"] == "response").skip(1).map(|message| message["body"].clone()).collect()
}

#[test]
fn a_walk_goes_on_in_an_editor_and_in_the_terminal() {
    let place = recorded();
    let place = place.path();
    let begin = ("gitIdd/recommend", json!({"from": "line:a.c:15"}));
    let answer = |arguments: Value| ("gitIdd/answer", arguments);
    let told = told_by_editor(place, &[begin.clone(), answer(json!({"answer": "wrongValue", "values": [0]}))]);
    assert_eq!((&told[0]["judged"], &told[1]["judged"]), (&json!(0), &json!(1)), "{told:?}");
    let second = told[1]["step"].clone();

    let debug = |answers: &str| {
        fs::write(place.join(".git/typed"), answers).unwrap();
        let typed = fs::File::open(place.join(".git/typed")).unwrap();
        let output = program(place).args(["debug", "--from", "line:a.c:15"]).stdin(typed).output().unwrap();
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    };
    let said = debug("h\n");
    assert!(said.contains("[c w h p m u g z q ?] w 1\n") && said.contains("an earlier walk of 1 answer"), "{said}");
    assert!(said.contains(&format!("2. step {second}, ")) && said.contains("The first wrong step:\n"), "{said}");

    let told = told_by_editor(place, &[begin.clone(), answer(json!({"answer": "undo"}))]);
    assert_eq!((&told[0]["found"], &told[0]["judged"], &told[0]["step"]), (&json!(true), &json!(2), &second));
    assert_eq!((&told[1]["found"], &told[1]["judged"], &told[1]["step"]), (&json!(false), &json!(1), &second));
    let said = debug("");
    assert!(!said.contains("The first wrong step") && said.contains("an earlier walk of 1 answer"), "{said}");

    // Another step than the one that is asked about, and all that again from the beginning.
    told_by_editor(
        place,
        &[begin.clone(), answer(json!({"answer": "correct", "step": 1})), answer(json!({"answer": "undo"}))],
    );
    let said = debug("");
    assert!(said.contains("] g 1\n") && said.contains("] c\n") && said.contains("] z\n"), "{said}");
    let told = told_by_editor(place, &[("gitIdd/recommend", json!({"from": "line:a.c:15", "restart": true}))]);
    assert_eq!(told[0]["judged"], 0, "{told:?}");
    assert!(!debug("").contains("earlier walk"));
}

#[test]
fn programs_are_asked_by_lines_of_json() {
    let place = recorded();
    let (said, code) = walked(place.path(), "w nothing\nw both\nq\n", &["--json", "--from", "line:a.c:15"]);
    assert_eq!(code, Some(130), "{said}");
    let lines: Vec<Value> =
        said.lines().filter(|line| line.starts_with('{')).map(|line| serde_json::from_str(line).unwrap()).collect();
    let schemas: Vec<&str> = lines.iter().map(|line| line["schema"].as_str().unwrap()).collect();
    assert_eq!(
        schemas,
        ["git-idd debug question 1", "git-idd debug error 1", "git-idd debug question 1", "git-idd debug result 1"]
    );
    assert_eq!(lines[0]["line"], 15);
    let mut used = lines[0]["uses"][0].clone();
    let makers = used.as_object_mut().unwrap().remove("makers").unwrap();
    let both =
        json!({ "name": "both", "value": "16", "origin": null, "target": null, "presumed": false, "expected": false });
    assert_eq!(used, both);
    assert_eq!(makers.as_array().map(Vec::len), Some(1), "{makers}");
    assert_eq!(lines[1]["error"], "the step uses no value nothing");
    assert_eq!(lines[3]["result"], "left");
}

/// The places of the questions of a walk, and what was printed between them.
fn places(said: &str) -> Vec<String> {
    let prompt = "[c w h p m u g z q ?] ";
    let mut found = Vec::new();
    for line in said.lines() {
        let line = line.strip_prefix(prompt).unwrap_or(line);
        if let Some((_, place)) = line.split_once(". step ") {
            found.push(place.split_once(", ").unwrap().1.split("  ").next().unwrap().to_owned());
        }
    }
    found
}

#[test]
fn lines_functions_and_texts_are_gone_to() {
    let place = recorded();
    let from = ["--from", "line:a.c:15"];
    let (said, _) = walked(place.path(), "g a.c:10\nN\nN\nN\nn\n", &from);
    // The walk begins at the end of the run, so the last run of the line comes first.
    let expected = ["a.c:15, in main", "a.c:10, in main", "a.c:10, in main", "a.c:10, in main", "a.c:10, in main"];
    assert_eq!(places(&said)[..5], expected, "{said}");
    assert!(said.contains("no later run of a.c:10: this is the last one before\n"), "{said}");
    assert!(said.contains("no earlier run of a.c:10\n"), "{said}");

    let (said, _) = walked(place.path(), "g 1\ng larger\n/sum = 12\n/printf\n/larger\n", &from);
    let expected = ["a.c:10, in main", "a.c:11, in main", "a.c:14, in main", "a.c:10, in main"];
    assert_eq!(places(&said)[2..], expected, "{said}");
    assert!(said.contains("gives sum = 12\n"), "{said}");

    let (said, _) = walked(place.path(), "g nobody\ng a.c:99\n/nothing of it\nn\n", &from);
    for text in [
        "no call of nobody before or after this step; /nobody looks at functions of libraries, too\n",
        "no run of a.c:99 before or after this step\n",
        "no match of /nothing of it before or after this step\n",
        "no later match of /nothing of it\n",
    ] {
        assert!(said.contains(text), "{text}: {said}");
    }
}

#[test]
fn the_writers_of_a_variable_and_iterations_are_gone_to() {
    let place = recorded();
    let from = ["--from", "line:a.c:13"];
    // `sum` is written in each of the three iterations, and before them.
    let (said, _) = walked(place.path(), "< sum\n< 3\n< sum\n< sum\n> sum\n", &from);
    let lines = ["a.c:13", "a.c:11", "a.c:11", "a.c:11", "a.c:8", "a.c:11"].map(|line| format!("{line}, in main"));
    assert_eq!(places(&said), lines, "{said}");
    assert!(said.contains("gives sum = 3\n[c w h p m u g z q ?] \n"), "{said}");

    let (said, _) = walked(place.path(), "g a.c:11\n[\n[\n[\n]\n> i\n", &from);
    let lines = ["a.c:13", "a.c:11", "a.c:9", "a.c:9", "a.c:9", "a.c:9"].map(|line| format!("{line}, in main"));
    assert_eq!(places(&said)[..6], lines, "{said}");
    assert!(said.contains("no earlier iteration or call of the same line\n"), "{said}");
}

#[test]
fn a_step_is_the_same_from_wherever_it_is_reached() {
    let program = "#include <stdio.h>
static int twice(int n) {
    return 2 * n;
}
int main(void) {
    int sum = 0;
    for (int i = 0; i < 2000; i++)
        sum += twice(i);
    printf(\"%d\\n\", sum);
    return 1;
}
";
    let place = recording(program);
    let (said, _) = walked(place.path(), "g 7001\ng 6999\ng 7001\ng 100\ng 7001\n", &[]);
    let questions: Vec<&str> =
        said.split("\n1. step ").skip(1).map(|text| text.split("\n[c w").next().unwrap()).collect();
    assert!(questions[1].contains("in main") || questions[1].contains("in twice"), "{said}");
    assert_eq!([questions[1], questions[1]], [questions[3], questions[5]], "{said}");
    assert_ne!(questions[1], questions[2], "{said}");
}

#[test]
fn a_step_that_was_searched_for_is_kept_once_it_is_judged() {
    let place = recorded();
    fs::write(place.path().join("lines"), "g larger\nc\nq\n").unwrap();
    let lines = fs::File::open(place.path().join("lines")).unwrap();
    let words = ["debug", "--from", "line:a.c:15", "--answers", "kept"];
    let output = program(place.path()).args(words).stdin(lines).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let step = said.lines().find_map(|line| line.split_once(". step ")?.1.split_once(", a.c:10")).unwrap().0;
    assert_eq!(fs::read_to_string(place.path().join("kept")).unwrap(), format!("g {step}\nc\n"), "{said}");
}

#[test]
fn a_walk_needs_a_recording_and_a_place_where_it_fails() {
    let place = repository(GOOD, &bad());
    let (said, code) = walked(place.path(), "", &[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("nothing was recorded in this worktree"), "{said}");
    let place = recorded();
    let (said, code) = walked(place.path(), "g 100000\ng 0\nq\n", &[]);
    assert_eq!(code, Some(130), "a step that does not exist is not gone to: {said}");
    let (said, code) = walked(place.path(), "", &["--from", "line:a.c:900"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("no statement of a.c:900 ran"), "{said}");
    let (said, complaint, code) = idd(place.path(), &["debug", "--answers", ".git"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(complaint.contains("the answers in `.git` cannot be read or added to"), "{complaint}");
}

#[test]
fn a_file_that_has_no_answers_is_refused_and_left_as_it_is() {
    let place = recorded();
    let place = place.path();
    fs::write(place.join("notes.txt"), "c\n\nbuy milk").unwrap();
    for more in [&[][..], &["--restart"]] {
        let (said, complaint, code) = idd(place, &[&["debug", "--answers", "notes.txt"], more].concat());
        assert_eq!(code, Some(1), "{said}");
        assert!(complaint.contains("`notes.txt` is no file of answers: line 3 is `buy milk`"), "{complaint}");
        assert_eq!(fs::read_to_string(place.join("notes.txt")).unwrap(), "c\n\nbuy milk");
    }
}

#[test]
fn answers_come_from_standard_input_and_its_end_is_said() {
    let place = recorded();
    let place = place.path();
    let debug = |answers: &str, more: &[&str]| {
        fs::write(place.join(".git/typed"), answers).unwrap();
        let mut command = program(place);
        command
            .args(["debug", "--from", "line:a.c:15"])
            .args(more)
            .stdin(fs::File::open(place.join(".git/typed")).unwrap());
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (text(&output.stdout), text(&output.stderr), output.status.code())
    };
    let (said, complaint, code) = debug("w both\n", &["--answers", "-"]);
    assert_eq!(code, Some(130), "{said}{complaint}");
    assert_eq!(said.matches(". step ").count(), 2, "{said}");
    assert!(complaint.contains("Standard input ended before the walk; no answer is kept."), "{complaint}");
    assert!(!place.join("-").exists());
    let (said, complaint, code) = debug("h\n", &["--answers", "-"]);
    assert_eq!(code, Some(0), "nothing was kept: {said}{complaint}");
    let (_, complaint, _) = debug("w both\n", &[]);
    assert!(complaint.contains("Standard input ended before the walk; the answers are kept."), "{complaint}");
    for _ in 0..2 {
        let (_, complaint, _) = debug("g 1\nq\n", &[]);
        assert!(complaint.contains("an earlier walk of 1 answer;") && !complaint.contains("ended"), "{complaint}");
    }
    let (_, complaint, _) = debug("", &["--restart"]);
    assert!(complaint.contains("Standard input ended before the walk; no answer is kept."), "{complaint}");
}
