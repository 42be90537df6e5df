//! Where a finding points at in a checkout: the lines that a patch replaces there, and what would stand in their stead.

use crate::report::Report;
use crate::report::Untrusted;
use crate::revision::CommitId;

/// The places of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The lines are those of this commit.
    pub commit: CommitId,
    /// In the order of the patch.
    pub places: Vec<Place>,
}

/// Lines that stand together in a file and go together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The path.
    pub file: Untrusted,
    /// Where in it; `None` where the change is not one of lines (a mode, a binary file, a name).
    pub lines: Option<Lines>,
}

/// A run of lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    /// The first one, from 1 on. If there are none, the line in front of which `instead` would stand.
    pub begin: u64,
    /// How many; 0 where something is only put in.
    pub count: u64,
    /// What makes the test pass in their stead.
    pub instead: Untrusted,
}

impl Lines {
    /// The last line; that of an empty run is its first.
    pub fn end(&self) -> u64 {
        self.begin + self.count.saturating_sub(1)
    }
}

/// Which lines of a patch are in the checkout.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Side {
    #[default]
    Older,
    Newer,
}

/// The places at HEAD if the fix came so far; else those of the necessary change, or the sufficient one, in the first bad
/// commit. `None` if nothing was reduced.
pub fn places(report: &Report) -> Option<Places> {
    if let Some(fix) = report.fix.as_ref().filter(|fix| fix.complete) {
        return Some(Places { commit: fix.commit, places: of_patch(&fix.patch, Side::Older) });
    }
    let commit = report.first_bad.as_ref()?.commit.commit;
    let change = report.change.necessary.as_ref().or(report.change.sufficient.as_ref())?;
    Some(Places { commit, places: of_patch(&change.patch, Side::Newer) })
}

fn of_patch(patch: &Untrusted, side: Side) -> Vec<Place> {
    let mut reader = Reader { side, ..Reader::default() };
    patch.as_bytes().split_inclusive(|byte| *byte == b'\n').for_each(|line| reader.read(line));
    reader.end_file();
    reader.places
}

/// Reads a patch line by line.
#[derive(Default)]
struct Reader {
    side: Side,
    places: Vec<Place>,
    /// The path of the file; empty before the first one.
    file: Vec<u8>,
    has_lines: bool,
    /// Lines of the hunk that are still to come: older, newer.
    left: (u64, u64),
    /// The line of the checkout that comes next.
    at: u64,
    run: Option<Lines>,
    /// Whether the last line that was read stands in stead of others.
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
                self.edit(self.side == Side::Older, text);
            }
            [b'+', text @ ..] => {
                self.left.1 = self.left.1.saturating_sub(1);
                self.edit(self.side == Side::Newer, text);
            }
            _ => {
                self.left = (self.left.0.saturating_sub(1), self.left.1.saturating_sub(1));
                self.end_run();
                self.at = self.at.saturating_add(1);
            }
        }
    }

    /// The line before ends without one.
    fn take_newline(&mut self) {
        if let Some(run) = self.run.as_mut().filter(|_| self.was_instead) {
            let text = run.instead.as_bytes();
            run.instead = text.strip_suffix(b"\n").unwrap_or(text).into();
        }
    }

    fn edit(&mut self, is_here: bool, line: &[u8]) {
        let run = self.run.get_or_insert_with(|| Lines { begin: self.at, count: 0, instead: Untrusted::default() });
        self.was_instead = !is_here;
        if is_here {
            run.count += 1;
            self.at = self.at.saturating_add(1);
        } else {
            run.instead = [run.instead.as_bytes(), line].concat().into();
        }
    }

    fn end_run(&mut self) {
        if let Some(lines) = self.run.take() {
            self.has_lines = true;
            self.places.push(Place { file: self.file.clone().into(), lines: Some(lines) });
        }
    }

    fn end_file(&mut self) {
        self.end_run();
        if !self.file.is_empty() && !self.has_lines {
            self.places.push(Place { file: self.file.clone().into(), lines: None });
        }
        self.has_lines = false;
    }

    fn header(&mut self, text: &[u8]) {
        if let Some(names) = text.strip_prefix(b"diff --git ") {
            self.end_file();
            // Only where both names are the same is this line not ambiguous; others have lines of their own.
            self.file = strip(names.get(names.len() / 2 + 1..).unwrap_or_default());
        } else if let Some(range) = text.strip_prefix(b"@@ -") {
            self.hunk(range);
        } else {
            let marks: [&[u8]; 2] = match self.side {
                Side::Older => [b"--- ", b"rename from "],
                Side::Newer => [b"+++ ", b"rename to "],
            };
            if let Some(name) = text.strip_prefix(marks[0]).filter(|name| *name != b"/dev/null") {
                self.file = strip(name);
            } else if let Some(name) = text.strip_prefix(marks[1]) {
                self.file = unquote(name);
            }
        }
    }

    /// `7,3 +7,4 @@`: from the seventh line on three, and four.
    fn hunk(&mut self, range: &[u8]) {
        let range = String::from_utf8_lossy(range);
        let mut ranges = range.split(" @@").next().unwrap_or_default().split(" +").map(|range| {
            let (begin, count) = range.split_once(',').unwrap_or((range, "1"));
            let (begin, count): (u64, u64) = (begin.parse().unwrap_or(0), count.parse().unwrap_or(0));
            // Of no lines, the one before is named.
            (begin.saturating_add(u64::from(count == 0)), count)
        });
        let (older, newer) = (ranges.next().unwrap_or((1, 0)), ranges.next().unwrap_or((1, 0)));
        self.left = (older.1, newer.1);
        self.at = if self.side == Side::Older { older.0 } else { newer.0 };
    }
}

/// A name of a header without its `a/` or `b/`.
pub(super) fn strip(name: &[u8]) -> Vec<u8> {
    let name = unquote(name);
    match name.as_slice() {
        [b'a' | b'b', b'/', rest @ ..] => rest.to_vec(),
        _ => name,
    }
}

/// A name as git writes it: in double quotes with backslashes if there is something unusual in it.
fn unquote(name: &[u8]) -> Vec<u8> {
    // A tab ends a name with a blank in it.
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

    fn seen(side: Side) -> Vec<String> {
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
        assert_eq!(seen(Side::Older), older);
        let newer = [
            "x.c: 4+1 \"b\\nc\\n\"",
            "x.c: 6+1 \"\"",
            "x.c: 20+0 \"y\\nz\"",
            "mode: whole",
            "é \"q.c: 1+1 \"\"",
            "new: whole",
        ];
        assert_eq!(seen(Side::Newer), newer);
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
            for side in [Side::Older, Side::Newer] {
                let _ = of_patch(&text.into(), side);
            }
        }
    }
}
