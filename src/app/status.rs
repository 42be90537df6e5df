//! `git idd status`: the progress of a hunt.

use crate::console::{CommandAnswer, Console};
use idd_session::course::{HuntObserver, HuntState};
use idd_session::kept::KeptHunt;
use idd_session::{Failure, course, kept};
use idd_world::repo::Location;
use std::time::{SystemTime, UNIX_EPOCH};

/// Prints the progress of the named hunt, or of the last one.
pub fn run(hunt: Option<&str>, location: &Location, console: Console) -> Result<CommandAnswer, Failure> {
    let kept = kept::newest(location, hunt)?;
    let state = HuntState::of(&kept, hunt.is_some(), location)?;
    if console.is_json {
        let course = HuntObserver::new(location)?.look(&kept, &state)?;
        return Ok(CommandAnswer::Shown(Box::new(course::report(&kept, &course, &state.words)), Vec::new(), false));
    }
    Ok(CommandAnswer::Text(text(&kept, &state, location)?.into_bytes(), 0))
}

/// The time in seconds since 1970.
pub fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_secs()).unwrap_or(i64::MAX)
}

/// The progress for people.
pub fn text(kept: &KeptHunt, state: &HuntState, location: &Location) -> Result<String, Failure> {
    let course = HuntObserver::new(location)?.look(kept, state)?;
    Ok(course.rows(now()).join("\n") + "\n")
}
