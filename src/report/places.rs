//! The places of a finding in a checkout: the lines that a patch replaces there, and their replacements.

use crate::report::{Change, Report, Untrusted};
use crate::revision::CommitId;
use std::mem;

/// The places of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The commit of the line numbers.
    pub commit: CommitId,
    /// In the order of the patch.
    pub places: Vec<Place>,
}

/// Adjacent lines of a file that are replaced together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The path.
    pub file: Untrusted,
    /// Its lines; `None` if the change is not one of lines.
    pub lines: Option<Lines>,
    /// What the change does to the file as a whole, in words, as `renamed from a.h`; empty if there are lines.
    pub whole: Untrusted,
}

/// A run of lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    /// The first line, from 1; 0 if it is not known. For an empty run, the line before which `instead` is inserted.
    pub begin: u64,
    /// Number of lines; 0 for an insertion.
    pub count: u64,
    /// The lines.
    pub text: Untrusted,
    /// The replacement that makes the test pass.
    pub instead: Untrusted,
}

impl Lines {
    /// The last line; for an empty run, its first.
    pub fn end(&self) -> u64 {
        self.begin + self.count.saturating_sub(1)
    }
}

/// Header lines about a whole file, and what they say.
const WHOLE: [(&str, &str); 4] = [
    ("new file mode ", "added"),
    ("deleted file mode ", "deleted"),
    ("GIT binary patch", "its bytes changed (not a text)"),
    ("Binary files ", "its bytes changed (not a text)"),
];

/// The side of a patch that is checked out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum PatchSide {
    #[default]
    Older,
    Newer,
}

/// The places at HEAD if the fix was carried there; else those of the necessary change, or the sufficient one, in the
/// first bad commit. `None` if nothing was reduced.
pub fn places(report: &Report) -> Option<Places> {
    if let Some(fix) = report.fix.as_ref().filter(|fix| fix.complete) {
        return Some(Places { commit: fix.commit, places: of_patch(&fix.patch, PatchSide::Older) });
    }
    let commit = report.first_bad.as_ref()?.commit.commit;
    let change = report.change.necessary.as_ref().or(report.change.sufficient.as_ref())?;
    Some(Places { commit, places: of_patch(&change.patch, PatchSide::Newer) })
}

/// The places of a change in the first bad commit; what replaces them is the older version. A place that the necessary
/// change does not have has the line 0: of others, only the lines in the last good commit with the change are known.
pub fn in_first_bad(report: &Report, change: &Change) -> Vec<Place> {
    let necessary = report.change.necessary.as_ref();
    let there = necessary.map(|change| of_patch(&change.patch, PatchSide::Newer)).unwrap_or_default();
    let mut places = of_patch(&change.patch, PatchSide::Newer);
    for place in &mut places {
        let Some(lines) = &mut place.lines else { continue };
        let is_same = |other: &&Place| {
            let other_lines = other.lines.as_ref();
            other.file == place.file
                && other_lines.is_some_and(|other| (&other.text, &other.instead) == (&lines.text, &lines.instead))
        };
        let found = there.iter().find(is_same).and_then(|found| found.lines.as_ref());
        lines.begin = found.map_or(0, |found| found.begin);
    }
    places
}

/// The places of a patch on one side.
pub(super) fn of_patch(patch: &Untrusted, side: PatchSide) -> Vec<Place> {
    let mut reader = Reader { side, ..Reader::default() };
    patch.as_bytes().split_inclusive(|byte| *byte == b'\n').for_each(|line| reader.read(line));
    reader.end_file();
    reader.places
}

/// Reads a patch line by line.
#[derive(Default)]
struct Reader {
    side: PatchSide,
    places: Vec<Place>,
    /// The path of the file; empty before the first one.
    file: Vec<u8>,
    has_lines: bool,
    /// What the header says of the whole file.
    whole: Vec<Vec<u8>>,
    /// The remaining lines of the hunk: older, newer.
    left: (u64, u64),
    /// The next line of the checkout.
    at: u64,
    run: Option<Lines>,
    /// Whether the last line was a replacement.
    was_instead: bool,
}

