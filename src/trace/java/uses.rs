//! Builds the dependence graph of a recorded run.

use crate::TraceError;
use crate::dependence::{Dependences, Kind, Uses};
use crate::java::machine::{Frame, Machine, Watch, What};
use crate::java::player::Player;
use crate::step::Step;

impl Watch for Uses {
    fn step(&mut self, _machine: &Machine, frame: &Frame) {
        self.begins(frame.step, frame.decider());
    }

    fn uses(&mut self, user: Step, maker: Step, _what: What) {
        self.adds(user, maker, Kind::Data);
    }

    fn is_done(&self) -> bool {
        self.is_over
    }
}

/// The dependence graph of the steps before `until`. All uses of values are data dependences: which of them only say
/// where something is, is not told apart.
///
/// Cost: plays the trace up to there.
pub fn dependences(player: &mut Player, until: Step) -> Result<Dependences, TraceError> {
    let mut uses = Uses::until(until, player.spool.clone());
    player.replay(&mut uses)?;
    Ok(uses.pack()?)
}
