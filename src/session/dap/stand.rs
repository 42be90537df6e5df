//! Where a debugger stands in a run, and how it moves.

use crate::Failure;
use crate::dap::arguments;
use crate::dap::lists::VariableWithParts;
use crate::dap::recordings::{Opened, RecordedFile, complaint, of_trace};
use crate::dap::search::{Hits, SearchEnding, SearchWaiter};
use crate::dap::tape::{StackLevel, Tape};
use crate::slice::criterion::BY_SIGNAL;
use idd_report::Status;
use idd_trace::{Place, Step, Stride, TimeDirection};
use serde_json::{Value, json};
use std::path::Path;

/// An event: its name and its body.
pub type DapEvent = (&'static str, Value);

/// What the debugger looks at.
pub struct DapStand {
    pub tape: Tape,
    /// For each place of the tape: its file.
    pub files: Vec<Option<RecordedFile>>,
    /// The step at which the program crashed or aborted, and the signal.
    pub crash: Option<(Step, u32)>,
    /// The current step.
    pub step: Step,
    /// The breakpoints of each file, and the data breakpoints.
    pub lines: Vec<(String, Vec<Breakpoint>)>,
    pub data: Vec<Breakpoint>,
    /// The parts of variables that the client was given references to, at the current step.
    pub nodes: Vec<VariableWithParts>,
}

/// A breakpoint that has hits.
pub struct Breakpoint {
    /// What the client wants, as it said it.
    pub wanted: Value,
    pub hits: Hits,
}

/// Where walks may end if nothing stops them before.
fn stop_at_end(time: TimeDirection) -> &'static str {
    if time == TimeDirection::Forward { "the end of the recording" } else { "the beginning of the recording" }
}

/// The name of a signal; 0 is an exception.
pub fn signal(number: u32) -> String {
    let name = match number {
        0 => "an exception",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        11 => "SIGSEGV",
        number => return format!("signal {number}"),
    };
    name.to_owned()
}

impl DapStand {
    /// Reads a run.
    ///
    /// - `is_over`: whether nobody waits for it any longer; asked often.
    pub fn new(opened: Opened, is_over: &dyn Fn() -> bool) -> Result<Self, Failure> {
        let Opened { run, end, sources, .. } = opened;
        let tape = Tape::new(run, is_over).map_err(of_trace)?;
        let tape = tape.ok_or_else(|| Failure::new(Status::Interrupted, "the launch was interrupted"))?;
        let last = tape.walk.last().ok_or_else(|| complaint("the recording has no step with a place in the source"))?;
        let by_signal = end.and_then(|end| end.checked_sub(BY_SIGNAL)).filter(|signal| *signal != 0);
        let crash = tape.crash.or(by_signal.map(|signal| (last, signal)));
        let step = crash.map(|(step, _)| step).or(tape.walk.first()).unwrap_or(last);
        let mut known: Vec<(&str, Option<RecordedFile>)> = Vec::new();
        let mut files = Vec::new();
        for place in &tape.places {
            let found = known.iter().find(|(file, _)| **file == *place.file).map(|(_, source)| source.clone());
            let source = found.unwrap_or_else(|| {
                let source = sources(&place.file);
                known.push((&place.file, source.clone()));
                source
            });
            files.push(source);
        }
        Ok(Self { tape, files, crash, step, lines: Vec::new(), data: Vec::new(), nodes: Vec::new() })
    }

    /// The thread of the current step, as the client has it: from 1.
    pub fn thread(&self) -> u64 {
        self.tape.walk.row(self.step).map_or(1, |row| u64::from(row.thread) + 1)
    }

    pub fn go(&mut self, step: Step) {
        if step != self.step {
            self.step = step;
            self.nodes.clear();
        }
    }

    /// The event that says why the program stands still.
    pub fn stopped(&self, reason: &str, text: Option<&str>) -> DapEvent {
        let mut body = json!({"reason": reason, "threadId": self.thread(), "allThreadsStopped": true,
            "description": format!("step {}", self.step.0)});
        if let Some((step, number)) = self.crash
            && step == self.step
        {
            body["reason"] = json!("exception");
            body["text"] = json!(signal(number));
        } else if let Some(text) = text {
            body["text"] = json!(text);
            body["description"] = json!(text);
        }
        ("stopped", body)
    }

    pub fn walk(&mut self, stride: Stride, time: TimeDirection) -> DapEvent {
        match self.tape.walk.walk(self.step, stride, time) {
            Some(step) => {
                self.go(step);
                self.stopped("step", None)
            }
            None => self.end(time),
        }
    }

    fn end(&mut self, time: TimeDirection) -> DapEvent {
        let end = if time == TimeDirection::Forward { self.tape.walk.last() } else { self.tape.walk.first() };
        self.go(end.unwrap_or(self.step));
        self.stopped(if time == TimeDirection::Forward { "step" } else { "entry" }, Some(stop_at_end(time)))
    }

