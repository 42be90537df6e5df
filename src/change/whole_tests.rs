//! Tests of whole edits.

use crate::group::Group;
use crate::syntax::Language;
use crate::{ChangeSet, EntryContent, EntryMode, FileDivision, FilePair, FileSide, Level};

fn change_set(path: &str, older: &str, newer: &str) -> ChangeSet {
    let side = |text: &str| {
        Some(FileSide {
            path: path.into(),
            mode: EntryMode::Regular,
            content: EntryContent::Bytes(text.as_bytes().into()),
        })
    };
    let language = match path.rsplit('.').next() {
        Some("c") => Language::named("c"),
        Some("java") => Language::named("java"),
        Some("py") => Language::named("python"),
        _ => None,
    };
    let pairs = vec![FilePair { older: side(older), newer: side(newer) }];
    ChangeSet::divided(pairs, |_| language.map_or(FileDivision::Lines, FileDivision::Syntax)).with_whole_edits()
}

/// Each edit as the lines of its patch, without indentation, `/` between them.
#[track_caller]
fn check(path: &str, older: &str, newer: &str, expected: &[&str]) {
    let set = change_set(path, older, newer);
    let shown = set.groups(Level::Line).iter().map(|group| {
        let mut lines = Vec::new();
        for unit in &set.subset(group) {
            let text = set.describe(unit);
            for (sign, bytes) in [('-', text.deleted), ('+', text.inserted)] {
                if !bytes.is_empty() {
                    lines.push(format!("{sign}{}", String::from_utf8_lossy(bytes.trim_ascii())));
                }
            }
        }
        lines.join(" / ")
    });
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}

/// A function of C around some lines.
fn body(lines: &str) -> String {
    format!("int f(int a)\n{{\n{lines}}}\n")
}

#[track_caller]
fn check_body(older: &str, newer: &str, expected: &[&str]) {
    check("a.c", &body(older), &body(newer), expected);
}

#[test]
fn a_replaced_statement_is_one_edit_also_over_several_lines() {
    check_body("  return n * 2;\n", "  return n / 2;\n", &["-return n * 2; / +return n / 2;"]);
    check_body(
        "  g(a,\n    b);\n  h();\n",
        "  g(a,\n    c,\n    d);\n  i();\n  h();\n",
        &["+c, / -b); / +d);", "+i();"],
    );
    check_body("  x();\n  y(1);\n", "  z(2, 3, 4);\n  y(2);\n", &["-x(); / +z(2, 3, 4);", "-y(1); / +y(2);"]);
}

#[test]
fn a_header_of_another_kind_replaces_the_statement_and_one_of_the_same_kind_is_an_edit() {
    check_body(
        "  while (p != NULL) {\n    free(p);\n    p = p->next;\n  }\n",
        "  switch (p->kind) {\n    free(p);\n    q = p->next;\n  }\n",
        &["-while (p != NULL) { / +switch (p->kind) { / -p = p->next; / +q = p->next;"],
    );
    check_body(
        "  while (p) {\n    free(p);\n    p = p->next;\n  }\n",
        "  while (p && p->x) {\n    free(p);\n    p = p->last;\n  }\n",
        &["-while (p) { / +while (p && p->x) {", "-p = p->next; / +p = p->last;"],
    );
}

#[test]
fn a_control_statement_comes_and_goes_with_its_body() {
    check_body("  a();\n", "  a();\n  for (;;) {\n    b();\n    c();\n  }\n", &["+for (;;) { / +b(); / +c(); / +}"]);
    check_body("  if (a)\n    b();\n  c();\n", "  c();\n", &["-if (a) / -b();"]);
}

#[test]
fn a_wrapper_comes_with_the_indentation_of_what_it_wraps_and_changes_inside_are_apart() {
    check_body(
        "  a();\n  b(1);\n  c();\n",
        "  if (x) {\n    a();\n    b(2);\n    c();\n  }\n",
        &["+if (x) { / -a(); / +a(); / -c(); / +c(); / +}", "-b(1); / +b(2);"],
    );
    check_body("  if (x) {\n  a();\n  b();\n  }\n", "  a();\n  b();\n", &["-if (x) { / -}"]);
}

#[test]
fn a_header_with_another_body_comes_and_goes_with_it() {
    check(
        "a.py",
        "def f(a):\n    if removed:\n        drop(a)\n    elif extra:\n        keep(a)\n",
        "def f(a):\n    if error:\n        errors.append(error)\n    elif removed:\n        drop(a)\n    elif extra:\n        keep(a)\n",
        &["-if removed: / +if error: / +errors.append(error) / +elif removed:"],
    );
}

#[test]
fn a_clause_that_is_added_beside_a_replaced_body_is_an_edit_of_its_own() {
    check(
        "a.py",
        "def f(a):\n    if isinstance(a, list):\n        for b in a:\n            g(b)\n    h()\n",
        "def f(a):\n    if isinstance(a, list):\n        names += evaluated(a)\n    elif isinstance(a, Sum):\n        walk(a)\n    h()\n",
        &["-for b in a: / -g(b) / +names += evaluated(a)", "+elif isinstance(a, Sum): / +walk(a)"],
    );
}

#[test]
fn a_statement_that_moves_is_one_edit() {
    check_body(
        "  a(1);\n  b(2);\n  if (x != NULL)\n    y = transform(x);\n  c(3);\n",
        "  if (x != NULL)\n    y = transform(x);\n  a(1);\n  b(2);\n  c(3);\n",
        &["+if (x != NULL) / +y = transform(x); / -if (x != NULL) / -y = transform(x);"],
    );
}

