//! The lines of the failing version that its change touches, and its sources.

use crate::explain::expanded;
use crate::explain::layout::{ranges, without_layout};
use crate::explain::model::Pair;
use crate::explain::source_text::code;
use crate::{Failure, certificate};
use idd_base::TreeId;
use idd_report::chain::{LoopPart, Was};
use idd_report::patch;
use idd_world::repo::{Location, TreeStore, source};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The ends of the names of files that C compilers read.
const C_FILES: [&str; 8] = [".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".inc"];

/// Lines by path.
pub type LinesByPath = BTreeMap<String, BTreeSet<u32>>;

/// The lines that are new or other in the failing version, and those that expand a macro whose definition is; where it only lacks lines, those around the gap, up to the next
/// ones that say something.
///
/// Cost: if a macro changed, reads each C file of the failing version.
pub fn lines(location: &Location, pair: &Pair) -> Result<LinesByPath, Failure> {
    let store = certificate::store(location)?;
    let (patch, _) = store.patch(pair.reference, pair.failing.tree)?;
    let patch = String::from_utf8_lossy(&patch);
    let mut lines = of_patch(&patch);
    let mut macros = expanded::changed_macros(&patch);
    if !macros.is_empty() {
        let texts = source::texts(store.repository(), pair.failing.tree, &C_FILES);
        expanded::close(&mut macros, texts.iter().map(|(_, text)| &**text));
        for (path, text) in &texts {
            expanded::mark(&mut lines, path, text, &macros);
        }
    }
    Ok(lines)
}

/// The lines of the reference that the failing version lacks or has otherwise.
pub fn gone(location: &Location, pair: &Pair) -> Result<LinesByPath, Failure> {
    let (patch, _) = certificate::store(location)?.patch(pair.failing.tree, pair.reference)?;
    Ok(of_patch(&String::from_utf8_lossy(&patch)))
}

/// Lines of the patch between two that both versions have.
#[derive(Debug, Default, PartialEq, Eq)]
struct PatchGroup {
    path: String,
    old: Vec<String>,
    new: Vec<String>,
    /// The first of the new ones in the failing version, or the one that comes where they would be.
    first: u32,
}

/// What the reference has in the place of changed lines.
#[derive(Debug, Default)]
pub struct ReferenceLines(Vec<PatchGroup>);

/// Lines so far from a gap still stand beside it.
const BESIDE: u32 = 3;

/// The longest code of the reference that is shown in a clause, in characters.
const MAX_CODE: usize = 120;

/// How lines of a comment begin.
const COMMENTS: [&str; 4] = ["//", "/*", "* ", "*/"];

impl ReferenceLines {
    /// Of the change between two versions.
    pub fn new(location: &Location, pair: &Pair) -> Result<Self, Failure> {
        let (patch, _) = certificate::store(location)?.patch(pair.reference, pair.failing.tree)?;
        Ok(Self::of_patch(&String::from_utf8_lossy(&patch)))
    }

    fn of_patch(patch: &str) -> Self {
        let patch = without_layout(patch);
        let mut groups = Vec::new();
        let (mut name, mut at) = (String::new(), 0_u32);
        let mut group = PatchGroup::default();
        for line in patch.lines().chain([" "]) {
            if let Some(text) = line.strip_prefix('-').filter(|_| !line.starts_with("--- ")) {
                group.old.push(text.to_owned());
                continue;
            }
            if let Some(text) = line.strip_prefix('+').filter(|_| !line.starts_with("+++ ")) {
                group.new.push(text.to_owned());
                continue;
            }
            let found = std::mem::take(&mut group);
            if !(found.old.is_empty() && found.new.is_empty()) {
                let n_new = u32::try_from(found.new.len()).unwrap_or(0);
                groups.push(PatchGroup { path: name.clone(), first: at, ..found });
                at = at.saturating_add(n_new);
            }
            if let Some(file) = line.strip_prefix("+++ ") {
                name = path(file);
            } else if line.starts_with("@@ -") {
                let begin = line.split('+').nth(1).and_then(|range| range.split([',', ' ']).next());
                at = begin.and_then(|begin| begin.parse().ok()).unwrap_or(0);
            } else if !line.starts_with("---") && !line.starts_with('\\') {
                at = at.saturating_add(1);
            }
        }
        Self(groups)
    }

    /// The lines of the failing version in whose place the reference has more code.
    pub fn thinned(&self) -> LinesByPath {
        let n_code =
            |lines: &[String]| code(&lines.join("\n")).filter(|line| line.contains(char::is_alphanumeric)).count();
        let mut found = LinesByPath::new();
        for group in self.0.iter().filter(|group| !group.new.is_empty() && n_code(&group.old) > n_code(&group.new)) {
            let n_lines = u32::try_from(group.new.len()).unwrap_or(0);
            found.entry(group.path.clone()).or_default().extend(group.first..group.first + n_lines);
        }
        found
    }

    /// What the reference has at a changed line; `None` if the line was changed in another way, as by a macro.
    pub fn at(&self, path: &str, line: u32) -> Option<Was> {
        let code = |lines: &[String]| {
            let lines: Vec<&str> = lines.iter().map(|line| line.trim()).filter(|line| says(line)).collect();
            let code = lines.join(" ").trim_end_matches(';').to_owned();
            match code.char_indices().nth(MAX_CODE) {
                Some((end, _)) => format!("{}...", &code[..end]),
                None => code,
            }
        };
        let groups = self.0.iter().filter(|group| group.path == path);
        let of_line = groups.clone().find_map(|group| {
            let index = line.checked_sub(group.first)? as usize;
            (index < group.new.len()).then_some((group, index))
        });
        if let Some((PatchGroup { old, new, .. }, index)) = of_line {
            let text = if old.len() == new.len() { code(&old[index..=index]) } else { code(old) };
            return Some(if text.is_empty() { Was::Nothing } else { Was::Other(text.as_str().into()) });
        }
        let gaps = groups.filter(|group| {
            !group.new.iter().any(|line| says(line.trim()))
                && (group.first.saturating_sub(BESIDE)..group.first + BESIDE).contains(&line)
        });
        // Which of several near gaps it is is not known, and there is code between them.
        let texts: Vec<String> = gaps.map(|gap| code(&gap.old)).filter(|text| !text.is_empty()).collect();
        (!texts.is_empty()).then(|| Was::More(texts.join(" ... ").as_str().into()))
    }
}

/// Whether a line has code.
fn says(line: &str) -> bool {
    let line = line.trim();
    line.contains(char::is_alphanumeric) && !COMMENTS.iter().any(|begin| line.starts_with(begin))
}

/// The path in the header of a file of a patch; what is no UTF-8 has replacement characters.
fn path(header: &str) -> String {
    String::from_utf8_lossy(&patch::strip(header.as_bytes())).into_owned()
}

/// The lines of the newer version that a patch touches; beside a gap, the lines around it. Layout does not count.
pub fn of_patch(patch: &str) -> LinesByPath {
    let patch = without_layout(patch);
    let mut lines = LinesByPath::new();
    let (mut name, mut at, mut left) = (String::new(), 0_u32, (0_u32, 0_u32));
    let mut gap: Option<u32> = None;
    let mut last = 0;
    // Whether there is code in the place of what is gone.
    let mut is_replaced = false;
    for line in patch.lines() {
        if left == (0, 0) {
            if let Some(file) = line.strip_prefix("+++ ") {
                name = path(file);
            } else if let Some((old, new)) = ranges(line) {
                (at, left) = (if new.1 == 0 { new.0 + 1 } else { new.0 }, (old.1, new.1));
                is_replaced = false;
            }
            continue;
        }
        let touched = lines.entry(name.clone()).or_default();
        match line.as_bytes().first() {
            Some(b'+') => {
                touched.insert(at);
                // What says nothing only stands where something is gone.
                if says(&line[1..]) {
                    is_replaced = true;
                    gap = None;
                    last = at;
                }
                gap = gap.map(|_| at + 1);
                (at, left.1) = (at + 1, left.1.saturating_sub(1));
            }
            Some(b'-') => {
                gap = (!is_replaced).then_some(at);
                left.0 = left.0.saturating_sub(1);
            }
            Some(b'\\') => {}
            _ => {
                is_replaced = false;
                let says_something = says(line.get(1..).unwrap_or_default());
                if gap.take() == Some(at) {
                    touched.extend([last, at].into_iter().filter(|line| *line > 0));
                    gap = (!says_something).then_some(at + 1);
                }
                if says_something {
                    last = at;
                }
                (at, left) = (at + 1, (left.0.saturating_sub(1), left.1.saturating_sub(1)));
            }
        }
        if left == (0, 0) {
            if gap.take() == Some(at) {
                touched.extend([last, at].into_iter().filter(|line| *line > 0));
            }
            last = 0;
        }
    }
    lines
}

/// The sources of a tree.
pub struct TreeSources {
    store: TreeStore,
    tree: TreeId,
    files: HashMap<String, Option<(String, Vec<String>)>>,
}

impl TreeSources {
    /// Those of a tree.
    pub fn new(location: &Location, tree: TreeId) -> Result<Self, Failure> {
        Ok(Self { store: certificate::store(location)?, tree, files: HashMap::new() })
    }

    fn file(&mut self, name: &str) -> Option<&(String, Vec<String>)> {
        let (store, tree) = (&self.store, self.tree);
        let found = self.files.entry(name.to_owned()).or_insert_with(|| {
            let (path, content) = source::find_in(store.repository(), tree, name)?;
            let lines = String::from_utf8_lossy(&content).lines().map(|line| line.trim_end().to_owned()).collect();
            Some((path, lines))
        });
        found.as_ref()
    }

    /// The path of the file that a compiler was given as `name`; the name if it is not of the tree.
    pub fn path(&mut self, name: &str) -> String {
        self.file(name).map_or_else(|| name.to_owned(), |(path, _)| path.clone())
    }

    /// The line of a declaration that a change touches: its own, or one of its initial value.
    pub fn touched(&mut self, name: &str, line: u32, changed: &LinesByPath) -> u32 {
        self.touched_until(&[';'], name, line, changed)
    }

    /// The same for a statement that goes on to the first line that ends with one of these.
    pub fn touched_until(&mut self, ends: &[char], name: &str, line: u32, changed: &LinesByPath) -> u32 {
        let Some((path, lines)) = self.file(name) else { return line };
        let Some(touched) = changed.get(path) else { return line };
        let begin = (line as usize).saturating_sub(1);
        let text = lines.get(begin..).unwrap_or_default().join("\n");
        let n = code(&text).take_while(|text| !text.trim_end().ends_with(ends)).count();
        let end = line + u32::try_from(n).unwrap_or(0);
        touched.range(line..=end).next().copied().unwrap_or(line)
    }

    /// The part of the head of a `for` at a column of a line; `None` if the head is not on one line.
    pub fn part(&mut self, name: &str, line: u32, column: u32) -> Option<LoopPart> {
        let text = self.file(name)?.1.get((line as usize).checked_sub(1)?)?;
        part_of_for(text, (column as usize).checked_sub(1)?)
    }

    /// The variables that changed lines of a file declare without a value, each with its line and those of its uses.
    pub fn declared(&mut self, path: &str, changed: &BTreeSet<u32>) -> Vec<(String, u32, BTreeSet<u32>)> {
        let Some((_, lines)) = self.file(path) else { return Vec::new() };
        expanded::declared(&lines.join("\n"), changed)
    }

    /// A line, from 1, without the space around it.
    pub fn line(&mut self, name: &str, line: u32) -> Option<String> {
        self.indented(name, line).map(|line| line.trim_start().to_owned())
    }

    /// A line, from 1, with the space before it.
    pub fn indented(&mut self, name: &str, line: u32) -> Option<String> {
        self.file(name)?.1.get((line as usize).checked_sub(1)?).cloned()
    }
}

/// The part of the head of a `for` that contains the byte `at` of a line; of nested heads, the innermost. `None` if no head
/// contains it, or if the head does not end on this line.
fn part_of_for(text: &str, at: usize) -> Option<LoopPart> {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = text.as_bytes();
    let is_keyword =
        |begin: &usize| !is_word(begin.checked_sub(1).and_then(|i| bytes.get(i))) && !is_word(bytes.get(begin + 3));
    let heads = text.match_indices("for").map(|(begin, _)| begin).filter(|begin| *begin <= at && is_keyword(begin));
    // What decides stands at the word.
    let part = |begin: usize| match at.checked_sub(begin + 3) {
        Some(at) => part_of_head(&bytes[begin + 3..], at),
        None => (at == begin).then_some(LoopPart::Condition),
    };
    heads.filter_map(part).last()
}

/// The same for the text behind the word.
fn part_of_head(head: &[u8], at: usize) -> Option<LoopPart> {
    let (mut depth, mut n_parts, mut found) = (0_u32, 0, None);
    let mut quote = None;
    for (index, byte) in head.iter().enumerate() {
        if index == at {
            found = (depth > 0).then_some(n_parts);
        }
        match (quote, byte) {
            (Some(open), _) if *byte == open && head[index - 1] != b'\\' => quote = None,
            (None, b'"' | b'\'') => quote = Some(*byte),
            (None, b'(' | b'[' | b'{') => depth += 1,
            (None, b')' | b']' | b'}') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return match (n_parts, found?) {
                        (2, 0) => Some(LoopPart::Start),
                        (2, 1) => Some(LoopPart::Condition),
                        (2, 2) => Some(LoopPart::Increment),
                        _ => None,
                    };
                }
            }
            (None, b';') if depth == 1 => n_parts += 1,
            (None, _) if depth == 0 && !byte.is_ascii_whitespace() => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touched_lines_are_those_of_the_failing_version() {
        let patch = "--- a/x.c\n+++ b/x.c\n@@ -1,4 +1,4 @@\n a\n-b\n+B\n c\n d\n@@ -10,3 +10,2 @@\n e\n-f\n g\n--- a/y.c\n+++ b/y.c\n@@ -0,0 +1 @@\n+new\n";
        let lines = of_patch(patch);
        assert_eq!(lines["x.c"], BTreeSet::from([2, 10, 11]));
        assert_eq!(lines["y.c"], BTreeSet::from([1]));
        let patch =
            "--- a/x.c\n+++ b/x.c\n@@ -1,8 +1,7 @@\n first();\n \n-gone();\n }\n \n second();\n third();\n end\n";
        assert_eq!(of_patch(patch)["x.c"], BTreeSet::from([1, 3, 4, 5]));
    }

    #[test]
    fn lines_that_are_only_laid_out_in_another_way_are_not_touched() {
        let patch = "--- a/x.c\n+++ b/x.c\n@@ -1,9 +1,8 @@\n a;\n-f(b,c);\n+f(b,\n+  c); /* d */\n e;\n-/* Gone. */\n-// Gone.\n g;\n-h = 1;\n+h = 2;\n i;\n@@ -20,2 +19,3 @@\n k;\n+/* New. */\n l;\n";
        assert_eq!(of_patch(patch)["x.c"], BTreeSet::from([6]));
    }

    #[test]
    fn the_lines_around_code_that_gave_way_to_an_empty_statement_are_touched() {
        let patch = "--- a/x.c\n+++ b/x.c\n@@ -1,5 +1,5 @@\n if (a)\n-    b = 1;\n+    ;\n \n else\n     c;\n";
        assert_eq!(of_patch(patch)["x.c"], BTreeSet::from([1, 2, 3, 4]));
        assert_eq!(ReferenceLines::of_patch(patch).at("x.c", 4), Some(Was::More("b = 1".into())));
    }

    #[test]
    fn the_lines_around_a_gap_are_those_with_code() {
        let patch = "--- a/x.c\n+++ b/x.c\n@@ -1,8 +1,7 @@\n a = 1;\n }\n-b = 1;\n \n // Next.\n c = 1;\n d = 1;\n";
        assert_eq!(of_patch(patch)["x.c"], BTreeSet::from([1, 3, 4, 5]));
        let patch = "--- a/x.c\n+++ b/x.c\n@@ -1,6 +1,4 @@\n a = 1;\n-if (b)\n c = 1;\n-d = 1;\n e = 1;\n f = 1;\n";
        assert_eq!(ReferenceLines::of_patch(patch).at("x.c", 2), Some(Was::More("if (b) ... d = 1".into())));
        // What has code in its place is no gap, in whatever order the lines are.
        let patch = "--- a/x.c\n+++ b/x.c\n@@ -1,5 +1,4 @@\n a = 1;\n-if (b)\n+if (c)\n-  b = 1;\n d = 1;\n e = 1;\n";
        assert_eq!(of_patch(patch)["x.c"], BTreeSet::from([2]));
    }

    #[test]
    fn names_of_files_are_unquoted() {
        let patch = "--- \"a/nl\\nx.c\"\n+++ \"b/nl\\nx.c\"\n@@ -3,2 +3 @@\n-a;\n-b;\n+c;\n--- a/sp ace.c\t\n+++ b/sp ace.c\t\n@@ -7 +7 @@\n-a;\n+b;\n--- /dev/null\n+++ \"b/caf\\351.c\"\n@@ -0,0 +1 @@\n+a;\n";
        let lines = of_patch(patch);
        let expected = [("caf\u{fffd}.c", 1), ("nl\nx.c", 3), ("sp ace.c", 7)];
        let expected = expected.map(|(path, line)| (path.to_owned(), BTreeSet::from([line])));
        assert_eq!(lines, BTreeMap::from(expected));
        assert_eq!(ReferenceLines::of_patch(patch).thinned()["nl\nx.c"], BTreeSet::from([3]));
    }

    #[test]
    fn lines_in_whose_place_there_was_more_code_are_thinned() {
        let patch = "--- a/x.c\n+++ b/x.c\n@@ -3,5 +3,5 @@\n a;\n-goto end;\n+/* goto end; */\n b;\n-c = 1;\n+c = 2;\n d;\n@@ -20,2 +20,1 @@\n-e;\n-f;\n+g;\n";
        assert_eq!(ReferenceLines::of_patch(patch).thinned()["x.c"], BTreeSet::from([4, 20]));
    }

    #[test]
    fn what_the_reference_has_at_a_changed_line() {
        let patch = "--- a/x.c\n+++ b/x.c\n@@ -3,7 +3,6 @@\n a;\n-b = 1;\n-c = 1;\n+b = 2;\n+c = 2;\n d;\n e;\n-goto end;\n }\n@@ -20,2 +19,3 @@\n f;\n+g;\n h;\n@@ -30,2 +30,1 @@\n-i;\n-j;\n+k;\n";
        let replaced = ReferenceLines::of_patch(patch);
        let at = |line| replaced.at("x.c", line);
        assert_eq!(at(4), Some(Was::Other("b = 1".into())));
        assert_eq!(at(5), Some(Was::Other("c = 1".into())));
        assert_eq!(at(7), Some(Was::More("goto end".into())));
        assert_eq!(at(8), Some(Was::More("goto end".into())));
        assert_eq!(at(20), Some(Was::Nothing));
        assert_eq!(at(30), Some(Was::Other("i; j".into())));
        assert_eq!(at(14), None);
        assert_eq!(replaced.at("y.c", 4), None);
    }

    #[test]
    fn what_the_reference_has_is_shown_without_comments_and_not_in_full_length() {
        let long = "x".repeat(MAX_CODE + 1);
        let patch = format!(
            "--- a/x.c\n+++ b/x.c\n@@ -3,5 +3,3 @@\n a;\n-// Why.\n-/* Why.\n- * Not. */\n-b = 1;\n+b = 2;\n c;\n@@ -20,1 +18,1 @@\n-{long};\n+y;\n"
        );
        let replaced = ReferenceLines::of_patch(&patch);
        assert_eq!(replaced.at("x.c", 4), Some(Was::Other("b = 1".into())));
        assert_eq!(replaced.at("x.c", 18), Some(Was::Other(format!("{}...", &long[1..]).as_str().into())));
    }

    #[test]
    fn the_parts_of_a_head_are_told_apart() {
        let text = "    for (int i = f(a, ';'); i < n && a[i]; i += g(2)) sum += i; for (;;) {";
        let part = |what: &str| part_of_for(text, text.find(what).unwrap());
        assert_eq!(part("i = f"), Some(LoopPart::Start));
        assert_eq!(part("i < n"), Some(LoopPart::Condition));
        assert_eq!(part("a[i]"), Some(LoopPart::Condition));
        assert_eq!(part("i += g"), Some(LoopPart::Increment));
        assert_eq!(part("g(2)"), Some(LoopPart::Increment));
        assert_eq!(part("for (int"), Some(LoopPart::Condition));
        assert_eq!(part("sum"), None);
        assert_eq!(part_of_for("    before(i; j; k)", 11), None);
        assert_eq!(part_of_for("    for (i = 0; i < n;", 9), None, "the head goes on in the next line");
    }
}
