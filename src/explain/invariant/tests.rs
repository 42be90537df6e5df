//! The engine on small runs that are written down here.

use crate::invariant::history::{Assignment, BackwardRun, HistoryVersion, Time, VersionEffects};
use crate::invariant::minimal::minimal;
use crate::invariant::verify::questions;
use crate::invariant::{Abstraction, FailingState, InvariantLimits, SliceRole, abstraction};
use idd_trace::logic::check::check;
use idd_trace::logic::evaluate::evaluate;
use idd_trace::logic::substitute::variables;
use idd_trace::logic::term::{BinaryTerm, TermId, Terms};
use std::collections::HashMap;
use std::convert::Infallible;

/// A run of assignments to numbered places of 32 bits. A version is the number of the assignment.
#[derive(Default)]
struct Run {
    terms: Terms,
    /// The last version of each place.
    last: HashMap<u64, HistoryVersion>,
    assigned: Vec<Assigned>,
    /// By time: the condition of a decision.
    decisions: HashMap<u32, TermId>,
    /// The open decisions.
    open: Vec<u32>,
    governing: HashMap<u32, u32>,
    now: u32,
}

struct Assigned {
    time: u32,
    value: TermId,
    bits: u64,
    before: Option<HistoryVersion>,
    hypotheses: Vec<TermId>,
}

impl Run {
    fn number(&mut self, bits: i64) -> TermId {
        self.terms.constant(bits.cast_unsigned(), 32)
    }

    fn read(&mut self, place: u64) -> TermId {
        let version = self.last[&place];
        self.terms.variable(version, 32)
    }

    fn op(&mut self, op: BinaryTerm, one: TermId, other: TermId) -> TermId {
        self.terms.binary(op, one, other)
    }

    fn value_of(&self, term: TermId) -> u64 {
        evaluate(&self.terms, term, |version, _| self.assigned[version as usize].bits)
    }

    fn set(&mut self, place: u64, value: TermId) -> u32 {
        self.set_with(place, value, Vec::new())
    }

    fn set_with(&mut self, place: u64, value: TermId, hypotheses: Vec<TermId>) -> u32 {
        self.now += 1;
        let read = variables(&self.terms, &[value]);
        let before = self.last.get(&place).copied().filter(|before| read.iter().any(|(one, _)| one == before));
        let bits = self.value_of(value);
        self.last.insert(place, u32::try_from(self.assigned.len()).unwrap());
        self.assigned.push(Assigned { time: self.now, value, bits, before, hypotheses });
        if let Some(decision) = self.open.last() {
            self.governing.insert(self.now, *decision);
        }
        self.now
    }

    fn decide(&mut self, condition: TermId) -> u32 {
        self.now += 1;
        assert_eq!(self.value_of(condition), 1, "a decision goes the way that its condition says");
        self.decisions.insert(self.now, condition);
        if let Some(decision) = self.open.last() {
            self.governing.insert(self.now, *decision);
        }
        self.open.push(self.now);
        self.now
    }

    /// The slice of a failure that is seen now.
    fn slice(&mut self, failure: TermId) -> Abstraction {
        assert_eq!(self.value_of(failure), 1, "the run fails");
        self.now += 1;
        if let Some(decision) = self.open.last() {
            self.governing.insert(self.now, *decision);
        }
        let failing = FailingState {
            conditions: vec![failure],
            effects: VersionEffects::default(),
            time: Time(0, self.now),
            depth: u32::MAX,
        };
        let mut terms = std::mem::take(&mut self.terms);
        let Ok(found) = abstraction(&mut terms, self, &failing, InvariantLimits::default());
        // Each invariant holds, and implies the failure.
        for link in 0..found.links.len() {
            for question in questions(&mut terms, &found, link, &|version| self.value(version)) {
                assert!(check(&terms, &question, 10_000).is_contradiction(), "link {link} of {found:?}");
            }
        }
        self.terms = terms;
        found
    }
}

impl BackwardRun for Run {
    type Error = Infallible;

    fn assigned(&mut self, version: HistoryVersion) -> Result<Option<Time>, Infallible> {
        Ok(Some(Time(0, self.assigned[version as usize].time)))
    }

    fn value(&self, version: HistoryVersion) -> u64 {
        self.assigned[version as usize].bits
    }

    fn effects(&mut self, _: &mut Terms, _: Time, versions: &[HistoryVersion]) -> Result<VersionEffects, Infallible> {
        let assignment = |version: &HistoryVersion| {
            let Assigned { value, before, .. } = self.assigned[*version as usize];
            Assignment { version: *version, value, before, requires: Vec::new(), is_location: false }
        };
        let hypotheses = versions.iter().flat_map(|version| self.assigned[*version as usize].hypotheses.clone());
        Ok(VersionEffects {
            assignments: versions.iter().map(assignment).collect(),
            hypotheses: hypotheses.collect(),
            ..VersionEffects::default()
        })
    }

    fn decisions(&mut self, _terms: &mut Terms, time: Time) -> Result<Vec<(Time, bool)>, Infallible> {
        Ok(self.governing.get(&time.1).map(|decision| (Time(0, *decision), false)).into_iter().collect())
    }

    fn omissions(&mut self, _terms: &mut Terms, _time: Time) -> Result<Vec<Time>, Infallible> {
        Ok(Vec::new())
    }

