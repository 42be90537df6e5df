//! A patch in git's format, line by line.

use crate::Untrusted;

/// A patch, line by line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Patch {
    /// Its files, in its order.
    pub files: Vec<PatchFile>,
}

/// The part of a patch for one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PatchFile {
    /// Its path on each side, the older one first: the same if only one side has the file.
    pub paths: [Untrusted; 2],
    /// The other lines of its header, as they are.
    pub header: Vec<Untrusted>,
    /// Its lines; hunks begin with a [`Sign::Hunk`].
    pub lines: Vec<PatchLine>,
}

/// A line of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchLine {
    /// Its kind.
    pub sign: Sign,
    /// Its number in the patch, from 1.
    pub at: u64,
    /// Its number on the older side, or that of the next line there.
    pub older: u32,
    /// The same on the newer side.
    pub newer: u32,
    /// The text, without its sign and its end.
    pub text: Untrusted,
    /// Whether it is the last line of its side, without a line end.
    pub is_unended: bool,
    /// Whether it also belongs to a change that was [marked](Patch::mark).
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

/// The number of a line of a file in another version.
pub type LineMap<'f> = dyn Fn(&Untrusted, u32) -> u32 + 'f;

impl Patch {
    /// Reads a patch in git's format; any other text gives a patch without lines.
    pub fn read(text: &Untrusted) -> Self {
        let mut patch = Self::default();
        let (mut older, mut newer) = (0, 0);
        let mut left = (0_u32, 0_u32);
        for (at, line) in (1..).zip(text.as_bytes().split(|byte| *byte == b'\n')) {
            let is_header = left == (0, 0);
            if is_header && let Some(names) = line.strip_prefix(b"diff --git ") {
                // This line is ambiguous unless both names are equal; other names have lines of their own.
                let name = Untrusted::from(strip(names.get(names.len() / 2 + 1..).unwrap_or_default()));
                patch.files.push(PatchFile { paths: [name.clone(), name], ..PatchFile::default() });
                continue;
            }
            let Some(file) = patch.files.last_mut() else { continue };
            if is_header && let Some(range) = line.strip_prefix(b"@@ -") {
                ((older, left.0), (newer, left.1)) = ranges(range);
            }
            let mut add = |sign, text: &[u8]| {
                let (text, is_unended, is_marked) = (text.into(), false, false);
                file.lines.push(PatchLine { sign, at, older, newer, text, is_unended, is_marked });
            };
            match line {
                [b'\\', ..] => file.lines.last_mut().into_iter().for_each(|line| line.is_unended = true),
                [b'@', b'@', b' ', b'-', ..] if is_header => add(Sign::Hunk, line),
                _ if is_header => file.take_header(line),
                [b'+', text @ ..] => {
                    add(Sign::Added, text);
                    (newer, left.1) = (newer.saturating_add(1), left.1.saturating_sub(1));
                }
                [b'-', text @ ..] => {
                    add(Sign::Removed, text);
                    (older, left.0) = (older.saturating_add(1), left.0.saturating_sub(1));
                }
                [b' ', text @ ..] | text => {
                    add(Sign::Same, text);
                    (older, newer) = (older.saturating_add(1), newer.saturating_add(1));
                    left = (left.0.saturating_sub(1), left.1.saturating_sub(1));
                }
            }
        }
        patch
    }

    /// The lines that were added or removed.
    pub fn edits(&self) -> impl Iterator<Item = &PatchLine> {
        self.files.iter().flat_map(|file| &file.lines).filter(|line| line.is_edit())
    }

    /// Where a line of the older side of this patch is on the newer side; for a line that it removes, where the next line
    /// is.
    pub fn carried(&self, path: &Untrusted, line: u32) -> u32 {
        let file = self.files.iter().find(|file| file.paths[0] == *path);
        let edits = || file.iter().flat_map(|file| &file.lines);
        let n_added = edits().filter(|edit| edit.sign == Sign::Added && edit.older <= line).count();
        let n_removed = edits().filter(|edit| edit.sign == Sign::Removed && edit.older < line).count();
        let number = |n_lines: usize| u32::try_from(n_lines).unwrap_or(u32::MAX);
        line.saturating_add(number(n_added)).saturating_sub(number(n_removed))
    }

