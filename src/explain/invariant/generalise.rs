//! Conditions made simpler: what has to hold, with less said about single values.
//!
//! A *nice* condition is short enough to be read and is kept as it is. Of another one, the recorded values of its
//! variables are taken; variables that do not matter are dropped, and the others get the largest ranges with which the
//! condition follows.
//!
//! Source: the second step of error invariants by Oh, Schäf, Schwartz-Narbonne and Wies 2014. Deviation: they take what
//! an interpolating prover gives.

use crate::invariant::history::HistoryVersion;
use idd_trace::logic::check::{LogicAnswer, check};
use idd_trace::logic::evaluate::{evaluate, signed};
use idd_trace::logic::substitute::{substitute, variables};
use idd_trace::logic::term::{BinaryTerm, TermId, TermNode, Terms, UnaryTerm};
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::time::Instant;

/// Conflicts that one question may cost.
const MAX_CONFLICTS: u64 = 2000;

/// Operators of a nice condition at most.
const MAX_OPERATORS: usize = 4;

/// Questions that the range of one variable may cost.
const MAX_WIDENINGS: u32 = 24;

/// Conditions on one variable that are kept as they are.
const MAX_OF_ONE: usize = 3;

/// Conditions among which the needless ones are looked for.
const MAX_CONDITIONS: usize = 24;

/// Asks whether conditions follow from others, and counts.
#[derive(Debug)]
pub struct Prover {
    /// Questions so far.
    pub n_questions: u64,
    /// Questions that had no answer in their budget.
    pub n_unknown: u64,
    /// When to stop.
    pub deadline: Option<Instant>,
}

impl Prover {
    /// Whether a condition follows from others. What is not known in time does not.
    pub fn follows(&mut self, terms: &mut Terms, from: &[TermId], condition: TermId) -> bool {
        if from.contains(&condition) || terms.constant_of(condition) == Some(1) {
            return true;
        }
        if self.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            return false;
        }
        self.n_questions += 1;
        let mut all: Vec<TermId> = related(terms, from, condition);
        all.push(terms.not(condition));
        match check(terms, &all, MAX_CONFLICTS) {
            LogicAnswer::Contradiction(_) => true,
            LogicAnswer::Model(_) => false,
            LogicAnswer::Unknown => {
                self.n_unknown += 1;
                false
            }
        }
    }
}

/// Those conditions that have a variable in common with a condition, directly or through others of them.
fn related(terms: &Terms, from: &[TermId], condition: TermId) -> Vec<TermId> {
    let mut reached = variables(terms, &[condition]);
    let mut rest: Vec<_> = from.iter().map(|one| (*one, variables(terms, &[*one]))).collect();
    let mut found = Vec::new();
    loop {
        let n_before = found.len();
        rest.retain(|(one, own)| {
            let is_far = own.is_disjoint(&reached) && !own.is_empty();
            if !is_far {
                found.push(*one);
                reached.extend(own.iter().copied());
            }
            is_far
        });
        if found.len() == n_before {
            return found;
        }
    }
}

/// A conjunction as its conditions, without those that always hold.
pub fn split(terms: &mut Terms, condition: TermId, into: &mut Vec<TermId>) {
    match terms.node(condition) {
        TermNode::Constant(1) => {}
        TermNode::Binary(BinaryTerm::And, one, other) if terms.width(condition) == 1 => {
            split(terms, one, into);
            split(terms, other, into);
        }
        TermNode::Unary(UnaryTerm::Not, inner) => match terms.node(inner) {
            TermNode::Binary(BinaryTerm::Or, one, other) if terms.width(inner) == 1 => {
                let (one, other) = (terms.not(one), terms.not(other));
                split(terms, one, into);
                split(terms, other, into);
            }
            _ => into.push(condition),
        },
        _ => into.push(condition),
    }
}

/// Whether a condition can be read as it is.
fn is_nice(terms: &Terms, condition: TermId) -> bool {
    let mut n_operators = 0;
    for part in terms.parts(&[condition]) {
        match terms.node(part) {
            TermNode::Binary(op, first, second) => {
                let is_constant = [first, second].iter().any(|side| terms.constant_of(*side).is_some());
                let is_hard = matches!(
                    op,
                    BinaryTerm::UDiv | BinaryTerm::URem | BinaryTerm::SDiv | BinaryTerm::SRem | BinaryTerm::Mul
                );
                if is_hard && (!is_constant || terms.width(part) > 32) {
                    return false;
                }
                n_operators += 1;
            }
            TermNode::Unary(UnaryTerm::Neg, _) | TermNode::If(..) | TermNode::Concat(..) => n_operators += 1,
            _ => {}
        }
    }
    n_operators <= MAX_OPERATORS
}

