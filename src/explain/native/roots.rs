//! Leads a chain back to the change where it begins later.
//!
//! A chain ends where no faulty variable is needed any more. That can be too late: a value may wait in no variable, or
//! point to something that the failing run does not have, so that no patch takes it away. Then the last instance of a
//! changed statement on which the first link depends, by data or control, is its root, if from right before it a wholly
//! benign state brings the first set about: what the change does from there on is enough. (Not in the paper, which has
//! not met such a case.)
//!
//! A change can also take away a jump or a check. Then nothing that runs in the failing version depends on it, and the
//! root is where the two runs part.

use crate::chain::{AlignedPoint, CausalityTest, Definition, Executions as _, FaultChain, Goal};
use crate::facts::way;
use crate::link::{Did, Link};
use crate::native::causality::{Causality, CausalityError, Forks};
use crate::native::standing::standing;
use crate::native::through::{Through, through};
use idd_trace::native::uses::dependences;
use idd_trace::slice::{self, Kinds};
use idd_trace::{Place, Step};

/// Sets of a chain that the change may lead to.
const MAX_GOALS: usize = 6;

/// Why the root of a chain is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// No changed statement runs.
    NotRun,
    /// Changed statements run, and the first link depends on none of them.
    Independent,
    /// The first link depends on this changed statement, but no tested state from there on brings it about.
    Unproved(Option<Place>),
}

/// Adds the root of a chain to its links if the first one is not in the change; returns why not if it is not found and none of the others is, either.
///
/// - `is_changed`: whether a place of the failing version is in the change.
///
/// If nothing changed leads to the first set, the next ones are tried: what leads to them then begins with the change.
///
/// Cost: two passes over the failing run, and for each set that is tried about log2 of the instances of changed statements in tests.
pub fn lead<F: Forks>(
    causality: &mut Causality<F>,
    chain: &FaultChain,
    links: &mut Vec<Link>,
    is_changed: &mut dyn FnMut(&Place) -> bool,
) -> Result<Option<Missing>, CausalityError<F::Error>> {
    let mut is_in_change = links.iter().map(|link| link.place.as_ref().is_some_and(&mut *is_changed));
    if is_in_change.next() == Some(true) {
        return Ok(None);
    }
    let is_through = is_in_change.any(|is_in_change| is_in_change);
    let seen = causality.failure().step;
    let first = links.first().map_or(seen, |link| link.step);
    let place = standing(causality.failing(), seen)?.place;
    if links.is_empty() && place.as_ref().is_some_and(&mut *is_changed) {
        return Ok(None);
    }
    let failing = &mut causality.failing().player;
    let mut changed = Vec::new();
    failing.each_step(|_, frame| {
        // What a function is entered with is told of its call.
        if frame.statement != 0 && frame.place().is_some_and(&mut *is_changed) {
            changed.push(frame.step);
        }
    })?;
    if changed.is_empty() {
        return Ok(Some(if first == Step::START { Missing::Independent } else { Missing::NotRun }));
    }
    let dependences = dependences(failing, Step(u32::MAX))?;
    let parting = causality.partings(first);
    let mut missing = Missing::Independent;
    let mut root = None;
    for (steps, goal) in goals(chain, first).into_iter().take(if is_through { 1 } else { MAX_GOALS }) {
        let from: Vec<_> = steps.iter().map(|step| (*step, Step(u32::MAX))).collect();
        let reached = slice::backward(&dependences, &from, Kinds::ALL);
        let is_part = steps.contains(&first);
        let leads = |step: &&Step| reached.contains(**step) || (is_part && parting.contains_key(*step));
        let candidates: Vec<Step> = changed.iter().filter(leads).copied().collect();
        let Some(last) = candidates.last().copied() else { continue };
        root = last_inducing(causality, &candidates, &goal)?;
        if root.is_some() {
            break;
        }
        if missing == Missing::Independent {
            missing = Missing::Unproved(standing(causality.failing(), last)?.place);
        }
    }
    let mut did = None;
    if is_through && root.is_none() {
        return Ok(None);
    }
    if root.is_none()
        && missing == Missing::Independent
        && let Some(Through { step, path }) = through(&mut causality.failing().player, first, &changed)?
    {
        root = Some(step);
        did = Some(Did::Used(String::from_utf8_lossy(&path).into_owned()));
    }
    let Some(step) = root else { return Ok(Some(missing)) };
    // Where a later set needs nothing earlier than the change, what leads to it otherwise is another story.
    links.retain(|link| link.time >= u64::from(step.0));
    let found = standing(causality.failing(), step)?;
    let reference = causality.alignment().reference(step);
    let mut ways = None;
    if let Some(Some((ours, theirs))) = parting.get(&step) {
        let ours = standing(causality.failing(), *ours)?.place;
        let theirs = standing(causality.reference(), *theirs)?.place;
        ways = ours.zip(theirs).filter(|(ours, theirs)| ours.line > 0 && theirs.line > 0);
    }
    let differs = Did::Differs(ways.map(|(ours, theirs)| (way(&ours), way(&theirs))));
    let did = did.unwrap_or(differs);
    let link = Link::new(step, step.0.into(), did);
    let index = links.partition_point(|other| other.time < link.time);
    links.insert(index, Link { reference, function: found.function, place: found.place, ..link });
    Ok(None)
}