    /// Marks the lines that `change` has too: for each of its lines, the nearest one with the same text. Returns whether
    /// all of them are here.
    ///
    /// - `on_sides`: the number that a line of this patch has in `change`, on the older and on the newer side.
    pub fn mark(&mut self, change: &Self, on_sides: [&LineMap<'_>; 2]) -> bool {
        let mut has_all = true;
        for part in &change.files {
            let Some(file) = self.files.iter_mut().find(|file| file.paths[1] == part.paths[1]) else {
                has_all = false;
                continue;
            };
            let [older_path, newer_path] = file.paths.clone();
            for wanted in part.lines.iter().filter(|line| line.is_edit()) {
                let far = |line: &PatchLine| match line.sign {
                    Sign::Removed => on_sides[0](&older_path, line.older).abs_diff(wanted.older),
                    _ => on_sides[1](&newer_path, line.newer).abs_diff(wanted.newer),
                };
                let is_same =
                    |line: &&mut PatchLine| !line.is_marked && (line.sign, &line.text) == (wanted.sign, &wanted.text);
                match file.lines.iter_mut().filter(is_same).min_by_key(|line| far(line)) {
                    Some(line) => line.is_marked = true,
                    None => has_all = false,
                }
            }
        }
        has_all
    }
}

impl PatchFile {
    /// Its runs of adjacent changed lines.
    pub fn runs(&self) -> impl Iterator<Item = &[PatchLine]> {
        self.lines.chunk_by(|one, two| one.is_edit() && two.is_edit()).filter(|run| run[0].is_edit())
    }

    fn take_header(&mut self, line: &[u8]) {
        const NAMES: [(&[u8], usize); 4] = [(b"--- ", 0), (b"+++ ", 1), (b"rename from ", 0), (b"rename to ", 1)];
        let name = NAMES.iter().find_map(|(mark, side)| Some((line.strip_prefix(*mark)?, *side)));
        match name {
            Some((b"/dev/null", _)) => {}
            Some((name, side)) if line.starts_with(b"rename ") => {
                self.paths[side] = unquote(name).into();
                self.header.push(line.into());
            }
            Some((name, side)) => self.paths[side] = strip(name).into(),
            None if line.is_empty() => {}
            None => self.header.push(line.into()),
        }
    }
}

impl PatchLine {
    /// Whether it was added or removed.
    pub fn is_edit(&self) -> bool {
        matches!(self.sign, Sign::Added | Sign::Removed)
    }
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
        let line = |file: &PatchFile, line: &PatchLine| {
            let mark = if line.is_marked { "*" } else { "" };
            let [name, text] = [&file.paths[1], &line.text].map(|text| String::from_utf8_lossy(text.as_bytes()));
            format!("{} {name} {}/{} {:?} {text}{mark}", line.at, line.older, line.newer, line.sign)
        };
        let edits = |file: &PatchFile| {
            file.lines.iter().filter(|line| line.is_edit()).map(|it| line(file, it)).collect::<Vec<_>>()
        };
        patch.files.iter().flat_map(edits).collect()
    }

    #[test]
    fn lines_have_their_numbers_and_those_of_another_change_are_marked_where_they_are_nearest() {
        let mut whole = Patch::read(&WHOLE.into());
        let change = "diff --git a/x.c b/x.c\n--- a/x.c\n+++ b/x.c\n@@ -20,1 +20,2 @@\n+n\n z\n@@ -4,1 +4,0 @@\n-b\n";
        let same = |_: &Untrusted, line| line;
        assert!(whole.mark(&Patch::read(&change.into()), [&same, &same]));
        let expected = [
            "7 x.c 4/4 Removed b*",
            "8 x.c 5/4 Added B",
            "9 x.c 5/5 Added n",
            "11 x.c 6/7 Removed d",
            "12 x.c 7/7 Added D",
            "14 x.c 20/21 Added n*",
            "21 new.c 1/1 Added n",
        ];
        assert_eq!(shown(&whole), expected);
        assert_eq!(whole.files[1].header, ["new file mode 100644".into()]);
        assert!(whole.files[1].lines[1].is_unended);
        let other = change.replace("-b", "-q");
        assert!(!Patch::read(&WHOLE.into()).mark(&Patch::read(&other.as_str().into()), [&same, &same]));
    }

    #[test]
    fn a_line_is_carried_to_the_newer_side() {
        let patch = Patch::read(&WHOLE.into());
        let carried = [1, 3, 4, 5, 6, 7, 19, 20, 21].map(|line| patch.carried(&"x.c".into(), line));
        assert_eq!(carried, [1, 3, 4, 6, 7, 8, 20, 22, 23]);
        assert_eq!(patch.carried(&"other.c".into(), 9), 9);
    }

    #[test]
    fn the_distance_counts_where_the_other_change_has_the_line() {
        let mut whole = Patch::read(&WHOLE.into());
        let change = "diff --git a/x.c b/x.c\n--- a/x.c\n+++ b/x.c\n@@ -9,0 +10 @@\n+n\n";
        assert!(whole.mark(&Patch::read(&change.into()), [&|_, line| line, &|_, line| line + 5]));
        assert_eq!(whole.edits().filter(|line| line.is_marked).map(|line| line.at).collect::<Vec<_>>(), [9]);
    }

    #[test]
    fn what_is_no_patch_does_no_harm() {
        for text in [
            "",
            "\n\n",
            "@@ -1 +1 @@\n",
            "diff --git \n@@ -x +y @@\n+a\n",
            "diff --git a/a b/a\n@@ -1,9 +4294967295,9 @@\n+\n+\n",
        ] {
            let patch = Patch::read(&text.into());
            patch.carried(&"a".into(), u32::MAX);
        }
    }
}
