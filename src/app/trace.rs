//! `git idd trace`: prints the content of a recording.

use crate::args::recorded::{RecordingView, TraceArgs};
use crate::console::Console;
use idd_report::json::json_line;
use idd_session::Failure;
use idd_session::recorded::{self, RecordedProcess, failed};
use idd_session::slice::criterion::not_visible;
use idd_session::sources::RecordedSources;
use idd_trace::input::{self, InputEntry};
use idd_trace::tree::TreeLimits;
use idd_trace::{Execution, OriginAnswer, Step};
use idd_world::record::store::{self, Recording};
use idd_world::repo::Location;
use std::path::Path;

mod json;
mod text;

/// Prints the requested view.
pub fn run(args: &TraceArgs, location: &Location, console: Console) -> Result<Vec<u8>, Failure> {
    if args.shown == RecordingView::List {
        return Ok(list(&location.session_directory(), console));
    }
    let needs_values = !matches!(args.shown, RecordingView::Stat | RecordingView::Tree { .. });
    let open = if needs_values { recorded::open } else { recorded::open_steps };
    let mut recorded = open(&args.which, location)?;
    let traced = recorded.traced().clone();
    let RecordedProcess { name, recording, run, .. } = &mut recorded;
    let run = run.execution();
    let mut sources = RecordedSources::new(location, recording);
    match &args.shown {
        RecordingView::List => Ok(Vec::new()),
        RecordingView::Stat => {
            let stat = run.stat().map_err(|error| failed(&error))?;
            Ok(if console.is_json {
                json_line(&json::stat(name, &traced, &stat))
            } else {
                text::stat(name, &traced, &stat).into_bytes()
            })
        }
        RecordingView::Tree { depth, width } => {
            let limits = TreeLimits { depth: *depth, width: *width };
            let (roots, n_more) = run.tree(limits).map_err(|error| failed(&error))?;
            Ok(if console.is_json {
                json_line(&json::tree(&roots, n_more))
            } else {
                text::tree(&traced, &roots, n_more, &mut sources).into_bytes()
            })
        }
        RecordingView::Inputs(limit) => {
            let entries = entries(run, Step(u32::MAX), &sources)?;
            Ok(if console.is_json {
                json_line(&json::inputs(name, &entries))
            } else {
                text::inputs(&entries, *limit, &mut sources).into_bytes()
            })
        }
        RecordingView::Step(step) => {
            let found = run.detail(Step(*step)).map_err(|error| failed(&error))?;
            let Some(detail) = found else { return Err(no_step(run)) };
            let control = match detail.control {
                Some(step) => run.detail(step).map_err(|error| failed(&error))?,
                None => None,
            };
            let control = control.map(|detail| detail.standing);
            let mut details = [detail];
            input::name(&mut details, &entries(run, Step(step.saturating_add(1)), &sources)?);
            let [detail] = details;
            Ok(if console.is_json {
                json_line(&json::detail(&detail, &mut sources))
            } else {
                text::detail(&detail, control.as_ref(), &mut sources).into_bytes()
            })
        }
        RecordingView::Why { step, variable, limit } => {
            let step = Step(*step);
            let dependences = run.dependences(step).map_err(|error| failed(&error))?;
            let answer = run.why(&dependences, (step, variable), *limit);
            let answer = answer.map_err(|error| failed(&error))?;
            match answer {
                OriginAnswer::Found(mut why) => {
                    if why.steps.iter().flat_map(|step| &step.calls).any(|call| call.is_input) {
                        input::name(&mut why.steps, &entries(run, step, &sources)?);
                    }
                    Ok(if console.is_json {
                        json_line(&json::why(&why, &mut sources))
                    } else {
                        text::why(&why, &mut sources).into_bytes()
                    })
                }
                OriginAnswer::NoStep => Err(no_step(run)),
                OriginAnswer::NoVariable(names) => Err(not_visible(&names, variable, step)),
            }
        }
    }
}

/// What the program read.
fn entries(run: &mut dyn Execution, until: Step, sources: &RecordedSources) -> Result<Vec<InputEntry>, Failure> {
    run.inputs(until, &mut |source| sources.input(source)).map_err(|error| failed(&error))
}

/// All recordings.
fn list(session: &Path, console: Console) -> Vec<u8> {
    let all: Vec<(String, Recording)> = store::all(session)
        .into_iter()
        .filter_map(|name| {
            let recording = store::read(&store::directory(session).join(&name)).ok()?;
            Some((name, recording))
        })
        .collect();
    if console.is_json { json_line(&json::list(&all)) } else { text::list(&all).into_bytes() }
}

fn no_step(run: &mut dyn Execution) -> Failure {
    match run.n_steps() {
        Ok(n_steps) => {
            Failure::error("there is no such step").with_hint(format!("steps are numbered from 1 to {n_steps}"))
        }
        Err(error) => failed(&error),
    }
}
