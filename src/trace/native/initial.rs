//! Initial values of global variables that some steps read.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::native::globals::Globals;
use crate::native::{NativePlayer, UsedThing, Watch};
use crate::statements::Initial;
use crate::{Place, Step, Steps, TraceError};

/// The named global variables of which a step of a set read a byte that no step had written, by their declarations.
///
/// Cost: one pass over the trace.
pub fn initial(player: &mut NativePlayer, steps: &Steps) -> Result<Vec<Initial>, TraceError> {
    let globals = Arc::clone(&player.machine.globals);
    let mut reader = InitialReader { globals: &globals, steps, found: BTreeMap::new() };
    player.replay(&mut reader)?;
    Ok(reader.found.into_values().collect())
}

struct InitialReader<'r> {
    globals: &'r Globals,
    steps: &'r Steps,
    found: BTreeMap<Place, Initial>,
}

impl Watch for InitialReader<'_> {
    fn uses(&mut self, user: Step, maker: Step, what: UsedThing) {
        let (UsedThing::Memory(address, _) | UsedThing::Address(address, _)) = what else { return };
        if maker != Step::START || !self.steps.contains(user) {
            return;
        }
        let Some(global) = self.globals.find(address).filter(|global| global.is_named) else { return };
        let Some(place) = global.place.clone().filter(|place| place.line > 0) else { return };
        let found = self.found.entry(place).or_insert_with_key(|place| Initial {
            name: Arc::clone(&global.name),
            place: place.clone(),
            n_reads: 0,
            last: user,
        });
        found.n_reads += u64::from(found.n_reads == 0 || found.last != user);
        found.last = user;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::stored::player;

    #[test]
    fn the_declarations_are_those_whose_values_a_step_of_the_set_read() {
        let mut player = player("list", "bad");
        player.seek(u64::MAX).unwrap();
        let n_steps = player.machine.n_steps;
        assert_eq!(initial(&mut player, &Steps::new(n_steps)).unwrap(), []);
        let mut all = Steps::new(n_steps);
        (1..=n_steps).for_each(|step| _ = all.insert(Step(step)));
        let found = initial(&mut player, &all).unwrap();
        let [weights] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&*weights.name, weights.n_reads), ("weights", 3));
        let source = include_str!("../../../tests/traces/list.c");
        assert!(source.lines().nth(weights.place.line as usize - 1).unwrap().contains("weights[] ="));
    }
}