impl Reader {
    fn read(&mut self, line: &[u8]) {
        match line {
            [b'\\', ..] => self.take_newline(),
            _ if self.left == (0, 0) => {
                self.end_run();
                self.header(line.strip_suffix(b"\n").unwrap_or(line));
            }
            [b'-', text @ ..] => {
                self.left.0 = self.left.0.saturating_sub(1);
                self.edit(self.side == PatchSide::Older, text);
            }
            [b'+', text @ ..] => {
                self.left.1 = self.left.1.saturating_sub(1);
                self.edit(self.side == PatchSide::Newer, text);
            }
            _ => {
                self.left = (self.left.0.saturating_sub(1), self.left.1.saturating_sub(1));
                self.end_run();
                self.at = self.at.saturating_add(1);
            }
        }
    }

    /// The previous line has no line end.
    fn take_newline(&mut self) {
        if let Some(run) = self.run.as_mut().filter(|_| self.was_instead) {
            let text = run.instead.as_bytes();
            run.instead = text.strip_suffix(b"\n").unwrap_or(text).into();
        }
    }

    fn edit(&mut self, is_here: bool, line: &[u8]) {
        let (text, instead) = (Untrusted::default(), Untrusted::default());
        let run = self.run.get_or_insert(Lines { begin: self.at, count: 0, text, instead });
        self.was_instead = !is_here;
        if is_here {
            run.count += 1;
            self.at = self.at.saturating_add(1);
        }
        let side = if is_here { &mut run.text } else { &mut run.instead };
        *side = [side.as_bytes(), line].concat().into();
    }

    fn end_run(&mut self) {
        if let Some(lines) = self.run.take() {
            self.has_lines = true;
            self.places.push(Place { file: self.file.clone().into(), lines: Some(lines), whole: Untrusted::default() });
        }
    }

    fn end_file(&mut self) {
        self.end_run();
        let whole = mem::take(&mut self.whole);
        if !self.file.is_empty() && !self.has_lines {
            let whole = if whole.is_empty() { b"an empty file".to_vec() } else { whole.join(&b", "[..]) };
            self.places.push(Place { file: self.file.clone().into(), lines: None, whole: whole.into() });
        }
        self.has_lines = false;
    }

    fn header(&mut self, text: &[u8]) {
        if let Some(names) = text.strip_prefix(b"diff --git ") {
            self.end_file();
            // This line is ambiguous unless both names are equal; other names have lines of their own.
            self.file = strip(names.get(names.len() / 2 + 1..).unwrap_or_default());
        } else if let Some(range) = text.strip_prefix(b"@@ -") {
            self.hunk(range);
        } else if let Some((_, said)) = WHOLE.iter().find(|(mark, _)| text.starts_with(mark.as_bytes())) {
            self.whole.push(said.as_bytes().to_vec());
        } else if let Some(mode) = text.strip_prefix(b"new mode ") {
            self.whole.push([b"its mode is now ", mode].concat());
        } else {
            if let Some(name) = text.strip_prefix(b"rename from ") {
                self.whole.push([b"renamed from ", &unquote(name)[..]].concat());
            }
            let marks: [&[u8]; 2] = match self.side {
                PatchSide::Older => [b"--- ", b"rename from "],
                PatchSide::Newer => [b"+++ ", b"rename to "],
            };
            if let Some(name) = text.strip_prefix(marks[0]).filter(|name| *name != b"/dev/null") {
                self.file = strip(name);
            } else if let Some(name) = text.strip_prefix(marks[1]) {
                self.file = unquote(name);
            }
        }
    }

    /// `7,3 +7,4 @@`: three lines from line 7 on, and four.
    fn hunk(&mut self, range: &[u8]) {
        let range = String::from_utf8_lossy(range);
        let mut ranges = range.split(" @@").next().unwrap_or_default().split(" +").map(|range| {
            let (begin, count) = range.split_once(',').unwrap_or((range, "1"));
            let (begin, count): (u64, u64) = (begin.parse().unwrap_or(0), count.parse().unwrap_or(0));
            // For an empty range, git gives the line before.
            (begin.saturating_add(u64::from(count == 0)), count)
        });
        let (older, newer) = (ranges.next().unwrap_or((1, 0)), ranges.next().unwrap_or((1, 0)));
        self.left = (older.1, newer.1);
        self.at = if self.side == PatchSide::Older { older.0 } else { newer.0 };
    }
}

