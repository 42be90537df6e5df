//! Progress on stderr.

use crate::columns;
use crate::status_line::{Now, RangeEnds, RunningTest, StatusLine};
use idd_base::{CommitId, Outcome, Rest, Sought, count};
use idd_change::trees::Rung;
use idd_hunt::own_tests::named;
use idd_hunt::{Event, Phase, Probe};
use idd_report::escape::safe;
use idd_report::text::rows;
use idd_report::{Commit, Style, Terminal, TextRole, Untrusted};
use idd_session::narrowing::Narrowing;
use idd_session::positions::Positions;
use idd_session::tally::Tally;
use idd_session::{Talk, finding};
use std::collections::HashMap;
use std::io::{self, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The amount of progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Volume {
    /// Nothing.
    Quiet,
    /// Events.
    Normal,
    /// Every probe, too.
    Verbose,
}

/// Prints events for a person: a line for each tested revision, and what is done now in a status line if stderr is a
/// terminal. Failures to write are ignored: progress is not the result.
pub struct ProgressPrinter {
    out: Box<dyn Write>,
    style: Style,
    volume: Volume,
    is_terminal: bool,
    positions: Rc<Positions>,
    /// The range of the search.
    narrowing: Narrowing,
    sought: Sought,
    /// The last outcome of each revision that could not be tested as it is, with the line that says why.
    unresolved: HashMap<CommitId, String>,
    now: Now,
    /// The runs that reproduce the failure, so far.
    n_reproductions: u32,
    status: Option<StatusLine>,
}

impl ProgressPrinter {
    /// Progress to `out`, which is stderr.
    pub fn new(out: Box<dyn Write>, style: Style, volume: Volume, is_terminal: bool) -> Self {
        let now = Now { begin: Instant::now(), what: String::new(), ends: None, test: None, left: None };
        let (positions, unresolved) = (Rc::default(), HashMap::new());
        let (narrowing, sought) = (Narrowing::default(), Sought::default());
        Self {
            out,
            style,
            volume,
            is_terminal,
            positions,
            narrowing,
            sought,
            unresolved,
            now,
            n_reproductions: 0,
            status: None,
        }
    }
}

impl Talk for ProgressPrinter {
    fn looks_for(&mut self, sought: Sought) {
        self.sought = sought;
    }

    fn use_history(&mut self, positions: Rc<Positions>) {
        (self.positions, self.narrowing) = (positions, Narrowing::default());
    }

    fn resumed(&mut self, before: Duration) {
        self.now.begin = Instant::now().checked_sub(before).unwrap_or(self.now.begin);
    }

    fn say(&mut self, sentence: &str) {
        let line = safe(sentence);
        self.line(&line);
    }

    fn tell(&mut self, event: &Event, tally: &Tally, rest: Rest) {
        let ahead = event.remaining_work(self.positions.history.len());
        if ahead.is_some() {
            self.now.left = ahead.and_then(|ahead| ahead.range(rest, &tally.pace));
        }
        match event {
            Event::Galloping { distance, .. } => {
                self.begin(format!("Searching, {distance} back"));
            }
            Event::Weighing { likeliest, probability, .. } => {
                let (likeliest, percent) = (likeliest.short(), (100.0 * probability).floor());
                self.begin(format!("Weighing, most likely {likeliest} ({percent} %)"));
            }
            Event::Bisecting { n_left, .. } => {
                self.begin_within(format!("Bisecting, {n_left} left"), self.ends());
            }
            Event::Tested { revision, outcome, is_repaired } => {
                let repaired = if *is_repaired { ", repaired" } else { "" };
                let verdict = self.style.paint(role(*outcome), self.sought.outcome(*outcome)).to_string();
                let subject = self.subject(*revision);
                let position = self.positions.name(*revision).map(|name| format!(" {name}")).unwrap_or_default();
                self.narrowing.take(*revision, *outcome, &self.positions.history);
                let row = format!("  {}{position} {verdict}{repaired}  {subject}", revision.short());
                let columns = self.is_terminal.then(|| columns::of(io::stderr()));
                self.line(&rows::cut(&row, columns));
            }
            Event::Repaired { revision, source, n_lines } => {
                let why = self.unresolved.get(revision).map(|why| format!(" ({why})")).unwrap_or_default();
                let (revision, lines) = (revision.short(), count(*n_lines, "line"));
                self.line(&format!("Repaired {revision}{why} with {lines} of its neighbour {}.", source.short()));
            }
            Event::Reducing { what, n_units, n_total } => {
                let counts = format!("{} run, {} cached", tally.n_runs(), tally.n_cached);
                if !self.is_terminal {
                    self.line(&format!("Reducing {what}, {n_units} of {} left ({counts})", count(n_total, "unit")));
                }
                self.begin(format!("Reducing, {n_units} of {n_total} left"));
            }
            Event::Culprit { revision, n_candidates } => {
                let first = self.sought.words().first;
                let (id, subject) = (revision.short(), self.subject_in_sentence(*revision));
                self.line(&match n_candidates {
                    1 => format!("Found the {first}, {id} ({subject})."),
                    _ => format!("The {first} is one of {n_candidates}."),
                });
            }
            Event::Proved { revision } => {
                let (id, subject) = (revision.short(), self.subject_in_sentence(*revision));
                self.line(&format!("Proved the {}, {id} ({subject}).", self.sought.words().first));
                self.begin("Reducing".to_owned());
            }
            Event::OwnTests { paths } => {
                if let Some(tests) = named(paths) {
                    self.say(&format!("Reversals are also tested with the tests that the culprit changed: {tests}."));
                }
            }
            Event::Trying { scope, revision } => {
                self.step(format!("Testing the reversal `{}`", finding::scope(*scope).word()), &revision.short());
            }
            Event::Porting { revision } => self.step("Porting the fix".to_owned(), &revision.short()),
            Event::Border { .. }
            | Event::Noise { .. }
            | Event::Refused { .. }
            | Event::Reduced { .. }
            | Event::Carried { rung: Rung::Merge, .. } => {}
            Event::Carried { revision, rung } => {
                let means = match rung {
                    Rung::Merge | Rung::Lines => "line by line",
                    Rung::Syntax => "by syntax",
                    Rung::Renamed => "by syntax, with new names",
                    Rung::Reduced => "by a new reduction",
                };
                self.line(&format!("Carried the fix {means} to {}, since a merge conflicts.", revision.short()));
            }
            Event::Remark(text) => self.line(&format!("Note: {text}.")),
        }
    }

    fn probed(&mut self, probe: &Probe, outcome: Outcome, is_same_product: bool, number: Option<u64>) {
        if matches!(outcome, Outcome::Unresolved(_)) && probe.phase == Phase::Search {
            self.unresolved.insert(probe.revision, outcome.to_string());
        }
        if self.volume == Volume::Verbose {
            let tree = &probe.tree.to_string()[..12];
            let verdict = self.style.paint(role(outcome), self.sought.outcome(outcome)).to_string();
            let same = if is_same_product { ", same product as before" } else { "" };
            let number = number.map_or_else(|| "known".to_owned(), |number| format!("probe {number}"));
            self.line(&format!("  {number} {}: tree {tree} {verdict}{same}", probe.phase.word()));
        }
    }

    fn troubled(&mut self, probe: &Probe, line: &str) {
        if let Some(why) = self.unresolved.get_mut(&probe.revision) {
            *why += ": `";
            *why += &safe(line);
            why.push('`');
        }
    }

    fn running(&mut self, probe: &Probe, limit: Duration) {
        match probe.phase {
            Phase::Reproduce => {
                self.n_reproductions += 1;
                self.now.what = format!("Reproducing the failure, run {}", self.n_reproductions);
            }
            Phase::Verify => (self.now.what, self.now.ends) = ("Proving the finding".to_owned(), None),
            Phase::Port => self.now.left = None,
            Phase::Search | Phase::Repair | Phase::Reduce => {}
        }
        let name = self.positions.name(probe.revision).unwrap_or_else(|| probe.revision.short());
        self.now.test = Some(RunningTest { name, begin: Instant::now(), limit });
        self.show();
    }

    fn shrinking(&mut self, units: &str, n_bytes: usize, n_bytes_before: usize) {
        self.pass(format!("Removing {units}: {n_bytes} of {} left", count(n_bytes_before, "byte")));
    }

    fn isolating(&mut self, units: &str) {
        self.pass(format!("Isolating the difference in {units}"));
    }

    fn finish(&mut self) {
        self.status = None;
    }
}

impl ProgressPrinter {
    fn subject(&self, id: CommitId) -> String {
        let subject = self.positions.history.find(id).map(|revision| Untrusted::from(revision.subject));
        subject.map(|subject| Terminal.line(&subject)).unwrap_or_default()
    }

    /// The subject of a commit in brackets before a full stop, without a full stop of its own.
    fn subject_in_sentence(&self, id: CommitId) -> String {
        self.subject(id).trim_end_matches('.').to_owned()
    }

    /// The two ends of the range, if both are known.
    fn ends(&self) -> Option<RangeEnds> {
        let end = |id: CommitId| {
            let commit = Commit::from(&self.positions.history.find(id)?);
            Some((self.positions.name(id).unwrap_or_else(|| id.short()), commit.date.day()))
        };
        let ((pass, pass_day), (fail, fail_day)) = (end(self.narrowing.pass?)?, end(self.narrowing.fail?)?);
        let [passes, fails] = self.sought.end_labels().map(|label| label.trim_end_matches(':'));
        let places = format!("{pass} {pass_day} {passes}, {fail} {fail_day} {fails}");
        Some(RangeEnds { places, days: format!("{pass_day} to {fail_day}") })
    }

    fn line(&mut self, line: &str) {
        if self.volume == Volume::Quiet {
            return;
        }
        let columns = self.is_terminal.then(|| columns::of(io::stderr()));
        let line = rows::fitted(line, columns);
        let out = &mut self.out;
        let _: io::Result<()> = match &self.status {
            Some(status) => status.hidden(|| writeln!(out, "{line}")),
            None => writeln!(out, "{line}"),
        };
    }

    /// What is done from now on, for the status line.
    fn begin(&mut self, what: String) {
        self.begin_within(what, None);
    }

    /// The same in a range.
    fn begin_within(&mut self, what: String, ends: Option<RangeEnds>) {
        (self.now.what, self.now.ends) = (what, ends);
        if self.status.is_some() {
            self.show();
        }
    }

    /// The same for what is not told by the tested revisions: without a status line, its first step is a line, with `more`.
    fn step(&mut self, what: String, more: &str) {
        if !self.is_terminal && self.now.what != what {
            self.line(&format!("{what} ({more})"));
        }
        self.begin(what);
    }

    /// The same for a part of a reduction of an input: without a status line, it is printed only with every probe.
    fn pass(&mut self, what: String) {
        if !self.is_terminal && self.volume == Volume::Verbose {
            self.line(&what);
        }
        (self.now.what, self.now.test) = (what, None);
        self.show();
    }

    /// Shows the status line.
    fn show(&mut self) {
        if !self.is_terminal || self.volume == Volume::Quiet {
            return;
        }
        match &self.status {
            Some(status) => status.set(self.now.clone()),
            None => self.status = Some(StatusLine::new(self.now.clone())),
        }
    }
}

fn role(outcome: Outcome) -> TextRole {
    match outcome {
        Outcome::Pass => TextRole::Added,
        Outcome::Fail => TextRole::Removed,
        Outcome::Unresolved(_) => TextRole::Warning,
    }
}