#[test]
fn a_body_is_not_emptied() {
    check_body(
        "  int i;\n  i = first(a);\n  return i;\n",
        "  struct list *list = open_list();\n  walk(list);\n  close(list);\n",
        &["-int i; / -i = first(a); / +struct list *list = open_list(); / -return i; / +walk(list); / +close(list);"],
    );
}

#[test]
fn a_function_comes_as_a_whole_with_its_comment_and_each_on_its_own() {
    check(
        "a.c",
        "int z;\n",
        "/* One. */\nint f(void)\n{\n  a();\n\n  return 1;\n}\n\nint g(void)\n{\n  return 2;\n}\n\nint z;\n",
        &[
            "+/* One. */ / +int f(void) / +{ / +a(); / + / +return 1; / +} / +",
            "+int g(void) / +{ / +return 2; / +} / +",
        ],
    );
}

#[test]
fn a_comment_is_one_edit() {
    check(
        "a.c",
        "/* one\n * two\n * three\n */\nint a;\n",
        "/* uno\n * due\n * tre\n */\nint b;\n",
        &["-/* one / +/* uno / -* two / +* due / -* three / +* tre", "-int a; / +int b;"],
    );
    check(
        "a.c",
        "/* one\n * two\n */\nint a;\n",
        "/* uno\n * due\n */\nint a;\n",
        &["-/* one / +/* uno / -* two / +* due"],
    );
    check_body("  a();\n", "  /* why\n   * not */\n  a();\n", &["+/* why / +* not */"]);
}

#[test]
fn rows_of_a_table_and_members_of_a_type_are_edits_of_their_own() {
    check(
        "a.c",
        "struct s {\n  int a;\n  int b;\n};\n",
        "struct s {\n  int a;\n  long b;\n  int c;\n};\n",
        &["-int b; / +long b;", "+int c;"],
    );
}

#[test]
fn each_replaced_row_of_a_table_is_an_edit() {
    check(
        "a.c",
        "struct unit t[] = {\n    { \"metre\", \"length\", 1 * 1e1 },\n    { \"inch\", \"length\", 2 * 1e1 },\n};\n",
        "struct unit t[] = {\n    { \"metre\", \"length\", 1e1 * 1 },\n    { \"inch\", \"length\", 1e1 * 2 },\n};\n",
        &[
            "-{ \"metre\", \"length\", 1 * 1e1 }, / +{ \"metre\", \"length\", 1e1 * 1 },",
            "-{ \"inch\", \"length\", 2 * 1e1 }, / +{ \"inch\", \"length\", 1e1 * 2 },",
        ],
    );
}

#[test]
fn java_and_python_have_the_same_edits() {
    check(
        "A.java",
        "class A {\n  int f() {\n    return 1;\n  }\n}\n",
        "class A {\n  int f() {\n    try {\n      return 1;\n    } catch (E e) {\n      log(e);\n    }\n  }\n\n  int g() {\n    return 2;\n  }\n}\n",
        &["+try { / -return 1; / +return 1; / +} catch (E e) { / +log(e); / +}", "+ / +int g() { / +return 2; / +}"],
    );
    check(
        "a.py",
        "def f(a):\n    x = 1\n    y = 2\n    return x\n",
        "def f(a):\n    if a:\n        x = 1\n        y = 2\n    z(3)\n    return x\n",
        &["+if a: / -x = 1 / +x = 1 / -y = 2 / +y = 2", "+z(3)"],
    );
}

#[test]
fn without_a_grammar_brackets_and_indentation_tell_edits() {
    check(
        "a.rs",
        "fn f() {\n    a();\n}\n",
        "fn f() {\n    a();\n    for x in y {\n        b();\n    }\n    c();\n}\n",
        &["+for x in y { / +b(); / +}", "+c();"],
    );
    check("a.txt", "one\ntwo\nthree\n", "one\n2\n3\nthree\n", &["-two / +2 / +3"]);
    check("a.txt", "a b c\nd e f\n", "a b x\nd e y\n", &["-a b c / +a b x", "-d e f / +d e y"]);
}

#[test]
fn a_declaration_has_its_own_layout_and_not_that_of_its_neighbours() {
    let old = |n: u32| format!("def f{n}( a,b ):\n    if( a<b ): return {{'x':a,'y':b}}\n    return [ a,b,{n} ]\n");
    let new = |n: u32| {
        let sign = if n == 1 { "<=" } else { "<" };
        format!(
            "def f{n}(a, b):\n    if a {sign} b:\n        return {{\"x\": a, \"y\": b}}\n    return [a, b, {n}]\n\n\n"
        )
    };
    let set = change_set("a.py", &(0..3).map(old).collect::<String>(), &(0..3).map(new).collect::<String>());
    let has_decision =
        |group: &&Group| set.subset(group).iter().any(|unit| set.describe(unit).inserted.contains(&b'='));
    let decision = set.groups(Level::Line).iter().find(has_decision).unwrap();
    let wide = set.widened(&set.subset(decision), Level::Unit);
    let text = |unit| String::from_utf8_lossy(set.describe(unit).inserted).trim().to_owned();
    let lines: Vec<String> = wide.iter().map(text).filter(|text| !text.is_empty()).collect();
    assert_eq!(lines, ["def f1(a, b):", "if a <= b:", "return {\"x\": a, \"y\": b}", "return [a, b, 1]"]);
}
