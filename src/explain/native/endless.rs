//! The loop that a program does not leave, and what its condition uses: the values that no longer change.

use crate::native::recorded::NativeRecorded;
use idd_base::count;
use idd_trace::native::detail;
use idd_trace::{Detail, NamedAddress, Run, Step, TraceError};
use std::collections::{HashMap, HashSet};

/// Iterations at the end, and as many at the beginning, whose values are compared.
const N_COMPARED: usize = 12;

/// The loop that a run does not leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndlessLoop {
    /// The last step that decided to repeat it.
    pub step: Step,
    /// The step that decided so first after the values stopped changing; the last one if they change.
    pub stuck: Step,
    /// What its conditions use, in a clause: `it repeats this loop, in which i stays the same`.
    pub words: String,
}

/// The variables that the conditions of a loop use.
type UsedNames = Vec<NamedAddress>;

/// Finds the loop that takes the rest of a run without an end; `None` if there is no loop with a decision.
///
/// - Result: the innermost loop that takes at least half of the run. A loop inside of it ends each time.
///
/// Cost: one pass over the run, and the details of a few steps.
pub fn find(recorded: &mut NativeRecorded) -> Result<Option<EndlessLoop>, TraceError> {
    let conditions = conditions(recorded)?;
    let Some(n) = conditions.iter().map(Vec::len).min() else { return Ok(None) };
    let step = |condition: &[Step], back: usize| condition[condition.len() - 1 - back];
    // Counted from the end; of those in the middle some with growing distances.
    let middle = (1..usize::BITS).map(|bits| n >> bits);
    let mut backs: Vec<usize> = (0..n.min(N_COMPARED)).chain(middle).chain(n.saturating_sub(N_COMPARED)..n).collect();
    backs.sort_unstable();
    backs.dedup();
    let mut steps: Vec<Step> =
        backs.iter().flat_map(|back| conditions.iter().map(|condition| step(condition, *back))).collect();
    steps.sort_unstable();
    let details = detail::details(&mut recorded.player, &steps, Step(u32::MAX))?;
    let details: HashMap<Step, Detail> = details.into_iter().map(|detail| (detail.standing.step, detail)).collect();
    let used = |back: usize| -> UsedNames {
        let of = conditions.iter().filter_map(|condition| details.get(&step(condition, back)));
        let mut all: UsedNames = of
            .flat_map(|detail| detail.reads.iter().map(|read| &read.named).filter(|named| is_variable(named)))
            .cloned()
            .collect();
        let mut seen = HashSet::new();
        all.retain(|named| seen.insert(named.name.clone()));
        all
    };
    let last: Vec<UsedNames> = (0..n.min(N_COMPARED)).map(used).collect();
    let is_stuck = |period: usize, back: &usize| used(*back) == last[back % period];
    let stuck = period(&last)
        .map_or(0, |period| backs.iter().copied().take_while(|back| is_stuck(period, back)).last().unwrap_or(0));
    let head = &conditions[0];
    Ok(Some(EndlessLoop { step: step(head, 0), stuck: step(head, stuck), words: words(&last) }))
}

/// Whether a value has a name in the source.
fn is_variable(named: &NamedAddress) -> bool {
    !["a constant", "temporary of ", "block of step "].iter().any(|other| named.name.starts_with(other))
}

/// After how many elements a row begins again.
fn period<T: PartialEq>(row: &[T]) -> Option<usize> {
    (1..=row.len() / 2).find(|period| row.iter().zip(&row[*period..]).all(|(one, other)| one == other))
}

