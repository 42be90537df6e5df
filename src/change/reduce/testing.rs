//! Common parts of the tests of the reducers: change sets, answers, filters, and a run that records the used
//! candidates.

use std::collections::HashMap;
use std::convert::Infallible;

use proptest::prelude::*;

use crate::reduce::{CandidateFilter, Judge, NextCandidates, ReduceOptions, Reducer, reduce};
use crate::syntax::Language;
use crate::{ChangeSet, EntryContent, EntryMode, FileDivision, FilePair, FileSide, Subset, UnitId};
use idd_base::{Asker, Asking, Search, SearchStep};

struct AskingJudge {
    asker: Asker<Subset, bool>,
    n_refused: usize,
}

impl Judge for AskingJudge {
    type Error = Infallible;

    async fn is_interesting(&mut self, candidate: &Subset, ahead: NextCandidates<'_>) -> Result<bool, Infallible> {
        let guesses = |overheard: &HashMap<Subset, bool>, n: usize| ahead(&|subset| overheard.get(subset).copied(), n);
        Ok(self.asker.one_before(candidate.clone(), guesses).await)
    }

    fn note_refused(&mut self, n_refused: usize) {
        self.n_refused += n_refused;
    }
}

/// The result of a reduction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reduced {
    pub found: Subset,
    /// The candidates whose answers were used.
    pub used: Vec<Subset>,
    /// Candidates that the filter refused.
    pub n_refused: usize,
}

/// Reduces the whole of `change_set`.
pub fn reduced_with(
    change_set: &ChangeSet,
    options: ReduceOptions,
    width: usize,
    filter: CandidateFilter<'_>,
    is_interesting: impl Fn(&Subset) -> bool,
) -> Reduced {
    let mut search = Asking::new(move |asker| async move {
        let mut judge = AskingJudge { asker, n_refused: 0 };
        let Ok(found) = reduce(change_set, change_set.full(), &options, filter, &mut judge).await;
        (found, judge.n_refused)
    });
    let mut used = Vec::new();
    for round in 0.. {
        match search.ask(width) {
            SearchStep::Found((found, n_refused)) => return Reduced { found, used, n_refused },
            SearchStep::Probe(mut candidates) if round % 3 == 0 && candidates.len() > 1 => {
                let last = candidates.pop().expect("there are two");
                let answer = is_interesting(&last);
                search.overhear(last, answer);
            }
            SearchStep::Probe(candidates) => {
                let answers: Vec<bool> = candidates.iter().map(&is_interesting).collect();
                let n_used = search.tell(&answers);
                used.extend(candidates.into_iter().take(n_used));
            }
        }
    }
    unreachable!("a reduction ends")
}

/// Without a filter: the result and the candidates whose answers were used.
pub fn reduced(
    change_set: &ChangeSet,
    options: ReduceOptions,
    width: usize,
    is_interesting: impl Fn(&Subset) -> bool,
) -> (Subset, Vec<Subset>) {
    let Reduced { found, used, .. } = reduced_with(change_set, options, width, &|_| true, is_interesting);
    (found, used)
}

/// Down to lines.
pub fn with(reducer: Reducer) -> ReduceOptions {
    ReduceOptions { reducer, ..ReduceOptions::default() }
}

/// A regular file.
pub fn side(file: usize, text: String) -> FileSide {
    let path = format!("f{file:03}").into_bytes();
    FileSide { path, mode: EntryMode::Regular, content: EntryContent::Bytes(text.into_bytes().into()) }
}

/// Unchanged lines, each followed by `n_lines` added ones.
pub fn hunks(n_hunks: usize, n_lines: usize, name: &str) -> String {
    let more = |hunk| (0..n_lines).map(move |line| format!("v{name}x{hunk}x{line}\n"));
    (0..n_hunks).flat_map(|hunk| std::iter::once(format!("same {hunk}\n")).chain(more(hunk))).collect()
}

/// `n_files` files that gain `n_hunks` hunks of `n_lines` lines each; every line is one unit.
pub fn insertions(n_files: usize, n_hunks: usize, n_lines: usize) -> ChangeSet {
    let text = |file: usize, n_lines: usize| -> String { hunks(n_hunks, n_lines, &file.to_string()) };
    let pair = |file| FilePair { older: Some(side(file, text(file, 0))), newer: Some(side(file, text(file, n_lines))) };
    ChangeSet::new((0..n_files).map(pair).collect())
}

