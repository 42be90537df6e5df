//! The outline of a text: its declarations and statements, nested.
//!
//! It comes from the syntax of a file or, if its language is not known, from brackets and indentation.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::declarations::{Declaration, fnv};
use crate::mentioned_names::tokens;
use crate::syntax::{NodeId, SyntaxTree, UnitClass};
use crate::text_lines::TextLines;

/// The kind of an item, as far as edits must respect it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemRole {
    /// Its members can be added and removed one by one: a type, a table, a preprocessor conditional.
    Container,
    /// It is applied as one version has it: a function, a control statement, a simple statement.
    Whole,
}

/// A declaration or a statement.
#[derive(Debug, Clone)]
pub(super) struct OutlineItem {
    pub(super) role: ItemRole,
    /// The kind of the syntax node. Items of different kinds are never versions of one item.
    pub(super) kind: &'static str,
    /// Its lines, for a declaration with the comment above it; half-open, 0-based.
    pub(super) lines: Range<u32>,
    /// The lines that hold tokens of its own, outside of the items inside it; ascending.
    pub(super) header_lines: Vec<u32>,
    /// The hashes of the words among these tokens, sorted.
    pub(super) header: Vec<u64>,
    /// The hashes of all its words, sorted. Signs are left out: they say little about a statement.
    pub(super) words: Vec<u64>,
    /// A hash of its own tokens in their order.
    pub(super) header_digest: u64,
    /// A hash of all its tokens in their order: equal for items that differ only in white space and comments.
    pub(super) digest: u64,
    /// The items inside it, in source order.
    pub(super) children: Vec<usize>,
    /// Its index among the declarations of the file, if it is a declaration that shares its lines with no other code.
    pub(super) declaration: Option<usize>,
    /// Whether it is a part of the statement around it, such as `else`.
    pub(super) is_clause: bool,
}

/// The items of one version of a file.
#[derive(Debug, Clone, Default)]
pub(super) struct Outline {
    /// In source order, outer ones first.
    pub(super) items: Vec<OutlineItem>,
    /// The items that are in no other item.
    pub(super) roots: Vec<usize>,
    /// For each line, the innermost item of its first token; for blank and comment lines, the innermost item around the
    /// line.
    pub(super) item_of: Vec<Option<usize>>,
}

const EMPTY_DIGEST: u64 = 0xcbf2_9ce4_8422_2325;

impl OutlineItem {
    fn new(role: ItemRole, kind: &'static str, lines: Range<u32>) -> Self {
        Self {
            role,
            kind,
            lines,
            header_lines: Vec::new(),
            header: Vec::new(),
            words: Vec::new(),
            header_digest: EMPTY_DIGEST,
            digest: EMPTY_DIGEST,
            children: Vec::new(),
            declaration: None,
            is_clause: false,
        }
    }

    /// Adds a token, which is its own or that of an item inside it.
    fn take_token(&mut self, text: &[u8], is_own: bool) {
        let hash = fnv(text);
        let append = |digest: u64| (digest.rotate_left(5) ^ hash).wrapping_mul(0x0100_0000_01b3);
        self.digest = append(self.digest);
        let is_word = !text[0].is_ascii_punctuation() || matches!(text[0], b'_' | b'"' | b'\'');
        self.words.extend(is_word.then_some(hash));
        if is_own {
            self.header_digest = append(self.header_digest);
            self.header.extend(is_word.then_some(hash));
        }
    }

    fn take_lines(&mut self, lines: Range<u32>) {
        for line in lines {
            if self.header_lines.last().is_none_or(|last| *last < line) {
                self.header_lines.push(line);
            }
        }
    }
}

