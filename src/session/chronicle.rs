//! What the journal of a hunt keeps of its events besides its observations: verdicts, repairs, what came of each reduction, and what
//! is left to do. It is there for reports; nothing is resumed from it.

use crate::hunt::event::Event;
use crate::session::estimate::Ahead;
use crate::world::journal::Record;

/// The records that keep an event.
///
/// - `n_revisions`: how long the history is.
/// - `n_jobs`: how many tests run at once.
pub fn records(event: &Event, n_revisions: usize, n_jobs: usize) -> Vec<Record> {
    let told = match event {
        Event::Tested { revision, outcome, is_repaired } => {
            Some(Record::Tested { revision: *revision, outcome: outcome.to_string(), is_repaired: *is_repaired })
        }
        Event::Reduced { what, revision, n_lines_before, n_lines } => Some(Record::Reduced {
            what: (*what).to_owned(),
            revision: *revision,
            before: *n_lines_before as u64,
            after: *n_lines as u64,
        }),
        Event::Repaired { revision, source, n_lines } => {
            Some(Record::Repaired { revision: *revision, source: *source, lines: *n_lines as u64 })
        }
        Event::Carried { revision, .. } => Some(Record::Carried { revision: *revision }),
        _ => None,
    };
    let ahead = Ahead::of(event, n_revisions).map(|ahead| Record::Ahead(ahead.into(), n_jobs));
    told.into_iter().chain(ahead).collect()
}
