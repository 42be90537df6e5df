//! A person who knows the program without the fault, and answers as that.
//!
//! Source: Lin, Sun, Xue, Liu and Dong 2017, section 5.1: steps that the other run has not are on a wrong path, those whose
//! values differ use wrong values, and a step is unclear with a probability that grows with its depth and shrinks each time it
//! is seen. Deviation: steps correspond by their structural index.

use crate::ways::{baselines, dominators, microbat};
use idd_explain::feedback::Feedback;
use idd_explain::feedback::recommend::unclear;
use idd_session::Failure;
use idd_session::debug::{DebugWalk, given};
use idd_trace::Step;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How a simulation went.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Simulated {
    /// Whether a step of the change was recommended.
    pub is_found: bool,
    /// Answers that the person gave, with that on the failure.
    pub n_answers: usize,
    /// Those that were unclear.
    pub n_unclear: usize,
    /// Steps of the run.
    pub n_steps: u32,
    /// The longest time of a recommendation.
    pub longest: Duration,
    /// The steps that were judged, each with its line and its answer.
    pub steps: Vec<(Step, u32, Feedback)>,
}

/// Answers are given up after so many.
const MAX_ANSWERS: usize = 200;

/// How a simulated person comes to the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// As `git idd debug` recommends it for a recording.
    Expected,
    /// As it recommends it for two versions: the passing one answers silently where it agrees.
    Helped,
    /// By the state machine of the paper: [`microbat`].
    Microbat,
    /// By dominators, with those that were not tried taken up at a dead end: [`dominators`].
    Dominators,
    /// In the order of the slice, from the failure on: [`baselines::slicing`].
    Slicing,
    /// So that the slice is halved: [`baselines::divide`].
    Divide,
    /// By halves in time, with whole states: [`halve`].
    States,
}

impl Strategy {
    /// By its name; `None` if there is no such way.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "expected" => Self::Expected,
            "expected+help" => Self::Helped,
            "microbat" => Self::Microbat,
            "dominators" => Self::Dominators,
            "slicing" => Self::Slicing,
            "divide" => Self::Divide,
            "states" => Self::States,
            _ => return None,
        })
    }
}

/// The next step; `None` if nothing is left.
fn next(walk: &mut DebugWalk, way: Strategy) -> Result<Option<Step>, Failure> {
    let recommended = match way {
        Strategy::Expected => Some(walk.recommend()?),
        Strategy::Helped => Some(walk.recommend_helped()?),
        _ => None,
    };
    if let Some(recommended) = recommended {
        return Ok(recommended.map(|found| found.step));
    }
    if walk.judged.is_empty() {
        return Ok(Some(walk.failure));
    }
    let table = Arc::clone(&walk.table);
    let (failure, judged) = (walk.failure, walk.judged.clone());
    let grounds = walk.grounds()?;
    let graph = &grounds.graph;
    Ok(match way {
        Strategy::Microbat => microbat::next(graph, &table, &judged),
        Strategy::Dominators => dominators::next(graph, &table, &judged),
        Strategy::Slicing => baselines::slicing(graph, &table, &grounds.wrong, failure, &judged),
        Strategy::Divide => baselines::divide(graph, &table, &grounds.wrong, &judged),
        Strategy::Expected | Strategy::Helped | Strategy::States => None,
    })
}

/// The steps of the lines of a step, without the entries of the methods that they call.
fn lines(walk: &DebugWalk, step: Step) -> Vec<Step> {
    let mut found = walk.table.members(step);
    found.retain(|member| *member == step || !walk.run.outline().entries[member.0 as usize]);
    found
}

/// Walks by a way, until a step of the change is the next one.
///
/// - `is_changed`: whether a step is in the change.
/// - `is_in_no_step`: whether no step is: then a wrong initial value is looked for.
pub fn simulate(
    walk: &mut DebugWalk,
    way: Strategy,
    is_changed: &mut dyn FnMut(Step) -> bool,
    is_in_no_step: bool,
) -> Result<Simulated, Failure> {
    if way == Strategy::States {
        return Ok(halve(walk, is_changed));
    }
    walk.judged.clear();
    let mut found = Simulated { n_steps: walk.run.outline().n_steps(), ..Simulated::default() };
    let mut seen: HashMap<Step, u32> = HashMap::new();
    while found.n_answers < MAX_ANSWERS {
        let begin = Instant::now();
        let Some(next) = next(walk, way)? else { break };
        found.longest = found.longest.max(begin.elapsed());
        let facts = walk.facts(next)?;
        if lines(walk, next).into_iter().any(&mut *is_changed) {
            found.is_found = true;
            break;
        }
        let nth = seen.entry(next).or_insert(0);
        *nth += 1;
        let truth = walk.silent(next)?.unwrap_or(Feedback::Unclear);
        let is_first = walk.judged.is_empty();
        let is_unclear = !is_first && chance(next, *nth) < unclear(walk.table.level(next), *nth);
        let feedback = if is_unclear { Feedback::Unclear } else { truth };
        found.n_answers += 1;
        found.n_unclear += usize::from(is_unclear);
        let line = facts.detail.standing.place.as_ref().map_or(0, |place| place.line);
        found.steps.push((next, line, feedback.clone()));
        let is_given = is_in_no_step && given(&facts, &feedback).is_some();
        walk.tell(&facts, feedback);
        if is_given {
            found.is_found = true;
            break;
        }
    }
    Ok(found)
}

/// A search by halves in time, by a person who can compare the whole state before a step with that of the passing version:
/// it is right up to the first step of the change, and wrong after it. A baseline that asks for more than a step shows.
///
/// - `is_changed`: whether a step is in the change.
fn halve(walk: &DebugWalk, is_changed: &mut dyn FnMut(Step) -> bool) -> Simulated {
    let mut found = Simulated { n_steps: walk.run.outline().n_steps(), ..Simulated::default() };
    let Some(first) = (1..=walk.failure.0).map(Step).find(|step| is_changed(*step)) else { return found };
    let (mut right, mut wrong) = (0, walk.failure.0 + 1);
    while wrong - right > 1 {
        let middle = Step(right + (wrong - right) / 2);
        if is_changed(middle) {
            break;
        }
        let n_unclear =
            (1..1000).take_while(|nth| chance(middle, *nth) < unclear(walk.table.level(middle), *nth)).count();
        found.n_unclear += n_unclear;
        found.n_answers += n_unclear + 1;
        if middle > first { wrong = middle.0 } else { right = middle.0 }
    }
    found.is_found = true;
    found
}

/// A number from 0 to 1 that looks like chance, and is the same each time.
fn chance(step: Step, nth: u32) -> f64 {
    let mut bits = (u64::from(step.0) << 32 | u64::from(nth)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    f64::from(u32::try_from((bits ^ (bits >> 31)) >> 32).unwrap_or(0)) / f64::from(u32::MAX)
}