impl Outline {
    /// The outline of a parsed text.
    ///
    /// - `declarations`: the declarations of the same tree.
    pub(super) fn of_tree(tree: &SyntaxTree, text: &[u8], n_lines: u32, declarations: &[Declaration]) -> Self {
        let by_node: BTreeMap<NodeId, usize> =
            declarations.iter().enumerate().map(|(index, declaration)| (declaration.node, index)).collect();
        let mut outline = Self { item_of: vec![None; n_lines as usize], ..Self::default() };
        let mut has_token = vec![false; n_lines as usize];
        let is_comma_of_row = commas_of_rows(tree);
        let mut open: Vec<(NodeId, usize)> = Vec::new();
        for (id, node) in (0..).map(NodeId).zip(tree.nodes()) {
            while open.last().is_some_and(|(above, _)| tree.node(*above).end <= id) {
                open.pop();
            }
            if let Some(class) = node.class.filter(|class| *class != UnitClass::Parameter) {
                let role = match class {
                    UnitClass::Parameter
                    | UnitClass::Declaration
                    | UnitClass::Field
                    | UnitClass::Enumerator
                    | UnitClass::Region => ItemRole::Container,
                    _ => ItemRole::Whole,
                };
                let declaration = by_node.get(&id).copied();
                let lines = declaration.map_or(node.lines.clone(), |index| declarations[index].lines.clone());
                let index =
                    outline.push(open.last().map(|(_, index)| *index), OutlineItem::new(role, node.kind, lines));
                outline.items[index].declaration = declaration;
                outline.items[index].is_clause = matches!(class, UnitClass::Clause | UnitClass::Case);
                open.push((id, index));
            }
            if !node.is_leaf || node.bytes.is_empty() || node.is_extra {
                continue;
            }
            let Some((_, innermost)) = open.last() else { continue };
            let is_own = !is_comma_of_row[id.index()];
            for (_, index) in &open {
                outline.items[*index].take_token(&text[node.bytes.clone()], is_own && index == innermost);
            }
            if !is_own {
                continue;
            }
            let lines = node.lines.start..node.lines.end.min(n_lines);
            outline.items[*innermost].take_lines(lines.clone());
            for line in lines {
                if !std::mem::replace(&mut has_token[line as usize], true) {
                    outline.item_of[line as usize] = Some(*innermost);
                }
            }
        }
        outline.finish(&has_token);
        outline
    }

    /// The outline of a text by its indentation. A line that is indented deeper than another one is inside it. A line
    /// that only closes brackets, or begins with a word that closes a block, belongs to the line that opened them.
    pub(super) fn of_text(text: &[u8], lines: &TextLines) -> Self {
        let n_lines = lines.len();
        let mut outline = Self { item_of: vec![None; n_lines as usize], ..Self::default() };
        let mut has_token = vec![false; n_lines as usize];
        // The items around the current line, each with its indentation.
        let mut open: Vec<(usize, usize)> = Vec::new();
        for line in 0..n_lines {
            let bytes = lines.slice(text, &(line..line + 1));
            let trimmed = bytes.trim_ascii();
            if trimmed.is_empty() {
                continue;
            }
            let indentation = bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            while open.last().is_some_and(|(_, around)| *around > indentation) {
                open.pop();
            }
            let is_closing = closes(trimmed) && open.last().is_some_and(|(_, around)| *around == indentation);
            if !is_closing {
                while open.last().is_some_and(|(_, around)| *around >= indentation) {
                    open.pop();
                }
                let item = OutlineItem::new(ItemRole::Whole, "line", line..line + 1);
                let index = outline.push(open.last().map(|(index, _)| *index), item);
                open.push((index, indentation));
            }
            let innermost = open.last().map(|(index, _)| *index);
            for (index, _) in &open {
                let item = &mut outline.items[*index];
                tokens(trimmed).for_each(|token| item.take_token(token, Some(*index) == innermost));
                item.lines.end = line + 1;
            }
            if let Some(index) = innermost {
                outline.items[index].take_lines(line..line + 1);
                outline.item_of[line as usize] = Some(index);
            }
            has_token[line as usize] = true;
        }
        outline.finish(&has_token);
        outline
    }

    fn push(&mut self, parent: Option<usize>, item: OutlineItem) -> usize {
        let index = self.items.len();
        match parent {
            Some(parent) => self.items[parent].children.push(index),
            None => self.roots.push(index),
        }
        self.items.push(item);
        index
    }

    /// Sorts the lists that are compared as multisets, and assigns lines without a token to the item around them.
    fn finish(&mut self, has_token: &[bool]) {
        for item in &mut self.items {
            item.header.sort_unstable();
            item.words.sort_unstable();
        }
        // Outer items come first, so the innermost one is written last.
        for (index, item) in self.items.iter().enumerate() {
            for line in item.lines.clone() {
                if has_token.get(line as usize) == Some(&false) {
                    self.item_of[line as usize] = Some(index);
                }
            }
        }
    }
}

