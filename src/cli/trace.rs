//! `git idd trace`: prints the content of a recording.

use crate::cli::args::Shown;
use crate::cli::args::TraceArgs;
use crate::cli::console::Console;
use crate::report::Status;
use crate::report::escape::Json;
use crate::report::escape::Terminal;
use crate::report::escape::Untrusted;
use crate::revision::CommitId;
use crate::session::failure::Failure;
use crate::trace::TraceError;
use crate::trace::native::detail;
use crate::trace::native::detail::Answer;
use crate::trace::native::play::Player;
use crate::trace::native::tree;
use crate::trace::native::tree::Limits;
use crate::trace::native::uses::dependences;
use crate::trace::step::Step;
use crate::world::record::store;
use crate::world::record::store::Recording;
use crate::world::record::store::Traced;
use crate::world::repo::Repository;
use crate::world::repo::graph;
use crate::world::repo::locate::Location;
use crate::world::repo::private;
use crate::world::repo::source;
use serde::Serialize as _;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

mod count;
mod json;
mod text;

/// The lines of the recorded sources.
pub struct Sources {
    repository: Option<Repository>,
    commit: Option<CommitId>,
    files: HashMap<String, Option<Vec<String>>>,
}

impl Sources {
    fn new(location: &Location, commit: &str) -> Self {
        let repository = private::open(&location.git_directory).ok();
        let commit = repository.as_ref().and_then(|repository| graph::resolve(repository, commit).ok());
        Self { repository, commit, files: HashMap::new() }
    }

    /// A line, from 1, without the space around it; `None` if the file is not in the commit.
    pub fn line(&mut self, file: &str, line: u32) -> Option<String> {
        let (repository, commit) = (&self.repository, self.commit);
        let lines = self.files.entry(file.to_owned()).or_insert_with(|| {
            let content = source::find(repository.as_ref()?, commit?, file)?;
            Some(String::from_utf8_lossy(&content).lines().map(|line| line.trim().to_owned()).collect())
        });
        lines.as_ref()?.get((line as usize).checked_sub(1)?).cloned()
    }
}

/// Text of a program, for the terminal.
fn safe(text: &str) -> String {
    Terminal.line(&Untrusted::from(text))
}

fn failed(error: &TraceError) -> Failure {
    let failure = Failure::from_error(error);
    match error {
        TraceError::Version | TraceError::Damaged(_) => failure.with_hint("record it again with `git idd record`"),
        _ => failure,
    }
}

fn choose(recording: &Recording, process: Option<usize>) -> Result<&Traced, Failure> {
    let index = process.or(recording.chosen);
    let found = index.and_then(|index| recording.processes.get(index));
    found.ok_or_else(|| {
        let n = recording.processes.len();
        Failure::new(Status::Error, "there is no such process in the recording")
            .with_hint(format!("it has {n}; `--process` takes their numbers, from 0"))
    })
}

/// Prints the requested view.
pub fn run(args: &TraceArgs, location: &Location, console: Console) -> Result<Vec<u8>, Failure> {
    let session = location.session_directory();
    if args.shown == Shown::List {
        return Ok(list(&session, console));
    }
    // `5` is short for `0005`.
    let full = |name: &String| name.parse::<u32>().map_or_else(|_| name.clone(), |number| format!("{number:04}"));
    let name = args.recording.as_ref().map(full).or_else(|| store::last(&session));
    let name = name.ok_or_else(|| {
        Failure::new(Status::Error, "nothing was recorded in this worktree")
            .with_hint("`git idd record` records a test")
    })?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let place = store::directory(&session).join(&name);
    let recording = if is_name { store::read(&place).ok() } else { None };
    let recording = recording.ok_or_else(|| {
        Failure::new(Status::Error, format!("there is no recording `{}` that can be read", safe(&name)))
            .with_hint("without `--recording` the last one is taken; `git idd trace list` shows all")
    })?;
    let traced = choose(&recording, args.process)?;
    let mut player = open(&place, &recording, traced).map_err(|error| failed(&error))?;
    let mut sources = Sources::new(location, &recording.commit);
    match &args.shown {
        Shown::List => Ok(Vec::new()),
        Shown::Stat => {
            let stat = count::stat(&mut player).map_err(|error| failed(&error))?;
            Ok(if console.is_json {
                json_line(&json::stat(&name, traced, &stat))
            } else {
                text::stat(&name, traced, &stat).into_bytes()
            })
        }
        Shown::Tree { depth, width } => {
            let limits = Limits { depth: *depth, width: *width };
            let (roots, n_more) = tree::tree(&mut player, limits).map_err(|error| failed(&error))?;
            Ok(if console.is_json {
                json_line(&json::tree(&roots, n_more))
            } else {
                text::tree(traced, (&roots, n_more), &mut sources).into_bytes()
            })
        }
        Shown::Step(step) => {
            let found = detail::detail(&mut player, Step(*step)).map_err(|error| failed(&error))?;
            let detail = found.ok_or_else(|| no_step(&player))?;
            let control = match detail.control {
                Some(step) => detail::detail(&mut player, step).map_err(|error| failed(&error))?,
                None => None,
            };
            let control = control.map(|detail| detail.standing);
            Ok(if console.is_json {
                json_line(&json::detail(&detail, &mut sources))
            } else {
                text::detail(&detail, control.as_ref(), &mut sources).into_bytes()
            })
        }
        Shown::Why { step, variable, limit } => {
            let step = Step(*step);
            let dependences = dependences(&mut player, step).map_err(|error| failed(&error))?;
            let answer = detail::why(&mut player, &dependences, (step, variable), *limit);
            let answer = answer.map_err(|error| failed(&error))?;
            match answer {
                Answer::Found(why) => Ok(if console.is_json {
                    json_line(&json::why(&why, &mut sources))
                } else {
                    text::why(&why, &mut sources).into_bytes()
                }),
                Answer::NoStep => Err(no_step(&player)),
                Answer::NoVariable(names) => {
                    let names: Vec<String> = names.iter().map(|name| safe(name)).collect();
                    let message = format!("no variable `{}` is visible at step {}", safe(variable), step.0);
                    let failure = Failure::new(Status::Error, message);
                    Err(if names.is_empty() {
                        failure.with_hint("the names of global variables can be given, too")
                    } else {
                        failure.with_hint(format!("these are: {}", names.join(", ")))
                    })
                }
            }
        }
    }
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

fn open(place: &Path, recording: &Recording, traced: &Traced) -> Result<Player, TraceError> {
    Player::new(store::trace(place, recording, traced)?, store::units(place, recording))
}

fn no_step(player: &Player) -> Failure {
    let n_steps = player.machine.n_steps;
    Failure::new(Status::Error, "there is no such step").with_hint(format!("steps are numbered from 1 to {n_steps}"))
}

/// One object in one line, with everything escaped.
pub fn json_line(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Json);
    value.serialize(&mut serializer).expect("a value in memory can always be written");
    bytes.push(b'\n');
    bytes
}
