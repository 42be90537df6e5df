//! Progress on stderr, in git's words where git has them.

use crate::change::trees::Rung;
use crate::hunt::event::Event;
use crate::hunt::event::Phase;
use crate::hunt::history::History;
use crate::hunt::probe::Probe;
use crate::outcome::Outcome;
use crate::plural::count;
use crate::report::Untrusted;
use crate::report::escape::Terminal;
use crate::report::style::Role;
use crate::report::style::Style;
use crate::revision::CommitId;
use crate::session::estimate::Ahead;
use crate::session::finding;
use crate::session::talk::Talk;
use crate::session::tally::Tally;
use std::io;
use std::io::Write;
use std::rc::Rc;

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

/// Prints events for a person. Failures to write are ignored: progress is not the result.
pub struct Progress {
    out: Box<dyn Write>,
    style: Style,
    volume: Volume,
    is_terminal: bool,
    history: Rc<History>,
    has_transient: bool,
}

impl Progress {
    /// Progress to `out`, which is stderr.
    pub fn new(out: Box<dyn Write>, style: Style, volume: Volume, is_terminal: bool) -> Self {
        Self { out, style, volume, is_terminal, history: Rc::new(History::default()), has_transient: false }
    }
}

impl Talk for Progress {
    fn use_history(&mut self, history: Rc<History>) {
        self.history = history;
    }

    fn say(&mut self, sentence: &str) {
        let line = Terminal.line(&Untrusted::from(sentence));
        self.line(&line);
    }

    fn tell(&mut self, event: &Event, tally: &Tally, n_jobs: usize) {
        let ahead = Ahead::of(event, self.history.len()).map(|ahead| ahead.words(n_jobs, &tally.pace));
        let time = ahead.filter(|words| !words.is_empty());
        match event {
            Event::Galloping { distance, next } => {
                let time = time.map(|time| format!(" ({time} left in the search)")).unwrap_or_default();
                self.line(&format!("Galloping: {} back{time}", count(*distance, "revision")));
                self.revision(*next);
            }
            Event::Weighing { next, likeliest, probability } => {
                let (next, likeliest, percent) = (next.short(), likeliest.short(), (100.0 * probability).floor());
                let text = format!("Testing {next}; most likely the first bad commit is {likeliest} ({percent} %)");
                if self.is_terminal { self.transient(&text) } else { self.line(&text) }
            }
            Event::Bisecting { n_left, n_candidates, next } => {
                let steps = git_steps(*n_candidates);
                let time = time.map(|time| format!(", {time}")).unwrap_or_default();
                self.line(&format!(
                    "Bisecting: {} left to test after this (roughly {}{time})",
                    count(*n_left, "revision"),
                    count(steps, "step")
                ));
                self.revision(*next);
            }
            Event::Tested { revision, outcome, is_repaired } => {
                let repaired = if *is_repaired { ", repaired" } else { "" };
                let verdict = self.style.paint(role(*outcome), outcome).to_string();
                self.line(&format!("  {} {verdict}{repaired}", revision.short()));
            }
            Event::Repaired { revision, source, n_lines } => {
                let (revision, lines) = (revision.short(), count(*n_lines, "line"));
                self.line(&format!("Repaired {revision} with {lines} of {}.", source.short()));
            }
            Event::Reducing { what, n_units, n_total } => {
                let counts = format!("{} run, {} cached", tally.n_runs(), tally.n_cached);
                let time = time.map(|time| format!("; {time}")).unwrap_or_default();
                let text = format!("Reducing {what}: {n_units} of {} left ({counts}{time})", count(n_total, "unit"));
                if self.is_terminal { self.transient(&text) } else { self.line(&text) }
            }
            Event::Culprit { revision } => {
                self.line("Found the first bad revision; testing it and the one before it in fresh checkouts.");
                self.revision(*revision);
            }
            Event::Proved { revision } => {
                self.line("Proved the first bad commit:");
                self.revision(*revision);
            }
            Event::Trying { scope, revision } => {
                self.line(&format!("Testing the reversal `{}` at", finding::scope(*scope).word()));
                self.revision(*revision);
            }
            Event::Porting { revision } => {
                self.line("Porting the fix to");
                self.revision(*revision);
            }
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
                self.line(&format!("Carried the fix {means}, since a merge conflicts, to"));
                self.revision(*revision);
            }
            Event::Remark(text) => self.line(&format!("Note: {text}.")),
        }
    }

    fn probed(&mut self, probe: &Probe, (outcome, is_same_product): (Outcome, bool), number: Option<u64>) {
        if self.volume == Volume::Verbose {
            let tree = &probe.tree.to_string()[..12];
            let verdict = self.style.paint(role(outcome), outcome).to_string();
            let same = if is_same_product { ", same product as before" } else { "" };
            let number = number.map_or_else(|| "known".to_owned(), |number| format!("probe {number}"));
            self.line(&format!("  {number} {}: tree {tree} {verdict}{same}", probe.phase.word()));
        }
    }

    fn running(&mut self, phase: Option<Phase>, number: u64) {
        if self.is_terminal
            && let Some(phase) = phase
        {
            self.transient(&format!("  probe {} ({}) ...", number, phase.word()));
        }
    }

    fn shrinking(&mut self, units: &str, n_bytes: usize, n_bytes_before: usize) {
        self.step(&format!("Removing {units}: {n_bytes} of {} left", count(n_bytes_before, "byte")));
    }

    fn isolating(&mut self, units: &str) {
        self.step(&format!("Isolating the difference in {units}"));
    }

    fn finish(&mut self) {
        if self.has_transient {
            self.has_transient = false;
            let _: io::Result<()> = write!(self.out, "\r\x1b[K").and_then(|()| self.out.flush());
        }
    }
}

