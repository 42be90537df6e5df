//! A recorded run, and where its steps stand.

use crate::java::object_names::JavaNames;
use idd_trace::Run;
use idd_trace::java::JavaPlayer;

/// A run with what was taken down of it.
pub struct JavaRecorded {
    /// Plays it.
    pub player: JavaPlayer,
    /// Where its steps stand.
    pub run: Run,
    /// What its objects are called, if it is compared with another run.
    pub named: Option<JavaNames>,
}
