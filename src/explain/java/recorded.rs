//! A recorded run, and where its steps stand.

use crate::java::named::Named;
use idd_trace::java::player::Player;
use idd_trace::run::Run;

/// A run with what was taken down of it.
pub struct Recorded {
    /// Plays it.
    pub player: Player,
    /// Where its steps stand.
    pub run: Run,
    /// What its objects are called, if it is compared with another run.
    pub named: Option<Named>,
}