    /// Goes to the next hit of a breakpoint, else to the crash or the end; stays where it is if it was interrupted.
    pub fn run(&mut self, time: TimeDirection, waiting: &mut dyn SearchWaiter) -> Result<DapEvent, Failure> {
        let is_ahead = |step: &Step| if time == TimeDirection::Forward { *step > self.step } else { *step < self.step };
        let crash = self.crash.map(|(step, _)| step).filter(is_ahead);
        let mut found = crash.map(|step| (step, "exception"));
        let lines = self.lines.iter_mut().flat_map(|(_, all)| all).map(|one| (one, "breakpoint"));
        let data = self.data.iter_mut().map(|one| (one, "data breakpoint"));
        let mut all: Vec<(&mut Breakpoint, &str)> = lines.chain(data).collect();
        // What is known bounds the searches. Where two hits are the same, the first breakpoint counts.
        all.sort_by_key(|(one, _)| matches!(one.hits, Hits::Searched(_)));
        let n_all = all.len();
        for (number, (breakpoint, reason)) in all.into_iter().enumerate() {
            let bound = found.map(|(step, _)| step);
            let mut share = SearchShare { waiting: &mut *waiting, number, n_all };
            let hit = match breakpoint.hits.next(&mut self.tape, self.step, time, bound, &mut share) {
                Ok(hit) => hit,
                Err(SearchEnding::Failed(error)) => return Err(of_trace(error)),
                Err(SearchEnding::Interrupted) => return Ok(self.stopped("pause", Some("the search was interrupted"))),
            };
            let is_nearer = |hit: &Step| match (bound, time) {
                (None, _) => true,
                (Some(bound), TimeDirection::Forward) => *hit < bound,
                (Some(bound), TimeDirection::Backward) => *hit > bound,
            };
            if let Some(hit) = hit.filter(is_nearer) {
                found = Some((hit, reason));
            }
        }
        Ok(match found {
            Some((step, reason)) => {
                self.go(step);
                self.stopped(reason, None)
            }
            None => self.end(time),
        })
    }

    /// The file of a place, for the client; its number is that of the first place in it.
    pub fn source(&self, place: &Place) -> Value {
        let number = self.tape.places.iter().position(|other| other.file == place.file).unwrap_or(0);
        let name = Path::new(&*place.file).file_name().map(|name| name.to_string_lossy().into_owned());
        match self.files.get(number).and_then(Option::as_ref) {
            Some(RecordedFile { on_disk: Some(path), .. }) => json!({"name": name, "path": path}),
            Some(RecordedFile { path, .. }) => {
                json!({"name": name, "path": path, "sourceReference": number + 1, "origin": "recorded version"})
            }
            None => json!({"name": name, "path": &*place.file}),
        }
    }

    /// Whether a file of the client is that of a place.
    pub fn is_in(&self, place: usize, source: &Value) -> bool {
        let Some(at) = self.tape.places.get(place) else { return false };
        let number = source["sourceReference"].as_u64().filter(|number| *number != 0);
        if let Some(number) = number {
            let other = usize::try_from(number - 1).ok().and_then(|number| self.tape.places.get(number));
            return other.is_some_and(|other| other.file == at.file);
        }
        let Some(path) = source["path"].as_str().map(Path::new) else { return false };
        match self.files.get(place).and_then(Option::as_ref) {
            Some(file) => path.ends_with(&file.path),
            None => path.ends_with(at.file.trim_start_matches("./")),
        }
    }

    pub fn stack_trace(&mut self, arguments: &Value, first_line: i64) -> Result<Value, Failure> {
        if arguments["threadId"].as_u64().is_some_and(|thread| thread != self.thread()) {
            return Ok(json!({"stackFrames": [], "totalFrames": 0}));
        }
        let skipped = usize::try_from(arguments::whole(arguments, "startFrame")?.unwrap_or(0)).unwrap_or(usize::MAX);
        let wanted = arguments["levels"].as_u64().filter(|n| *n != 0).and_then(|n| usize::try_from(n).ok());
        let range = skipped..skipped.saturating_add(wanted.unwrap_or(usize::MAX));
        let (levels, n_levels) = self.tape.past.stack(self.step, range).map_err(of_trace)?;
        let frame = |(level, number): (&StackLevel, usize)| {
            let mut frame = json!({"id": number + 1, "name": &*level.function, "line": 0, "column": 0});
            if let Some(place) = &level.place {
                frame["line"] = json!(i64::from(place.line) - first_line);
                frame["column"] = json!(place.column);
                frame["source"] = self.source(place);
            }
            frame
        };
        let frames = levels.iter().zip(skipped..).map(frame);
        Ok(json!({"stackFrames": frames.collect::<Vec<_>>(), "totalFrames": n_levels}))
    }
}

/// A part of what is waited for: one of some searches.
struct SearchShare<'s> {
    waiting: &'s mut dyn SearchWaiter,
    number: usize,
    n_all: usize,
}

impl SearchWaiter for SearchShare<'_> {
    fn is_over(&self) -> bool {
        self.waiting.is_over()
    }

    #[expect(clippy::cast_precision_loss, reason = "there are few breakpoints")]
    fn goes_on(&mut self, share: f64) {
        self.waiting.goes_on((self.number as f64 + share) / self.n_all as f64);
    }
}