/// A file name of a header without `a/` or `b/`.
pub fn strip(name: &[u8]) -> Vec<u8> {
    let name = unquote(name);
    match name.as_slice() {
        [b'a' | b'b', b'/', rest @ ..] => rest.to_vec(),
        _ => name,
    }
}

/// A name in git's notation: in double quotes with backslashes if it has unusual characters.
fn unquote(name: &[u8]) -> Vec<u8> {
    // A tab ends a name that contains a blank.
    let name = name.strip_suffix(b"\t").unwrap_or(name);
    let Some(quoted) = name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\"")) else { return name.to_vec() };
    let mut bytes = Vec::new();
    let mut rest = quoted;
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let is_octal = |digit: &u8| (b'0'..=b'7').contains(digit);
        if rest.len() >= 3 && rest[..3].iter().all(is_octal) {
            let value = rest[..3].iter().fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
            bytes.push(u8::try_from(value & 0xff).unwrap_or_default());
            rest = &rest[3..];
            continue;
        }
        let Some((letter, after)) = rest.split_first() else { break };
        rest = after;
        bytes.push(match letter {
            b'a' => 7,
            b'b' => 8,
            b't' => 9,
            b'n' => 10,
            b'v' => 11,
            b'f' => 12,
            b'r' => 13,
            other => *other,
        });
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &[u8] = b"diff --git a/x.c b/x.c
index 1..2 100644
--- a/x.c
+++ b/x.c
@@ -3,5 +3,5 @@ int f(void)
 a
-b
-c
+--- d
 e
+f
 g
@@ -20,2 +19,0 @@
-y
-z
\\ No newline at end of file
diff --git a/mode b/mode
old mode 100644
new mode 100755
diff --git \"a/\\303\\251 \\\"q.c\" \"b/\\303\\251 \\\"q.c\"
--- /dev/null
+++ \"b/\\303\\251 \\\"q.c\"
@@ -0,0 +1 @@
+only
diff --git a/old b/new
rename from old
rename to new
";

    fn seen(side: PatchSide) -> Vec<String> {
        let show = |place: Place| {
            let file = String::from_utf8(place.file.as_bytes().to_vec()).unwrap();
            let lines = place.lines.map(|lines| {
                format!("{}+{} {:?}", lines.begin, lines.count, String::from_utf8_lossy(lines.instead.as_bytes()))
            });
            format!("{file}: {}", lines.unwrap_or_else(|| "whole".to_owned()))
        };
        of_patch(&PATCH.into(), side).into_iter().map(show).collect()
    }

    #[test]
    fn every_run_of_a_patch_has_its_place_on_either_side() {
        let older = [
            "x.c: 4+2 \"--- d\\n\"",
            "x.c: 7+0 \"f\\n\"",
            "x.c: 20+2 \"\"",
            "mode: whole",
            "é \"q.c: 1+0 \"only\\n\"",
            "old: whole",
        ];
        assert_eq!(seen(PatchSide::Older), older);
        let newer = [
            "x.c: 4+1 \"b\\nc\\n\"",
            "x.c: 6+1 \"\"",
            "x.c: 20+0 \"y\\nz\"",
            "mode: whole",
            "é \"q.c: 1+1 \"\"",
            "new: whole",
        ];
        assert_eq!(seen(PatchSide::Newer), newer);
    }

    #[test]
    fn what_is_no_patch_has_no_places_and_does_no_harm() {
        for text in [
            "",
            "\n",
            "@@ -x +y @@\n",
            "@@ -1,99 +1 @@\n-a\n",
            "@@ -18446744073709551615,9 +1,9 @@\n-a\n b\n",
            "diff --git \n",
            "diff --git a\n--- \"\\\n+++ \n",
        ] {
            for side in [PatchSide::Older, PatchSide::Newer] {
                let _ = of_patch(&text.into(), side);
            }
        }
    }
}
