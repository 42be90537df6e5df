//! A recorded run, and what is known of it.

use idd_trace::Run;
use idd_trace::native::NativePlayer;

/// A run with what was taken down of it.
pub struct NativeRecorded {
    /// Plays it.
    pub player: NativePlayer,
    /// What was taken down.
    pub run: Run,
}
