use super::*;
use proptest::prelude::*;

fn merge(language: &str, base: &str, ours: &str, patched: &str) -> Option<(String, Rung)> {
    let language = Language::named(language).unwrap();
    let merged = merge_syntax(language, base.as_bytes(), ours.as_bytes(), patched.as_bytes());
    merged.map(|(text, rung)| (String::from_utf8(text).unwrap(), rung))
}

#[track_caller]
fn check(language: &str, base: &str, ours: &str, patched: &str, expected: Option<&str>) {
    let merged = merge(language, base, ours, patched);
    assert_eq!(merged.as_ref().map(|(text, _)| text.as_str()), expected);
    assert!(merged.is_none_or(|(_, rung)| rung == Rung::Syntax));
}

#[track_caller]
fn check_renamed(language: &str, base: &str, ours: &str, patched: &str, expected: &str) {
    assert_eq!(merge(language, base, ours, patched), Some((expected.to_owned(), Rung::Renamed)));
}

#[test]
fn an_edit_is_carried_into_a_reformatted_function() {
    check(
        "c",
        "int f(int a) {\n  int b = a + 1;\n  return b * 2;\n}\n",
        "int f(int a)\n{\n    int b = a+1;\n    return b*2;\n}\n",
        "int f(int a) {\n  int b = a + 1;\n  log(b);\n  return b * 3;\n}\n",
        Some("int f(int a)\n{\n    int b = a+1;\n    log(b);\n    return b*3;\n}\n"),
    );
}

#[test]
fn what_the_patch_brings_is_indented_as_the_lines_of_that_depth_are() {
    check(
        "c",
        "void f(int a) {\n  if (a)\n    g();\n  h();\n}\n",
        "void f(int a) {\n\tif (a)\n\tg();\n\th();\n}\n",
        "void f(int a) {\n  if (a)\n    g();\n  /* now */\n  k(\n    1);\n  h();\n}\n",
        Some("void f(int a) {\n\tif (a)\n\tg();\n\t/* now */\n\tk(\n\t1);\n\th();\n}\n"),
    );
}

#[test]
fn a_patch_that_only_reformats_leaves_the_edit_of_ours() {
    check(
        "c",
        "int f(void) { return 1; }\n",
        "int f(void) { return 2; }\n",
        "int f(void)\n{\n  return 1;\n}\n",
        Some("int f(void)\n{\n  return 2;\n}\n"),
    );
}

#[test]
fn edits_of_neighbouring_statements_go_together() {
    check(
        "c",
        "void f(void) {\n  one(1);\n  two(2);\n}\n",
        "void f(void) {\n  one(11);\n  two(2);\n}\n",
        "void f(void) {\n  one(1);\n  two(22);\n}\n",
        Some("void f(void) {\n  one(11);\n  two(22);\n}\n"),
    );
}

#[test]
fn neighbouring_statements_of_which_one_gives_a_value_to_a_name_of_the_other_conflict() {
    let base = "void f(void) { x = read(); set(value, x); next(); }\n";
    let unwrapped = "void f(void) { x = read(); if (is_list(x)) x = first(x); set(value, x); next(); }\n";
    let first = "void f(void) { x = read(); set(value, first(x)); next(); }\n";
    check("c", base, unwrapped, first, None);
    check("c", base, first, unwrapped, None);
    let apart = "void f(void) { x = read(); set(value, x); if (is_list(x)) x = first(x); next(); }\n";
    let both = "void f(void) { x = unpack(read()); set(value, x); if (is_list(x)) x = first(x); next(); }\n";
    check("c", base, apart, "void f(void) { x = unpack(read()); set(value, x); next(); }\n", Some(both));
}

#[test]
fn edits_of_the_same_token_or_of_near_ones_conflict() {
    let base = "void f(void) { x = a + b; }\n";
    check("c", base, "void f(void) { x = c + b; }\n", "void f(void) { x = d + b; }\n", None);
    check("c", base, "void f(void) { x = c + b; }\n", "void f(void) { x = a + d; }\n", None);
}

#[test]
fn two_edits_of_a_statement_go_together_only_if_one_puts_names_for_names() {
    let base = "void f(void) { check(size(list.of(1, 2, 3)), 0); }\n";
    let renamed = "void f(void) { verify(size(list.of(1, 2, 3)), 0); }\n";
    let edited = "void f(void) { check(size(list.of(1, 2, 3)), 1, x); }\n";
    check("c", base, renamed, edited, Some("void f(void) { verify(size(list.of(1, 2, 3)), 1, x); }\n"));
    check("c", base, "void f(void) { verify(y, size(list.of(1, 2, 3)), 0); }\n", edited, None);
}

