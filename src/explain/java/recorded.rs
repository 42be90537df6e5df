//! A recorded run, and where its steps stand.

use crate::explain::java::named::Named;
use crate::trace::java::player::Player;
use crate::trace::run::Run;

/// A run with what was taken down of it.
pub struct Recorded {
    /// Plays it.
    pub player: Player,
    /// Where its steps stand.
    pub run: Run,
    /// What its objects are called, if it is compared with another run.
    pub named: Option<Named>,
}
