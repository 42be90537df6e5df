//! A patch on a page: with line numbers; the lines of the minimal change are marked, long runs of others are folded.

use std::collections::BTreeSet;

use crate::plural::count;
use crate::report::Untrusted;
use crate::report::html::markup::Markup;
use crate::report::places::strip;

/// The maximum number of lines of a patch; the others are counted.
const MAX_LINES: usize = 6_000;

/// The maximum number of bytes of a line.
const MAX_LINE: usize = 2_000;

/// Longer runs of unmarked lines are folded, if the patch has any marked line.
const MAX_PLAIN: usize = 14;

/// The number of unmarked lines that stay visible beside a marked one.
const N_AROUND: usize = 4;

/// A patch, line by line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Patch {
    /// Its files, in its order.
    pub files: Vec<File>,
    /// Number of omitted lines at the end.
    pub n_left_out: usize,
}

/// The part of a patch for one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct File {
    /// Its path, of the newer side if there is one.
    pub path: Untrusted,
    /// Other changes of the file: a mode, a name, a note that it is binary.
    pub facts: Vec<Untrusted>,
    /// Its lines; hunks begin with a [`Sign::Hunk`].
    pub lines: Vec<Line>,
}

/// A line of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its kind.
    pub sign: Sign,
    /// The line number on the older side, or the number of the next line there.
    pub older: u32,
    /// The same on the newer side.
    pub newer: u32,
    /// The text, without its sign and its end.
    pub text: Untrusted,
    /// Whether it belongs to the minimal change.
    pub is_marked: bool,
}

/// The kind of a line of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// The header of a hunk.
    Hunk,
    /// On both sides.
    Same,
    /// On the newer side only.
    Added,
    /// On the older side only.
    Removed,
}

impl Patch {
    /// Reads a patch in git's format; any other text gives a patch without lines.
    pub fn read(text: &Untrusted) -> Self {
        let mut patch = Self::default();
        let (mut older, mut newer) = (0, 0);
        let mut left = (0_u32, 0_u32);
        for line in text.as_bytes().split(|byte| *byte == b'\n') {
            if let Some(names) = line.strip_prefix(b"diff --git ")
                && left == (0, 0)
            {
                let name = strip(names.get(names.len() / 2 + 1..).unwrap_or_default());
                patch.files.push(File { path: name.into(), ..File::default() });
                continue;
            }
            let Some(file) = patch.files.last_mut() else { continue };
            if left == (0, 0) {
                match line {
                    [b'@', b'@', b' ', b'-', range @ ..] => {
                        ((older, left.0), (newer, left.1)) = ranges(range);
                        file.lines.push(Line::new(Sign::Hunk, (older, newer), line));
                    }
                    _ => file.fact(line),
                }
                continue;
            }
            match line {
                [b'+', text @ ..] => {
                    file.lines.push(Line::new(Sign::Added, (older, newer), text));
                    (newer, left.1) = (newer.saturating_add(1), left.1.saturating_sub(1));
                }
                [b'-', text @ ..] => {
                    file.lines.push(Line::new(Sign::Removed, (older, newer), text));
                    (older, left.0) = (older.saturating_add(1), left.0.saturating_sub(1));
                }
                [b'\\', ..] => {}
                [b' ', text @ ..] | text => {
                    file.lines.push(Line::new(Sign::Same, (older, newer), text));
                    (older, newer) = (older.saturating_add(1), newer.saturating_add(1));
                    left = (left.0.saturating_sub(1), left.1.saturating_sub(1));
                }
            }
        }
        patch.cut();
        patch
    }

    fn cut(&mut self) {
        let mut n_lines = 0;
        for file in &mut self.files {
            let n_kept = file.lines.len().min(MAX_LINES - n_lines);
            self.n_left_out += file.lines.len() - n_kept;
            file.lines.truncate(n_kept);
            n_lines += n_kept;
        }
    }

    /// Marks the lines that `change` has too: for each of its lines, the nearest one with the same text.
    ///
    /// `change` is a part of this patch, so its line numbers can differ.
    pub fn mark(&mut self, change: &Self) {
        for part in &change.files {
            let Some(file) = self.files.iter_mut().find(|file| file.path == part.path) else { continue };
            for wanted in part.lines.iter().filter(|line| line.is_edit()) {
                let far = |line: &Line| line.newer.abs_diff(wanted.newer).min(line.older.abs_diff(wanted.older));
                let same = file.lines.iter_mut().filter(|line| line.sign == wanted.sign && line.text == wanted.text);
                if let Some(line) = same.min_by_key(|line| (line.is_marked, far(line))) {
                    line.is_marked = true;
                }
            }
        }
    }