/// The steps of each decision that leads on in the loop, first those of its head; empty if there is no loop.
fn conditions(recorded: &mut NativeRecorded) -> Result<Vec<Vec<Step>>, TraceError> {
    let last = Step(recorded.run.n_steps());
    let mut around = around(&recorded.run, last);
    around.reverse();
    let mut statements: HashMap<Step, (u32, u32)> = HashMap::new();
    recorded.player.each_step(|_, frame| {
        if frame.shape.is_decision(frame.statement) && around.binary_search(&frame.step).is_ok() {
            statements.insert(frame.step, (frame.shape.index, frame.statement));
        }
    })?;
    // By activation and statement.
    let mut loops: HashMap<(u32, (u32, u32)), Vec<Step>> = HashMap::new();
    let callers = &recorded.run.callers;
    let key = |step: &Step| Some((callers[step.0 as usize], *statements.get(step)?));
    for step in &around {
        if let Some(key) = key(step) {
            loops.entry(key).or_default().push(*step);
        }
    }
    let is_long = |steps: &Vec<Step>| steps.len() > 1 && last.0 - steps[0].0 >= last.0 / 2;
    let mut inner_first = around.iter().rev().filter_map(key);
    let Some((caller, n)) = inner_first.find_map(|key| Some((key.0, loops.get(&key).filter(|it| is_long(it))?.len())))
    else {
        return Ok(Vec::new());
    };
    let of_loop =
        |key: &(u32, (u32, u32)), steps: &Vec<Step>| key.0 == caller && is_long(steps) && steps.len().abs_diff(n) <= 1;
    let mut found: Vec<Vec<Step>> =
        loops.into_iter().filter(|(key, steps)| of_loop(key, steps)).map(|(_, steps)| steps).collect();
    found.sort_unstable();
    Ok(found)
}

/// The decisions and calls around a step, the nearest first.
fn around(run: &Run, step: Step) -> Vec<Step> {
    let outer = |step: &Step| Some(Step(run.deciders[step.0 as usize])).filter(|outer| *outer != Step::START);
    std::iter::successors(Some(step), outer).collect()
}

/// Says which of the values that the conditions used change.
///
/// - `used`: from the last time on.
fn words(used: &[UsedNames]) -> String {
    let (mut stays, mut others) = (Vec::new(), Vec::new());
    for NamedAddress { name, .. } in used.first().into_iter().flatten() {
        let of = |all: &UsedNames| all.iter().find(|other| other.name == *name).and_then(|other| other.value.clone());
        let values: Vec<Option<String>> = used.iter().map(of).collect();
        match period(&values) {
            _ if values.contains(&None) => {}
            Some(1) => stays.push(name.as_str()),
            Some(period) => others.push(format!("{name} has the same {} in turn", count(period, "value"))),
            None => others.push(format!("{name} changes")),
        }
    }
    let stay = match &*stays {
        [] => None,
        [one] => Some(format!("{one} stays the same")),
        [all @ .., last] => Some(format!("{} and {last} stay the same", all.join(", "))),
    };
    let all: Vec<String> = stay.into_iter().chain(others).collect();
    let which = if all.is_empty() { String::new() } else { format!(", in which {}", all.join(", and ")) };
    format!("it repeats this loop{which}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_condition_stay_change_or_come_again() {
        let check = |all: &[&[(&str, &str)]], expected: &str| {
            let named = |(name, value): &(&str, &str)| NamedAddress {
                name: (*name).to_owned(),
                value: Some((*value).to_owned()),
            };
            let of = |values: &&[(&str, &str)]| -> UsedNames { values.iter().map(named).collect() };
            assert_eq!(words(&all.iter().map(of).collect::<Vec<_>>()), format!("it repeats this loop{expected}"));
        };
        let same = &[("i", "1"), ("n", "5")];
        check(&[same, same, same], ", in which i and n stay the same");
        let counted = |values: [&'static str; 4]| values.map(|value| [("i", value)]);
        check(&counted(["1", "1", "1", "1"]).each_ref().map(|one| &one[..]), ", in which i stays the same");
        check(&counted(["1", "2", "3", "4"]).each_ref().map(|one| &one[..]), ", in which i changes");
        check(
            &counted(["1", "2", "1", "2"]).each_ref().map(|one| &one[..]),
            ", in which i has the same 2 values in turn",
        );
        check(&[&[]], "");
    }
}
