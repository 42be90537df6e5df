//! `git idd list`: the stored hunts.

use crate::console::{CommandAnswer, Console};
use idd_base::count;
use idd_report::text::rows::cut;
use idd_report::views::views;
use idd_report::{Commit, Json, Report, Status, Terminal, TextRole, Untrusted, commit};
use idd_session::kept::KeptHunt;
use idd_session::order::TestCommand;
use idd_session::{Failure, kept, saved};
use idd_world::repo::Location;
use serde::Serialize;
use std::fmt::Write as _;

/// The version of the object of `--json`.
const SCHEMA: &str = "git-idd/hunts/1";

/// The maximum length of a printed test, in characters.
const MAX_TEST: usize = 40;

/// One line of the list.
#[derive(Debug, Default, Serialize)]
struct ListRow {
    id: String,
    /// RFC 3339; `None` if the journal cannot be read.
    started: Option<String>,
    /// The status word of the hunt, or `running`, `stopped`, or `unreadable`.
    status: String,
    /// The line of the shell that runs the test.
    test: Option<Untrusted>,
    /// The first bad commit.
    first_bad: Option<Commit>,
    /// Whether it is one of this worktree.
    is_own: bool,
    /// Whether it is the default of commands that use the newest finding.
    is_default: bool,
    /// The text in place of the first bad commit if there is none.
    #[serde(skip)]
    other: String,
    #[serde(skip)]
    day_and_time: String,
}

/// Prints the hunts, the newest first; without those whose test could not be run at all.
pub fn run(location: &Location, console: Console) -> Result<CommandAnswer, Failure> {
    let own = kept::own(location);
    let default = kept::newest_finding(location, None).map(|(kept, _)| kept.id).ok();
    let mut rows = Vec::new();
    for id in kept::all(location)?.into_iter().rev() {
        let Some(kept) = kept::find(location, &id).transpose() else { continue };
        if kept.as_ref().is_ok_and(|kept| kept.replay.status.as_deref() == Some(Status::Usage.word())) {
            continue;
        }
        let (is_own, is_default) = (own.contains(&id), default.as_ref() == Some(&id));
        rows.push(ListRow { is_own, is_default, ..row(id, kept, location)? });
    }
    if console.is_json {
        return Ok(CommandAnswer::Text(json(&rows)?, 0));
    }
    if rows.is_empty() {
        return Ok(CommandAnswer::Text(
            b"No hunt is kept in this repository; `git idd <test-cmd>` starts one.\n".to_vec(),
            0,
        ));
    }
    // A row that is broken is no row of a table.
    let columns = console.look().columns;
    let shown: String = text(&rows, console).lines().map(|row| cut(row, columns) + "\n").collect();
    Ok(CommandAnswer::Page(shown.into_bytes()))
}

fn row(id: String, kept: Result<KeptHunt, Failure>, location: &Location) -> Result<ListRow, Failure> {
    let row = ListRow { id, status: "unreadable".to_owned(), day_and_time: "-".to_owned(), ..ListRow::default() };
    let kept = match kept {
        Ok(kept) => kept,
        Err(failure) => return Ok(ListRow { other: Terminal.line(&failure.message), ..row }),
    };
    let started = commit::Started::new(kept.replay.plan.started_at_unix);
    let test = saved::plan(&kept.replay).ok().map(|plan| command_line(&plan.order.command, plan.is_minimize));
    let report = kept.report().ok();
    let other = report.as_ref().map(other).unwrap_or_default();
    Ok(ListRow {
        started: Some(started.to_string()),
        day_and_time: started.minute(),
        status: kept.state(location)?,
        test,
        first_bad: report.and_then(|report| report.first_bad).map(|first_bad| first_bad.commit),
        other,
        ..row
    })
}

fn command_line(command: &TestCommand, is_minimize: bool) -> Untrusted {
    let prefix: &[u8] = if is_minimize { b"minimize: " } else { b"" };
    Untrusted::from([prefix, &command.to_line()].concat())
}

/// The result of a hunt without one first bad commit.
fn other(report: &Report) -> String {
    let change = views(report).into_iter().next().map(|view| view.change);
    match (&report.range, change) {
        (Some(range), _) => format!("one of {}", count(range.candidates.len(), "commit")),
        (None, Some(change)) => count(change.lines, "line"),
        (None, None) => "-".to_owned(),
    }
}

/// The object of `--json`.
#[derive(Serialize)]
struct ListObject<'a> {
    schema: &'static str,
    hunts: &'a [ListRow],
}

fn json(rows: &[ListRow]) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, Json);
    let list = ListObject { schema: SCHEMA, hunts: rows };
    list.serialize(&mut serializer)?;
    text.push(b'\n');
    Ok(text)
}

fn text(rows: &[ListRow], console: Console) -> String {
    let style = console.out_style;
    let cells = rows.iter().map(|row| {
        let test = row.test.as_ref().map(|test| Terminal.line(test)).unwrap_or_default();
        [row.id.clone(), row.day_and_time.clone(), row.status.clone(), shortened(test)]
    });
    let heads = ["HUNT", "STARTED", "STATUS", "TEST"].map(str::to_owned);
    let cells: Vec<[String; 4]> = std::iter::once(heads).chain(cells).collect();
    let width = |column: usize| cells.iter().map(|cells| cells[column].chars().count()).max().unwrap_or_default();
    let widths = [width(0), width(1), width(2), width(3)];
    let line = |cells: &[String; 4]| {
        let [id, started, status, test] = cells;
        let [w_id, w_started, w_status, w_test] = widths;
        format!("{id:<w_id$}  {started:<w_started$}  {status:<w_status$}  {test:<w_test$}")
    };
    let mut text = format!("  {}  CULPRIT\n", line(&cells[0]));
    let others = rows.iter().filter(|row| !row.is_own).count();
    for is_own in [true, false] {
        if !is_own && others > 0 {
            text.push_str("\nOf other worktrees, or forgotten by `git idd reset`:\n");
        }
        for (row, cells) in rows.iter().zip(&cells[1..]).filter(|(row, _)| row.is_own == is_own) {
            let mark = if row.is_default { '*' } else { ' ' };
            let culprit = match &row.first_bad {
                Some(commit) => {
                    let short = style.paint(TextRole::Commit, commit.commit.short());
                    format!("{short} {}", Terminal.line(&commit.subject))
                }
                None => row.other.clone(),
            };
            let _ = writeln!(text, "{mark} {}  {culprit}", line(cells));
        }
    }
    text
}

fn shortened(test: String) -> String {
    if test.chars().count() <= MAX_TEST {
        return test;
    }
    test.chars().take(MAX_TEST - 3).chain("...".chars()).collect()
}