/// Conditions from which all of `conditions` follow, all of which hold for the recorded values.
///
/// - `conditions`: each holds for the recorded values.
/// - `hypotheses`: what is assumed besides.
///
/// Cost: up to [`MAX_WIDENINGS`] questions for each variable of a condition that is not nice, and one for each condition.
pub fn generalise(
    terms: &mut Terms,
    prover: &mut Prover,
    conditions: &[TermId],
    hypotheses: &[TermId],
    value: &dyn Fn(HistoryVersion) -> u64,
) -> Vec<TermId> {
    let mut general: Vec<TermId> = Vec::new();
    let simple: Vec<TermId> =
        conditions.iter().map(|condition| without_sum(terms, prover, *condition, hypotheses, value)).collect();
    let conditions = &simple[..];
    let (nice, others): (Vec<TermId>, Vec<TermId>) = conditions.iter().partition(|one| is_nice(terms, **one));
    general.extend(nice);
    for condition in others {
        let known = [&general[..], hypotheses].concat();
        if !prover.follows(terms, &known, condition) {
            let ranges = ranges(terms, prover, condition, &known, value);
            general.extend(ranges);
        }
    }
    general.sort_unstable();
    general.dedup();
    let general = joined(terms, prover, general, value);
    without_needless(terms, prover, general, hypotheses)
}

/// `x > 3` in the place of `x + 2 > 5`, if that follows from the hypotheses: because the sum does not overflow.
fn without_sum(
    terms: &mut Terms,
    prover: &mut Prover,
    condition: TermId,
    hypotheses: &[TermId],
    value: &dyn Fn(HistoryVersion) -> u64,
) -> TermId {
    let (inner, is_true) = match terms.node(condition) {
        TermNode::Unary(UnaryTerm::Not, inner) => (inner, false),
        _ => (condition, true),
    };
    let TermNode::Binary(op, first, second) = terms.node(inner) else { return condition };
    if !matches!(op, BinaryTerm::Slt | BinaryTerm::Sle | BinaryTerm::Ult | BinaryTerm::Ule) {
        return condition;
    }
    let moved = |terms: &mut Terms, sum: TermId, bound: TermId| {
        let bound = terms.constant_of(bound)?;
        let TermNode::Binary(BinaryTerm::Add, rest, by) = terms.node(sum) else { return None };
        let bound = terms.constant(bound.wrapping_sub(terms.constant_of(by)?), terms.width(rest));
        Some((rest, bound))
    };
    let found = match moved(terms, first, second) {
        Some((rest, bound)) => Some(terms.binary(op, rest, bound)),
        None => moved(terms, second, first).map(|(rest, bound)| terms.binary(op, bound, rest)),
    };
    let Some(found) = found else { return condition };
    let found = if is_true { found } else { terms.not(found) };
    let from = [&[found], hypotheses].concat();
    if holds(terms, found, value) && prover.follows(terms, &from, condition) { found } else { condition }
}

/// Puts a range in the place of many conditions on one variable, if it is shorter.
fn joined(
    terms: &mut Terms,
    prover: &mut Prover,
    conditions: Vec<TermId>,
    value: &dyn Fn(HistoryVersion) -> u64,
) -> Vec<TermId> {
    let mut single: HashMap<(HistoryVersion, u32), Vec<TermId>> = HashMap::new();
    for condition in &conditions {
        let own = variables(terms, &[*condition]);
        if own.len() == 1 {
            single.entry(*own.first().expect("there is one")).or_default().push(*condition);
        }
    }
    let mut many: Vec<((HistoryVersion, u32), Vec<TermId>)> =
        single.into_iter().filter(|(_, all)| all.len() > 1).collect();
    many.sort_unstable();
    let mut found = conditions;
    many.retain(|((version, width), all)| {
        let (variable, bits) = (terms.variable(*version, *width), terms.constant(value(*version), *width));
        let only = terms.binary(BinaryTerm::Eq, variable, bits);
        let is_only = prover.follows(terms, all, only);
        if is_only {
            found.retain(|condition| !all.contains(condition));
            found.push(only);
        }
        !is_only && all.len() > MAX_OF_ONE
    });
    for (_, all) in many {
        let mut whole = terms.truth(true);
        for condition in &all {
            whole = terms.binary(BinaryTerm::And, whole, *condition);
        }
        let range = ranges(terms, prover, whole, &[], value);
        if range.len() < all.len() {
            found.retain(|condition| !all.contains(condition));
            found.extend(range);
        }
    }
    found.sort_unstable();
    found
}

/// Leaves out what follows from the rest, long conditions first.
fn without_needless(
    terms: &mut Terms,
    prover: &mut Prover,
    conditions: Vec<TermId>,
    hypotheses: &[TermId],
) -> Vec<TermId> {
    if conditions.len() < 2 || conditions.len() > MAX_CONDITIONS {
        return conditions;
    }
    let mut by_length = conditions.clone();
    by_length.sort_by_key(|one| std::cmp::Reverse((terms.parts(&[*one]).len(), one.0)));
    let mut kept = conditions;
    for condition in by_length {
        let others: Vec<TermId> = kept.iter().copied().filter(|one| *one != condition).collect();
        let own = variables(terms, &[condition]);
        if others.iter().any(|one| !variables(terms, &[*one]).is_disjoint(&own))
            && prover.follows(terms, &[&others[..], hypotheses].concat(), condition)
        {
            kept = others;
        }
    }
    kept
}

