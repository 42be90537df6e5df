//! Ends the program with what a hunt has learned, if its own computation goes on after the end of the budget.
//!
//! A budget stops probes and waits at once. A computation without an end in sight (the history of a large repository, a
//! change of many thousand lines) does not look at the clock, so a thread does.

use crate::announce::Announced;
use crate::console::{CommandAnswer, CommandScene};
use crate::give;
use idd_report::{Report, Status};
use idd_session::saved::Saved;
use idd_session::{interrupt, kept, saved};
use idd_world::repo::Location;
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

/// The time that a hunt has to stop by itself.
const GRACE: Duration = Duration::from_millis(1500);

/// Ends the program at the end of a budget, until it is dropped.
pub struct Overdue {
    /// The hunt, once it has a journal.
    hunt: Arc<Mutex<Option<BudgetedHunt>>>,
    /// Its end ends the thread that waits.
    _open: Sender<()>,
}

/// A hunt that is under way.
#[derive(Clone)]
struct BudgetedHunt {
    id: String,
    /// The time of its earlier runs.
    seconds_before: f64,
    announced: Arc<Announced>,
}

impl Overdue {
    /// Ends the program this time after now, with what its hunt has learned.
    pub fn after(budget: Duration, scene: CommandScene<'_>) -> Self {
        let hunt: Arc<Mutex<Option<BudgetedHunt>>> = Arc::default();
        let (location, known) = (scene.location.clone(), Arc::clone(&hunt));
        let answer = move || {
            let hunt = known.lock().unwrap_or_else(PoisonError::into_inner).clone();
            learned(hunt, budget, &location)
        };
        Self { hunt, _open: end_with(answer, budget, scene) }
    }

    /// From now on, this hunt is under way.
    pub fn watch(&self, saved: &Saved, announced: &Arc<Announced>) {
        let announced = Arc::clone(announced);
        let hunt = BudgetedHunt { id: saved.id.clone(), seconds_before: saved.seconds_before, announced };
        *self.hunt.lock().unwrap_or_else(PoisonError::into_inner) = Some(hunt);
    }
}

/// Ends the program with this answer at the end of a budget, until the result is dropped; goes on if there is no answer.
pub fn end_with(
    answer: impl FnOnce() -> Option<CommandAnswer> + Send + 'static,
    budget: Duration,
    scene: CommandScene<'_>,
) -> Sender<()> {
    let (open, closed) = mpsc::channel();
    let (context, console) = (scene.context.clone(), scene.console);
    let wait = move || {
        if closed.recv_timeout(budget.saturating_add(GRACE)) == Err(RecvTimeoutError::Timeout)
            && let Some(answer) = answer()
        {
            interrupt::end(give(Ok(answer), &context, console));
        }
    };
    // Without a thread, the work ends when its computation does.
    let _ = thread::Builder::new().name("overdue".to_owned()).spawn(wait);
    open
}

/// The result of a hunt that did not end in time; `None` if it is printed now.
fn learned(hunt: Option<BudgetedHunt>, budget: Duration, location: &Location) -> Option<CommandAnswer> {
    let Some(BudgetedHunt { id, seconds_before, announced }) = hunt else {
        let report =
            Report::new(Status::Budget, "The budget ended before the first test: the files were still being read.");
        return Some(CommandAnswer::report(report));
    };
    let kept = kept::newest(location, Some(&id)).ok()?;
    if kept.replay.status.is_some() {
        return None;
    }
    saved::end_leftovers(&kept.replay);
    let sentence = "The budget ended the hunt; this is what was learned so far.".into();
    let report =
        kept.report().unwrap_or_else(|_| Report { hunt: Some(kept.id.clone()), ..Report::new(Status::Budget, "") });
    let seconds = seconds_before + budget.as_secs_f64();
    let mut report = Report { status: Status::Budget, sentence, seconds, ..report };
    kept.update_costs(&mut report);
    Some(CommandAnswer::Report(Box::new(report), Vec::new(), None, announced.commit()))
}
