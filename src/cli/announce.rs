//! The first bad commit, as soon as it is proved: printed, kept and told while the hunt goes on.

use crate::cli::args::options::Until;
use crate::cli::commands::Console;
use crate::cli::finding;
use crate::cli::finding::Sources;
use crate::cli::notify::Notice;
use crate::cli::plan::Surroundings;
use crate::cli::saved;
use crate::cli::session::Session;
use crate::cli::session::SessionError;
use crate::cli::stdout;
use crate::hunt::Board;
use crate::hunt::Probe;
use crate::hunt::drive::Laboratory;
use crate::hunt::drive::Reply;
use crate::hunt::event::Event;
use crate::hunt::finding::Conclusion;
use crate::hunt::finding::Finding;
use crate::outcome::Outcome;
use crate::report::Report;
use crate::report::Status;
use crate::report::Untrusted;
use crate::report::text;
use crate::revision::CommitId;
use crate::world::journal::Record;
use crate::world::repo::locate::Location;
use std::cell::RefCell;
use std::io;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

/// What stands before a second answer.
const TAKEN_BACK: &str = "\nThe commit printed above is withdrawn.\n\n";

/// Whom a commit is announced to.
pub struct Herald<'t> {
    /// How to talk to whoever called.
    pub console: Console,
    /// What the process was given.
    pub around: &'t Surroundings,
    /// What is run for those who are not there.
    pub notice: Option<&'t Notice>,
    /// The commit that was printed to stdout.
    pub announced: Option<CommitId>,
    /// The commit that the journal has.
    pub kept: Option<CommitId>,
}

impl Herald<'_> {
    /// Prints the commit and what is known of it, each commit once. Under `--json` stdout holds one object, the last.
    fn print(&mut self, report: &Report, commit: CommitId) {
        if self.console.is_json || self.announced == Some(commit) || stdout::is_closed() {
            return;
        }
        let mut page = Vec::new();
        if self.announced.is_some() {
            page.extend_from_slice(TAKEN_BACK.as_bytes());
        }
        let mut out = io::stdout();
        let written = text::write_culprit(report, self.console.look(), &mut page)
            .and_then(|()| out.write_all(&page))
            .and_then(|()| out.flush());
        // What could not be printed is tried again with the rest.
        self.announced = written.is_ok().then_some(commit);
    }
}

/// The rest of a report whose commit was printed already; all of it if that commit is not the answer.
pub fn write_rest(report: &Report, announced: CommitId, look: text::Look, out: &mut dyn io::Write) -> io::Result<()> {
    let is_same = report.first_bad.as_ref().is_some_and(|first_bad| first_bad.commit.commit == announced);
    let stands = matches!(report.status, Status::Found | Status::Unported | Status::Budget | Status::Interrupted);
    if is_same && stands {
        return text::write_rest(report, look, out);
    }
    out.write_all(TAKEN_BACK.as_bytes())?;
    text::write(report, look, out)
}

/// The laboratory of a hunt with somebody who listens.
pub struct Announcing<'a, 'p, 't> {
    /// The laboratory.
    pub session: &'a mut Session<'p>,
    /// What the engine has learned.
    pub board: &'a RefCell<Board>,
    /// What a report draws on.
    pub sources: Sources<'a>,
    /// The repository.
    pub location: &'a Location,
    /// Who is told.
    pub herald: &'a mut Herald<'t>,
    /// The hunt, its journal, and when and after how many seconds of earlier runs it began.
    pub hunt: (&'a str, &'a Path, Instant, f64),
}

impl Announcing<'_, '_, '_> {
    fn announce(&mut self) -> Result<(), SessionError> {
        let (mut found, n_refused) = {
            let board = self.board.borrow();
            (board.finding.clone(), board.n_refused as u64)
        };
        found.conclusion = Conclusion::Culprit;
        // What cannot be read shows again in the reduction.
        let Ok(mut report) = finding::report(&found, self.sources) else { return Ok(()) };
        let Some(commit) = found.first_bad else { return Ok(()) };
        let (id, log, begin, seconds_before) = self.hunt;
        report.probes = finding::probes(&self.session.tally, n_refused);
        report.seconds = seconds_before + begin.elapsed().as_secs_f64();
        report.hunt = Some(id.to_owned());
        report.log = Some(Untrusted::from(log.to_string_lossy().as_ref()));
        self.session.progress.finish();
        self.herald.print(&report, commit);
        // The end is near, and a resumed hunt may know more already.
        if self.sources.plan.args.effort.until == Until::Commit || self.herald.kept == Some(commit) {
            return Ok(());
        }
        self.herald.kept = Some(commit);
        self.keep(&report, &found)?;
        if let Some(notice) = self.herald.notice {
            notice.give_meanwhile(report, self.herald.around, self.herald.console);
        }
        Ok(())
    }

    fn keep(&mut self, report: &Report, found: &Finding) -> Result<(), SessionError> {
        // Numbers, ids and escaped texts can be written.
        let value = serde_json::to_value(report).unwrap_or_default();
        self.session.append(&Record::Finding { value })?;
        // The finding at the end says what hinders.
        let _ = saved::keep_refs(found, self.sources.store, self.location);
        Ok(())
    }
}

impl Laboratory for Announcing<'_, '_, '_> {
    type Error = SessionError;

    fn width(&self) -> usize {
        self.session.width()
    }

    fn answer(&mut self, probes: &[Probe]) -> Result<Reply, SessionError> {
        self.session.answer(probes)
    }

    fn used(&mut self, probes: &[Probe], outcomes: &[Outcome]) -> Result<(), SessionError> {
        self.session.used(probes, outcomes)
    }

    fn tell(&mut self, events: &[Event]) {
        self.session.tell(events);
        let is_proved = events.iter().any(|event| matches!(event, Event::Proved { .. }));
        if is_proved && !self.sources.plan.is_minimize {
            // A full disk shows again when an observation is written.
            let _ = self.announce();
        }
    }
}
