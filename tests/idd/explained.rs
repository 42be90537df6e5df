//! What explanations say: names, values, instances, where they begin.

use std::fs;

use crate::explain::{explained, link, links, repository};
use crate::fixture::Fixture;
use crate::plain::{git, idd};

/// What is printed for people about the difference of the two versions.
fn said(good: &str, bad: &str, test: &str) -> String {
    let place = repository(good, bad);
    let build = "cc -pthread -o a a.c";
    let words = ["explain", "--bad", "HEAD", "--good", "HEAD~1", "--build", build, "--", test];
    let (said, complaint, code) = idd(place.path(), &words);
    assert_eq!(code, Some(0), "{said}{complaint}");
    said
}

/// Sorts numbers into a list by insertion; `main` and `sorted` both call a node `it`, `total` calls it `one`.
const SORTED: &str = "#include <stdio.h>
#include <stdlib.h>

struct item { struct item *next; int key; };

static struct item *sorted(struct item *all, struct item *it)
{
    struct item *at = all;
    if (all == NULL || it->key < all->key) {
        it->next = all;
        return it;
    }
    while (at->next != NULL && at->next->key < it->key)
        at = at->next;
    it->next = at->next;
    at->next = it;
    return all;
}

static int total(const struct item *all)
{
    int sum = 0, n = 1;
    for (const struct item *one = all; one != NULL; one = one->next)
        sum += n++ * one->key;
    return sum;
}

