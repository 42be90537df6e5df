//! `git idd list --badge`: the state of the newest hunt as the JSON of a badge.
//!
//! Source: the endpoint badge of shields.io, schema version 1. A dashboard fetches the JSON from where a job puts it.

use crate::console::CommandAnswer;
use idd_base::count;
use idd_report::{Json, Report, Status};
use idd_session::{Failure, kept};
use idd_world::repo::Location;
use serde::Serialize;

/// The object of the badge.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Badge {
    schema_version: u8,
    label: &'static str,
    message: String,
    color: &'static str,
}

/// Prints the badge of the hunt of this worktree that ran last.
pub fn run(location: &Location) -> Result<CommandAnswer, Failure> {
    let newest = kept::own(location).pop();
    let badge = match newest {
        None => badge("no hunt".to_owned(), "lightgrey"),
        Some(id) => {
            let kept = kept::newest(location, Some(&id))?;
            of(kept.report().ok().as_ref(), &kept.state(location)?)
        }
    };
    let mut text = Vec::new();
    badge.serialize(&mut serde_json::Serializer::with_formatter(&mut text, Json))?;
    text.push(b'\n');
    Ok(CommandAnswer::Text(text, 0))
}

fn badge(message: String, color: &'static str) -> Badge {
    Badge { schema_version: 1, label: "regression", message, color }
}

/// - `report`: the result of the hunt so far.
/// - `state`: its state in a word.
fn of(report: Option<&Report>, state: &str) -> Badge {
    let find = report.map(|report| report.find).unwrap_or_default();
    let (since, colour) = (find.words().since, if find.is_failure() { "red" } else { "blue" });
    if let Some(first_bad) = report.and_then(|report| report.first_bad.as_ref()) {
        return badge(format!("{since} {}", first_bad.commit.commit.short()), colour);
    }
    if let Some(range) = report.and_then(|report| report.range.as_ref()) {
        return badge(format!("{since} one of {}", count(range.candidates.len(), "commit")), colour);
    }
    let is = |status: Status| state == status.word();
    if is(Status::BadPasses) && find.is_failure() {
        return badge("passes".to_owned(), "brightgreen");
    }
    if is(Status::Budget) || is(Status::Interrupted) || state == "running" || state == "stopped" {
        return badge("hunt not finished".to_owned(), "yellow");
    }
    badge(state.replace('_', " "), "orange")
}

#[cfg(test)]
mod tests {
    use super::*;
    use idd_report::samples;

    #[test]
    fn a_badge_says_since_when_the_test_fails_or_how_far_the_hunt_is() {
        let said = |report: Option<&Report>, state: &str| {
            let badge = of(report, state);
            format!("{}: {}", badge.message, badge.color)
        };
        assert_eq!(said(Some(&samples::found()), "found"), "fails since 333333333333: red");
        assert_eq!(said(Some(&samples::found()), "running"), "fails since 333333333333: red");
        let n_candidates = samples::range().range.unwrap().candidates.len();
        assert_eq!(said(Some(&samples::range()), "range"), format!("fails since one of {n_candidates} commits: red"));
        assert_eq!(said(None, "bad_passes"), "passes: brightgreen");
        for state in ["running", "stopped", "budget", "interrupted"] {
            assert_eq!(said(None, state), "hunt not finished: yellow");
        }
        assert_eq!(said(Some(&samples::never_passed()), "never_passed"), "never passed: orange");
    }
}
