//! The calls and loops around a step and around what was judged, as the rows of a tree.

use idd_explain::feedback::{Feedback, JudgedStep};
use idd_report::escape::safe;
use idd_session::debug::calls::{CallIndex, RunNode, RunPart};
use idd_trace::{Place, Step};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The deepest row is indented so far.
const MAX_INDENT: usize = 12;

/// Of what is directly in a part, so many on each side of the nearest one are shown.
const N_BESIDE: usize = 20;

/// Of what is around the step, so many are shown; the innermost.
const MAX_PATH: usize = 200;

/// Of what is around a step that was judged, so many are shown; the innermost.
const MAX_AROUND: usize = 20;

/// Of what was judged, so many are shown; the last ones.
const MAX_JUDGED: usize = 200;

/// A row of the tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeRow {
    /// The step that is looked at for it; 0 for where the run begins.
    pub step: u32,
    /// The letters of the answers about it.
    pub answers: String,
    /// The text, indented and safe to print.
    pub text: String,
    /// Whether the current step stands here.
    pub is_now: bool,
    /// Whether something can be in it.
    pub is_part: bool,
}

impl TreeRow {
    /// `>w  loop a.c:9, 2 of 3`.
    pub fn line(&self) -> String {
        let now = if self.is_now { '>' } else { ' ' };
        format!("{now}{:<2} {}", self.answers, self.text)
    }
}

/// The letter of an answer.
fn letter(feedback: &Feedback) -> char {
    match feedback {
        Feedback::Correct => 'c',
        Feedback::WrongResult => 'h',
        Feedback::WrongPath => 'p',
        Feedback::WrongValue(_) => 'w',
        Feedback::Unclear => 'u',
    }
}

fn at(place: Option<&Place>) -> String {
    let name = |place: &Place| {
        let file = place.file.rsplit('/').next().unwrap_or_default();
        format!(", {}:{}", safe(file), place.line)
    };
    place.map(name).unwrap_or_default()
}

fn text(node: &RunNode) -> String {
    let nth = node.nth.filter(|(_, n)| *n > 1).map(|(nth, n)| format!(", {nth} of {n}")).unwrap_or_default();
    let place = at(node.place.as_ref());
    match &node.part {
        RunPart::Begin(function) => safe(function),
        RunPart::Call(function) => format!("{}(){place}{nth}", safe(function)),
        RunPart::Iteration => format!("loop{place}{nth}"),
        RunPart::Line => format!("step {}{place}", node.step.0),
    }
}

/// The calls and loops around a step in one line; empty if there are none.
///
/// Cost: that of [`CallIndex::path`].
pub fn path(calls: CallIndex<'_>, step: Step) -> String {
    let nodes = calls.path(step, MAX_AROUND);
    if nodes.len() == 1 { String::new() } else { nodes.iter().map(text).collect::<Vec<_>>().join(" > ") }
}

/// The rows: what is around a step and around what was judged, and what is directly in the parts of `open`; in the order of
/// the run.
///
/// Cost: that of [`CallIndex::path`], and a pass over each part of `open`.
pub fn rows(calls: CallIndex<'_>, now: Step, judged: &[JudgedStep], open: &BTreeSet<u32>) -> Vec<TreeRow> {
    let path = calls.path(now, MAX_PATH);
    let mut counted: HashMap<Step, (usize, usize)> =
        path.iter().filter_map(|node| Some((node.step, node.nth?))).collect();
    let mut answers: BTreeMap<Step, String> = BTreeMap::new();
    for answer in &judged[judged.len().saturating_sub(MAX_JUDGED)..] {
        let letters = answers.entry(answer.step).or_default();
        if letters.len() == 2 {
            letters.remove(0);
        }
        letters.push(letter(&answer.feedback));
    }
    let mut shown: BTreeSet<Step> = path.iter().map(|node| node.step).collect();
    shown.insert(now);
    for step in answers.keys() {
        let around = calls.around(*step);
        shown.extend(&around[around.len().saturating_sub(MAX_AROUND)..]);
        shown.insert(*step);
    }
    for part in open {
        let inside = calls.inside(Step(*part));
        let mut ordinals: HashMap<u32, usize> = HashMap::new();
        let numbered: Vec<(Step, usize, u32)> = inside
            .iter()
            .map(|step| {
                let statement = calls.table.statement(*step);
                let nth = ordinals.entry(statement).or_insert(0);
                *nth += 1;
                (*step, *nth, statement)
            })
            .collect();
        let nearest = inside.partition_point(|step| *step < now);
        let first = nearest.saturating_sub(N_BESIDE);
        for (step, nth, statement) in numbered.into_iter().skip(first).take(2 * N_BESIDE) {
            counted.insert(step, (nth, ordinals[&statement]));
            shown.insert(step);
        }
    }
    let row = |step: Step| {
        let node = if step == Step::START { path[0].clone() } else { calls.node(step) };
        let node = RunNode { nth: counted.get(&step).copied().or(node.nth), ..node };
        let indent = " ".repeat(node.depth.min(MAX_INDENT));
        TreeRow {
            step: step.0,
            answers: answers.get(&step).cloned().unwrap_or_default(),
            text: format!("{indent}{}", text(&node)),
            is_now: step == now,
            is_part: step == Step::START || calls.is_part(step),
        }
    };
    shown.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use idd_session::debug::calls::{Siblings, example};

    fn lines(now: u32, judged: &[(u32, Feedback)], open: &[u32]) -> String {
        let (table, run, statements) = example();
        let siblings = Siblings::default();
        let calls = CallIndex { table: &table, run: &run, statements: &statements, siblings: &siblings };
        let judged: Vec<JudgedStep> = judged
            .iter()
            .map(|(step, feedback)| JudgedStep { step: Step(*step), feedback: feedback.clone(), makers: Vec::new() })
            .collect();
        let rows = rows(calls, Step(now), &judged, &open.iter().copied().collect());
        rows.iter().map(|row| row.line() + "\n").collect()
    }

    #[test]
    fn the_path_to_a_step_and_to_what_was_judged_is_a_tree() {
        let judged = [(10, Feedback::WrongValue(vec![0])), (4, Feedback::Unclear), (4, Feedback::Correct)];
        insta::assert_snapshot!(lines(8, &judged, &[]), @r"
            main
             loop, a.c:2, 1 of 2
              work(), a.c:3
         uc    step 4, a.c:7
             loop, a.c:2, 2 of 2
              work(), a.c:3
        >      step 8, a.c:7
         w   step 10, a.c:5
        ");
        let (table, run, statements) = example();
        let siblings = Siblings::default();
        let calls = CallIndex { table: &table, run: &run, statements: &statements, siblings: &siblings };
        assert_eq!(path(calls, Step(8)), "main > loop, a.c:2, 2 of 2 > work(), a.c:3");
        assert_eq!(path(calls, Step(10)), "");
    }

    #[test]
    fn a_part_shows_what_is_directly_in_it() {
        insta::assert_snapshot!(lines(10, &[], &[0, 1]), @r"
            main
             loop, a.c:2, 1 of 2
              work(), a.c:3
             loop, a.c:2, 2 of 2
        >    step 10, a.c:5
        ");
    }
}
