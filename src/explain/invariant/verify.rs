//! The questions with which a solver checks invariants from end to end.
//!
//! Source: Oh and others 2014, section III: the prefix of the run implies the invariant, and the invariant and the rest
//! of the run contradict that it does not fail.

use crate::invariant::history::HistoryVersion;
use crate::invariant::{Abstraction, KeptStatement, SliceLink};
use idd_trace::logic::substitute::variables;
use idd_trace::logic::term::{BinaryTerm, TermId, Terms};

/// The rest of a run from a statement of the slice on, and that it does not fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formula {
    /// What holds whatever the statements do: hypotheses, and that the run does not fail.
    pub always: Vec<TermId>,
    /// By statement: the index of its link, if it is one, and what it does.
    pub statements: Vec<(Option<usize>, Vec<TermId>)>,
}

impl Formula {
    /// - `first`: the index of the first link of the rest.
    pub fn new(terms: &mut Terms, abstraction: &Abstraction, first: usize) -> Self {
        let links = &abstraction.links[first..];
        let begin = links.first().map(|link| link.time);
        let kept = abstraction.kept.iter().filter(|kept| begin.is_some_and(|begin| kept.time > begin));
        let mut always: Vec<TermId> = abstraction.facts.clone();
        let mut statements = Vec::new();
        let mut failing = abstraction.failure.clone();
        for (index, SliceLink { assigned, condition, hypotheses, facts, addresses, same, .. }) in (first..).zip(links) {
            always.extend(hypotheses.iter().chain(same));
            statements.push((Some(index), [facts, &equations(terms, assigned, addresses)[..]].concat()));
            failing.extend(condition);
            failing.extend(condition.iter().flat_map(|_| addresses));
        }
        for KeptStatement { assigned, hypotheses, facts, addresses, same, .. } in kept {
            always.extend(hypotheses.iter().chain(same));
            statements.push((None, [facts, &equations(terms, assigned, addresses)[..]].concat()));
        }
        let mut fails = terms.truth(true);
        for condition in failing {
            fails = terms.binary(BinaryTerm::And, fails, condition);
        }
        always.push(terms.not(fails));
        Self { always, statements }
    }

    /// All of it.
    pub fn truths(&self) -> Vec<TermId> {
        self.always.iter().chain(self.statements.iter().flat_map(|(_, truths)| truths)).copied().collect()
    }
}

/// What is assigned, as long as it is read where it is expected.
fn equations(terms: &mut Terms, assigned: &[(HistoryVersion, TermId)], addresses: &[TermId]) -> Vec<TermId> {
    let mut is_elsewhere = terms.truth(false);
    for address in addresses {
        let other = terms.not(*address);
        is_elsewhere = terms.binary(BinaryTerm::Or, is_elsewhere, other);
    }
    let equation = |(version, value): &(HistoryVersion, TermId)| {
        let variable = terms.variable(*version, terms.width(*value));
        let equal = terms.binary(BinaryTerm::Eq, variable, *value);
        terms.binary(BinaryTerm::Or, equal, is_elsewhere)
    };
    assigned.iter().map(equation).collect()
}

/// The two questions about the invariant before a link, both of which have to be contradictions: what the run did until
/// then does not imply it; it does not imply, with the rest of the slice, that the run fails.
pub fn questions(
    terms: &mut Terms,
    abstraction: &Abstraction,
    link: usize,
    value: &dyn Fn(HistoryVersion) -> u64,
) -> [Vec<TermId>; 2] {
    let invariant = &abstraction.links[link].before;
    let mut whole = terms.truth(true);
    for condition in invariant {
        whole = terms.binary(BinaryTerm::And, whole, *condition);
    }
    let mut prefix: Vec<TermId> = Vec::new();
    for (version, width) in variables(terms, invariant) {
        let (variable, bits) = (terms.variable(version, width), terms.constant(value(version), width));
        prefix.push(terms.binary(BinaryTerm::Eq, variable, bits));
    }
    prefix.push(terms.not(whole));
    let mut rest = invariant.clone();
    rest.extend(Formula::new(terms, abstraction, link).truths());
    [prefix, rest]
}
