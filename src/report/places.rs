//! The places of a finding in a checkout: the lines that a patch replaces there, and their replacements.

use crate::patch::{Patch, PatchFile, PatchLine, Sign};
use crate::{Report, Untrusted};
use idd_base::CommitId;

/// The places of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingPlaces {
    /// The commit of the line numbers.
    pub commit: CommitId,
    /// In the order of the patch.
    pub places: Vec<ReplacedLines>,
}

/// Adjacent lines of a file that are replaced together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacedLines {
    /// The path.
    pub file: Untrusted,
    /// Its lines; `None` if the change is not one of lines.
    pub lines: Option<LineRun>,
    /// What the change does to the file as a whole, in words, as `renamed from a.h`; empty if there are lines.
    pub whole: Untrusted,
}

/// A run of lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineRun {
    /// The first line, from 1; 0 if it is not known. For an empty run, the line before which `instead` is inserted.
    pub begin: u64,
    /// Number of lines; 0 for an insertion.
    pub count: u64,
    /// The lines.
    pub text: Untrusted,
    /// The replacement that makes the test pass.
    pub instead: Untrusted,
}

impl LineRun {
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

/// The places at HEAD if a fix or a revert was tested there; else those of the necessary change, or the sufficient one, in the
/// first bad commit. `None` if nothing was reduced.
pub fn places(report: &Report) -> Option<FindingPlaces> {
    if let Some(fix) = report.reversal().filter(|fix| fix.complete) {
        return Some(FindingPlaces { commit: fix.commit, places: of_patch(&fix.patch, PatchSide::Older) });
    }
    let commit = report.first_bad.as_ref()?.commit.commit;
    let change = report.change.necessary.as_ref().or(report.change.sufficient.as_ref())?;
    Some(FindingPlaces { commit, places: of_patch(&change.patch, PatchSide::Newer) })
}

/// The places of a patch on one side.
pub(super) fn of_patch(patch: &Untrusted, side: PatchSide) -> Vec<ReplacedLines> {
    Patch::read(patch).files.iter().flat_map(|file| of_file(file, side)).collect()
}

fn of_file(file: &PatchFile, side: PatchSide) -> Vec<ReplacedLines> {
    let path = &file.paths[usize::from(side == PatchSide::Newer)];
    let of_run = |run: &[PatchLine]| {
        let here = if side == PatchSide::Older { Sign::Removed } else { Sign::Added };
        let text = |is_here: bool| -> Untrusted {
            let lines = run.iter().filter(|line| (line.sign == here) == is_here);
            let end = |line: &PatchLine| if line.is_unended && !is_here { &b""[..] } else { b"\n" };
            lines.flat_map(|line| [line.text.as_bytes(), end(line)].concat()).collect::<Vec<u8>>().into()
        };
        let begin = if side == PatchSide::Older { run[0].older } else { run[0].newer };
        let count = run.iter().filter(|line| line.sign == here).count() as u64;
        let lines = LineRun { begin: begin.into(), count, text: text(true), instead: text(false) };
        ReplacedLines { file: path.clone(), lines: Some(lines), whole: Untrusted::default() }
    };
    let places: Vec<ReplacedLines> = file.runs().map(of_run).collect();
    if places.is_empty() { vec![ReplacedLines { file: path.clone(), lines: None, whole: whole(file) }] } else { places }
}

/// What a patch without lines does to a file, in words.
pub(super) fn whole(file: &PatchFile) -> Untrusted {
    let said = |line: &Untrusted| {
        let line = line.as_bytes();
        if let Some(mode) = line.strip_prefix(b"new mode ") {
            return Some([b"its mode is now ", mode].concat());
        }
        if line.starts_with(b"rename from ") {
            return Some([b"renamed from ", file.paths[0].as_bytes()].concat());
        }
        WHOLE.iter().find(|(mark, _)| line.starts_with(mark.as_bytes())).map(|(_, said)| said.as_bytes().to_vec())
    };
    let said: Vec<Vec<u8>> = file.header.iter().filter_map(said).collect();
    if said.is_empty() { "an empty file".into() } else { said.join(&b", "[..]).into() }
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
        let show = |place: ReplacedLines| {
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
