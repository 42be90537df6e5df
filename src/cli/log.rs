//! `git idd log`: what a hunt tested.

use crate::cli::args::options::LogFormat;
use crate::cli::commands::Answer;
use crate::cli::failure::Failure;
use crate::cli::kept;
use crate::cli::saved;
use crate::report::Untrusted;
use crate::report::escape::Terminal;
use crate::revision::CommitId;
use crate::revision::Revision;
use crate::world::repo::RepoError;
use crate::world::repo::Repository;
use crate::world::repo::graph;
use crate::world::repo::locate::Location;
use crate::world::repo::private;
use std::fmt::Write as _;

/// Prints the verdicts of a hunt.
pub fn run(hunt: Option<&str>, format: LogFormat, location: &Location) -> Result<Answer, Failure> {
    let kept = kept::newest(location, hunt)?;
    let user = private::open(&location.git_directory).map_err(|error| Failure::from_error(&error))?;
    let verdicts = saved::verdicts(location, &kept.id)?;
    let first_bad = kept.report().ok().and_then(|report| report.first_bad).map(|first_bad| first_bad.commit.commit);
    let mut text = String::new();
    if format == LogFormat::Bisect {
        let is_first_parent = saved::plan(&kept.replay).is_ok_and(|plan| plan.args.history.first_parent);
        text.push_str(if is_first_parent { "git bisect start --first-parent\n" } else { "git bisect start\n" });
    }
    for (commit, outcome, is_repaired) in verdicts {
        let outcome = Terminal.line(&Untrusted::from(outcome));
        let name = named(&user, commit);
        let repaired = if is_repaired { ", repaired" } else { "" };
        let term = match outcome.as_str() {
            "pass" if !is_repaired => "good",
            "fail" if !is_repaired => "bad",
            _ => "skip",
        };
        let _ = match format {
            LogFormat::Text => writeln!(text, "{outcome}{repaired}: {name}"),
            LogFormat::Bisect if term == "skip" => {
                writeln!(text, "# {outcome}{repaired}: {name}\ngit bisect skip {commit}")
            }
            LogFormat::Bisect => writeln!(text, "# {term}: {name}\ngit bisect {term} {commit}"),
        };
    }
    if let Some(commit) = first_bad {
        let hash = if format == LogFormat::Bisect { "# " } else { "" };
        let _ = writeln!(text, "{hash}first bad commit: {}", named(&user, commit));
    }
    Ok(Answer::Page(text.into_bytes()))
}

fn named(user: &Repository, commit: CommitId) -> String {
    let revision: Result<Revision, RepoError> = graph::revision_of(user, commit);
    let subject = revision.map(|revision| revision.subject).unwrap_or_default();
    format!("[{commit}] {}", Terminal.line(&Untrusted::from(subject)))
}