#[test]
fn a_statement_that_both_edit_in_part_alike_conflicts() {
    check(
        "java",
        "class A { void t() { assertTrue(els.get(2).attr().length() == 0); } }\n",
        "class A { void t() { assertTrue(els.get(2).attr().isEmpty()); } }\n",
        "class A { void t() { assertEquals(0, els.get(2).attr().length()); } }\n",
        None,
    );
}

#[test]
fn statements_added_by_both_at_one_place_conflict() {
    check(
        "c",
        "void f(void) {\n  one();\n}\n",
        "void f(void) {\n  one();\n  two();\n}\n",
        "void f(void) {\n  one();\n  three();\n}\n",
        None,
    );
}

#[test]
fn declarations_added_by_both_at_one_place_are_kept_ours_first() {
    check(
        "c",
        "#include <a.h>\n\nint f(void) { return 1; }\n",
        "#include <a.h>\n#include <b.h>\n\nint f(void) { return 1; }\n\nint g(void) { return 2; }\n",
        "#include <a.h>\n#include <c.h>\n\nint f(void) { return 1; }\n\nint h(void) { return 3; }\n",
        Some(
            "#include <a.h>\n#include <b.h>\n#include <c.h>\n\nint f(void) { return 1; }\n\nint g(void) { return 2; }\n\n\
             int h(void) { return 3; }\n",
        ),
    );
}

#[test]
fn an_import_deleted_by_both_does_not_conflict() {
    check(
        "java",
        "import a.A;\nimport b.B;\nclass C {\n  int n = 1;\n}\n",
        "import a.A;\nclass C {\n  int n = 2;\n}\n",
        "import a.A;\nclass C {\n  int n = 1;\n  int k;\n}\n",
        Some("import a.A;\nclass C {\n  int n = 2;\n  int k;\n}\n"),
    );
}

#[test]
fn declarations_added_by_both_with_one_name_conflict_unless_they_are_the_same() {
    let base = "class A {\n  void a() { }\n}\n";
    let added = |body: &str| format!("class A {{\n  void a() {{ }}\n  void b() {{ {body} }}\n}}\n");
    check("java", base, &added("x();"), &added("y();"), None);
    let ours = "class A {\n  void b() { x(); }\n  void a() { }\n}\n";
    check("java", base, ours, &added("x();"), Some(ours));
}

#[test]
fn enumerators_added_by_both_are_kept_ours_first() {
    check(
        "c",
        "enum e { A, B };\n",
        "enum e { A, B, C };\n",
        "enum e { A, B, D };\n",
        Some("enum e { A, B, C, D };\n"),
    );
}

#[test]
fn an_edit_follows_a_function_that_moved() {
    check(
        "c",
        "int f(void) { return 1; }\n\nint g(void) { return 2; }\n\nint h(void) { return 3; }\n",
        "int g(void) { return 2; }\n\nint h(void) { return 3; }\n\nint f(void) { return 1; }\n",
        "int f(void) { return 10; }\n\nint g(void) { return 2; }\n\nint h(void) { return 3; }\n",
        Some("int g(void) { return 2; }\n\nint h(void) { return 3; }\n\nint f(void) { return 10; }\n"),
    );
}

#[test]
fn an_edit_follows_a_function_into_a_region() {
    check(
        "c",
        "int f(void) { return 1; }\nint g(void) { return 2; }\n",
        "#ifdef A\nint f(void) { return 1; }\n#endif\nint g(void) { return 2; }\n",
        "int f(void) { return 10; }\nint g(void) { return 2; }\n",
        Some("#ifdef A\nint f(void) { return 10; }\n#endif\nint g(void) { return 2; }\n"),
    );
}

#[test]
fn what_one_side_deletes_and_the_other_edits_conflicts() {
    let base = "int f(void) { return 1; }\nint g(void) { return 2; }\nint h;\n";
    let edited = "int f(void) { return 10; }\nint g(void) { return 2; }\nint h;\n";
    let deleted = "int g(void) { return 2; }\nint h;\n";
    check("c", base, edited, deleted, None);
    check("c", base, deleted, edited, None);
}

#[test]
fn a_deletion_of_a_declaration_that_was_only_reformatted_is_carried() {
    check(
        "c",
        "int f(void) { return 1; }\nint g(void) { return 2; }\nint h;\n",
        "int f(void)\n{\n\treturn 1;\n}\nint g(void)\n{\n\treturn 2;\n}\nint h;\n",
        "int g(void) { return 2; }\nint h;\n",
        Some("int g(void)\n{\n\treturn 2;\n}\nint h;\n"),
    );
}

