use std::fmt::Write;

use proptest::prelude::*;

use super::*;

mod languages;

/// The units of a text: class, name, lines.
fn units(language: &str, text: &str) -> String {
    let tree = Language::named(language).unwrap().parse(text.as_bytes()).unwrap();
    let mut shown = format!("{} errors\n", tree.n_errors());
    for (id, class) in tree.units() {
        let node = tree.node(id);
        let depth = tree.ancestors(id).filter(|id| tree.node(*id).class.is_some()).count();
        let name = node.declared.as_ref().map_or("", |declared| &text[declared.name.clone()]);
        let signature = node.declared.as_ref().and_then(|declared| declared.signature.clone());
        let signature = signature.map_or("", |signature| &text[signature]);
        let lines = &node.lines;
        let indent = "  ".repeat(depth);
        writeln!(shown, "{indent}{class:?} {name}{signature} {}..{}", lines.start, lines.end).unwrap();
    }
    shown
}

#[test]
fn units_of_c_are_found_with_their_names() {
    let text = "#include <stdio.h>\n#define MAX(a) (a)\nstruct point { int x, y;\n  char *name; };\nstatic int n = 3;\n\
        enum { RED,\n GREEN };\n#ifdef A\nint f(int a)\n#else\nint f(void)\n#endif\n{\n  if (n)\n    return 1;\n  else {\n    n++;\n  }\n\
        switch (n) { case 1: n = 2; break; }\n}\nchar **g(void) { return 0; }\n";
    insta::assert_snapshot!(units("c", text));
}

#[test]
fn units_of_java_are_found_with_their_names() {
    let text = "package a;\nimport java.util.List;\nclass A extends B {\n  private int n = 1;\n  A() { }\n\
        int f(int x) {\n    for (int i : xs) {\n      n += i;\n    }\n    return n;\n  }\n  enum E { X, Y }\n}\n";
    insta::assert_snapshot!(units("java", text));
}