/// What the change may lead to: the steps that made it, and the goal of a test. The first set of a chain, then the next ones.
fn goals(chain: &FaultChain, first: Step) -> Vec<(Vec<Step>, Goal)> {
    let sets = chain.sets.iter().rev().filter(|(_, set)| !set.is_empty());
    let of = |(point, set): &(AlignedPoint, Vec<Definition>)| Goal::Set { point: *point, definitions: set.clone() };
    let steps = |set: &[Definition]| {
        let times = set.iter().filter_map(|definition| u32::try_from(definition.time).ok());
        times.map(Step).filter(|step| *step != Step::START).collect::<Vec<_>>()
    };
    let mut goals: Vec<(Vec<Step>, Goal)> = sets.clone().map(|set| (steps(&set.1), of(set))).take(MAX_GOALS).collect();
    if goals.is_empty() {
        goals.push((Vec::new(), Goal::Failure));
    }
    goals[0].0 = vec![first];
    goals.retain(|(steps, _)| steps.iter().all(|step| *step != Step::START) && !steps.is_empty());
    goals
}

/// The last of some steps from right before which a wholly benign state brings a goal about.
///
/// Cost: about log2 of the steps in tests.
fn last_inducing<F: Forks>(
    causality: &mut Causality<F>,
    steps: &[Step],
    goal: &Goal,
) -> Result<Option<Step>, CausalityError<F::Error>> {
    let is_before = |point: &AlignedPoint| match goal {
        Goal::Failure => true,
        Goal::Set { point: later, .. } => point < later,
    };
    let with_point = |step: &Step| Some((*step, causality.point_until(*step).filter(is_before)?));
    let candidates: Vec<(Step, AlignedPoint)> = steps.iter().filter_map(with_point).collect();
    // From before an earlier one all that comes later is done, too: those that lead to it are the first ones.
    let (mut begin, mut end) = (0, candidates.len());
    while begin < end {
        let middle = if begin == 0 && end == candidates.len() { 0 } else { begin.midpoint(end) };
        let test = CausalityTest { point: candidates[middle].1, retained: Vec::new(), goal: goal.clone() };
        if causality.induce(&test)? {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    Ok(begin.checked_sub(1).map(|last| candidates[last].0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::RunEnding;
    use crate::native::stored::{causality, chain};

    /// The links of an empty chain of the program that crashes, if the change is in these lines.
    fn led(changed: &[u32]) -> Vec<(u32, Did)> {
        let mut causality = causality("crash", RunEnding::Signal(11));
        let last = causality.failure().step;
        let chain = chain(&mut causality, last, |_, _| false);
        let mut links = Vec::new();
        let is_led = lead(&mut causality, &chain, &mut links, &mut |place| changed.contains(&place.line)).unwrap();
        assert!(is_led.is_none() || links.is_empty());
        links.into_iter().map(|link| (link.place.map_or(0, |place| place.line), link.did)).collect()
    }

    #[test]
    fn the_root_is_a_changed_statement_that_the_failure_depends_on() {
        // `struct whole whole = { NULL };` gives the pointer; the failure depends on nothing of `part.size = 4;`.
        assert_eq!(led(&[16]), [(16, Did::Differs(None))]);
        assert_eq!(led(&[20]), []);
        assert_eq!(led(&[16, 20]), [(16, Did::Differs(None))]);
    }

    #[test]
    fn a_root_that_is_not_found_has_a_reason() {
        let missing = |changed: &[u32]| {
            let mut causality = causality("crash", RunEnding::Signal(11));
            let last = causality.failure().step;
            let chain = chain(&mut causality, last, |_, _| false);
            lead(&mut causality, &chain, &mut Vec::new(), &mut |place| changed.contains(&place.line)).unwrap()
        };
        assert_eq!(missing(&[1000]), Some(Missing::NotRun));
        assert_eq!(missing(&[20]), Some(Missing::Independent));
        assert_eq!(missing(&[16]), None);
    }

    #[test]
    fn nothing_leads_to_a_line_that_did_not_run_or_that_fails_itself() {
        assert_eq!(led(&[]), []);
        assert_eq!(led(&[11]), []);
        assert_eq!(led(&[1000]), []);
    }
}