#[test]
fn an_edit_is_not_carried_to_a_new_function_that_looks_like_the_old_one() {
    let function = |name: &str, n: u32| format!("int {name}(int x)\n{{\n  call{n}({n}, x);\n  return x;\n}}\n");
    let ours = function("f", 5) + &function("g", 7);
    check("c", &function("f", 7), &ours, &function("f", 5), None);
}

#[test]
fn a_label_that_ours_moved_and_the_patch_deletes_conflicts() {
    check(
        "c",
        "void f(void) {\n  a();\nloop:\n  b();\n  goto loop;\n}\n",
        "void f(void) {\nloop:\n  a();\n  b();\n  goto loop;\n}\n",
        "void f(void) {\n  a();\n  b();\n  c();\n}\n",
        None,
    );
}

#[test]
fn a_statement_that_ours_moved_and_the_patch_deletes_conflicts() {
    check(
        "java",
        "class A {\n  void add(String name) {\n    check(name, 1);\n    put(name);\n  }\n  void build(String name) {\n    go();\n  }\n}\n",
        "class A {\n  void add(String name) {\n    put(name);\n  }\n  void build(String name) {\n    check(name, 1);\n    go();\n  }\n}\n",
        "class A {\n  void add(String name) {\n    put(name);\n    more(name);\n  }\n  void build(String name) {\n    go();\n  }\n}\n",
        None,
    );
}

#[test]
fn new_names_of_ours_are_used_in_what_the_patch_brings() {
    check_renamed(
        "c",
        "int f(int n) {\n  int i = n;\n  use(i);\n  return OLD_OK;\n}\nint g(void) { return OLD_OK; }\nint h(void) { return OLD_OK; }\n",
        "int f(int n) {\n  int at = n;\n  use(at);\n  return NEW_OK;\n}\nint g(void) { return NEW_OK; }\nint h(void) { return NEW_OK; }\n",
        "int f(int n) {\n  int i = n;\n  if (i > 3) return OLD_OK;\n  use(i);\n  return OLD_OK;\n}\nint g(void) { return OLD_OK; }\nint h(void) { return OLD_OK; }\n",
        "int f(int n) {\n  int at = n;\n  if (at > 3) return NEW_OK;\n  use(at);\n  return NEW_OK;\n}\nint g(void) { return NEW_OK; }\nint h(void) { return NEW_OK; }\n",
    );
}

#[test]
fn a_name_that_ours_lacks_in_most_places_was_not_renamed() {
    let replaced = |name: &str| ["a", "b", "c"].map(|one| format!("void {one}({name} *x, int n);\n")).concat();
    let lost = |name: &str| ["d", "e"].map(|one| format!("int {one}({name});\n")).concat();
    let base = replaced("State") + &lost("State *x");
    let merged = merge("c", &base, &(replaced("Object") + &lost("void")), &(base.clone() + "int f(State *x);\n"));
    let expected = replaced("Object") + &lost("void") + "int f(State *x);\n";
    assert_eq!(merged.map(|(text, _)| text), Some(expected));
    check_renamed(
        "c",
        &base,
        &(replaced("Object") + &lost("Object *x")),
        &(base.clone() + "int f(State *x);\n"),
        &(replaced("Object") + &lost("Object *x") + "int f(Object *x);\n"),
    );
}

#[test]
fn an_edit_follows_a_method_that_was_renamed() {
    check(
        "java",
        "class A {\n  int count(int[] xs) {\n    int n = 0;\n    for (int x : xs) n += x;\n    return n;\n  }\n}\n",
        "class A {\n  int sum(int[] xs) {\n    int n = 0;\n    for (int x : xs) n += x;\n    return n;\n  }\n}\n",
        "class A {\n  int count(int[] xs) {\n    int n = 1;\n    for (int x : xs) n += x;\n    return n;\n  }\n}\n",
        Some("class A {\n  int sum(int[] xs) {\n    int n = 1;\n    for (int x : xs) n += x;\n    return n;\n  }\n}\n"),
    );
}

#[test]
fn comments_never_conflict_and_those_of_ours_stay() {
    check(
        "c",
        "/* one */\nint f(void) { return 1; } // end\n",
        "/* two */\nint f(void) { return 1; } // end\n",
        "/* three */\nint f(void) { return 2; } // the end\n",
        Some("/* two */\nint f(void) { return 2; } // the end\n"),
    );
}

#[test]
fn what_a_version_control_system_wrote_does_not_conflict() {
    let text = |n: u32, value: u32| format!("char *id = \"$Id: a.c,v 1.{n} $\";\nint f(void) {{ return {value}; }}\n");
    check("c", &text(1, 1), &text(2, 1), &text(3, 7), Some(&text(2, 7)));
}