/// C as it is written: macros that keep names, macros before and in declarations, functions in the old style,
/// conditionals.
#[test]
fn units_of_c_that_only_the_preprocessor_makes_c_are_found_with_their_names() {
    let text = "\
#ifdef __cplusplus
extern \"C\" {
#endif
BOX_API int (box_open) (const char *path, BoxMode mode);
BOX_API const char *(box_error) (Box *box) {
  return cast(Shape *, box)->error;
}
int BOX_CALL box_close(Box BOX_FAR *box) {
  return 0;
}
BOX_API
Box *box_new(void) {
  return NULL; /* BOX_API int never; */
}
local int old(a, b)
    int a;
    char *b;
{
  return a;
}
__attribute__((noreturn)) static inline void die(void) { abort(); }
typedef int (BOX_CALL *box_visit) (Box *box);
struct later;
BOX_TABLE(shapes, 3)
#if defined(BOX_WIDE)
typedef long side;
#else
typedef int side;
#endif
static const Entry entries[] = {
  {\"a\", 1},
  [2] = {\"b\", 2},
};
union value { int n; void (*visit)(int); char *words[4]; };
#undef BOX_API
#ifdef __cplusplus
}
#endif
";
    insta::assert_snapshot!(units("c", text));
}

#[test]
fn units_of_a_table_of_macros_are_found_with_their_arguments() {
    insta::assert_snapshot!(units("c", "COLOUR(red, 0xff0000)\nCOLOUR(green, 0x00ff00)\nSHADE(blue, 1, \"b\")\n"));
}

#[test]
fn units_of_newer_java_are_found_with_their_names() {
    let text = "\
module a.b { requires c; }
record Point(int x, int y) implements Shape {
  Point { check(x); }
  static int n;
}
@interface Marked { int level() default 1; }
sealed interface Shape<T extends Number> permits Point { T area(); default int sides() { return 0; } }
enum Colour {
  RED(1) { @Override int code() { return 1; } },
  GREEN(2);
  Colour(int n) { this(n, 0); }
}
class Box<T> {
  { ready = true; }
  @Deprecated
  <U> U map(Function<T, U> f) {
    list.forEach(x -> { use(x); });
    switch (kind) {
      case A -> use(1);
      default -> { use(2); }
    }
    return f.apply(t);
  }
}
";
    insta::assert_snapshot!(units("java", text));
}

#[test]
fn units_of_python_are_found_with_their_names() {
    let text = "\
from __future__ import annotations
import os.path as path
from . import box
SIDES = {\"a\": 1, \"b\": 2}
type Pair = tuple[int, int]

@cache
@traced(level=1)
def area(shape, *rest, unit: str = \"m\") -> int:
    \"\"\"Gives the area.\"\"\"
    if shape is None:
        return 0
    elif rest:
        total = 1
    else:
        raise ValueError(shape)
    for side in rest:
        total += side
    try:
        with lock:
            pass
    except OSError as error:
        print(f\"{error}\")
    finally:
        done()
    match shape:
        case Box(n):
            total = n
        case _:
            pass
    return total

class Box(Shape):
    sides: int = 4

    @property
    def size(self):
        def inner():
            yield 1
        return lambda x: x

async def main():
    await area(1)

if __name__ == \"__main__\":
    main()
";
    insta::assert_snapshot!(units("python", text));
}

#[test]
fn a_word_that_the_parser_is_not_shown_is_a_leaf_of_what_it_stands_before() {
    let text = "// API\nAPI int f(char FAR *p);\n";
    let tree = Language::named("c").unwrap().parse(text.as_bytes()).unwrap();
    let unseen: Vec<_> = (0..).map(NodeId).zip(tree.nodes()).filter(|(_, node)| node.kind == "unseen").collect();
    let shown = |id: NodeId| (tree.node(id).kind, &text[tree.node(id).bytes.clone()]);
    let shown: Vec<_> = unseen.into_iter().map(|(id, node)| (shown(id).1, shown(node.parent.unwrap()))).collect();
    assert_eq!(shown, [("API", ("declaration", "API int f(char FAR *p);")), ("FAR", ("pointer_declarator", "FAR *p"))]);
    assert_eq!(tree.n_errors(), 0);
}

#[test]
fn of_two_patterns_for_a_node_the_later_one_gives_the_class() {
    let tree = Language::named("c").unwrap().parse(b"TABLE(a, 1);\nvoid f(void) { g(); }\n").unwrap();
    let calls: Vec<_> = tree.units().filter(|(id, _)| tree.node(*id).kind == "expression_statement").collect();
    assert_eq!(
        calls.iter().map(|(_, class)| *class).collect::<Vec<_>>(),
        [UnitClass::Declaration, UnitClass::Statement]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// For every text: nodes are in preorder, children are inside their parents and do not overlap, and every visible
    /// byte is in a token.
    #[test]
    fn a_tree_is_nested_and_its_tokens_are_the_text(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "API", "FAR", "int", "x", "f", "(", ")", "{", "}", "*", ",", ";", "\n", "\n#if A\n", "\n#endif\n", "\n#define B ",
                "// c", "/* c */", "\"s\"", "'c'", "=", "static", "const", "extern \"C\" {", "\n#ifdef __cplusplus\n", "local", "é",
                "\"", "'", "/*", "\\\n", "def f():", "class", "\n  ", "#[a]", "@a", "fn f() {", "`", "${", "export", "func", "template<class T>", "=>",
            ]),
            0..40,
        ),
    ) {
        let text = words.join(" ");
        for language in Language::all() {
            let tree = language.parse(text.as_bytes()).unwrap();
            for id in (0..tree.nodes().len()).map(|index| NodeId(number(index))) {
                let node = tree.node(id);
                let mut at = node.bytes.start;
                for child in tree.children(id) {
                    let bytes = &tree.node(child).bytes;
                    prop_assert!(at <= bytes.start && bytes.end <= node.bytes.end, "{} {:?} in {:?}", node.kind, bytes, node.bytes);
                    prop_assert_eq!(tree.node(child).parent, Some(id));
                    // An empty node can be on the line after its parent.
                    let lines = &tree.node(child).lines;
                    prop_assert!(node.lines.start <= lines.start && (lines.end <= node.lines.end || bytes.is_empty()));
                    at = bytes.end;
                }
                let n_lines_before = text[..node.bytes.start].matches('\n').count();
                prop_assert_eq!(node.lines.start as usize, n_lines_before);
            }
            let mut visible = text.as_bytes().to_vec();
            for id in tree.tokens(tree.root()) {
                visible[tree.node(id).bytes.clone()].fill(b' ');
            }
            if tree.n_errors() == 0 {
                let left = String::from_utf8_lossy(&visible).replace("\\\n", "");
                prop_assert_eq!(left.trim(), "");
            }
        }
    }
}

#[test]
fn an_error_is_counted_and_a_hostile_text_is_answered_in_time() {
    let c = Language::named("c").unwrap();
    assert_eq!(c.n_errors(b"int f(void) { return 1; }\n"), Some(0));
    assert!(c.n_errors(b"int f(void) { return 1; \n").unwrap() > 0);
    assert_eq!(c.parse(&vec![b'x'; MAX_BYTES + 1]), None);
    assert_eq!(c.parse(b"int\0"), None);
    let deep = "{".repeat(100_000);
    assert_eq!(c.parse(deep.as_bytes()), None);
    let flat = "( ".repeat(100_000);
    assert_eq!(c.parse(flat.as_bytes()), None);
}

#[test]
fn preorder_numbers_say_who_is_below_whom() {
    let tree = Language::named("c").unwrap().parse(b"int a;\nint b = 1;\n").unwrap();
    let children: Vec<&str> = tree.children(tree.root()).map(|id| tree.node(id).kind).collect();
    assert_eq!(children, ["declaration", "declaration"]);
    let tokens: Vec<_> = tree.tokens(tree.root()).map(|id| tree.node(id).kind).collect();
    assert_eq!(
        tokens,
        ["primitive_type", "identifier", ";", "primitive_type", "identifier", "=", "number_literal", ";"]
    );
    assert!(tree.descendants(tree.root()).all(|id| tree.ancestors(id).last() == Some(tree.root())));
}
