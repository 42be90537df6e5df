//! The declarations of a text as ranges of lines, and the pairs of declarations that correspond in two versions.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::ops::Range;

use crate::pairing;
use crate::syntax::{Language, NodeId, SyntaxNode, SyntaxTree};
use crate::text_lines::TextLines;

/// The least share of common lines, in thousandths, at which two declarations of different names can be one renamed
/// declaration.
const MIN_SIMILARITY: u32 = 500;

/// The maximum number of pairs of nameless or renamed declarations that are compared in one body.
const MAX_COMPARED: usize = 4096;

/// A declaration that shares its lines with no other code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Declaration {
    pub(super) node: NodeId,
    pub(super) kind: &'static str,
    pub(super) name: Vec<u8>,
    /// Its name, and the parts that distinguish it from others of that name, without white space.
    signature: Vec<u8>,
    /// Its lines, with the comment right above it: half-open, 0-based.
    pub(super) lines: Range<u32>,
    /// The index of the declaration that contains it; smaller than its own.
    pub(super) parent: Option<usize>,
    /// The sorted hashes of its lines without indentation.
    content: Vec<u64>,
}

/// The declarations of a parsed text in source order, outer ones first.
///
/// Only declarations that share their lines with no other code. If several are on one line, none of them is in the
/// result.
pub(super) fn declarations(tree: &SyntaxTree, text: &[u8], lines: &TextLines) -> Vec<Declaration> {
    let mut found: Vec<Declaration> = Vec::new();
    let mut open: Vec<(NodeId, usize)> = Vec::new();
    let comments = comment_lines(tree, text, lines);
    for (id, class) in tree.units() {
        let node = tree.node(id);
        while open.last().is_some_and(|(above, _)| tree.node(*above).end <= id) {
            open.pop();
        }
        if !class.is_declaration() || !has_lines_alone(node, text, lines) {
            continue;
        }
        let parent = open.last().map(|(_, index)| *index);
        // A local declaration that is not a member (a local type) is a part of its statement.
        let first = parent.map_or(0, |parent| found[parent].lines.start);
        let mut start = node.lines.start;
        while start > first && comments.get(start as usize - 1) == Some(&true) {
            start -= 1;
        }
        let lines_of_it = start..node.lines.end;
        let slice = |range: Range<usize>| text.get(range).unwrap_or_default();
        let name = node.declared.as_ref().map(|declared| slice(declared.name.clone()).to_vec()).unwrap_or_default();
        let mut signature = name.clone();
        if let Some(range) = node.declared.as_ref().and_then(|declared| declared.signature.clone()) {
            signature.extend(slice(range).iter().filter(|byte| !byte.is_ascii_whitespace()));
        }
        let content = content(text, lines, &lines_of_it);
        open.push((id, found.len()));
        found.push(Declaration { node: id, kind: node.kind, name, signature, lines: lines_of_it, parent, content });
    }
    found
}

/// For each line: whether it contains a part of a comment and nothing else.
pub(super) fn comment_lines(tree: &SyntaxTree, text: &[u8], lines: &TextLines) -> Vec<bool> {
    let mut is_comment = vec![false; lines.len() as usize];
    for node in tree.nodes().iter().filter(|node| node.is_extra && node.is_leaf) {
        if has_lines_alone(node, text, lines) {
            node.lines.clone().for_each(|line| is_comment[line as usize] = true);
        }
    }
    is_comment
}

/// Whether the lines of a node contain nothing else, apart from white space and the punctuation after it.
pub(super) fn has_lines_alone(node: &SyntaxNode, text: &[u8], lines: &TextLines) -> bool {
    if node.lines.end > lines.len() {
        return false;
    }
    let whole = lines.bytes(&node.lines);
    let before = &text[whole.start..node.bytes.start.max(whole.start)];
    let behind = &text[node.bytes.end.min(whole.end)..whole.end];
    before.iter().all(u8::is_ascii_whitespace)
        && behind.iter().all(|byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b';'))
}

