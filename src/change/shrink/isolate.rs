//! Moves a passing and a failing input towards each other.

use crate::shrink::candidate::{InputCandidate, ShrinkProgress};
use crate::shrink::views::{pieces, token_ranges};
use idd_base::difference::difference;
use idd_base::{Asker, Outcome};
use similar::{Algorithm, DiffOp};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// A difference: bytes of the passing text, and what stands there in the failing text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ByteEdit {
    older: Range<usize>,
    newer: Vec<u8>,
}

/// Divides a text into units.
type UnitDivider = fn(&[u8]) -> Vec<Range<usize>>;

/// Two inputs that differ as little as possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Isolated {
    /// The test passes with it.
    pub passing: InputCandidate,
    /// The test fails with it.
    pub failing: InputCandidate,
}

/// Isolates the difference that makes the test fail: first in lines, then in tokens, then in bytes.
///
/// - `passing`, `failing`: of one part each; the test passes and fails with them. They are not asked again.
/// - Result: at the level of bytes, no single edit can be applied to the passing input so that the test still passes,
///   and none can be taken back in the failing one so that it still fails.
///
/// Cost: for n edits at a level at most n² + 3n probes; about 2 log2(n) if every candidate passes or fails.
///
/// Source: Zeller and Hildebrandt 2002, the algorithm dd. Deviation: the levels.
pub async fn isolate(
    asker: Asker<InputCandidate, Outcome>,
    passing: InputCandidate,
    failing: InputCandidate,
    progress: Rc<RefCell<ShrinkProgress>>,
) -> Isolated {
    let mut known = HashMap::from([(passing.clone(), Outcome::Pass), (failing.clone(), Outcome::Fail)]);
    let mut ends = Isolated { passing, failing };
    let line_ranges = |text: &[u8]| pieces(text, b'\n');
    let byte_ranges = |text: &[u8]| (0..text.len()).map(|at| at..at + 1).collect();
    let levels: [(&'static str, UnitDivider); 3] =
        [("lines", line_ranges), ("tokens", token_ranges), ("bytes", byte_ranges)];
    for (units, divide) in levels {
        progress.borrow_mut().units = units;
        let older = Rc::clone(&ends.passing.parts[0]);
        let edits = edits(&older, &ends.failing.parts[0], divide);
        ends = narrowed(&asker, &older, &edits, &mut known).await;
        progress.borrow_mut().current = ends.failing.clone();
    }
    ends
}

/// The edits that make `newer` of `older`, in units of `divide`, each as small as possible.
fn edits(older: &[u8], newer: &[u8], divide: UnitDivider) -> Vec<ByteEdit> {
    let (of_older, of_newer) = (divide(older), divide(newer));
    let texts: Vec<&[u8]> = of_older.iter().map(|range| &older[range.clone()]).collect();
    let others: Vec<&[u8]> = of_newer.iter().map(|range| &newer[range.clone()]).collect();
    let mut edits = Vec::new();
    let at = |index: usize| of_older.get(index).map_or(older.len(), |range| range.start);
    for op in difference(Algorithm::Myers, &texts, &others) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (deleted, inserted) = (op.old_range(), op.new_range());
        for index in 0..deleted.len().max(inserted.len()) {
            let begin = deleted.start + index.min(deleted.len());
            let end = deleted.end.min(begin + 1);
            let newer = others[inserted.clone()].get(index).map(|text| text.to_vec()).unwrap_or_default();
            edits.push(ByteEdit { older: at(begin)..at(end), newer });
        }
    }
    edits
}

/// `older` with these edits, which are in order.
fn applied<'e>(older: &[u8], edits: impl Iterator<Item = &'e ByteEdit>) -> InputCandidate {
    let mut made = Vec::with_capacity(older.len());
    let mut at = 0;
    for edit in edits {
        made.extend_from_slice(&older[at..edit.older.start]);
        made.extend_from_slice(&edit.newer);
        at = edit.older.end;
    }
    made.extend_from_slice(&older[at..]);
    InputCandidate { parts: vec![made.into()] }
}

/// The algorithm dd: sets of edits, one with which the test passes inside one with which it fails.
async fn narrowed(
    asker: &Asker<InputCandidate, Outcome>,
    older: &[u8],
    edits: &[ByteEdit],
    known: &mut HashMap<InputCandidate, Outcome>,
) -> Isolated {
    let mut passing: Vec<bool> = vec![false; edits.len()];
    let mut failing: Vec<bool> = vec![true; edits.len()];
    let made = |set: &[bool]| applied(older, edits.iter().zip(set).filter(|(_, is_in)| **is_in).map(|(edit, _)| edit));
    let mut n_parts = 2;
    loop {
        let between: Vec<usize> = (0..edits.len()).filter(|index| failing[*index] && !passing[*index]).collect();
        if between.len() < 2 {
            return Isolated { passing: made(&passing), failing: made(&failing) };
        }
        n_parts = n_parts.min(between.len());
        let bounds = |part: usize| part * between.len() / n_parts;
        let parts: Vec<&[usize]> = (0..n_parts).map(|part| &between[bounds(part)..bounds(part + 1)]).collect();
        let with = |set: &[bool], part: &[usize], is_in: bool| {
            let mut set = set.to_vec();
            for index in part {
                set[*index] = is_in;
            }
            set
        };
        // In the order of the paper: what makes the most progress first.
        let added: Vec<Vec<bool>> = parts.iter().map(|part| with(&passing, part, true)).collect();
        let removed: Vec<Vec<bool>> = parts.iter().map(|part| with(&failing, part, false)).collect();
        let mut tried: Vec<(Vec<bool>, Outcome)> = Vec::new();
        let mut decided = None;
        for (sets, wanted) in [(&added, Outcome::Fail), (&removed, Outcome::Pass)] {
            for (index, set) in sets.iter().enumerate() {
                let candidate = made(set);
                let outcome = if let Some(outcome) = known.get(&candidate) {
                    *outcome
                } else {
                    let rest = &sets[index + 1..];
                    let guesses = |heard: &HashMap<InputCandidate, Outcome>, n: usize| {
                        let open = rest.iter().map(|set| made(set)).filter(|guess| !heard.contains_key(guess));
                        open.take(n).collect()
                    };
                    let outcome = asker.one_before(candidate.clone(), guesses).await;
                    known.insert(candidate, outcome);
                    outcome
                };
                if outcome == wanted {
                    decided = Some((set.clone(), outcome, 2));
                    break;
                }
                tried.push((set.clone(), outcome));
            }
            if decided.is_some() {
                break;
            }
        }
        // Less progress: the other end moves by one part.
        let next = decided.or_else(|| {
            let found = tried.iter().position(|(_, outcome)| matches!(outcome, Outcome::Pass | Outcome::Fail));
            found.map(|at| (tried[at].0.clone(), tried[at].1, (n_parts - 1).max(2)))
        });
        match next {
            Some((set, Outcome::Fail, n)) => (failing, n_parts) = (set, n),
            Some((set, _, n)) => (passing, n_parts) = (set, n),
            None if n_parts < between.len() => n_parts *= 2,
            None => return Isolated { passing: made(&passing), failing: made(&failing) },
        }
    }
}
