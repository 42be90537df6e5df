//! A chain, asked once more.

use crate::chain::executions::{AlignedPoint, CausalityTest, Definition, Executions, Goal};
use crate::chain::session::keeping;
use crate::chain::{ChainEnd, FaultChain, definitions};

/// Checks a chain by testing its sets again, whichever method computed it.
///
/// - Every set is faulty at its point, induces the set before it in [`FaultChain::sets`] (or the failure), and without any
///   one of its definitions does not.
/// - Between the points where it changed a set is kept: it induces itself, over the whole distance at once or, if that
///   fails, over each half.
///
/// Returns the first property that does not hold, as a sentence for a person.
///
/// Cost: for each set 1 test, 1 for each of its definitions, and 1 to 2n - 1 to see that it is kept over n points.
pub fn verify<E: Executions>(chain: &FaultChain, executions: &mut E) -> Result<Result<(), String>, E::Error> {
    if definitions(&chain.sets) != chain.definitions {
        return Ok(Err("the definitions of the chain are not those of its sets".to_owned()));
    }
    let is_benign = chain.sets.last().is_some_and(|(_, set)| set.is_empty());
    if is_benign != (chain.end == ChainEnd::Benign) {
        return Ok(Err("a chain that ends in benign state has an empty set there, and no other has".to_owned()));
    }
    let mut goal = Goal::Failure;
    let mut later: Option<(AlignedPoint, &[Definition])> = None;
    for (point, set) in &chain.sets {
        let point = *point;
        if let Some((until, kept)) = later {
            // A set that is empty leads to no goal of its own: the next one is to induce the same.
            if !kept.is_empty() {
                let from = point.next();
                if !is_kept(kept, from, until, executions)? {
                    return Ok(Err(format!("the set of point {} is not kept from point {} on", until.0, from.0)));
                }
                goal = Goal::Set { point: from, definitions: kept.to_vec() };
            }
        }
        if let Err(complaint) = check(point, set, &goal, executions)? {
            return Ok(Err(complaint));
        }
        later = Some((point, set));
    }
    Ok(Ok(()))
}

/// Whether `set` is faulty at `point`, induces `goal`, and is 1-minimal in that.
fn check<E: Executions>(
    point: AlignedPoint,
    set: &[Definition],
    goal: &Goal,
    executions: &mut E,
) -> Result<Result<(), String>, E::Error> {
    let faulty = executions.faulty(point)?;
    if let Some(benign) = set.iter().find(|definition| !faulty.contains(definition)) {
        return Ok(Err(format!("what is defined at step {} is not faulty at point {}", benign.time, point.0)));
    }
    let test = |retained: Vec<Definition>| CausalityTest { point, retained, goal: goal.clone() };
    let without = |index: usize| test([&set[..index], &set[index + 1..]].concat());
    if !executions.induce(&test(set.to_vec()))? {
        return Ok(Err(format!("the set of point {} does not induce what comes after it", point.0)));
    }
    for (index, definition) in set.iter().enumerate() {
        if executions.induce(&without(index))? {
            return Ok(Err(format!(
                "the set of point {} does without what is defined at step {}",
                point.0, definition.time
            )));
        }
    }
    Ok(Ok(()))
}

/// Whether `set` leads from `point` to itself at `until`, at once or over points in between.
fn is_kept<E: Executions>(
    set: &[Definition],
    point: AlignedPoint,
    until: AlignedPoint,
    executions: &mut E,
) -> Result<bool, E::Error> {
    if point == until {
        return Ok(true);
    }
    let faulty = executions.faulty(point)?;
    if !set.iter().all(|definition| faulty.contains(definition)) {
        return Ok(false);
    }
    if executions.induce(&keeping(set, point, until))? {
        return Ok(true);
    }
    let middle = AlignedPoint(point.0.midpoint(until.0));
    Ok(middle != point && is_kept(set, middle, until, executions)? && is_kept(set, point, middle, executions)?)
}