fn content(text: &[u8], lines: &TextLines, range: &Range<u32>) -> Vec<u64> {
    let mut hashes: Vec<u64> = range
        .clone()
        .map(|line| lines.slice(text, &(line..line + 1)).trim_ascii())
        .filter(|line| !line.is_empty())
        .map(fnv)
        .collect();
    hashes.sort_unstable();
    hashes
}

/// FNV-1a, because it is the same in every build.
pub(super) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The similarity of two declarations, in thousandths.
pub(super) fn similarity(older: &Declaration, newer: &Declaration) -> u32 {
    pairing::similarity(&older.content, &newer.content)
}

/// Matches declarations: pairs of older and newer indices, ascending in the older ones.
///
/// Under parents that match, declarations match by signature first, then by name, in source order. The remaining ones
/// match by similarity if half of their lines agree (renamed). Last, declarations with the same signature under
/// different parents match (moved), if the signature is unique on both sides.
///
/// Source: the order (names before structure) is that of the matchers after Chawathe et al. 1996. Deviations: only
/// declarations are matched; their content is compared as lines.
pub(super) fn matches(language: &Language, older: &[Declaration], newer: &[Declaration]) -> Vec<(usize, usize)> {
    let mut matching =
        DeclarationMatching { older, newer, of_older: vec![None; older.len()], of_newer: vec![None; newer.len()] };
    let (members_of_older, members_of_newer) = (members(older), members(newer));
    let mut bodies = vec![(None, None)];
    while let Some((older_parent, newer_parent)) = bodies.pop() {
        let rows = members_of_older.get(&older_parent).map_or(&[][..], Vec::as_slice);
        let columns = members_of_newer.get(&newer_parent).map_or(&[][..], Vec::as_slice);
        matching.by_key(rows, columns, |one| Some((one.kind, &one.signature[..])).filter(|key| !key.1.is_empty()));
        matching.by_key(rows, columns, |one| Some((one.kind, &one.name[..])).filter(|key| !key.1.is_empty()));
        matching.by_key(rows, columns, |one| Some((one.kind, &one.content[..])));
        matching.by_content(language, rows, columns);
        bodies.extend(rows.iter().filter_map(|row| Some((Some(*row), Some(matching.of_older[*row]?)))));
    }
    matching.elsewhere();
    let pairs = matching.of_older.iter().enumerate();
    pairs.filter_map(|(row, column)| Some((row, (*column)?))).collect()
}

/// The declarations in each body, by the index of the declaration that has the body.
fn members(declarations: &[Declaration]) -> BTreeMap<Option<usize>, Vec<usize>> {
    let mut members: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (index, declaration) in declarations.iter().enumerate() {
        members.entry(declaration.parent).or_default().push(index);
    }
    members
}

struct DeclarationMatching<'a> {
    older: &'a [Declaration],
    newer: &'a [Declaration],
    of_older: Vec<Option<usize>>,
    of_newer: Vec<Option<usize>>,
}

impl<'a> DeclarationMatching<'a> {
    fn join(&mut self, row: usize, column: usize) {
        self.of_older[row] = Some(column);
        self.of_newer[column] = Some(row);
    }

    fn free(&self, rows: &[usize], columns: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let rows = rows.iter().copied().filter(|row| self.of_older[*row].is_none());
        let columns = columns.iter().copied().filter(|column| self.of_newer[*column].is_none());
        (rows.collect(), columns.collect())
    }

    /// Matches declarations with equal keys: the first with the first, and so on.
    fn by_key<K: Eq + Hash + 'a>(
        &mut self,
        rows: &[usize],
        columns: &[usize],
        key: impl Fn(&'a Declaration) -> Option<(&'static str, &'a [K])>,
    ) {
        let (rows, columns) = self.free(rows, columns);
        let mut waiting: HashMap<_, Vec<usize>> = HashMap::new();
        for column in columns.into_iter().rev() {
            if let Some(key) = key(&self.newer[column]) {
                waiting.entry(key).or_default().push(column);
            }
        }
        for row in rows {
            if let Some(key) = key(&self.older[row])
                && let Some(column) = waiting.get_mut(&key).and_then(Vec::pop)
            {
                self.join(row, column);
            }
        }
    }

