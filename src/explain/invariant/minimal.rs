//! The statements of a slice that are necessary.

use crate::explain::invariant::Abstraction;
use crate::explain::invariant::verify::Formula;
use crate::logic::check::Answer;
use crate::logic::check::check;
use crate::logic::term::TermId;
use crate::logic::term::Terms;

/// Conflicts that one question may cost.
const MAX_CONFLICTS: u64 = 20_000;

/// Which statements of a slice are necessary: without any of these, and with whatever the other statements do, the
/// failure does not follow. By the index of the link. `None` if a question had no answer.
///
/// Cost: at most one question for each statement.
pub fn minimal(terms: &mut Terms, abstraction: &Abstraction) -> Option<Vec<bool>> {
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
            Answer::Contradiction(found) => {
                let mut found: Vec<usize> = found.into_iter().filter_map(|truth| owner[truth]).collect();
                found.sort_unstable();
                found.dedup();
                Some(Some(found))
            }
            Answer::Model(_) => Some(None),
            Answer::Unknown => None,
        }
    };
    core = asked(terms, &core)??;
    let mut at = 0;
    while at < core.len() {
        let mut others = core.clone();
        others.remove(at);
        match asked(terms, &others)? {
            Some(found) => core = found,
            None => at += 1,
        }
    }
    let mut necessary = vec![false; abstraction.links.len()];
    for at in core {
        if let Some(link) = formula.statements[at].0 {
            necessary[link] = true;
        }
    }
    Some(necessary)
}
