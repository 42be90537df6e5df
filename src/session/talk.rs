//! The interface through which a driver talks to the user.

use crate::positions::Positions;
use crate::tally::Tally;
use idd_base::{CommitId, Outcome, Rest, Sought};
use idd_hunt::{Event, Probe};
use idd_report::Report;
use std::rc::Rc;
use std::time::Duration;

/// Receives messages. Every method but [`say`](Talk::say) does nothing by default; no message is a result.
pub trait Talk {
    /// One sentence.
    fn say(&mut self, sentence: &str);

    /// From now on, subjects and places of revisions come from this history.
    fn use_history(&mut self, _positions: Rc<Positions>) {}

    /// Receives what the hunt looks for.
    fn looks_for(&mut self, _sought: Sought) {}

    /// The hunt goes on, and its earlier runs took this time.
    fn resumed(&mut self, _before: Duration) {}

    /// An event of a hunt that may still do so much.
    fn tell(&mut self, _event: &Event, _tally: &Tally, _rest: Rest) {}

    /// A probe was answered and used.
    ///
    /// - `is_same_product`: whether the test was not run, because an earlier probe had the same product.
    /// - `number`: the number of the probe; `None` if the answer was known.
    fn probed(&mut self, _probe: &Probe, _outcome: Outcome, _is_same_product: bool, _number: Option<u64>) {}

    /// The probe that was answered last gives no verdict; this line of its output says why.
    fn troubled(&mut self, _probe: &Probe, _line: &str) {}

    /// The commands of a probe are running now.
    ///
    /// - `limit`: the time limit of each command.
    fn running(&mut self, _probe: &Probe, _limit: Duration) {}

    /// The first bad commit is proved; the hunt goes on. It may be called again with the same commit, or another one.
    fn proved(&mut self, _report: &Report, _commit: CommitId) {}

    /// The report of a commit that was not known before is in the journal.
    fn kept(&mut self, _report: &Report) {}

    /// A reduction of an input goes on: the units that are tried, in the plural, and the bytes now and at its beginning.
    fn shrinking(&mut self, _units: &str, _n_bytes: usize, _n_bytes_before: usize) {}

    /// The difference of two inputs is isolated.
    ///
    /// - `units`: what they differ in now, in the plural.
    fn isolating(&mut self, _units: &str) {}

    /// There are no messages for a while: temporary output on the terminal can be removed.
    fn finish(&mut self) {}
}

/// Ignores all messages.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Talk for Silent {
    fn say(&mut self, _sentence: &str) {}
}