    fn condition(&mut self, _: &mut Terms, decision: Time) -> Result<(TermId, VersionEffects), Infallible> {
        Ok((self.decisions[&decision.1], VersionEffects::default()))
    }
}

fn times(found: &Abstraction) -> Vec<u32> {
    found.links.iter().map(|link| link.time.1).collect()
}

/// No carry out of the sign, as C promises.
fn no_overflow(run: &mut Run, one: TermId, other: TermId) -> TermId {
    let (one, other) = (run.terms.sign_extend(one, 33), run.terms.sign_extend(other, 33));
    let sum = run.op(BinaryTerm::Add, one, other);
    let narrow = run.terms.extract(sum, 0, 32);
    let again = run.terms.sign_extend(narrow, 33);
    run.op(BinaryTerm::Eq, sum, again)
}

#[test]
fn statements_that_the_failure_does_not_need_are_skipped() {
    let mut run = Run::default();
    let seven = run.number(7);
    let first = run.set(1, seven);
    run.set(2, seven);
    let (x, one) = (run.read(1), run.number(1));
    let sum = run.op(BinaryTerm::Add, x, one);
    let second = run.set(3, sum);
    run.set(1, one);
    let (y, limit) = (run.read(3), run.number(5));
    let failure = run.op(BinaryTerm::Slt, limit, y);
    let found = run.slice(failure);
    assert_eq!(times(&found), [first, second]);
    assert!(found.links[0].before.is_empty() && !found.is_partial);
    assert_eq!(minimal(&mut run.terms, &found, None), Some((vec![true, true], true)));
}

#[test]
fn iterations_that_keep_the_invariant_are_no_statements_of_the_slice() {
    let mut run = Run::default();
    let (zero, one) = (run.number(0), run.number(1));
    let first = run.set(1, zero);
    for _ in 0..50 {
        let i = run.read(1);
        let sum = run.op(BinaryTerm::Add, i, one);
        let hypothesis = no_overflow(&mut run, i, one);
        run.set_with(1, sum, vec![hypothesis]);
    }
    let (i, five) = (run.read(1), run.number(5));
    let failure = run.op(BinaryTerm::Sle, five, i);
    let found = run.slice(failure);
    assert_eq!((times(&found)[0], found.links.len(), found.kept.len()), (first, 6, 45));
}

#[test]
fn a_decision_that_the_invariant_does_not_imply_belongs_to_the_slice() {
    let mut run = Run::default();
    let (three, nine) = (run.number(3), run.number(9));
    let n = run.set(1, nine);
    let (read, limit) = (run.read(1), run.number(5));
    let is_large = run.op(BinaryTerm::Slt, limit, read);
    let decision = run.decide(is_large);
    let wrong = run.set(2, three);
    let read = run.read(2);
    let failure = run.op(BinaryTerm::Eq, read, three);
    let found = run.slice(failure);
    assert_eq!(times(&found), [n, decision, wrong]);
    assert_eq!(found.links[1].role, SliceRole::Decides);
}

#[test]
fn a_computation_that_is_long_becomes_ranges_of_its_variables() {
    let mut run = Run::default();
    let numbers = [3, 40, 500, 6000].map(|bits| run.number(bits));
    for (place, number) in (1..).zip(numbers) {
        run.set(place, number);
    }
    // ((first * 4 + second) ^ third) + (fourth >> 3)
    let [first, second, third, fourth] = [1, 2, 3, 4].map(|place| run.read(place));
    let (four, shift) = (run.number(4), run.number(3));
    let product = run.op(BinaryTerm::Mul, first, four);
    let sum = run.op(BinaryTerm::Add, product, second);
    let mixed = run.op(BinaryTerm::Xor, sum, third);
    let high = run.op(BinaryTerm::LShr, fourth, shift);
    let all = run.op(BinaryTerm::Add, mixed, high);
    run.set(5, all);
    let (x, limit) = (run.read(5), run.number(100));
    let failure = run.op(BinaryTerm::Slt, limit, x);
    let found = run.slice(failure);
    let last = found.links.last().unwrap();
    assert!(last.before.iter().all(|one| variables(&run.terms, &[*one]).len() == 1), "{last:?}");
    assert!(!last.before.is_empty() && !last.is_pinned);
}

#[test]
fn a_limit_leaves_what_has_to_hold_before() {
    let mut run = Run::default();
    let (one, three) = (run.number(1), run.number(3));
    run.set(1, one);
    for _ in 0..20 {
        let h = run.read(1);
        let product = run.op(BinaryTerm::Mul, h, three);
        run.set(1, product);
    }
    let read = run.read(1);
    let bits = run.value_of(read);
    let last = run.terms.constant(bits, 32);
    let failure = run.op(BinaryTerm::Eq, read, last);
    let failing =
        FailingState { conditions: vec![failure], effects: VersionEffects::default(), time: Time(0, 99), depth: 0 };
    let mut terms = std::mem::take(&mut run.terms);
    let limits = InvariantLimits { max_links: 5, time: None };
    let Ok(found) = abstraction(&mut terms, &mut run, &failing, limits);
    assert!(found.is_partial && found.links.len() == 5 && !found.rest.is_empty());
    assert_eq!(found.rest, found.links[0].before);
}
