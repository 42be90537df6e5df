//! The views of the reduced change: what each form of a report shows of it, and the sentence that was tested.
//!
//! There is one view if the necessary change lies inside the sufficient one: the lines of the sufficient change, with
//! those of the necessary one marked. Otherwise both are shown, the one with fewer lines first.

use crate::patch::{Patch, PatchLine, Sign};
use crate::{ChangePart, Changes, ReducedChange, Report, Untrusted};
use idd_base::{CommitId, count};

/// A view of the reduced change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeView<'r> {
    /// Its title.
    pub title: String,
    /// What is shown.
    pub change: &'r ReducedChange,
    /// Its size: `5 of 183 lines, 1 marked`.
    pub size: String,
    /// What was tested, a sentence.
    pub claim: String,
}

impl ChangeView<'_> {
    /// Its patch; if only some of its lines are in the necessary change, these are marked.
    pub fn patch(&self) -> Patch {
        let mut patch = Patch::read(&self.change.patch);
        if is_marked_in_part(self.change) {
            let lines = patch.files.iter_mut().flat_map(|file| &mut file.lines);
            lines.for_each(|line| line.is_marked = self.change.marked.contains(&line.at));
        }
        patch
    }

    /// The commit that made a run of changed lines of a file; `None` if one commit made the whole change.
    pub fn commit_of(&self, file: &Untrusted, run: &[PatchLine]) -> Option<CommitId> {
        let units = &self.change.units;
        if units.iter().all(|unit| unit.commit == units[0].commit) {
            return None;
        }
        let has = |unit: &ChangePart, line: &PatchLine| {
            let sign = if line.sign == Sign::Added { b'+' } else { b'-' };
            let mut texts = unit.text.as_bytes().split(|byte| *byte == b'\n');
            texts.any(|text| text.split_first() == Some((&sign, line.text.as_bytes())))
        };
        let mut of_file = units.iter().filter(|unit| unit.file == *file);
        of_file.find(|unit| run.iter().any(|line| has(unit, line)))?.commit
    }
}

/// Whether only some of its lines are marked.
pub fn is_marked_in_part(change: &ReducedChange) -> bool {
    !change.marked.is_empty() && !is_marked_whole(change)
}

/// Whether it is the necessary change, too.
pub fn is_marked_whole(change: &ReducedChange) -> bool {
    !change.marked.is_empty() && change.marked.len() == Patch::read(&change.patch).edits().count()
}

/// Whether it changes only names, modes or binary files.
fn has_no_lines(change: &ReducedChange) -> bool {
    Patch::read(&change.patch).edits().next().is_none()
}

/// The views of the change of a report; empty if nothing was reduced.
pub fn views(report: &Report) -> Vec<ChangeView<'_>> {
    let Changes { sufficient, necessary, ends } = &report.change;
    let words = report.find.words();
    let [breaks, mends] = words.by_change;
    let at = |end: usize| ends.map_or_else(|| "the other side".to_owned(), |ends| named(ends[end], report));
    // Nobody adds a deletion.
    let has_added = |change: &ReducedChange| Patch::read(&change.patch).edits().any(|line| line.sign == Sign::Added);
    let noun = |change: &ReducedChange| if has_added(change) { "these lines" } else { "this change" };
    let added = |change| format!("dding {} to {} {breaks}", noun(change), at(0));
    let taken = |what| format!("aking {what} back at {} {mends}", at(1));
    let [_, fails, _, passes] = words.claims;
    if let (Some(change), Some(other)) = (sufficient, necessary)
        && (!change.marked.is_empty() || has_no_lines(change) && change.files == other.files)
    {
        let what = if is_marked_in_part(change) {
            "the marked ones"
        } else if has_added(change) {
            "them"
        } else {
            "it"
        };
        let claim = format!("A{}; t{}", added(change), taken(what));
        return vec![view(report, words.changes[0], change, &claim, &[fails, passes])];
    }
    let sufficient = sufficient
        .iter()
        .map(|change| view(report, words.changes[1], change, &format!("A{}", added(change)), &[fails]));
    let necessary = necessary
        .iter()
        .map(|change| view(report, words.changes[2], change, &format!("T{}", taken(noun(change))), &[passes]));
    let mut views: Vec<ChangeView<'_>> = sufficient.chain(necessary).collect();
    views.sort_by_key(|view| (!view.change.is_minimal, view.change.lines));
    views
}

/// The view of a change.
///
/// - `claims`: what was run again if the sentence is proved.
fn view<'r>(report: &Report, title: &str, change: &'r ReducedChange, claim: &str, claims: &[&str]) -> ChangeView<'r> {
    let holds = |claim: &&str| {
        let shown = report.evidence.iter().find(|shown| shown.claim.as_bytes() == claim.as_bytes());
        shown.is_some_and(|shown| shown.expected == shown.outcome)
    };
    let until = if claims.iter().all(holds) { "" } else { " (seen in the search, not run again)" };
    let title = if change.is_minimal {
        title.to_owned()
    } else {
        title.replacen("A minimal change", "The smallest change so far", 1)
    };
    ChangeView { title, change, size: size(report, change), claim: format!("{claim}{until}.") }
}