#[test]
fn directives_stay_on_their_lines() {
    check(
        "c",
        "#define A(x) #x\n#define B 1\nint f(void) {\n  return 1;\n}\n",
        "#define A(x)   #x\n#define B 1\nint f(void)\n{\n  return 1;\n}\n",
        "#define A(x) #x\n#define B 2\n#define C 3\nint f(void) {\n#ifdef C\n  g();\n#endif\n  return 1;\n}\n",
        Some("#define A(x)   #x\n#define B 2\n#define C 3\nint f(void)\n{\n#ifdef C\n  g();\n#endif\n  return 1;\n}\n"),
    );
}

#[test]
fn a_statement_wrapped_by_the_patch_keeps_the_edit_of_ours() {
    check(
        "c",
        "void f(int a) {\n  send(a, b, c, d, e, 1);\n  done();\n}\n",
        "void f(int a) {\n  send(a, b, c2, d, e, 1);\n  done();\n}\n",
        "void f(int a) {\n  if (a)\n    send(a, b, c, d, e, 1);\n  done();\n}\n",
        Some("void f(int a) {\n  if (a)\n    send(a, b, c2, d, e, 1);\n  done();\n}\n"),
    );
}

#[test]
fn a_directive_stays_behind_the_comment_that_begins_the_file() {
    assert_eq!(merge("c", "", "/**/#a", "").map(|(text, _)| text), Some("/**/#a".to_owned()));
}

#[test]
fn deep_and_huge_texts_are_conflicts_and_nothing_worse() {
    let c = Language::named("c").unwrap();
    let deep = format!("int x = {}1{};\n", "(".repeat(50_000), ")".repeat(50_000)).into_bytes();
    assert_eq!(merge_syntax(c, b"int x;\n", &deep, b"int y;\n"), None);
    let huge = "int x;\n".repeat(200_000).into_bytes();
    assert_eq!(merge_syntax(c, b"int x;\n", &huge, b"int y;\n"), None);
    assert_eq!(merge_syntax(c, b"int x;\n", b"int\0x;\n", b"int y;\n"), None);
}

/// A file of functions of some statements each. Bodies are numbers below 10.
fn file(bodies: &[Vec<u8>]) -> String {
    let function = |(index, body): (usize, &Vec<u8>)| {
        let lines = body.iter().map(|n| format!("    call{n}({n}, x);\n")).collect::<Vec<_>>().concat();
        format!("/* {index} */\nint f{index}(int x)\n{{\n{lines}    return x;\n}}\n\n")
    };
    bodies.iter().enumerate().map(function).collect()
}

fn bodies() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(prop::collection::vec(0_u8..10, 0..4), 1..5)
}

proptest! {
    #[test]
    fn what_only_one_side_changes_is_taken(base in bodies(), other in bodies()) {
        let (base, other) = (file(&base), file(&other));
        let taken = Some((other.clone(), Rung::Syntax));
        prop_assert_eq!(merge("c", &base, &base, &other), taken.clone());
        prop_assert_eq!(merge("c", &base, &other, &base), taken);
    }

    #[test]
    fn any_text_gives_ours_back_under_an_empty_patch(base in "[a-z(){};#\" \n/*]{0,60}", other in "[a-z(){};#\" \n/*]{0,60}") {
        if let Some((text, _)) = merge("c", &base, &other, &base) {
            prop_assert_eq!(text, other);
        }
    }

    #[test]
    fn edits_of_different_functions_go_together(
        base in prop::collection::vec(prop::collection::vec(0_u8..10, 1..4), 2..5),
        ours in prop::collection::vec(0_u8..10, 1..4),
        patched in prop::collection::vec(0_u8..10, 1..4),
        at in (0_usize..4, 1_usize..4),
    ) {
        let one = at.0 % base.len();
        let two = (one + 1 + at.1 % (base.len() - 1)) % base.len();
        let edit = |edits: &[(usize, &Vec<u8>)]| {
            let mut bodies = base.clone();
            for (at, body) in edits {
                bodies[*at] = (*body).clone();
            }
            file(&bodies)
        };
        let merged = merge("c", &file(&base), &edit(&[(one, &ours)]), &edit(&[(two, &patched)]));
        prop_assert_eq!(merged, Some((edit(&[(one, &ours), (two, &patched)]), Rung::Syntax)));
    }

    #[test]
    fn a_merge_is_the_same_whichever_side_is_ours_but_for_order(base in bodies(), one in bodies(), two in bodies()) {
        let (base, one, two) = (file(&base), file(&one), file(&two));
        let sorted = |merged: Option<(String, Rung)>| merged.map(|(text, _)| {
            let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            words.sort();
            words
        });
        let (forth, back) = (merge("c", &base, &one, &two), merge("c", &base, &two, &one));
        if forth.is_some() && back.is_some() {
            prop_assert_eq!(sorted(forth), sorted(back));
        }
    }
}
