//! Walks of a simulated person, by several ways: the entry of `scripts/bench debug`.
//!
//! `simulate debug --simulate <way>,... --bad <rev> --good <rev> --build <command> -- <test>` builds and runs both versions as
//! `git idd debug` does, walks over the failing run by each way, and prints one object: what came of each. Without `--simulate`
//! it is `git-idd`, because recorders start their own program again as a compiler and for the agent of Java.

mod simulated;
#[path = "../common/to_stderr.rs"]
mod to_stderr;
mod ways;

use git_idd::args;
use git_idd::args::recorded::RecordedRequest;
use git_idd::args::{ParseError, Request};
use idd_report::Status;
use idd_session::debug::begin::ComparedVersions;
use idd_session::debug::{DebugWalk, begin};
use idd_session::explain::change::TreeSources;
use idd_session::{Context, Failure};
use idd_trace::{Place, Step};
use idd_world::repo::{Location, locate};
use serde_json::{Map, Value, json};
use simulated::{Strategy, simulate};
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;
use std::{env, io};
use to_stderr::{ToStderr, to_stderr};

fn main() -> ExitCode {
    let mut words: Vec<OsString> = env::args_os().collect();
    let environment = env::vars_os().collect();
    let Some(at) = words.iter().position(|word| word == "--simulate").filter(|at| at + 1 < words.len()) else {
        return git_idd::main(words, environment);
    };
    let names = words.drain(at..at + 2).nth(1).unwrap_or_default();
    match walks(words, &names.to_string_lossy(), environment) {
        Ok(ways) => {
            drop(writeln!(io::stdout(), "{}", json!({ "ways": ways })));
            ExitCode::SUCCESS
        }
        Err(failure) => {
            to_stderr(&format!("error: {}", String::from_utf8_lossy(failure.message.as_bytes())));
            ExitCode::from(failure.status.code())
        }
    }
}

/// What came of each way, by its name.
///
/// - `words`: a command line of `git idd debug` with `--bad` and `--good`.
/// - `names`: the ways, between commas.
fn walks(
    words: Vec<OsString>,
    names: &str,
    environment: Vec<(OsString, OsString)>,
) -> Result<Map<String, Value>, Failure> {
    let context = Context::new(environment)?.with_configuration();
    let request = args::parse(words, &context.configuration).map_err(|error| match error {
        ParseError::Usage(error) => Failure::from(error),
        _ => Failure::new(Status::Usage, "nothing is walked"),
    })?;
    let versions = match request.request {
        Request::Recorded(RecordedRequest::Debug(order)) => order.versions,
        _ => None,
    };
    let missing = || Failure::new(Status::Usage, "usage: simulate debug --simulate <way>,... --bad ... --good ...");
    let versions = versions.ok_or_else(missing)?;
    let location =
        locate::locate(&context.directory, &context.environment).map_err(|error| Failure::from_error(&error))?;
    begin::of_versions(&versions, &location, &context, &mut ToStderr, |mut walk, both| {
        by_ways(&mut walk, both, names, &location)
    })
}

/// The walks over one run.
fn by_ways(
    walk: &mut DebugWalk,
    both: &ComparedVersions,
    names: &str,
    location: &Location,
) -> Result<Map<String, Value>, Failure> {
    let mut sources = TreeSources::new(location, both.tree)?;
    let mut is_in_change =
        |place: &Place| both.changed.get(&sources.path(&place.file)).is_some_and(|lines| lines.contains(&place.line));
    let is_changed: Vec<bool> =
        walk.statements.places.iter().map(|place| place.as_ref().is_some_and(&mut is_in_change)).collect();
    let of_steps = walk.statements.of_steps.clone();
    let mut all = Map::new();
    for name in names.split(',') {
        let way =
            Strategy::named(name).ok_or_else(|| Failure::new(Status::Usage, format!("no way to walk: {name}")))?;
        let mut is_here = |step: Step| is_changed[of_steps[step.0 as usize] as usize];
        let found = simulate(walk, way, &mut is_here, !is_changed.contains(&true))?;
        let steps = found.steps.iter().map(|(step, line, feedback)| json!([step.0, line, format!("{feedback:?}")]));
        let value = json!({
            "found": found.is_found, "answers": found.n_answers, "unclear": found.n_unclear,
            "steps": found.n_steps, "longest_recommendation": found.longest.as_secs_f64(),
            "judged": steps.collect::<Vec<_>>(),
        });
        all.insert(name.to_owned(), value);
    }
    Ok(all)
}