    fn by_content(&mut self, language: &Language, rows: &[usize], columns: &[usize]) {
        let (rows, columns) = self.free(rows, columns);
        if rows.len() * columns.len() > MAX_COMPARED {
            return;
        }
        let mut candidates = Vec::new();
        for row in rows {
            for column in &columns {
                let (one, two) = (&self.older[row], &self.newer[*column]);
                let similarity = similarity(one, two);
                if similarity >= MIN_SIMILARITY && language.are_alternatives(one.kind, two.kind) {
                    candidates.push((std::cmp::Reverse(similarity), row, *column));
                }
            }
        }
        candidates.sort_unstable();
        for (_, row, column) in candidates {
            if self.of_older[row].is_none() && self.of_newer[column].is_none() {
                self.join(row, column);
            }
        }
    }

    fn elsewhere(&mut self) {
        let (rows, columns) =
            self.free(&(0..self.older.len()).collect::<Vec<_>>(), &(0..self.newer.len()).collect::<Vec<_>>());
        let mut by_signature: BTreeMap<_, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        let (older, newer) = (self.older, self.newer);
        for row in rows {
            by_signature.entry((older[row].kind, &older[row].signature[..])).or_default().0.push(row);
        }
        for column in columns {
            by_signature.entry((newer[column].kind, &newer[column].signature[..])).or_default().1.push(column);
        }
        for ((_, signature), (rows, columns)) in by_signature {
            if let ([row], [column], false) = (&rows[..], &columns[..], signature.is_empty()) {
                self.join(*row, *column);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(language: &str, text: &str) -> Vec<Declaration> {
        let tree = Language::named(language).unwrap().parse(text.as_bytes()).unwrap();
        declarations(&tree, text.as_bytes(), &TextLines::of(text.as_bytes()))
    }

    /// The names of matched declarations, with their lines.
    fn matched(language: &str, older: &str, newer: &str) -> Vec<String> {
        let (older, newer) = (declared(language, older), declared(language, newer));
        let name = |one: &Declaration| format!("{}@{}", String::from_utf8_lossy(&one.name), one.lines.start);
        matches(Language::named(language).unwrap(), &older, &newer)
            .into_iter()
            .map(|(row, column)| format!("{} {}", name(&older[row]), name(&newer[column])))
            .collect()
    }

    #[test]
    fn a_declaration_has_the_comment_above_it_and_knows_where_it_stands() {
        let text = "// first\n// second\nint f(void)\n{\n  return 0;\n}\n\nstruct s {\n  int a; int b;\n  int c;\n};\n";
        let shown: Vec<_> = declared("c", text).into_iter().map(|one| (one.name, one.lines, one.parent)).collect();
        assert_eq!(shown, [(b"f".to_vec(), 0..6, None), (b"s".to_vec(), 7..11, None), (b"c".to_vec(), 9..10, Some(1))]);
    }

    #[test]
    fn declarations_are_found_again_by_signature_then_name_then_content() {
        let older = "int f(int a) { return a; }\nint g(int a)\n{\n  call(1);\n  call(2);\n  return a;\n}\n";
        let newer = "int h(int a)\n{\n  call(1);\n  call(2);\n  return a;\n}\nint f(long a) { return a; }\n";
        assert_eq!(matched("c", older, newer), ["f@0 f@6", "g@1 h@0"]);
    }

    #[test]
    fn overloads_are_told_apart_and_a_method_that_moved_to_another_class_is_found() {
        let older = "class A {\n  int f(int a) { return 1; }\n  int f(long a) { return 2; }\n}\nclass B {\n}\n";
        let newer = "class A {\n  int f(long a) { return 2; }\n}\nclass B {\n  int f(int a) { return 1; }\n}\n";
        assert_eq!(matched("java", older, newer), ["A@0 A@0", "f@1 f@4", "f@2 f@1", "B@4 B@3"]);
    }
}
