//! Another recorded run, in which the test passed: of another input, or of another version.
//!
//! Values that are the same in corresponding steps are presumed to be right, and lines that ran only in the failing run are
//! more suspicious.

use crate::Failure;
use crate::debug::any_run::Walked;
use crate::explain::finding::rename;
use crate::explain::java::taken;
use crate::recorded::{self, ProcessChoice, failed};
use idd_base::Ending;
use idd_explain::align::Alignment;
use idd_explain::comparison::{self, Comparison, DifferingStep};
use idd_explain::java::object_names::JavaNames;
use idd_trace::{Run, Step, Steps, TraceError};
use idd_world::repo::Location;
use std::collections::HashSet;
use std::sync::Arc;

/// A line that did not run in the passing run is so much more suspicious.
pub const ONLY_HERE: f64 = 2.0;

/// The passing run.
pub struct PassingRun {
    /// What was recorded.
    pub run: Walked,
    /// Which steps of the failing run correspond to which of its own.
    pub alignment: Alignment,
}

impl PassingRun {
    /// Compares a line of the failing run.
    ///
    /// - `members`: its steps, ascending.
    pub fn judge(&mut self, failing: &mut Walked, members: &[Step]) -> Result<Comparison, TraceError> {
        comparison::judge(failing.compared(), self.run.compared(), &self.alignment, members)
    }

    /// Where the failing run may begin to differ.
    ///
    /// - `relevant`: the steps on which the failure depends.
    pub fn candidates(&mut self, failing: &mut Walked, relevant: &Steps) -> Result<Vec<DifferingStep>, TraceError> {
        comparison::candidates(failing.compared(), self.run.compared(), &self.alignment, relevant)
    }
}

/// Both runs.
pub struct PassingComparison {
    /// Where the steps of the failing run stand.
    pub run: Run,
    /// What its objects are called, if it is one of a Java program.
    pub named: Option<JavaNames>,
    /// The passing run.
    pub passing: PassingRun,
    /// The lines that ran in the passing run.
    pub lines: HashSet<(Arc<str>, u32)>,
}

/// Compares a run with that of a recording.
///
/// - `failing`: the name of its recording, and its player.
/// - `name`: the other recording.
///
/// Errors: there is no such recording, it is the same one, it is of a program in another language, or its test did not pass.
///
/// Cost: three passes over each run.
pub fn compare(
    failing: &str,
    run: &mut recorded::ProcessRun,
    name: &str,
    location: &Location,
) -> Result<PassingComparison, Failure> {
    let other = recorded::open(&ProcessChoice { recording: Some(name.to_owned()), process: None }, location)?;
    if other.name == failing {
        let message = format!("recording {failing} is the one that is debugged");
        return Err(Failure::error(message)
            .with_hint("`--passing` takes the recording of another input, or of another version"));
    }
    // How a virtual machine ended is not recorded: what the test said of itself counts.
    let is_passed = match (&other.run, other.traced().end) {
        (recorded::ProcessRun::Java(_), None) => other.recording.ending == Ending::Exit(0).to_string(),
        (_, end) => end == Some(0),
    };
    if !is_passed {
        let message = format!("in recording {}, the program did not exit with 0", other.name);
        return Err(Failure::error(message).with_hint("`git idd trace list` shows how each test ended"));
    }
    let (run, named, mut passing) = match (run, other.run) {
        (recorded::ProcessRun::Native(player), recorded::ProcessRun::Native(mut passing)) => {
            rename(player, &mut passing)?;
            let run = Run::read(player).map_err(|error| failed(&error))?;
            let reference = Run::read(&mut passing).map_err(|error| failed(&error))?;
            (run, None, Walked::new(recorded::ProcessRun::Native(passing), reference, None))
        }
        (recorded::ProcessRun::Java(player), recorded::ProcessRun::Java(mut passing)) => {
            let (ours, theirs, _) = taken(player, &mut passing)?;
            let ((run, named), (reference, other)) = (ours.into_named(), theirs.into_named());
            (run, Some(named), Walked::new(recorded::ProcessRun::Java(passing), reference, Some(other)))
        }
        _ => {
            let message = format!("recording {} is of a program in another language", other.name);
            return Err(Failure::error(message).with_hint("`--passing` takes a recording of the same program"));
        }
    };
    let statements = passing.statements().map_err(|error| failed(&error))?;
    let places = statements.places.into_iter().flatten();
    let lines = places.map(|place| (Arc::from(&*place.file), place.line)).collect();
    let alignment = Alignment::new(&run, passing.outline());
    Ok(PassingComparison { run, named, passing: PassingRun { run: passing, alignment }, lines })
}
