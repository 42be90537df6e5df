//! Ends the program with what a hunt has learned, if its own computation goes on after the end of the budget.
//!
//! A budget stops probes and waits at once. A computation without an end in sight (the history of a large repository, a
//! change of many thousand lines) does not look at the clock, so a thread does.

use crate::cli::console::{Answer, Console};
use crate::cli::give;
use crate::report::{Report, Status};
use crate::session::context::Context;
use crate::session::saved::Saved;
use crate::session::{interrupt, kept, saved};
use crate::world::repo::locate::Location;
use std::sync::mpsc;
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// The time that a hunt has to stop by itself.
const GRACE: Duration = Duration::from_millis(1500);

/// Ends the program until it is dropped.
pub struct Overdue(#[expect(dead_code, reason = "the thread waits for its end")] Option<Sender<()>>);

impl Overdue {
    /// Ends the program this time after now, with the result of a hunt in its journal.
    ///
    /// - `saved`: the hunt.
    pub fn after(budget: Duration, saved: &Saved, location: &Location, context: &Context, console: Console) -> Self {
        let (open, closed) = mpsc::channel();
        let (id, location, context) = (saved.id.clone(), location.clone(), context.clone());
        let seconds = saved.seconds_before + budget.as_secs_f64();
        let wait = move || {
            let limit = budget.saturating_add(GRACE);
            if closed.recv_timeout(limit) == Err(RecvTimeoutError::Timeout)
                && let Some(answer) = learned(&id, seconds, &location, console)
            {
                interrupt::end(give(Ok(answer), &context, console));
            }
        };
        // Without a thread, the hunt ends when its computation does.
        let waits = thread::Builder::new().name("overdue".to_owned()).spawn(wait).is_ok();
        Self(waits.then_some(open))
    }
}

/// The result of a hunt that did not end in time; `None` if it is printed now.
fn learned(id: &str, seconds: f64, location: &Location, console: Console) -> Option<Answer> {
    let kept = kept::newest(location, Some(id)).ok()?;
    if kept.replay.status.is_some() {
        return None;
    }
    saved::end_leftovers(&kept.replay);
    let sentence = "The budget ended the hunt; this is what was learned so far.".into();
    let report =
        kept.report().unwrap_or_else(|_| Report { hunt: Some(kept.id.clone()), ..Report::new(Status::Budget, "") });
    let mut report = Report { status: Status::Budget, sentence, seconds, ..report };
    kept.update_costs(&mut report);
    // It was printed when it was proved.
    let announced = report.first_bad.as_ref().filter(|_| report.proved && !console.is_json);
    let announced = announced.map(|first_bad| first_bad.commit.commit);
    Some(Answer::Report(Box::new(report), Vec::new(), None, announced))
}
