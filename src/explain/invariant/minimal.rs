//! The statements of a slice that are necessary.

use crate::invariant::Abstraction;
use crate::invariant::verify::Formula;
use idd_trace::logic::check::{LogicAnswer, check};
use idd_trace::logic::term::{TermId, Terms};
use std::time::Instant;

/// Conflicts that one question may cost.
const MAX_CONFLICTS: u64 = 20_000;

/// Statements of a slice of which it is asked: all of them are in each question.
const MAX_LINKS: usize = 400;

/// The statements of a slice from which the failure follows, with whatever the other statements do: by the index of the
/// link. And whether each of them is necessary, which is not known if the time was up. `None` if the first question had no
/// answer, or there are too many.
///
/// Cost: at most one question for each statement.
pub fn minimal(terms: &mut Terms, abstraction: &Abstraction, deadline: Option<Instant>) -> Option<(Vec<bool>, bool)> {
    if abstraction.links.len() > MAX_LINKS {
        return None;
    }
    let mut formula = Formula::new(terms, abstraction, 0);
    formula.always.extend(&abstraction.rest);
    let mut core: Vec<usize> = (0..formula.statements.len()).collect();
    let asked = |terms: &Terms, core: &[usize]| {
        let mut truths: Vec<TermId> = formula.always.clone();
        let mut owner = vec![None; truths.len()];
        for at in core {
            for truth in &formula.statements[*at].1 {
                truths.push(*truth);
                owner.push(Some(*at));
            }
        }
        match check(terms, &truths, MAX_CONFLICTS) {
            LogicAnswer::Contradiction(found) => {
                let mut found: Vec<usize> = found.into_iter().filter_map(|truth| owner[truth]).collect();
                found.sort_unstable();
                found.dedup();
                Some(Some(found))
            }
            LogicAnswer::Model(_) => Some(None),
            LogicAnswer::Unknown => None,
        }
    };
    core = asked(terms, &core)??;
    let mut at = 0;
    let mut is_minimal = true;
    while at < core.len() {
        if deadline.is_some_and(|deadline| Instant::now() > deadline) {
            is_minimal = false;
            break;
        }
        let mut others = core.clone();
        others.remove(at);
        match asked(terms, &others) {
            Some(Some(found)) => core = found,
            Some(None) => at += 1,
            None => {
                is_minimal = false;
                at += 1;
            }
        }
    }
    let mut necessary = vec![false; abstraction.links.len()];
    for at in core {
        if let Some(link) = formula.statements[at].0 {
            necessary[link] = true;
        }
    }
    Some((necessary, is_minimal))
}