/// The subset with these units.
pub fn of_ids(change_set: &ChangeSet, units: &[u32]) -> Subset {
    let mut subset = change_set.empty();
    subset.extend(units.iter().map(|unit| UnitId(*unit)));
    subset
}

/// A C file of `n_functions`, with `n_lines` statements in blocks before each end.
fn functions(n_functions: usize, n_lines: usize) -> String {
    let block = |line| format!("    if (a) {{\n        b({line});\n    }}\n");
    let function =
        |index| format!("int f{index}(int a) {{\n{}    return a;\n}}\n\n", (0..n_lines).map(block).collect::<String>());
    (0..n_functions).map(function).collect()
}

/// Change sets with needs between units: added, removed and changed files, a last line without terminator, and files
/// with a syntax, whose rungs are not nested.
pub fn change_set() -> impl Strategy<Value = ChangeSet> {
    let file = (0..6_usize, 0..4_usize, 1..3_usize).prop_map(|(kind, n_lines, n_hunks)| (kind, n_lines, n_hunks));
    prop::collection::vec(file, 1..5).prop_map(|files| {
        let pair = |(number, (kind, n_lines, n_hunks)): (usize, (usize, usize, usize))| {
            let (base, text) = (hunks(n_hunks, 0, ""), hunks(n_hunks, n_lines, ""));
            let (older, newer) = match kind {
                0 => (None, Some(text)),
                1 => (Some(text), None),
                2 => (Some(base), Some(text)),
                4 => (Some(functions(n_hunks, 0)), Some(functions(n_hunks, n_lines))),
                5 => (Some(functions(1, 0)), Some(functions(1 + n_hunks, n_lines / 2))),
                _ => (Some(base.trim_end().to_owned()), Some(text)),
            };
            let letter = if kind < 4 { 'f' } else { 'c' };
            let path = format!("{letter}{number}").into_bytes();
            let side = |text| FileSide { path: path.clone(), ..side(number, text) };
            FilePair { older: older.map(side), newer: newer.map(side) }
        };
        let language = Language::named("c").expect("there is knowledge of C");
        ChangeSet::divided(files.into_iter().enumerate().map(pair).collect(), |pair| {
            if pair.path().starts_with(b"c") { FileDivision::Syntax(language) } else { FileDivision::Lines }
        })
    })
}

/// The interesting subsets, in addition to the start.
#[derive(Debug, Clone)]
pub enum Interest {
    /// Supersets of one of these sets.
    Monotone(Vec<Vec<u32>>),
    /// The same, but testable only if for each pair the first comes with the second.
    Unresolved(Vec<Vec<u32>>, Vec<(u32, u32)>),
    /// This many out of 8 sets, at random.
    Erratic(u64, u64),
}

/// Answers of every kind.
pub fn interest() -> impl Strategy<Value = Interest> {
    let clauses = || prop::collection::vec(prop::collection::vec(any::<u32>(), 1..4), 1..3);
    let pairs = prop::collection::vec(any::<(u32, u32)>(), 0..8);
    prop_oneof![
        clauses().prop_map(Interest::Monotone),
        (clauses(), pairs).prop_map(|(clauses, pairs)| Interest::Unresolved(clauses, pairs)),
        (any::<u64>(), 0_u64..5).prop_map(|(seed, share)| Interest::Erratic(seed, share)),
    ]
}

impl Interest {
    /// Whether `subset` is interesting; the whole always is.
    pub fn accepts(&self, subset: &Subset) -> bool {
        let holds = |unit: &u32| subset.contains(UnitId(unit % subset.n_units()));
        let holds_any = |clauses: &[Vec<u32>]| clauses.iter().any(|clause| clause.iter().all(holds));
        if subset.len() == subset.n_units() as usize {
            return true;
        }
        match self {
            Self::Monotone(clauses) => holds_any(clauses),
            Self::Unresolved(clauses, pairs) => {
                holds_any(clauses) && pairs.iter().all(|(unit, needed)| !holds(unit) || holds(needed))
            }
            Self::Erratic(seed, share) => {
                let mix = |state: u64, unit: UnitId| {
                    (state ^ u64::from(unit.0)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
                };
                !subset.is_empty() && subset.iter().fold(*seed, mix) % 8 < *share
            }
        }
    }
}
