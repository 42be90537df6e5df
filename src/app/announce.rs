//! Prints the first bad commit as soon as it is proved, and passes it to `--notify`, while the hunt goes on.

use crate::console::Console;
use crate::notify::NotifyCommand;
use crate::progress::ProgressPrinter;
use crate::stdout;
use idd_base::{CommitId, Outcome, Rest, Sought};
use idd_hunt::{Event, Probe};
use idd_report::{Explained, Report, Status, text};
use idd_session::positions::Positions;
use idd_session::tally::Tally;
use idd_session::{Context, Talk};
use std::io::{self, Write as _};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The text before a second answer.
const TAKEN_BACK: &str = "\nThe commit printed above is withdrawn.\n\n";

/// The commit that this run printed to stdout, once it has.
#[derive(Debug, Default)]
pub struct Announced(Mutex<Option<CommitId>>);

impl Announced {
    /// The commit; waits while it is being printed.
    pub fn commit(&self) -> Option<CommitId> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Progress on stderr, the proved commit on stdout.
pub struct Announcer<'t> {
    /// Where progress goes.
    pub progress: ProgressPrinter,
    /// The output of the program.
    pub console: Console,
    /// The context of the process.
    pub context: &'t Context,
    /// The command of `--notify`.
    pub notice: Option<&'t NotifyCommand>,
    /// What was printed to stdout.
    pub announced: Arc<Announced>,
}

impl Talk for Announcer<'_> {
    fn say(&mut self, sentence: &str) {
        self.progress.say(sentence);
    }

    fn resumed(&mut self, before: Duration) {
        self.progress.resumed(before);
    }

    fn looks_for(&mut self, sought: Sought) {
        self.progress.looks_for(sought);
    }

    fn use_history(&mut self, positions: Rc<Positions>) {
        self.progress.use_history(positions);
    }

    fn tell(&mut self, event: &Event, tally: &Tally, rest: Rest) {
        self.progress.tell(event, tally, rest);
    }

    fn troubled(&mut self, probe: &Probe, line: &str) {
        self.progress.troubled(probe, line);
    }

    fn probed(&mut self, probe: &Probe, outcome: Outcome, is_same_product: bool, number: Option<u64>) {
        self.progress.probed(probe, outcome, is_same_product, number);
    }

    fn running(&mut self, probe: &Probe, limit: Duration) {
        self.progress.running(probe, limit);
    }

    fn finish(&mut self) {
        self.progress.finish();
    }

    /// Prints the commit and its details, each commit once. With `--json`, stdout gets only the last object.
    fn proved(&mut self, report: &Report, commit: CommitId) {
        let mut announced = self.announced.0.lock().unwrap_or_else(PoisonError::into_inner);
        if self.console.is_json || *announced == Some(commit) || stdout::is_closed() {
            return;
        }
        let mut page = Vec::new();
        if announced.is_some() {
            page.extend_from_slice(TAKEN_BACK.as_bytes());
        }
        let mut out = io::stdout();
        let written = text::write_culprit(report, self.console.look(), &mut page)
            .and_then(|()| out.write_all(&page))
            .and_then(|()| out.flush());
        // If printing failed, it is tried again with the rest.
        *announced = written.is_ok().then_some(commit);
    }

    fn kept(&mut self, report: &Report) {
        if let Some(notice) = self.notice {
            notice.give_meanwhile(report.clone(), self.context, self.console);
        }
    }
}

/// The rest of a report whose commit was printed already; all of it if the answer is another commit.
pub fn write_rest(
    report: &Report,
    explanations: &[Explained],
    announced: CommitId,
    look: text::TextLook,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let is_same = report.first_bad.as_ref().is_some_and(|first_bad| first_bad.commit.commit == announced);
    let stands = matches!(report.status, Status::Found | Status::Unfixed | Status::Budget | Status::Interrupted);
    if is_same && stands {
        return text::write_rest(report, explanations, look, out);
    }
    out.write_all(TAKEN_BACK.as_bytes())?;
    text::write(report, explanations, look, out)
}
