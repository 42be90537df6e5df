//! `git idd status`: the progress of a hunt.

use crate::cli::console::{Answer, Console};
use crate::plural::count;
use crate::report;
use crate::report::escape::Terminal;
use crate::report::{Report, Status};
use crate::session::estimate::Ahead;
use crate::session::failure::Failure;
use crate::session::kept::Kept;
use crate::session::{kept, saved};
use crate::world::repo::locate::Location;
use std::fmt::Write as _;

/// Prints the progress of the named hunt, or of the last one.
pub fn run(hunt: Option<&str>, location: &Location, console: Console) -> Result<Answer, Failure> {
    let kept = kept::newest(location, hunt)?;
    let id = &kept.id;
    let state = kept.state(location)?;
    let is_running = state == "running";
    let resume = hunt.map_or_else(String::new, |_| format!(" --hunt {id}"));
    let is_waiting = state == Status::Waiting.word();
    let state =
        if is_waiting { format!("{state} for a person; `git idd resume{resume}` shows the revision") } else { state };
    let state = if state == "stopped" { format!("stopped; `git idd resume{resume}` goes on") } else { state };
    if console.is_json {
        let report = match kept.report() {
            Ok(report) if !is_running || report.status == Status::Culprit => report,
            _ => unfinished(&kept, &state),
        };
        return Ok(Answer::Shown(Box::new(report), Vec::new(), false));
    }
    Ok(Answer::Text(text(&kept, &state, location)?.into_bytes(), 0))
}

/// The progress for people.
///
/// - `state`: that of the hunt, with its advice.
pub fn text(kept: &Kept, state: &str, location: &Location) -> Result<String, Failure> {
    let id = &kept.id;
    let verdicts = saved::verdicts(location, id)?;
    let n_of = |word: &str| verdicts.iter().filter(|(_, outcome, _)| outcome.starts_with(word)).count();
    let mut text = String::new();
    let _ = writeln!(text, "hunt:      {id}\nstate:     {state}\nprobes:    {}", costs(kept));
    let find = saved::plan(&kept.replay).map(|plan| plan.order.history.find).unwrap_or_default();
    let [older, newer] = find.words().outcomes;
    let (pass, fail, unresolved) = (n_of("pass"), n_of("fail"), n_of("unresolved"));
    let _ = writeln!(text, "revisions: {pass} {older}, {fail} {newer}, {unresolved} unresolved");
    if let Ok(Report { first_bad: Some(first_bad), find, proved, .. }) = kept.report() {
        let (commit, subject) = (first_bad.commit.commit, Terminal.line(&first_bad.commit.subject));
        let doubt = if proved { "" } else { ", not proved" };
        let _ = writeln!(text, "{:<10} [{commit}] {subject}{doubt}", find.words().labels[2]);
    }
    let is_open = state == "running" || kept.is_unfinished();
    if let Some((ahead, n_jobs, pace)) = saved::ahead(location, id)?.filter(|_| is_open) {
        let what = match ahead {
            Ahead::Galloping { distance, .. } => format!("searching for a {older}, {distance} back"),
            Ahead::Bisecting { n_candidates } => {
                format!("{} may be the {}", count(n_candidates, "revision"), find.words().first)
            }
            Ahead::Reducing { n_units } => format!("{} to reduce", count(n_units, "unit")),
        };
        let words = ahead.words(n_jobs, &pace);
        let _ = writeln!(text, "left:      {what}{}{words}", if words.is_empty() { "" } else { "; " });
    }
    Ok(text)
}

/// The report of a hunt that has no finding yet.
fn unfinished(kept: &Kept, state: &str) -> Report {
    let mut report = Report::new(Status::Interrupted, format!("The hunt is {state}."));
    kept.update_costs(&mut report);
    report.hunt = Some(kept.id.clone());
    report
}

/// The probes of a hunt and their time until now, as reports count them, and what else it ran.
fn costs(kept: &Kept) -> String {
    let report = kept.report().unwrap_or_else(|_| unfinished(kept, ""));
    let time = report::text::duration(report.seconds);
    let others = report::text::others(&report.probes).map_or_else(String::new, |others| format!("; also {others}"));
    format!("{} completed, in {time}{others}", report.probes.run)
}