    /// The place of a line of the newer side: index of the file, and number.
    pub fn has_line(&self, path: &Untrusted, newer: u64) -> Option<(usize, u64)> {
        let index = self.files.iter().position(|file| file.path == *path)?;
        let is_it = |line: &Line| matches!(line.sign, Sign::Added | Sign::Same) && u64::from(line.newer) == newer;
        self.files[index].lines.iter().any(is_it).then_some((index, newer))
    }

    fn n_marked(&self) -> usize {
        self.files.iter().map(File::n_marked).sum()
    }
}

impl File {
    fn fact(&mut self, line: &[u8]) {
        if let Some(name) = line.strip_prefix(b"+++ ").filter(|name| *name != b"/dev/null") {
            self.path = strip(name).into();
            return;
        }
        let is_known =
            line.is_empty() || [&b"--- "[..], b"+++ ", b"index ", b"\\"].iter().any(|mark| line.starts_with(mark));
        // The rest of a binary patch is not readable.
        if !is_known && self.facts.len() < 4 {
            self.facts.push(short(line));
        }
    }

    fn n_marked(&self) -> usize {
        self.lines.iter().filter(|line| line.is_marked).count()
    }

    fn n_edits(&self) -> usize {
        self.lines.iter().filter(|line| line.is_edit()).count()
    }
}

impl Line {
    fn new(sign: Sign, (older, newer): (u32, u32), text: &[u8]) -> Self {
        Self { sign, older, newer, text: short(text), is_marked: false }
    }

    fn is_edit(&self) -> bool {
        matches!(self.sign, Sign::Added | Sign::Removed)
    }
}

fn short(line: &[u8]) -> Untrusted {
    if line.len() <= MAX_LINE {
        return line.into();
    }
    [&line[..MAX_LINE], " …".as_bytes()].concat().into()
}

/// `7,3 +7,4 @@`: three lines from line 7 on, and four.
fn ranges(text: &[u8]) -> ((u32, u32), (u32, u32)) {
    let text = String::from_utf8_lossy(text);
    let mut ranges = text.split(" @@").next().unwrap_or_default().split(" +").map(|range| {
        let (begin, count) = range.split_once(',').unwrap_or((range, "1"));
        let (begin, count): (u32, u32) = (begin.parse().unwrap_or(0), count.parse().unwrap_or(0));
        // For an empty range, git gives the line before.
        (begin.saturating_add(u32::from(count == 0)), count)
    });
    (ranges.next().unwrap_or_default(), ranges.next().unwrap_or_default())
}

/// Writes a patch.
///
/// - `prefix`: the prefix of the ids of its lines, unique on the page.
/// - `targets`: lines of the newer side that are targets of links, as [`Patch::has_line`] returns them.
pub fn write(patch: &Patch, prefix: &str, targets: &BTreeSet<(usize, u64)>, page: &mut Markup) {
    let is_marked = patch.n_marked() > 0;
    page.element("div", &[("class", "patch"), ("data-items", ".add, .del")], |page| {
        for (index, file) in patch.files.iter().enumerate() {
            let is_open = !is_marked || file.n_marked() > 0;
            let attributes: &[(&str, &str)] =
                if is_open { &[("class", "file"), ("open", "")] } else { &[("class", "file")] };
            page.element("details", attributes, |page| {
                page.element("summary", &[], |page| {
                    page.leaf("code", &[], file.path.clone());
                    let n_edits = count(file.n_edits(), "line");
                    let of =
                        if file.n_marked() > 0 { format!("{} of {n_edits} matter", file.n_marked()) } else { n_edits };
                    page.leaf("span", &[("class", "quiet")], of);
                });
                for fact in &file.facts {
                    page.leaf("p", &[("class", "fact quiet")], fact.clone());
                }
                if !file.lines.is_empty() {
                    let name = format!("Lines of file {} of the patch", index + 1);
                    let attributes = [("class", "diff"), ("tabindex", "0"), ("role", "group"), ("aria-label", &*name)];
                    page.element("div", &attributes, |page| lines(file, (prefix, index), targets, page));
                }
            });
            page.newline();
        }
    });
    if patch.n_left_out > 0 {
        page.leaf("p", &[("class", "quiet")], format!("{} are left out here.", count(patch.n_left_out, "more line")));
    }
}

