//! A recorded run, and what is known of it.

use idd_trace::native::play::Player;
use idd_trace::run::Run;

/// A run with what was taken down of it.
pub struct Recorded {
    /// Plays it.
    pub player: Player,
    /// What was taken down.
    pub run: Run,
}