/// The lines of a reduced change, out of those of the first bad commit if it has it alone. Blank lines do not count.
fn size(report: &Report, change: &ReducedChange) -> String {
    let of_all = match &report.first_bad {
        _ if change.lines == 0 => format!("{}, no lines", count(change.files.len(), "file")),
        Some(first_bad) if report.culprits.len() < 2 && first_bad.lines >= change.lines => {
            format!("{} of {}", change.lines, count(first_bad.lines, "line"))
        }
        _ => count(change.lines, "line"),
    };
    let marked = if is_marked_in_part(change) {
        let patch = Patch::read(&change.patch);
        let marked = patch.edits().filter(|line| change.marked.contains(&line.at));
        format!(", {} marked", marked.filter(|line| !line.text.as_bytes().trim_ascii().is_empty()).count())
    } else {
        String::new()
    };
    let doubt = if change.is_minimal { "" } else { ", perhaps not minimal" };
    format!("{of_all}{marked}{doubt}")
}

/// A commit, as it was tested.
fn named(commit: CommitId, report: &Report) -> String {
    format!("{}{}", commit.short(), if report.repaired.contains(&commit) { " (repaired)" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use idd_base::Outcome;

    fn told(report: &Report) -> Vec<String> {
        views(report).iter().map(|view| format!("{} ({}): {}", view.title, view.size, view.claim)).collect()
    }

    /// A finding whose two claims about the change were run again.
    fn proved() -> Report {
        let mut report = samples::found();
        let claims = report.find.words().claims;
        for (claim, outcome) in [(claims[1], Outcome::Fail), (claims[3], Outcome::Pass)] {
            let shown = report.evidence[0].clone();
            report.evidence.push(crate::ClaimEvidence { claim: claim.into(), expected: outcome, outcome, ..shown });
        }
        report.repaired.clear();
        report
    }

    #[test]
    fn a_necessary_change_inside_the_sufficient_one_is_marked_there() {
        let mut report = proved();
        assert_eq!(
            told(&report),
            ["The change that breaks the test (2 of 40 lines): Adding these lines to 222222222222 breaks the test; \
              taking them back at 333333333333 mends it."]
        );
        report.change.sufficient.as_mut().unwrap().marked = vec![7];
        assert_eq!(
            told(&report),
            [
                "The change that breaks the test (2 of 40 lines, 1 marked): Adding these lines to 222222222222 breaks the \
              test; taking the marked ones back at 333333333333 mends it."
            ]
        );
        let patch = views(&report)[0].patch();
        assert_eq!(patch.edits().map(|line| line.is_marked).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn other_changes_are_shown_one_after_the_other_and_what_was_not_proved_is_said() {
        let mut report = samples::found();
        report.change.sufficient.as_mut().unwrap().marked.clear();
        assert_eq!(
            told(&report),
            [
                "A minimal change that makes the test fail (2 of 40 lines): Adding these lines to 222222222222 \
                 (repaired) breaks the test (seen in the search, not run again).",
                "A minimal change whose reversal makes it pass (2 of 40 lines): Taking these lines back at 333333333333 \
                 mends it (seen in the search, not run again)."
            ]
        );
        report.change.sufficient.as_mut().unwrap().is_minimal = false;
        let said = told(&report);
        let expected = "The smallest change so far that makes the test fail (2 of 40 lines, perhaps not minimal): ";
        // The one that is minimal is shown first.
        assert!(said[1].starts_with(expected), "{said:?}");
        report.change = Changes::default();
        assert!(views(&report).is_empty());
    }

    #[test]
    fn each_run_of_a_change_of_two_commits_has_its_own() {
        let mut report = proved();
        let commit = |report: &Report| {
            let view = views(report).remove(0);
            let patch = view.patch();
            let file = &patch.files[0];
            view.commit_of(&file.paths[1], file.runs().next().unwrap())
        };
        assert_eq!(commit(&report), None);
        let change = report.change.sufficient.as_mut().unwrap();
        let unit = change.units[0].clone();
        let other = ChangePart { commit: Some(CommitId::sha1([9; 20])), text: "+elsewhere\n".into(), ..unit.clone() };
        change.units.insert(0, other);
        assert_eq!(commit(&report), unit.commit);
    }

    #[test]
    fn a_change_without_lines_is_one_if_it_is_the_same_file() {
        let mut report = proved();
        let Changes { sufficient, necessary, .. } = &mut report.change;
        for change in [sufficient, necessary].into_iter().flatten() {
            change.patch = "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n".into();
            (change.lines, change.marked) = (0, Vec::new());
        }
        assert_eq!(
            told(&report),
            [
                "The change that breaks the test (1 file, no lines): Adding this change to 222222222222 breaks the test; \
              taking it back at 333333333333 mends it."
            ]
        );
        report.change.necessary.as_mut().unwrap().files = vec!["y".into()];
        assert_eq!(told(&report).len(), 2);
    }
}