/// For each node, whether it is a comma that belongs to the row before it, and not to the table around both: all rows of
/// the table have one, so a row can come and go alone.
fn commas_of_rows(tree: &SyntaxTree) -> Vec<bool> {
    let mut is_comma_of_row = vec![false; tree.nodes().len()];
    for table in (0..).map(NodeId).take(tree.nodes().len()) {
        let (mut commas, mut is_after_row, mut is_last_row_open) = (Vec::new(), false, false);
        for child in tree.children(table).filter(|child| !tree.node(*child).is_extra) {
            let node = tree.node(child);
            let is_row = node.class.is_some_and(|class| class != UnitClass::Parameter);
            if is_after_row && node.kind == "," {
                commas.push(child);
                is_last_row_open = false;
            }
            is_last_row_open |= is_row;
            is_after_row = is_row;
        }
        if !is_last_row_open {
            for comma in commas {
                is_comma_of_row[comma.index()] = true;
            }
        }
    }
    is_comma_of_row
}

/// Whether a line only closes a block of an earlier line.
fn closes(line: &[u8]) -> bool {
    const WORDS: [&[u8]; 5] = [b"end", b"fi", b"done", b"esac", b"endif"];
    matches!(line[0], b'}' | b')' | b']')
        || WORDS.iter().any(|word| {
            line.strip_prefix(*word).is_some_and(|rest| rest.first().is_none_or(|byte| !byte.is_ascii_alphanumeric()))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declarations::declarations;
    use crate::syntax::Language;

    /// Each item as its kind, its lines and the lines of its own, indented by depth.
    fn shown(outline: &Outline) -> Vec<String> {
        fn show(outline: &Outline, items: &[usize], depth: usize, shown: &mut Vec<String>) {
            for index in items {
                let item = &outline.items[*index];
                let (indent, kind, lines) = ("  ".repeat(depth), item.kind, &item.lines);
                shown.push(format!("{indent}{kind} {lines:?} {:?}", item.header_lines));
                show(outline, &item.children, depth + 1, shown);
            }
        }
        let mut lines = Vec::new();
        show(outline, &outline.roots, 0, &mut lines);
        lines
    }

    fn of_c(text: &str) -> Outline {
        let lines = TextLines::of(text.as_bytes());
        let tree = Language::named("c").unwrap().parse(text.as_bytes()).unwrap();
        let declarations = declarations(&tree, text.as_bytes(), &lines);
        Outline::of_tree(&tree, text.as_bytes(), lines.len(), &declarations)
    }

    #[test]
    fn statements_stand_in_statements_and_have_lines_of_their_own() {
        let outline =
            of_c("/* f */\nint f(int a)\n{\n  while (a) {\n    a--;\n\n    g(a,\n      1);\n  }\n  return 0;\n}\n");
        assert_eq!(
            shown(&outline),
            [
                "function_definition 0..11 [1, 2, 10]",
                "  while_statement 3..9 [3, 8]",
                "    expression_statement 4..5 [4]",
                "    expression_statement 6..8 [6, 7]",
                "  return_statement 9..10 [9]"
            ]
        );
        assert_eq!(outline.item_of[5], Some(1), "a blank line belongs to what is around it");
        assert_eq!(outline.item_of[0], Some(0));
    }

    #[test]
    fn the_comma_after_a_row_is_its_own_if_all_rows_have_one() {
        let header_lines = |text: &str| of_c(text).items[0].header_lines.clone();
        assert_eq!(header_lines("enum e {\n  A,\n  B, // last\n};\n"), [0, 3]);
        assert_eq!(header_lines("enum e {\n  A,\n  B\n};\n"), [0, 1, 3]);
        assert_eq!(
            of_c("enum e {\n  A,\n};\n").items[0].header_digest,
            of_c("enum e { A, B, };").items[0].header_digest
        );
    }

    #[test]
    fn white_space_and_comments_do_not_tell_items_apart() {
        let digest = |text: &str| of_c(text).items[0].digest;
        assert_eq!(digest("int f(void) { g(); }\n"), digest("int f(void)\n{\n  /* x */ g();\n}\n"));
        assert_ne!(digest("int f(void) { g(); }\n"), digest("int f(void) { h(); }\n"));
    }

    #[test]
    fn without_a_grammar_indentation_and_brackets_say_what_stands_in_what() {
        let text = "fn f() {\n    if a {\n        b();\n    }\n}\nkey: x\n  sub: y\ndo\n  z\ndone\n";
        assert_eq!(
            shown(&Outline::of_text(text.as_bytes(), &TextLines::of(text.as_bytes()))),
            [
                "line 0..5 [0, 4]",
                "  line 1..4 [1, 3]",
                "    line 2..3 [2]",
                "line 5..7 [5]",
                "  line 6..7 [6]",
                "line 7..10 [7, 9]",
                "  line 8..9 [8]"
            ]
        );
    }
}
