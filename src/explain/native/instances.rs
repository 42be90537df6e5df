//! Which instance of its statement a step is: loops and calls run one statement many times.

use std::collections::HashMap;

use crate::link::Instance;
use crate::native::recorded::NativeRecorded;
use idd_trace::{Place, Step, TraceError};

/// The instances that some steps are, and the places of their statements; a step that did not run has none.
///
/// Cost: one pass over the run.
pub fn instances(
    recorded: &mut NativeRecorded,
    steps: &[Step],
) -> Result<HashMap<Step, (Instance, Option<Place>)>, TraceError> {
    let mut steps = steps.to_vec();
    steps.sort_unstable();
    // By the number of a function among those met, and that of a statement.
    let mut counts: HashMap<(u32, u32), u32> = HashMap::new();
    let mut found = Vec::new();
    recorded.player.each_step(|_, frame| {
        let statement = (frame.shape.index, frame.statement);
        let nth = counts.entry(statement).or_insert(0);
        *nth += 1;
        if steps.binary_search(&frame.step).is_ok() {
            found.push((frame.step, statement, *nth, frame.place().cloned()));
        }
    })?;
    let of = |statement| counts.get(&statement).copied().unwrap_or(1);
    let found = found.into_iter();
    Ok(found.map(|(step, statement, nth, place)| (step, (Instance { nth, of: of(statement) }, place))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::stored::recorded;
    use idd_trace::native::stored::step;

    #[test]
    fn instances_are_counted_in_the_whole_run() {
        let mut run = recorded("list", "bad");
        // `node->value = weights[i];`
        let second = step(&mut run.player, 26, 1);
        let found = instances(&mut run, &[second, Step(u32::MAX)]).unwrap();
        assert_eq!(found.len(), 1);
        let (instance, place) = &found[&second];
        assert_eq!((*instance, place.as_ref().map(|place| place.line)), (Instance { nth: 2, of: 3 }, Some(26)));
    }
}
