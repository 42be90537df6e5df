//! The course of a hunt up to now: what `git idd status` and `git idd watch` show, while it runs and afterwards.

use crate::{Commit, Terminal, Untrusted};
use idd_base::{Outcome, count};

/// Columns of the labels of facts.
const LABEL: usize = 10;

/// The running probes that have a row.
const MAX_RUNNING: usize = 3;

/// The lines of an output in the text.
const MAX_LINES: usize = 10;

/// The course of a hunt.
#[derive(Debug, Clone, PartialEq)]
pub struct HuntCourse {
    /// Whether a process works on it.
    pub is_running: bool,
    /// Its state, in rows.
    pub facts: Vec<Fact>,
    /// The probes that run now.
    pub running: Vec<RunningProbe>,
    /// The revision where the hunt began, once it is known to fail.
    pub bad: Option<Commit>,
    /// The newest revision that passes.
    pub last_good: Option<Commit>,
    /// The tested revisions and those that are being tested, in the order of history, the newest first.
    pub places: Vec<CoursePlace>,
    /// The output of the last completed probe.
    pub output: Option<LastOutput>,
}

/// One row about a hunt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Its label: `passes:`.
    pub label: &'static str,
    /// Its text.
    pub text: Untrusted,
}

/// A probe that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningProbe {
    /// Its purpose.
    pub phase: String,
    /// Its revision: id, day, position and subject.
    pub revision: Untrusted,
    /// When it started, in seconds since 1970.
    pub started_at_unix: i64,
}

/// A place in history.
#[derive(Debug, Clone, PartialEq)]
pub enum CoursePlace {
    /// A revision.
    Tested(TestedCommit),
    /// So many revisions that were not tested.
    Untested(usize),
}

/// A revision that was tested, or is being tested.
#[derive(Debug, Clone, PartialEq)]
pub struct TestedCommit {
    /// The commit.
    pub commit: Commit,
    /// Its name from HEAD: `HEAD~37`; empty if it has none.
    pub position: String,
    /// Its outcome; `None` if there is none yet.
    pub outcome: Option<Outcome>,
    /// The outcome in the words of the hunt: `pass, repaired`, or `running`.
    pub verdict: String,
    /// Whether it is an end of the range.
    pub is_end: bool,
}

/// The output of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastOutput {
    /// Which probe, and how it ended.
    pub title: String,
    /// The stored part.
    pub text: Untrusted,
}

impl HuntCourse {
    /// The rows about the hunt, for a terminal.
    ///
    /// - `now`: the time in seconds since 1970.
    pub fn rows(&self, now: i64) -> Vec<String> {
        let row = |label: &str, text: String| format!("{label:<LABEL$} {text}");
        let mut rows: Vec<String> = self.facts.iter().map(|fact| row(fact.label, Terminal.line(&fact.text))).collect();
        rows.extend(self.running.iter().take(MAX_RUNNING).map(|probe| {
            let seconds = now.saturating_sub(probe.started_at_unix).max(0);
            let (time, revision) = (clock(seconds), Terminal.line(&probe.revision));
            row("running:", format!("{}, {time}: {revision}", Terminal.line(&probe.phase.as_str().into())))
        }));
        if let Some(n @ 1..) = self.running.len().checked_sub(MAX_RUNNING) {
            rows.push(row("running:", format!("and {}", count(n, "more probe"))));
        }
        rows
    }

    /// All of it for a terminal.
    ///
    /// - `now`: the time in seconds since 1970.
    pub fn text(&self, now: i64) -> String {
        let mut lines = self.rows(now);
        lines.extend((!self.places.is_empty()).then(String::new));
        lines.extend(self.places.iter().map(CoursePlace::line));
        if let Some(output) = &self.output {
            lines.extend([String::new(), output.title.clone()]);
            lines.extend(output.last_lines(MAX_LINES).iter().map(|line| format!("  {line}")));
        }
        lines.join("\n") + "\n"
    }
}

/// `4 s`, `1 min 3 s`.
fn clock(seconds: i64) -> String {
    if seconds < 60 { format!("{seconds} s") } else { format!("{} min {} s", seconds / 60, seconds % 60) }
}

impl CoursePlace {
    /// One line, for a terminal.
    pub fn line(&self) -> String {
        match self {
            Self::Tested(TestedCommit { commit, position, verdict, is_end, .. }) => {
                let mark = if *is_end { '*' } else { ' ' };
                let (id, day, subject) = (commit.commit.short(), commit.date.day(), Terminal.line(&commit.subject));
                format!("{mark} {verdict:<10} {position:<10} {id} {day} {subject}")
            }
            Self::Untested(n) => format!("  … {}", count(*n, "commit")),
        }
    }
}

impl LastOutput {
    /// At most so many of its last lines, for a terminal.
    pub fn last_lines(&self, n_lines: usize) -> Vec<String> {
        let text = Terminal.block(&self.text);
        let lines: Vec<&str> = text.trim_end().lines().collect();
        if lines.is_empty() {
            return vec!["(nothing)".to_owned()];
        }
        lines[lines.len().saturating_sub(n_lines)..].iter().map(|line| line.replace('\t', "    ")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Date;
    use idd_base::CommitId;

    #[test]
    fn a_course_is_text_and_nothing_in_it_commands_a_terminal() {
        let place = |n: u8, position: &str, outcome, verdict: &str, is_end| {
            CoursePlace::Tested(TestedCommit {
                commit: Commit {
                    commit: CommitId::sha1([n; 20]),
                    subject: "evil \x1b[2J\u{202e}subject".into(),
                    author: "a".into(),
                    date: Date::new(1_772_323_200, 0),
                },
                position: position.to_owned(),
                outcome,
                verdict: verdict.to_owned(),
                is_end,
            })
        };
        let course = HuntCourse {
            is_running: true,
            facts: vec![
                Fact { label: "state:", text: "running".into() },
                Fact { label: "passes:", text: "evil \x1b]0;x\x07".into() },
            ],
            running: vec![RunningProbe {
                phase: "search".to_owned(),
                revision: "020202020202 (HEAD~37) evil \x1b[2J".into(),
                started_at_unix: 1_000_000,
            }],
            bad: None,
            last_good: None,
            places: vec![
                place(1, "HEAD", Some(Outcome::Fail), "fail", true),
                CoursePlace::Untested(36),
                place(2, "HEAD~37", None, "running", false),
                CoursePlace::Untested(1),
                place(3, "HEAD~39", Some(Outcome::Pass), "pass, repaired", true),
            ],
            output: Some(LastOutput {
                title: "Output of the last completed probe:".to_owned(),
                text: ["first\n", &"\tanother \x1b[31m\n".repeat(9), "\tlast \x1b[31m\n"].concat().into(),
            }),
        };
        insta::assert_snapshot!(course.text(1_000_063));
    }
}
