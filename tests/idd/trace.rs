//! `git idd trace` on small C programs.

use std::process::Output;

use serde_json::Value;

use crate::fixture::Fixture;

/// A list, calls, a loop, a structure, input, and arguments.
const PROGRAM: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct item { int weight; char name[8]; struct item *next; };
static int total = 7;
static struct item *push(struct item *list, int weight, const char *name) {
    struct item *made = malloc(sizeof *made);
    made->weight = weight;
    strcpy(made->name, name);
    made->next = list;
    return made;
}
static int sum(struct item *list) {
    int result = 0;
    while (list != NULL) {
        result += list->weight;
        list = list->next;
    }
    return result;
}
int main(int argc, char **argv) {
    struct item *list = NULL;
    double half = 0.5;
    char letter = argv[1][1];
    for (int i = 0; i < argc; i++) {
        list = push(list, i * 10, argv[i]);
    }
    total = total + sum(list);
    printf("%d %c %f\n", total, letter, half);
    return total == 37;
}
"#;

fn recorded() -> Fixture {
    let script = format!("cat >a.c <<'END'\n{PROGRAM}END\ngit add a.c && git commit -qm one");
    let fixture = Fixture::of(&script);
    let output = fixture.run(&["record", "--build", "$CC -o a a.c", "--", "./a", "xyz"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fixture
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json(fixture: &Fixture, args: &[&str]) -> Value {
    let args: Vec<&str> = ["trace"].iter().chain(args).chain(&["--json"]).copied().collect();
    serde_json::from_str(&text(&fixture.run(&args))).unwrap()
}

/// The steps whose line of source has this text, in order.
fn steps(fixture: &Fixture, line: &str) -> Vec<Value> {
    let n_steps = json(fixture, &["stat"])["n_steps"].as_u64().unwrap();
    let all = (1..=n_steps).map(|step| json(fixture, &["step", &step.to_string()]));
    all.filter(|step| step["text"].as_str() == Some(line)).collect()
}

fn named<'v>(list: &'v Value, name: &str) -> &'v Value {
    list.as_array().unwrap().iter().find(|entry| entry["name"] == name).unwrap_or(&Value::Null)
}

#[test]
fn steps_show_what_they_read_and_write_and_what_they_depend_on() {
    let fixture = recorded();
    let sums = steps(&fixture, "result += list->weight;");
    assert_eq!(sums.len(), 2);
    let last = &sums[1];
    assert_eq!(named(&last["variables"], "result")["value"], "10");
    assert_eq!(named(&last["writes"], "result")["value"], "10");
    assert_eq!(last["instance"], 2);
    // What was added before, the pointer, and the weight; the test of the loop decided.
    assert_eq!(last["data_dominators"].as_array().unwrap().len(), 3, "{last}");
    let control = json(&fixture, &["step", &last["control_dominator"].to_string()]);
    assert_eq!(control["text"], "while (list != NULL) {");
    let weight = &named(&last["reads"], "result")["made_by"];
    assert_eq!(*weight, Value::from(vec![sums[0]["step"].clone()]));

    let initial = &steps(&fixture, "total = total + sum(list);")[0];
    assert_eq!(named(&initial["reads"], "total")["origin"], "initial value of total");
    assert_eq!(named(&initial["writes"], "total")["value"], "17");
    let copy = &steps(&fixture, "strcpy(made->name, name);")[1];
    assert_eq!(copy["calls"][0]["arguments"][1], "\"xyz\"");
    let letter = &steps(&fixture, "char letter = argv[1][1];")[0];
    assert_eq!(named(&letter["reads"], "argv[1][1]")["value"], "121 'y'");
    assert_eq!(named(&letter["variables"], "letter")["value"], "?");
}

#[test]
fn the_tree_has_calls_with_values_and_loops_with_their_iterations() {
    let fixture = recorded();
    let tree = json(&fixture, &["tree"]);
    let main = &tree["calls"][0];
    assert_eq!(main["function"], "main");
    let [pushes, sum] = &main["children"].as_array().unwrap()[..] else { panic!("{main}") };
    assert_eq!((&pushes["n_iterations"], &pushes["line"]), (&2.into(), &25.into()));
    let second = &pushes["children"][1];
    assert_eq!((&second["function"], &second["iteration"]), (&"push".into(), &1.into()));
    assert_eq!(second["arguments"][1]["value"], "10");
    assert_eq!((&sum["result"], &sum["children"][0]["n_iterations"]), (&"10".into(), &2.into()));

    let narrow = text(&fixture.run(&["trace", "tree", "--depth", "2", "--width", "1"]));
    insta::assert_snapshot!(narrow.lines().skip(1).collect::<Vec<_>>().join("\n"), @r"
      loop, 2 times  a.c:25 #6  for (int i = 0; i < argc; i++) {
        ... 2 more
      ... 1 more
    ");
}

#[test]
fn why_follows_definitions_to_arguments_and_constants() {
    let fixture = recorded();
    let end = &steps(&fixture, "return total == 37;")[0]["step"];
    let why = json(&fixture, &["why", &end.to_string(), "total", "--limit", "50"]);
    assert_eq!(why["variable"]["value"], "17");
    let lines: Vec<&str> = why["steps"].as_array().unwrap().iter().filter_map(|step| step["text"].as_str()).collect();
    assert_eq!(lines[0], "total = total + sum(list);");
    for expected in
        ["return result;", "result += list->weight;", "made->weight = weight;", "for (int i = 0; i < argc; i++) {"]
    {
        assert!(lines.contains(&expected), "{expected}: {lines:?}");
    }
    assert!(!lines.contains(&"double half = 0.5;"));
    let letter = text(&fixture.run(&["trace", "why", &end.to_string(), "letter"]));
    assert!(letter.contains("argument of the program: argv[1][1]"), "{letter}");
}

#[test]
fn trace_says_what_is_not_there() {
    let fixture = recorded();
    for (args, expected) in [
        (&["trace", "step", "0"][..], "there is no such step"),
        (&["trace", "step", "4000000000"], "there is no such step"),
        (&["trace", "why", "3", "nosuch"], "no variable `nosuch` is seen at step 3"),
        (&["trace", "stat", "--recording", "../x"], "there is no recording `../x`"),
        (&["trace", "stat", "--process", "7"], "there is no such process"),
    ] {
        let output = fixture.run(args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(expected), "{args:?}: {said}");
    }
}