#[derive(Debug, Clone, Copy)]
struct VariableRange {
    version: HistoryVersion,
    width: u32,
    low: i64,
    high: i64,
    /// Whether it is a range of numbers with a sign.
    has_sign: bool,
}

impl VariableRange {
    fn of(version: HistoryVersion, width: u32, bits: u64) -> Self {
        // An address is no number with a sign, and neither is a large one of fewer bits.
        let has_sign = width < 64 || bits >> 63 == 1 || bits < 1 << 32;
        let number = if has_sign { signed(bits, width) } else { bits.cast_signed() };
        Self { version, width, low: number, high: number, has_sign }
    }

    /// The least and the largest number.
    fn limits(self) -> (i64, i64) {
        match (self.has_sign, self.width) {
            (true, 64) => (i64::MIN, i64::MAX),
            (true, width) => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
            // Numbers above are not met: addresses have 47 bits.
            (false, 64) => (0, i64::MAX),
            (false, width) => (0, (1 << width) - 1),
        }
    }

    fn conditions(self, terms: &mut Terms) -> Vec<TermId> {
        let variable = terms.variable(self.version, self.width);
        let (low, high) = self.limits();
        if self.low == self.high {
            let only = terms.constant(self.low.cast_unsigned(), self.width);
            return vec![terms.binary(BinaryTerm::Eq, variable, only)];
        }
        let op = if self.has_sign { BinaryTerm::Sle } else { BinaryTerm::Ule };
        let mut conditions = Vec::new();
        if self.low > low {
            let low = terms.constant(self.low.cast_unsigned(), self.width);
            conditions.push(terms.binary(op, low, variable));
        }
        if self.high < high {
            let high = terms.constant(self.high.cast_unsigned(), self.width);
            conditions.push(terms.binary(op, variable, high));
        }
        conditions
    }
}

/// The ranges of the variables of a condition from which it follows.
fn ranges(
    terms: &mut Terms,
    prover: &mut Prover,
    condition: TermId,
    known: &[TermId],
    value: &dyn Fn(HistoryVersion) -> u64,
) -> Vec<TermId> {
    let own = variables(terms, &[condition]);
    let mut ranges: Vec<VariableRange> =
        own.into_iter().map(|(version, width)| VariableRange::of(version, width, value(version))).collect();
    let follows = |terms: &mut Terms, prover: &mut Prover, ranges: &[VariableRange]| {
        let mut from: Vec<TermId> = known.to_vec();
        for range in ranges {
            from.extend(range.conditions(terms));
        }
        prover.follows(terms, &from, condition)
    };
    // Variables that do not matter.
    let mut at = 0;
    while at < ranges.len() {
        let mut others = ranges.clone();
        others.remove(at);
        if follows(terms, prover, &others) {
            ranges = others;
        } else {
            at += 1;
        }
    }
    for at in 0..ranges.len() {
        for is_up in [true, false] {
            let (low, high) = ranges[at].limits();
            let begin = ranges[at];
            let moved = |by: i64| {
                let mut range = begin;
                if is_up {
                    range.high = range.high.saturating_add(by).min(high);
                } else {
                    range.low = range.low.saturating_sub(by).max(low);
                }
                range
            };
            // All, or as far as doubling goes, and then half of the rest again and again.
            let mut n_questions = 0;
            let mut holds = |terms: &mut Terms, prover: &mut Prover, by: i64| {
                n_questions += 1;
                if n_questions > MAX_WIDENINGS {
                    return false;
                }
                let mut changed = ranges.clone();
                changed[at] = moved(by);
                follows(terms, prover, &changed)
            };
            if holds(terms, prover, i64::MAX) {
                ranges[at] = moved(i64::MAX);
                continue;
            }
            if !holds(terms, prover, 1) {
                continue;
            }
            let mut by = 1_i64;
            while by < 1 << 40 && holds(terms, prover, by * 2) {
                by *= 2;
            }
            let mut step = by / 2;
            while step > 0 {
                if holds(terms, prover, by + step) {
                    by += step;
                }
                step /= 2;
            }
            ranges[at] = moved(by);
        }
    }
    let mut found = Vec::new();
    for range in ranges {
        found.extend(range.conditions(terms));
    }
    found
}

/// Whether a condition holds for the recorded values.
pub fn holds(terms: &Terms, condition: TermId, value: &dyn Fn(HistoryVersion) -> u64) -> bool {
    evaluate(terms, condition, |version, _| value(version)) == 1
}

/// A condition with other versions.
pub fn renamed<H: BuildHasher>(
    terms: &mut Terms,
    condition: TermId,
    versions: &HashMap<HistoryVersion, HistoryVersion, H>,
) -> TermId {
    let own = variables(terms, &[condition]);
    let values = own
        .into_iter()
        .filter_map(|(version, width)| Some((version, terms.variable(*versions.get(&version)?, width))))
        .collect::<HashMap<HistoryVersion, TermId>>();
    substitute(terms, condition, &values)
}
