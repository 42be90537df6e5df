//! A recorded run, and where its steps stand.

use crate::java::object_names::JavaNames;
use idd_trace::java::player::JavaPlayer;
use idd_trace::run::Run;

/// A run with what was taken down of it.
pub struct JavaRecorded {
    /// Plays it.
    pub player: JavaPlayer,
    /// Where its steps stand.
    pub run: Run,
    /// What its objects are called, if it is compared with another run.
    pub named: Option<JavaNames>,
}
