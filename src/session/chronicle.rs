//! The records of events in the journal, besides observations: verdicts, repairs, results of reductions, and the
//! remaining work. They are for reports; nothing is resumed from them.

use idd_hunt::Event;
use idd_world::journal::Record;

/// The records for an event.
///
/// - `n_revisions`: the length of the history.
/// - `n_jobs`: the number of tests that run at once.
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
    let ahead = event.remaining_work(n_revisions).map(|ahead| Record::Ahead(ahead, n_jobs));
    told.into_iter().chain(ahead).collect()
}
