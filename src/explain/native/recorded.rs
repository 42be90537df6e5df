//! A recorded run, and what is known of it.

use idd_trace::native::play::NativePlayer;
use idd_trace::run::Run;

/// A run with what was taken down of it.
pub struct NativeRecorded {
    /// Plays it.
    pub player: NativePlayer,
    /// What was taken down.
    pub run: Run,
}
