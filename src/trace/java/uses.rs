//! Builds the dependence graph of a recorded run.

use crate::java::{JavaFrame, JavaMachine, JavaPlayer, JavaUse, Watch};
use crate::{DependenceKind, Dependences, Step, TraceError, Uses};

impl Watch for Uses {
    fn step(&mut self, _machine: &JavaMachine, frame: &JavaFrame) {
        self.begins(frame.step, frame.decider());
    }

    fn uses(&mut self, user: Step, maker: Step, _what: JavaUse) {
        self.adds(user, maker, DependenceKind::Data);
    }

    fn is_done(&self) -> bool {
        self.is_over
    }
}

/// The dependence graph of the steps before `until`. All uses of values are data dependences: which of them only say
/// where something is, is not told apart.
///
/// Cost: plays the trace up to there.
pub fn dependences(player: &mut JavaPlayer, until: Step) -> Result<Dependences, TraceError> {
    let mut uses = Uses::until(until, player.spool.clone());
    player.replay(&mut uses)?;
    Ok(uses.pack()?)
}
