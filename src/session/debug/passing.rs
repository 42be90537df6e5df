//! Another recorded run, in which the test passed: of another input, or of another version.
//!
//! Values that are the same in corresponding steps are presumed to be right, and lines that ran only in the failing run are
//! more suspicious.

use crate::explain::align::Alignment;
use crate::explain::native::facts;
use crate::explain::native::recorded::Recorded;
use crate::report::Status;
use crate::session::explain::finding::rename;
use crate::session::failure::Failure;
use crate::session::recorded;
use crate::session::recorded::Which;
use crate::session::recorded::failed;
use crate::trace::native::play::Player;
use crate::trace::run::Run;
use crate::world::repo::locate::Location;
use std::collections::HashSet;
use std::sync::Arc;

/// A line that did not run in the passing run is so much more suspicious.
pub const ONLY_HERE: f64 = 2.0;

/// Both runs.
pub struct Compared {
    /// The failing run.
    pub run: Run,
    /// The passing run, and which steps correspond.
    pub passing: (Recorded, Alignment),
    /// The lines that ran in the passing run.
    pub lines: HashSet<(Arc<str>, u32)>,
}

/// Compares a run with that of a recording.
///
/// - `failing`: the name of its recording, and its player.
/// - `name`: the other recording.
///
/// Errors: there is no such recording, it is the same one, or its test did not pass.
///
/// Cost: three passes over each run.
pub fn compare((failing, player): (&str, &mut Player), name: &str, location: &Location) -> Result<Compared, Failure> {
    let other = recorded::open(&Which { recording: Some(name.to_owned()), process: None }, location)?;
    if other.name == failing {
        let message = format!("recording {failing} is the one that is debugged");
        return Err(Failure::new(Status::Error, message)
            .with_hint("`--passing` takes the recording of another input, or of another version"));
    }
    if other.traced().end != Some(0) {
        let message = format!("in recording {}, the program did not exit with 0", other.name);
        return Err(Failure::new(Status::Error, message).with_hint("`git idd trace list` shows how each test ended"));
    }
    let mut passing = other.run.into_native()?;
    rename(player, &mut passing)?;
    let run = Run::read(player).map_err(|error| failed(&error))?;
    let reference = Run::read(&mut passing).map_err(|error| failed(&error))?;
    let statements = facts::statements(&mut passing).map_err(|error| failed(&error))?;
    let places = statements.places.into_iter().flatten();
    let lines = places.map(|place| (Arc::from(&*place.file), place.line)).collect();
    let alignment = Alignment::new(&run, &reference);
    Ok(Compared { run, passing: (Recorded { player: passing, run: reference }, alignment), lines })
}
