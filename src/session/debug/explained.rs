//! The end of a walk as an explanation, which is kept for the reports of the hunt that found the same version.

use crate::debug::{Bug, DebugWalk};
use crate::recorded::ProcessChoice;
use crate::version::TreeVersion;
use crate::{Failure, Talk, explain, kept, recorded};
use idd_explain::facts::{StepFacts, UsedValue};
use idd_explain::feedback::{Feedback, JudgedStep};
use idd_report::certificate::proven;
use idd_report::walk::StepFault;
use idd_report::{Explanation, explanation};
use idd_trace::Step;
use idd_world::files;
use idd_world::repo::Location;
use std::ffi::OsString;
use std::io;
use std::path::Path;

/// Values are cut after so many characters.
const MAX_VALUE: usize = 200;

/// A line of a file, if it is known.
type ExplainedLine<'l> = &'l mut dyn FnMut(&str, u32) -> Option<String>;

fn short(text: &str) -> String {
    let cut: String = text.chars().take(MAX_VALUE).collect();
    if cut.len() < text.len() { cut + "..." } else { cut }
}

fn named(name: &str, value: Option<&str>) -> String {
    format!("{} = {}", short(name), value.map_or_else(|| "?".to_owned(), short))
}

/// What a walk says that ended with the first wrong step.
pub fn explained(
    walk: &mut DebugWalk,
    step: Step,
    bug: Bug,
    line: ExplainedLine<'_>,
) -> Result<idd_report::walk::FinishedWalk, Failure> {
    let mut judged: Vec<JudgedStep> = walk.judged.clone();
    judged.retain(|judged| !matches!(judged.feedback, Feedback::Correct | Feedback::Unclear));
    judged.sort_by_key(|judged| judged.step);
    judged.dedup_by_key(|judged| judged.step);
    let mut steps = Vec::new();
    for judged in judged.iter().filter(|judged| judged.step >= step) {
        let facts = walk.facts(judged.step)?;
        let standing = &facts.detail.standing;
        let place = standing.place.as_ref().filter(|place| place.line > 0);
        let is_told = matches!(judged.feedback, Feedback::WrongValue(_));
        let used = facts.used.iter().map(|used| named(&used.name, used.value.as_deref()));
        let gives = facts.detail.writes.iter().map(|write| named(&write.named.name, write.named.value.as_deref()));
        steps.push(idd_report::walk::WrongStep {
            step: judged.step.0,
            file: place.map(|place| (&*place.file).into()),
            line: place.map(|place| place.line),
            function: (&*standing.function).into(),
            source: place.and_then(|place| line(&place.file, place.line)).map(|line| line.trim_start().into()),
            wrong: wrong_there(judged, &facts, bug).into(),
            // The wrong values are named already, and the others do not matter.
            values: used.filter(|_| !is_told).chain(gives).map(Into::into).collect(),
        });
    }
    let fault = match bug {
        Bug::Value => StepFault::Value,
        Bug::Decision => StepFault::Decision,
        Bug::Missing => StepFault::Missing,
        Bug::Given(_) => StepFault::Given,
    };
    Ok(idd_report::walk::FinishedWalk { fault, n_answers: walk.judged.len(), steps })
}

/// What is wrong at a step that was judged.
fn wrong_there(judged: &JudgedStep, facts: &StepFacts, bug: Bug) -> String {
    match &judged.feedback {
        Feedback::WrongResult if bug == Bug::Missing => "code that should have run before it is missing".to_owned(),
        Feedback::WrongResult if facts.outcome.is_some() => "decides wrongly".to_owned(),
        Feedback::WrongResult => "computes a wrong value".to_owned(),
        Feedback::WrongPath => "should not run".to_owned(),
        Feedback::WrongValue(wrong) => {
            let names = wrong.iter().filter_map(|index| facts.used.get(*index));
            let told = |used: &UsedValue| {
                let origin = used.origin.as_ref().map(|origin| format!(" ({origin})")).unwrap_or_default();
                named(&used.name, used.value.as_deref()) + &origin
            };
            format!("uses the wrong {}", names.map(told).collect::<Vec<_>>().join(", "))
        }
        Feedback::Correct | Feedback::Unclear => String::new(),
    }
}

/// Keeps what a walk says for the reports of the newest finding, if its failing version is the one that was walked over.
pub fn keep(walk: &DebugWalk, location: &Location, talk: &mut dyn Talk) {
    let (Some(explanation), Some(tree)) = (&walk.explanation, walk.tree) else { return };
    let finding = kept::newest_finding(location, None).ok();
    let Some(report) = finding.and_then(|(finding, _)| finding.report().ok()) else { return };
    let same = proven(&report).into_iter().find(|(role, _, tested)| role.is_failure() && *tested == tree);
    if let Some((_, commit, _)) = same {
        explain::keep(
            report.hunt,
            TreeVersion { tree, commit },
            || Explanation::Walk(explanation.clone()),
            location,
            talk,
        );
    }
}

/// Keeps what a walk found beside its recording, in place of what an earlier walk from the same failure found.
///
/// - `answers`: the file of the answers there.
pub fn keep_beside(walk: &DebugWalk, answers: &Path, talk: &mut dyn Talk) {
    let Some(explanation) = &walk.explanation else { return };
    let path = answers.with_extension("json");
    let written = serde_json::to_vec(&Explanation::Walk(explanation.clone())).map_err(io::Error::from);
    if let Err(error) = written.and_then(|bytes| files::replace(&path, &bytes)) {
        talk.say(&format!("The result could not be kept beside the recording: {error}."));
    }
}

/// The name of a recording, and what the walks over it found, by the names of their files. A file that cannot be read is no result.
pub fn beside(
    recording: String,
    location: &Location,
) -> Result<(String, Vec<idd_report::walk::FinishedWalk>), Failure> {
    let which = ProcessChoice { recording: Some(recording), process: None };
    let (name, place, _) = recorded::find(&which, location)?;
    let names = files::names(&place).into_iter().filter(|name| {
        let name = name.to_string_lossy();
        name.starts_with("walk-") && name.ends_with(".json")
    });
    let read = |name: OsString| match serde_json::from_slice(
        &files::bytes_up_to(&place.join(name), explanation::MAX_BYTES).ok()?,
    ) {
        Ok(Explanation::Walk(walk)) => Some(walk.bounded()),
        _ => None,
    };
    Ok((name, names.filter_map(read).collect()))
}
