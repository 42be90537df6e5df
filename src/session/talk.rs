//! How a driver talks to the user while it works.

use crate::hunt::event::Event;
use crate::hunt::event::Phase;
use crate::hunt::history::History;
use crate::hunt::probe::Probe;
use crate::outcome::Outcome;
use crate::report::Report;
use crate::revision::CommitId;
use crate::session::tally::Tally;
use std::rc::Rc;

/// Who listens. Every method but [`say`](Talk::say) does nothing unless it is written; nothing that is said is a result.
pub trait Talk {
    /// One sentence.
    fn say(&mut self, sentence: &str);

    /// Revisions have their subjects from this history from now on.
    fn use_history(&mut self, _history: Rc<History>) {}

    /// Something happened in a hunt that runs `n_jobs` tests at once.
    fn tell(&mut self, _event: &Event, _tally: &Tally, _n_jobs: usize) {}

    /// A probe was answered and used.
    ///
    /// - the second part of the answer: whether the test was not run, because an earlier probe had the same product.
    /// - `number`: that of the probe; `None` if the answer was known.
    fn probed(&mut self, _probe: &Probe, _answer: (Outcome, bool), _number: Option<u64>) {}

    /// The commands of the probe with this number are running now.
    fn running(&mut self, _phase: Option<Phase>, _number: u64) {}

    /// The first bad commit is proved; the hunt goes on. It may be called again with the same commit, or another one.
    fn proved(&mut self, _report: &Report, _commit: CommitId) {}

    /// The report of a proved commit is in the journal.
    fn kept(&mut self, _report: &Report) {}

    /// Nothing more comes for a while: what stands on the terminal only for the moment can go.
    fn finish(&mut self) {}
}

/// Nobody listens.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Talk for Silent {
    fn say(&mut self, _sentence: &str) {}
}
