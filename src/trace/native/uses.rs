//! Builds the dependence graph of a recorded run.

use crate::native::{NativeMachine, NativePlayer, UsedThing, Watch};
use crate::{DependenceKind, Dependences, Step, TraceError, Uses};

/// The kind of dependence that a use is.
pub fn kind_of(what: UsedThing) -> DependenceKind {
    if matches!(what, UsedThing::Address(..)) { DependenceKind::Address } else { DependenceKind::Data }
}

impl Watch for Uses {
    fn step(&mut self, machine: &NativeMachine) {
        let Some(frame) = machine.frame() else { return };
        self.begins(frame.step, frame.decider());
    }

    fn uses(&mut self, user: Step, maker: Step, what: UsedThing) {
        self.adds(user, maker, kind_of(what));
    }

    fn is_done(&self) -> bool {
        self.is_over
    }
}

/// The dependence graph of the steps before `until`.
///
/// Cost: one pass over the trace, and less than 16 bytes for each step.
pub fn dependences(player: &mut NativePlayer, until: Step) -> Result<Dependences, TraceError> {
    player.seek(0)?;
    let mut uses = Uses::until(until, player.spool.clone());
    player.play(&mut uses)?;
    Ok(uses.pack()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::stored::{player, step};

    #[test]
    fn pointers_that_are_followed_are_addresses_and_what_they_lead_to_is_data() {
        let mut player = player("list", "bad");
        // `sum += node->value;` the first time: `sum`, the pointer, the value, and the test of the loop.
        let (adds, gives) = (step(&mut player, 17, 0), step(&mut player, 26, 2));
        let graph = dependences(&mut player, Step(u32::MAX)).unwrap();
        let makers: Vec<_> = graph.makers(adds).collect();
        let control = makers[0];
        assert_eq!((control.1, control.0), (DependenceKind::Control, Step(adds.0 - 1)));
        assert!(makers.contains(&(gives, DependenceKind::Data)), "{makers:?}");
        assert_eq!(makers.iter().filter(|(_, kind)| *kind == DependenceKind::Address).count(), 1, "{makers:?}");
        assert_eq!(dependences(&mut player, adds).unwrap().n_steps(), adds.0 - 1);
    }
}
