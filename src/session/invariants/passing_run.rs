//! A passing run to compare with.

use crate::Failure;
use crate::explain::finding::rename;
use crate::explain::model::ending_of;
use crate::invariants::wording::MAX_DYNAMIC;
use crate::recorded::{self, ProcessChoice, RecordedProcess, failed};
use idd_base::Ending;
use idd_explain::align::Alignment;
use idd_explain::failure::RunWrong;
use idd_trace::native::NativePlayer;
use idd_trace::{Run, Step};
use idd_world::repo::Location;

/// What helps if a recording cannot be compared with.
const HINT: &str = "`--passing` takes the recording of a run that passed; `git idd trace list` shows all";

/// The passing run.
pub struct PassingBeside {
    /// The name of its recording.
    pub name: String,
    /// Plays it.
    pub player: NativePlayer,
    /// Which steps correspond.
    pub alignment: Alignment,
    /// The first difference that can be seen from outside; `None` if there is none.
    pub seen: Option<idd_explain::failure::RunFailure>,
}

impl PassingBeside {
    /// What the passing run printed in the place of the first difference.
    pub fn right(&self) -> Option<Step> {
        match &self.seen.as_ref()?.wrong {
            RunWrong::Said(_, Some(other)) | RunWrong::Skipped(other, _) | RunWrong::Silent(other) => Some(other.step),
            RunWrong::Said(_, None) | RunWrong::Ended => None,
        }
    }
}

/// Checks that the user named a recording of a run that passed.
///
/// Errors: it is the failing one, or its test failed.
pub fn check(failing: &ProcessChoice, name: &str, location: &Location) -> Result<(), Failure> {
    let which = ProcessChoice { recording: Some(name.to_owned()), process: None };
    let (name, _, recording) = recorded::find(&which, location).map_err(|failure| failure.with_hint(HINT))?;
    if recorded::find(failing, location)?.0 == name {
        let message = format!("recording {name} is the one that is examined");
        return Err(Failure::error(message).with_hint(HINT));
    }
    if recording.ending != Ending::Exit(0).to_string() {
        let message = format!("recording {name} is no passing run: its test ended with {}", recording.ending);
        return Err(Failure::error(message).with_hint(HINT));
    }
    Ok(())
}

/// Opens a passing run and aligns the failing one with it; or says why it is not compared.
///
/// Errors: there is no such recording, or it cannot be read.
///
/// Cost: three passes over each run.
pub fn open(
    failing: &mut RecordedProcess,
    name: &str,
    location: &Location,
) -> Result<Result<PassingBeside, String>, Failure> {
    let which = ProcessChoice { recording: Some(name.to_owned()), process: None };
    let opened = recorded::open(&which, location)?;
    if opened.recording.ending != Ending::Exit(0).to_string() {
        let (name, ending) = (&opened.name, &opened.recording.ending);
        return Ok(Err(format!(
            "The failing run is not compared with recording {name}: there the test ended with {ending}."
        )));
    }
    let (ending, expected) = (ending_of(failing.traced().end), ending_of(opened.traced().end));
    let RecordedProcess { name, run, .. } = opened;
    let mut player = run.into_native()?;
    let failing = failing.run.native()?;
    for player in [&mut *failing, &mut player] {
        player.seek(u64::MAX).map_err(|error| failed(&error))?;
        if player.machine.n_steps > MAX_DYNAMIC {
            return Ok(Err(format!(
                "The failing run is not compared with recording {name}: one of them has more than {MAX_DYNAMIC} steps."
            )));
        }
    }
    rename(failing, &mut player)?;
    let run = Run::read(failing).map_err(|error| failed(&error))?;
    let reference = Run::read(&mut player).map_err(|error| failed(&error))?;
    let alignment = Alignment::new(&run, &reference);
    let seen = idd_explain::failure::RunFailure::find(&run, &reference, &alignment, ending, expected);
    Ok(Ok(PassingBeside { name, player, alignment, seen }))
}