impl Progress {
    fn revision(&mut self, id: CommitId) {
        let subject = match self.history.find(id) {
            Some(revision) => Terminal.line(&Untrusted::from(revision.subject.as_str())),
            None => String::new(),
        };
        self.line(&format!("[{id}] {subject}"));
    }

    fn line(&mut self, line: &str) {
        if self.volume == Volume::Quiet {
            return;
        }
        let clear = if self.has_transient { "\r\x1b[K" } else { "" };
        self.has_transient = false;
        let _: io::Result<()> = writeln!(self.out, "{clear}{line}");
    }

    /// What is done now, for a terminal; else it is printed only with every probe.
    fn step(&mut self, text: &str) {
        if self.is_terminal {
            self.transient(text);
        } else if self.volume == Volume::Verbose {
            self.line(text);
        }
    }

    fn transient(&mut self, text: &str) {
        if self.volume == Volume::Quiet {
            return;
        }
        self.has_transient = true;
        let _: io::Result<()> = write!(self.out, "\r\x1b[K{text}").and_then(|()| self.out.flush());
    }
}

fn role(outcome: Outcome) -> Role {
    match outcome {
        Outcome::Pass => Role::Added,
        Outcome::Fail => Role::Removed,
        Outcome::Unresolved(_) => Role::Warning,
    }
}

/// The number of further steps that git prints for this number of candidates.
fn git_steps(n_candidates: usize) -> u32 {
    if n_candidates < 3 {
        return 0;
    }
    let log = n_candidates.ilog2();
    let power = 1 << log;
    if power < 3 * (n_candidates - power) { log } else { log - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_counted_as_git_does() {
        // The output of `git bisect` for these numbers of candidates on a line.
        let expected = [(2, 0), (3, 1), (4, 1), (5, 1), (6, 2), (8, 2), (12, 3), (100, 6)];
        for (n_candidates, steps) in expected {
            assert_eq!(git_steps(n_candidates), steps, "{n_candidates} candidates");
        }
    }
}