int main(void)
{
    static const int keys[] = { 5, 2, 8, 3 };
    struct item *head = NULL;
    for (int i = 0; i < 4; i++) {
        struct item *it = malloc(sizeof *it);
        it->key = keys[i];
        it->next = NULL;
        head = sorted(head, it);
    }
    printf(\"%d\\n\", total(head));
    return 0;
}
";

#[test]
fn explain_names_parts_of_the_heap_as_their_statement_sees_them_and_tells_what_pointers_lead_to() {
    let bad = SORTED.replace("at->next->key < it->key", "at->next->key > it->key");
    let place = repository(SORTED, &bad);
    let explanation = explained(place.path(), "test $(./a) = 55", &[]);
    let found = links(&explanation);
    let item = |next: &str, key: u32| format!("-> struct item {{next = {next}, key = {key}}}");
    let expected = link(16, "at->next", &item("NULL", 3), &item("NULL", 8));
    assert!(found.contains(&expected), "{found:?}");
    // `it` is no variable of `total`, and `one` none of `sorted`.
    for (line, variable, value, reference) in &found {
        let is_of = |name: &str| variable.split(['-', '.', '[']).next() == Some(name);
        assert!(!is_of("it") || *line < 20, "{line} {variable}");
        assert!(!is_of("one") || *line > 20, "{line} {variable}");
        assert!(![value, reference].iter().any(|value| value.contains("0x") || value.contains("step")), "{found:?}");
    }
    // Each link says which run of its statement it is.
    let loops = explanation["chain"].as_array().unwrap().iter().filter(|link| link["line"] == 24);
    let instances: Vec<_> = loops.map(|link| (link["instance"].clone(), link["of"].clone())).collect();
    assert_eq!(instances.last(), Some(&(4.into(), 4.into())), "{explanation}");
    let increment = explanation["chain"].as_array().unwrap().iter().find(|link| link["line"] == 23).unwrap();
    assert_eq!(increment["part"], "increment", "{explanation}");
    assert_eq!(explanation["failure"]["of"], 1);
    let variables = explanation["sets"].as_array().unwrap().iter().flat_map(|set| set["variables"].as_array().unwrap());
    assert!(variables.clone().count() > 0 && variables.clone().all(|name| name != "it->next->next->next->next"));
}

#[test]
fn explain_of_a_project_in_another_language_says_which_ones_it_knows() {
    let fixture = Fixture::of("for n in 1 2 3; do echo \"exit $((n / 2))\" > a.sh; commit \"change $n\"; done");
    fixture.said(&["--until", "change", "sh a.sh"], 0);
    let (_, said) = fixture.said(&["explain"], 1);
    assert!(said.contains("has no source in C, C++ or Java, and only these are recorded"), "{said}");
    assert!(!said.contains("Building"), "{said}");
}

/// The added line keeps a pointer to a block whose place another block takes later.
#[test]
fn explain_does_not_tell_what_was_written_later_behind_a_pointer() {
    let program = |line: &str| {
        format!(
            "#include <stdio.h>
#include <stdlib.h>

struct item {{ struct item *last; int key; }};

int main(void)
{{
    struct item *head = malloc(sizeof *head), *old = malloc(sizeof *old), *one;
    head->last = NULL;
    old->last = NULL;
    old->key = 3;
{line}    free(old);
    one = malloc(sizeof *one);
    one->last = NULL;
    one->key = 4;
    printf(\"%d\\n\", head->last == one);
    return head->last == one;
}}
"
        )
    };
    let said = said(&program(""), &program("    head->last = old;\n"), "./a");
    assert!(said.contains("head->last is given -> a block that was freed since"), "{said}");
    assert!(!said.contains("is given -> struct item {last = NULL, key = 4}"), "{said}");
}

#[test]
fn explain_writes_text_and_places_of_variables_and_the_parts_of_a_for() {
    let good = "#include <stdio.h>

struct node { const char *name; int key; struct node *left, *right; };

static struct node tree[3] = { { \"root\", 5, NULL, NULL }, { \"ann\", 3, NULL, NULL }, { \"bob\", 8, NULL, NULL } };

static void set(struct node **place, struct node *value)
{
    *place = value;
}

int main(void)
{
    const char *name = \"none\";
    set(&tree[0].right, &tree[2]);
    for (struct node *p = tree; p != NULL; p = p->right)
        name = p->name;
    puts(name);
    return 0;
}
";
    let said = said(good, &good.replace("&tree[2])", "&tree[1])"), "test $(./a) = bob");
    let expected = "HEAD fails; HEAD~1 passes:

* a.c:15  set.value is given &tree[1] (reference &tree[2]); the reference has set(&tree[0].right, &tree[2]) here
      set(&tree[0].right, &tree[2]);
  ... the same value in a.c:9 (tree[0].right), a.c:16 (increment, 1st time of 2) (p) ...
  a.c:17 (2nd time of 2)  name is given \"ann\" (reference \"bob\")
      name = p->name;
  a.c:18  thus the program says \"ann\\n\" (reference \"bob\\n\")
      puts(name);

It begins with the change: the values that the change uses are the same in both runs.
note: 2 of 4 links are shown; -v shows all
";
    assert_eq!(said, expected.replace("set(&tree[0].right, &tree[2]);\n", "set(&tree[0].right, &tree[1]);\n"));
}

#[test]
fn explain_says_that_a_difference_comes_with_the_arguments_or_from_another_thread() {
    let executing = "#include <stdio.h>
#include <unistd.h>

static int rate(int n)
{
    return n * 3;
}

int main(int argc, char **argv)
{
    char text[32];
    if (argc > 1) {
        printf(\"total %s\\n\", argv[1]);
        return 0;
    }
    snprintf(text, sizeof text, \"%d\", rate(4));
    execl(\"./a\", \"a\", text, (char *)NULL);
    return 2;
}
";
    let told = said(executing, &executing.replace("n * 3", "n + 3"), "./a | grep -q 12");
    let expected = "It comes from outside of this process, which was started as `a 7` (reference `a 12`).";
    assert!(told.contains(expected) && !told.contains("it is made where it is seen"), "{told}");

    let threaded = "#include <pthread.h>
#include <stdio.h>

static int total;

static void *work(void *arg)
{
    total += *(int *)arg * 2;
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int arg = 3;
    pthread_create(&thread, NULL, work, &arg);
    pthread_join(thread, NULL);
    printf(\"%d\\n\", total);
    return 0;
}
";
    let told = said(threaded, &threaded.replace("* 2", "* 3"), "test $(./a) = 6");
    assert!(told.contains("has several threads") && !told.contains("it is made where it is seen"), "{told}");
    assert!(told.contains("9 (reference 6)") && !told.contains("stays"), "{told}");
}

#[test]
fn explain_says_which_function_brought_in_what_another_process_made() {
    let good = "#include <stdio.h>

int main(int argc, char **argv)
{
    char line[32];
    int n = 0;
    FILE *file = fopen(\"data\", argc > 1 ? \"w\" : \"r\");
    if (argc > 1)
        return fprintf(file, \"%d\\n\", 3 * 4) < 0;
    if (fgets(line, sizeof line, file) == NULL || sscanf(line, \"%d\", &n) != 1)
        return 1;
    printf(\"%d\\n\", n + 1);
    return n != 12;
}
";
    let told = said(good, &good.replace("3 * 4", "3 + 4"), "./a w && ./a");
    assert!(told.contains("It comes from outside of this process: `fgets` read it."), "{told}");
    assert!(!told.contains("* a.c"), "{told}");
}

#[test]
fn explain_tells_blocks_that_look_the_same_apart_by_where_they_were_made() {
    let good = "#include <stdio.h>
#include <stdlib.h>

struct cell { int n; };

static struct cell *make(int n)
{
    struct cell *cell = malloc(sizeof *cell);
    cell->n = n;
    return cell;
}

int main(void)
{
    struct cell *a = make(0), *b = make(0), *c;
    c = b;
    c->n++;
    b->n++;
    printf(\"%d %d\\n\", a->n, b->n);
    return 0;
}
";
    let place = repository(good, &good.replace("c = b", "c = a"));
    let found = links(&explained(place.path(), "test \"$(./a)\" = '0 2'", &[]));
    let made = |nth: &str| format!("-> struct cell {{n = 0}} made in line 8, {nth} time");
    assert_eq!(found[0], link(16, "c", &made("1st"), &made("2nd")), "{found:?}");
    assert!(found.contains(&link(17, "c->n", "1", "0")), "{found:?}");
}

#[test]
fn explain_marks_the_decision_that_an_added_else_hangs_on() {
    let good = "#include <stdio.h>

static int shape(int kind, int n)
{
    int area = 1;
    if (kind == 1)
        area = n * n;
    area = area + n;
    return area;
}

int main(void)
{
    printf(\"%d\\n\", shape(1, 4));
    return 0;
}
";
    let place = repository(good, &good.replace("n * n;\n", "n * n;\n    else\n"));
    let explanation = explained(place.path(), "test $(./a) = 20", &[]);
    let first = &explanation["chain"][0];
    assert_eq!((&first["line"], &first["kind"], &first["in_change"]), (&6.into(), &"change".into(), &true.into()));
    assert!(explanation["beginning"].as_str().unwrap().contains("begins with the change"), "{explanation}");
    assert!(explanation["remarks"][0].as_str().unwrap().contains("changed line a.c:8 runs; line 6"), "{explanation}");
}

#[test]
fn explain_names_the_null_pointer_of_a_crash_and_switches_what_leads_there() {
    let program = "#include <stdio.h>

static const char *names[] = { \"ann\", \"bob\", \"cyd\", NULL, \"eve\" };
static int is_short;

static int cost(int i)
{
    const char *name = names[i];
    int n = 0;
    if (is_short)
        name = \"x\";
    while (name[n] != 0)
        n++;
    return n;
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 5; i++)
        sum += cost(i);
    printf(\"%d\\n\", sum);
    return 0;
}
";
    let place = repository("int main(void) { return 0; }\n", program);
    let words = ["explain", "-v", "--json", "--switch", "-q", "--build", "cc -o a a.c", "--", "./a"];
    let (said, complaint, code) = idd(place.path(), &words);
    assert_eq!((code, &*complaint), (Some(0), ""), "{said}");
    let explanation: serde_json::Value = serde_json::from_str(&said).unwrap();
    // To do nothing at all (line 20) would also make it pass.
    assert_eq!((&explanation["switched"]["line"], &explanation["switched"]["instance"]), (&10.into(), &4.into()));
    assert_eq!(links(&explanation).last(), Some(&link(8, "name", "NULL", "\"x\"")), "{explanation}");
    let what = "the program is killed by signal 11: name is NULL (reference: exits with 0)";
    assert_eq!(explanation["failure"]["what"], what);
}

/// One program with the places that changes below touch.
const PARTED: &str = "#include <stdio.h>
#define WIDTH 8
#define ROOM (WIDTH + 1)

static int sized(void)
{
    return ROOM * 2;
}

static int half(int n)
{
    return n / 2;
}

static int positive(int n)
{
    int found = n;
    if (n < 0)
        return 0;
    found = found + 1;
    return found;
}

int main(void)
{
    int kept = half(40) > 10 && half(60) > 20;
    printf(\"%d\\n\", sized());
    printf(\"%d\\n\", positive(-3));
    printf(\"%d\\n\", kept);
    return 0;
}
";

/// The line and the kind of the first link, and whether it is in the change.
fn first(good: &str, bad: &str) -> (u64, String, bool) {
    let place = repository(good, bad);
    let explanation = explained(place.path(), "test \"$(./a | xargs)\" = '18 0 1'", &[]);
    let link = &explanation["chain"][0];
    (link["line"].as_u64().unwrap(), link["kind"].as_str().unwrap().to_owned(), link["in_change"].as_bool().unwrap())
}

#[test]
fn a_chain_begins_at_the_lines_that_expand_a_changed_macro() {
    assert_eq!(first(PARTED, &PARTED.replace("WIDTH 8", "WIDTH 9")), (7, "return".to_owned(), true));
}

#[test]
fn a_chain_begins_where_the_runs_part_if_a_check_is_taken_away() {
    let bad = PARTED.replace("    if (n < 0)\n        return 0;\n", "    /* if (n < 0) return 0; */\n");
    let (line, _, is_in_change) = first(PARTED, &bad);
    assert!((17..=19).contains(&line) && is_in_change, "{line}");
}

#[test]
fn a_chain_begins_in_a_call_whose_value_an_and_uses() {
    assert_eq!(first(PARTED, &PARTED.replace("n / 2", "n / 3")), (12, "return".to_owned(), true));
}

#[test]
fn a_store_that_an_arm_lacks_is_missing_in_that_arm() {
    let good = "#include <stdio.h>
int main(void)
{
    char text[] = \"a_b-c_d\", *at = text;
    int seen = 0;
    while (*at) {
        switch (*at) {
        case '_': *at = ' '; break;
        case '-': *at = '+'; break;
        }
        if (*at == 'c') {
            *at = 'C';
        }
        seen++;
        at++;
    }
    printf(\"%d %s\\n\", seen, text);
    return 0;
}
";
    let rewritten = good.replace("        seen++;\n        at++;\n", "        seen++, at++;\n");
    for (from, to, line, missing) in [
        ("'_': *at = ' '; break;", "'_': break;", 8, "has case '_': *at = ' '; break here"),
        ("            *at = 'C';\n", "", 12, "also has *at = 'C' here"),
    ] {
        let said = said(good, &rewritten.replace(from, to), "test \"$(./a)\" = '7 a b+C d'");
        let first = said.lines().find(|line| line.starts_with("* ")).unwrap();
        assert!(first.starts_with(&format!("* a.c:{line} ")) && first.contains(" stays "), "{said}");
        assert!(first.ends_with(missing), "{said}");
    }
}

#[test]
fn a_crash_behind_an_array_of_variable_length_is_in_its_own_statement() {
    let good = "#include <stdio.h>
int main(int argc, char **argv)
{
    int rows = argc + 1;
    int sums[rows][argc + 2];
    int *at;
    sums[1][2] = 4;
    at = &sums[1][2];
    sums[0][0] = *at + (int)sizeof sums;
    printf(\"%d\\n\", sums[0][0]);
    return 0;
}
";
    let place = repository(good, &good.replace("at = &sums[1][2]", "at = NULL"));
    let explanation = explained(place.path(), "./a", &[]);
    let found = links(&explanation);
    assert_eq!(found.iter().map(|link| (link.0, &*link.1, &*link.2)).collect::<Vec<_>>(), [(8, "at", "NULL")]);
    assert_eq!(explanation["failure"]["line"], 9);
}

#[test]
fn a_signal_that_the_program_sends_to_itself_is_explained() {
    for send in ["raise(SIGUSR1)", "kill(getpid(), SIGUSR2)"] {
        let good = "#define _GNU_SOURCE\n#include <signal.h>\n#include <unistd.h>\nint main(void)\n{\n    int limit = 1;\n    int value = 2 * limit;\n    if (value > 2)\n        SEND;\n    return 0;\n}\n".replace("SEND", send);
        let place = repository(&good, &good.replace("limit = 1", "limit = 3"));
        let found = links(&explained(place.path(), "./a", &[]));
        let expected = [link(6, "limit", "3", "1"), link(7, "value", "6", "2"), link(8, "", "true", "false")];
        assert_eq!(found, expected, "{send}");
    }
}

#[test]
fn changed_lines_are_found_in_files_with_unusual_names() {
    let place = repository("int n;\n", "int m;\n");
    for limit in [1, 3] {
        let text = format!("int main(void)\n{{\n    int limit = {limit};\n    return limit > 2;\n}}\n");
        fs::write(place.path().join("sp ace\n.c"), text).unwrap();
        git(place.path(), &["add", "."]);
        git(place.path(), &["commit", "--quiet", "-m", "Another version"]);
    }
    let words = ["explain", "--bad", "HEAD", "--good", "HEAD~1", "--build", "cc -o a sp*.c", "--", "./a"];
    let (said, complaint, code) = idd(place.path(), &words);
    assert_eq!(code, Some(0), "{said}{complaint}");
    assert!(!said.contains("no changed line runs") && said.contains("limit = 3"), "{said}{complaint}");
}

#[test]
fn a_hunt_with_explain_says_how_the_change_leads_to_the_failure_or_why_that_is_not_known() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    git(place, &["init", "--quiet", "."]);
    fs::write(place.join(".gitignore"), "a\n").unwrap();
    let program = |limit: u32| {
        format!(
            "#include <stdio.h>\nint main(void)\n{{\n    int limit = {limit};\n    int twice = limit * 2;\n    printf(\"%d\\n\", twice);\n    return twice > 9;\n}}\n"
        )
    };
    for limit in [3, 4, 5, 6] {
        fs::write(place.join("a.c"), program(limit)).unwrap();
        git(place, &["add", "."]);
        git(place, &["commit", "--quiet", "-m", &format!("limit {limit}")]);
    }
    let words = ["--explain", "--build", "cc -o a a.c", "./a"];
    let (said, progress, code) = idd(place, &words);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(said.contains("limit 5"), "{said}");
    assert!(said.contains("\nwhy:") && said.contains("limit is given 5 (reference 4)"), "{said}");
    assert!(!said.contains("git idd explain"), "the next step is done\n{said}");
    let (shown, _, _) = idd(place, &["show"]);
    assert!(shown.contains("\nwhy:"), "{shown}");
    let (said, _, _) = idd(place, &["--json", "resume"]);
    assert!(said.contains("\"explanations\""), "{said}");
    // What cannot be explained is still found.
    fs::write(place.join("t.sh"), "! grep -q 'limit = [56]' a.c\n").unwrap();
    let (said, progress, code) = idd(place, &["--explain", "sh", "./t.sh"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(said.contains("limit 5") && progress.contains("The finding is not explained: "), "{said}{progress}");
}