fn lines(file: &File, (prefix, index): (&str, usize), targets: &BTreeSet<(usize, u64)>, page: &mut Markup) {
    let folds = file.n_marked() > 0;
    let is_near = |at: usize| {
        let (begin, end) = (at.saturating_sub(N_AROUND), (at + N_AROUND + 1).min(file.lines.len()));
        file.lines[begin..end].iter().any(|line| line.is_marked)
    };
    let mut at = 0;
    while at < file.lines.len() {
        let n_plain = (at..file.lines.len()).take_while(|at| folds && !is_near(*at)).count();
        let is_folded = n_plain > MAX_PLAIN;
        let n_run = if is_folded { n_plain } else { n_plain.max(1) };
        let run = |page: &mut Markup| {
            for line in &file.lines[at..at + n_run] {
                let target = (index, u64::from(line.newer));
                let is_target = targets.contains(&target) && matches!(line.sign, Sign::Added | Sign::Same);
                write_line(line, is_target.then(|| format!("{prefix}{index}-{}", line.newer)).as_deref(), page);
            }
        };
        if is_folded {
            page.element("details", &[("class", "fold")], |page| {
                page.leaf("summary", &[], count(n_run, "more line"));
                run(page);
            });
        } else {
            run(page);
        }
        at += n_run;
    }
}

fn write_line(line: &Line, id: Option<&str>, page: &mut Markup) {
    let (class, sign) = match line.sign {
        Sign::Hunk => ("l hunk", ""),
        Sign::Same => ("l", " "),
        Sign::Added => ("l add", "+"),
        Sign::Removed => ("l del", "−"),
    };
    let class = if line.is_marked { format!("{class} mark") } else { class.to_owned() };
    let mut attributes = vec![("class", &*class)];
    attributes.extend(id.map(|id| ("id", id)));
    page.element("div", &attributes, |page| {
        if line.sign == Sign::Hunk {
            page.leaf("code", &[], line.text.clone());
            return;
        }
        let number = |is_there: bool, number: u32| if is_there { number.to_string() } else { String::new() };
        page.leaf("span", &[("class", "n")], number(line.sign != Sign::Added, line.older));
        page.leaf("span", &[("class", "n")], number(line.sign != Sign::Removed, line.newer));
        page.leaf("span", &[("class", "s")], sign);
        page.element("code", &[], |page| page.block(&line.text));
        if line.is_marked {
            page.leaf("span", &[("class", "vh")], " (minimal change)");
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "diff --git a/x.c b/x.c
index 1..2 100644
--- a/x.c
+++ b/x.c
@@ -3,4 +3,5 @@ int f(void)
 a
-b
+B
+n
 c
-d
+D
@@ -20,1 +21,2 @@
+n
 z
diff --git a/new.c b/new.c
new file mode 100644
--- /dev/null
+++ b/new.c
@@ -0,0 +1 @@
+n
\\ No newline at end of file
";

    fn shown(patch: &Patch) -> Vec<String> {
        let line = |file: &File, line: &Line| {
            let mark = if line.is_marked { "*" } else { "" };
            let name = String::from_utf8_lossy(file.path.as_bytes()).into_owned();
            format!(
                "{name} {}/{} {:?} {}{mark}",
                line.older,
                line.newer,
                line.sign,
                String::from_utf8_lossy(line.text.as_bytes())
            )
        };
        let edits =
            |file: &File| file.lines.iter().filter(|line| line.is_edit()).map(|it| line(file, it)).collect::<Vec<_>>();
        patch.files.iter().flat_map(edits).collect()
    }

    #[test]
    fn lines_have_their_numbers_and_those_of_the_change_are_marked_where_they_are_nearest() {
        let mut whole = Patch::read(&WHOLE.into());
        let change = "diff --git a/x.c b/x.c\n--- a/x.c\n+++ b/x.c\n@@ -20,1 +20,2 @@\n+n\n z\n@@ -4,1 +4,0 @@\n-b\n";
        whole.mark(&Patch::read(&change.into()));
        let expected = [
            "x.c 4/4 Removed b*",
            "x.c 5/4 Added B",
            "x.c 5/5 Added n",
            "x.c 6/7 Removed d",
            "x.c 7/7 Added D",
            "x.c 20/21 Added n*",
            "new.c 1/1 Added n",
        ];
        assert_eq!(shown(&whole), expected);
        assert_eq!(whole.has_line(&"x.c".into(), 21), Some((0, 21)));
        assert_eq!(whole.has_line(&"x.c".into(), 99), None);
        assert_eq!(whole.files[1].facts, ["new file mode 100644".into()]);
    }

    #[test]
    fn what_is_no_patch_does_no_harm_and_a_long_one_is_cut() {
        for text in [
            "",
            "\n\n",
            "@@ -1 +1 @@\n",
            "diff --git \n@@ -x +y @@\n+a\n",
            "diff --git a/a b/a\n@@ -1,9 +4294967295,9 @@\n+\n+\n",
        ] {
            let patch = Patch::read(&text.into());
            write(&patch, "d", &BTreeSet::new(), &mut Markup::default());
        }
        let long = format!("diff --git a/a b/a\n@@ -0,0 +1,{} @@\n{}", 7000, "+x\n".repeat(7000));
        let patch = Patch::read(&long.into());
        assert_eq!((patch.files[0].lines.len(), patch.n_left_out), (MAX_LINES, 1001));
    }
}
