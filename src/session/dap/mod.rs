//! A debugger on a recorded run: a server of the Debug Adapter Protocol, without the streams.
//!
//! [`wire`] is the form of the messages, [`tape`] answers questions about the run, [`condition`] reads the conditions of
//! breakpoints, and [`Session`] answers the requests. The state is one step; all that is shown is the process right before
//! that step runs. Nothing runs: a walk is a look into a table, and what is shown is played from the last checkpoint.

pub mod condition;
mod order;
pub mod tape;
#[cfg(test)]
mod tests;
pub mod wire;

use crate::report::Status;
use crate::report::escape::Terminal;
use crate::report::escape::Untrusted;
use crate::session::dap::condition::Condition;
use crate::session::dap::condition::Count;
use crate::session::dap::tape::Level;
use crate::session::dap::tape::Tape;
use crate::session::dap::tape::Target;
use crate::session::failure::Failure;
use crate::session::recorded::Which;
use crate::session::recorded::failed;
use crate::session::slice::criterion::BY_SIGNAL;
use crate::trace::TraceError;
use crate::trace::native::play::Player;
use crate::trace::place::Place;
use crate::trace::step::Step;
use crate::trace::walk::Stride;
use crate::trace::walk::Time;
use crate::trace::walk::next_hit;
use serde_json::Value;
use serde_json::json;
use std::path::Path;

pub use crate::session::dap::order::opener;

/// A file of the recorded version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its path in the tree.
    pub path: String,
    /// Its path in the working tree, if that has the same content there.
    pub on_disk: Option<String>,
    /// Its content.
    pub content: String,
}

/// Finds a file of the recorded version, by the name that the compiler was given.
pub type Sources = Box<dyn Fn(&str) -> Option<Source>>;

/// A run that was opened for a debugger.
pub struct Opened {
    /// The run.
    pub player: Player,
    /// How the process ended, see [`container`](crate::trace::container).
    pub end: Option<u32>,
    /// Gives a file, by the name that the compiler was given.
    pub sources: Sources,
}

/// Opens a run.
pub type Open<'o> = Box<dyn FnMut(&Which) -> Result<Opened, Failure> + 'o>;

/// What the debugger looks at.
struct Stand {
    tape: Tape,
    /// For each place of the tape: its file.
    files: Vec<Option<Source>>,
    /// The step at which the program crashed or aborted, and the signal.
    crash: Option<(Step, u32)>,
    /// The current step.
    step: Step,
    /// The hits of the breakpoints of each file, and those of the data breakpoints.
    lines: Vec<(String, Vec<Step>)>,
    data: Vec<Step>,
    /// The stack before the current step.
    levels: Vec<Level>,
}

/// A conversation with a client.
pub struct Session<'o> {
    open: Open<'o>,
    stand: Option<Stand>,
    seq: u64,
    /// What the client adds to lines that are counted from 0: 1, else 0.
    first_line: i64,
    /// Whether the client said goodbye.
    pub is_over: bool,
}

/// What a client is told: the body of the response, and the events behind it.
type Told = (Value, Vec<(&'static str, Value)>);

/// Where walks may end if nothing stops them before.
fn stop_at_end(time: Time) -> &'static str {
    if time == Time::Forward { "the end of the recording" } else { "the beginning of the recording" }
}

fn complaint(text: impl Into<Untrusted>) -> Failure {
    Failure::new(Status::Usage, text)
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn of_trace(error: TraceError) -> Failure {
    failed(&error)
}

/// The name of a signal.
fn signal(number: u32) -> String {
    let name = match number {
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        11 => "SIGSEGV",
        number => return format!("signal {number}"),
    };
    name.to_owned()
}

/// The kinds of lists of variables; a reference is 4 times the level, and one of these.
const LOCALS: u64 = 1;
const READ: u64 = 2;
const WRITTEN: u64 = 3;

impl Stand {
    fn new(opened: Opened) -> Result<Self, Failure> {
        let Opened { player, end, sources } = opened;
        let tape = Tape::new(player).map_err(of_trace)?;
        let last = tape.walk.last().ok_or_else(|| complaint("the recording has no step with a place in the source"))?;
        let by_signal = end.and_then(|end| end.checked_sub(BY_SIGNAL)).filter(|signal| *signal != 0);
        let crash = tape.crash.or(by_signal.map(|signal| (last, signal)));
        let step = crash.map(|(step, _)| step).or(tape.walk.first()).unwrap_or(last);
        let mut known: Vec<(&str, Option<Source>)> = Vec::new();
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
        Ok(Self { tape, files, crash, step, lines: Vec::new(), data: Vec::new(), levels: Vec::new() })
    }

    /// The thread of the current step, as the client has it: from 1.
    fn thread(&self) -> u64 {
        self.tape.walk.row(self.step).map_or(1, |row| u64::from(row.thread) + 1)
    }

    fn go(&mut self, step: Step) {
        if step != self.step {
            self.step = step;
            self.levels.clear();
        }
    }

    fn stack(&mut self) -> Result<&[Level], Failure> {
        if self.levels.is_empty() {
            self.levels = self.tape.stack(self.step).map_err(of_trace)?;
        }
        Ok(&self.levels)
    }

    /// The event that says why the program stands still.
    fn stopped(&self, reason: &str, text: Option<&str>) -> (&'static str, Value) {
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

    fn walk(&mut self, stride: Stride, time: Time) -> (&'static str, Value) {
        match self.tape.walk.walk(self.step, stride, time) {
            Some(step) => {
                self.go(step);
                self.stopped("step", None)
            }
            None => self.end(time),
        }
    }

    fn end(&mut self, time: Time) -> (&'static str, Value) {
        let end = if time == Time::Forward { self.tape.walk.last() } else { self.tape.walk.first() };
        self.go(end.unwrap_or(self.step));
        self.stopped(if time == Time::Forward { "step" } else { "entry" }, Some(stop_at_end(time)))
    }

    /// Goes to the next hit of a breakpoint, else to the crash or the end.
    fn run(&mut self, time: Time) -> (&'static str, Value) {
        let crash: Vec<Step> = self.crash.iter().map(|(step, _)| *step).collect();
        let lines = self.lines.iter().map(|(_, hits)| (&hits[..], "breakpoint"));
        let all = lines.chain([(&self.data[..], "data breakpoint"), (&crash[..], "exception")]);
        let hits = all.filter_map(|(hits, reason)| Some((next_hit(hits, self.step, time)?, reason)));
        let found = match time {
            Time::Forward => hits.min_by_key(|(step, _)| *step),
            Time::Backward => hits.max_by_key(|(step, _)| *step),
        };
        match found {
            Some((step, reason)) => {
                self.go(step);
                self.stopped(reason, None)
            }
            None => self.end(time),
        }
    }

    /// The file of a place, for the client; its number is that of the first place in it.
    fn source(&self, place: &Place) -> Value {
        let number = self.tape.places.iter().position(|other| other.file == place.file).unwrap_or(0);
        let name = Path::new(&*place.file).file_name().map(|name| name.to_string_lossy().into_owned());
        match self.files.get(number).and_then(Option::as_ref) {
            Some(Source { on_disk: Some(path), .. }) => json!({"name": name, "path": path}),
            Some(Source { path, .. }) => {
                json!({"name": name, "path": path, "sourceReference": number + 1, "origin": "recorded version"})
            }
            None => json!({"name": name, "path": &*place.file}),
        }
    }

    /// Whether a file of the client is that of a place.
    fn is_in(&self, place: usize, source: &Value) -> bool {
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

    fn set_breakpoints(&mut self, arguments: &Value, first_line: i64) -> Result<Value, Failure> {
        let source = &arguments["source"];
        let (mut hits, mut shown) = (Vec::new(), Vec::new());
        for wanted in arguments["breakpoints"].as_array().into_iter().flatten() {
            let line = wanted["line"].as_i64().and_then(|line| u32::try_from(line.checked_add(first_line)?).ok());
            match self.hits(source, line.unwrap_or(0), wanted)? {
                Ok(found) => {
                    hits.extend(found);
                    shown.push(json!({"verified": true, "line": wanted["line"]}));
                }
                Err(message) => shown.push(json!({"verified": false, "line": wanted["line"], "message": message})),
            }
        }
        hits.sort_unstable();
        let name = source.to_string();
        self.lines.retain(|(other, _)| *other != name);
        self.lines.push((name, hits));
        Ok(json!({ "breakpoints": shown }))
    }

    /// The hits of a breakpoint, or why it cannot have any.
    fn hits(&mut self, source: &Value, line: u32, wanted: &Value) -> Result<Result<Vec<Step>, &'static str>, Failure> {
        let is_here = |(number, place): (usize, &Place)| place.line == line && self.is_in(number, source);
        let places: Vec<bool> = self.tape.places.iter().enumerate().map(is_here).collect();
        let mut hits = self.tape.walk.at(|place| places.get(place as usize) == Some(&true));
        if hits.is_empty() {
            return Ok(Err("no statement of this line ran"));
        }
        if let Some(text) = wanted["condition"].as_str().filter(|text| !text.trim().is_empty()) {
            let Some(condition) = Condition::parse(text) else {
                return Ok(Err("a condition is a comparison of a variable with a literal, such as `p->n == 3`"));
            };
            let values = self.tape.values(&hits, &condition.expression).map_err(of_trace)?;
            let mut values = values.iter();
            let holds = |value: &Option<String>| value.as_ref().is_some_and(|value| condition.holds(value));
            hits.retain(|_| values.next().is_some_and(holds));
        }
        if let Some(text) = wanted["hitCondition"].as_str().filter(|text| !text.trim().is_empty()) {
            let Some(count) = Count::parse(text) else {
                return Ok(Err("a hit count is a number, or `>= 5`, `> 5`, `% 5`"));
            };
            let mut number = 0;
            hits.retain(|_| {
                number += 1;
                count.takes(number)
            });
        }
        Ok(Ok(hits))
    }

    fn scopes(level: u64) -> Value {
        let scope =
            |name: &str, kind: u64| json!({"name": name, "variablesReference": level * 4 + kind, "expensive": false});
        let mut scopes = vec![scope("Locals", LOCALS)];
        if level == 0 {
            scopes.extend([scope("Read here", READ), scope("Written here", WRITTEN)]);
        }
        json!({ "scopes": scopes })
    }

    fn variables(&mut self, reference: u64) -> Result<Value, Failure> {
        let one = |name: &str, value: &str| json!({"name": name, "value": value, "evaluateName": name, "variablesReference": 0});
        let (level, kind) = (usize::try_from(reference / 4).unwrap_or(usize::MAX), reference % 4);
        let list: Vec<Value> = if kind == LOCALS {
            let levels = self.stack()?;
            let level = levels.get(level).ok_or_else(|| complaint("there is no such list of variables"))?;
            level.variables.iter().map(|(name, value)| one(name, value)).collect()
        } else if level == 0 && (kind == READ || kind == WRITTEN) {
            let detail = self.tape.detail(self.step).map_err(of_trace)?;
            let accesses = detail.map(|detail| if kind == READ { detail.reads } else { detail.writes });
            let accesses = accesses.unwrap_or_default();
            let named = accesses.iter().map(|access| &access.named);
            named.map(|named| one(&named.name, named.value.as_deref().unwrap_or("?"))).collect()
        } else {
            return Err(complaint("there is no such list of variables"));
        };
        Ok(json!({ "variables": list }))
    }

    /// Where a variable of a list, or an expression, is.
    fn data_info(&mut self, arguments: &Value) -> Result<Value, Failure> {
        let name = arguments["name"].as_str().unwrap_or_default();
        let reference = arguments["variablesReference"].as_u64().unwrap_or(0);
        let (level, kind) = match reference {
            0 => (arguments["frameId"].as_u64().unwrap_or(1).saturating_sub(1), LOCALS),
            reference => (reference / 4, reference % 4),
        };
        let target = if kind == LOCALS {
            let level = usize::try_from(level).unwrap_or(usize::MAX);
            self.tape.meaning(self.step, level, name).map_err(of_trace)?.map(|meaning| meaning.target)
        } else {
            let detail = self.tape.detail(self.step).map_err(of_trace)?;
            let accesses = detail.map(|detail| if kind == READ { detail.reads } else { detail.writes });
            let accesses = accesses.unwrap_or_default();
            accesses.iter().find(|access| access.named.name == name).map(tape::target)
        };
        let id = target.map(|target| match target {
            Target::Memory(address, size) => format!("memory:{address}:{size}"),
            Target::Register(frame, name) => format!("register:{frame}:{name}"),
        });
        let description =
            if id.is_some() { format!("writes of {name}") } else { format!("{name} has no address here") };
        Ok(json!({"dataId": id, "description": description, "accessTypes": ["write"], "canPersist": false}))
    }

    fn set_data_breakpoints(&mut self, arguments: &Value) -> Result<Value, Failure> {
        let (mut hits, mut shown) = (Vec::new(), Vec::new());
        for wanted in arguments["breakpoints"].as_array().into_iter().flatten() {
            let Some(target) = wanted["dataId"].as_str().and_then(target_of) else {
                shown.push(json!({"verified": false, "message": "it is no place in the recorded run"}));
                continue;
            };
            hits.extend(self.tape.writers(&target).map_err(of_trace)?);
            shown.push(json!({"verified": true}));
        }
        hits.sort_unstable();
        // A step that has no place cannot be shown.
        hits.retain(|hit| self.tape.place(*hit).is_some());
        self.data = hits;
        Ok(json!({ "breakpoints": shown }))
    }

    fn stack_trace(&mut self, arguments: &Value, first_line: i64) -> Result<Value, Failure> {
        if arguments["threadId"].as_u64().is_some_and(|thread| thread != self.thread()) {
            return Ok(json!({"stackFrames": [], "totalFrames": 0}));
        }
        let levels = self.stack()?.to_vec();
        let skipped = arguments["startFrame"].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let wanted = arguments["levels"].as_u64().filter(|n| *n != 0).and_then(|n| usize::try_from(n).ok());
        let frame = |(number, level): (usize, &Level)| {
            let mut frame = json!({"id": number + 1, "name": &*level.function, "line": 0, "column": 0});
            if let Some(place) = &level.place {
                frame["line"] = json!(i64::from(place.line) - first_line);
                frame["column"] = json!(place.column);
                frame["source"] = self.source(place);
            }
            frame
        };
        let frames = levels.iter().enumerate().skip(skipped).take(wanted.unwrap_or(usize::MAX)).map(frame);
        Ok(json!({"stackFrames": frames.collect::<Vec<_>>(), "totalFrames": levels.len()}))
    }

    fn evaluate(&mut self, arguments: &Value) -> Result<Value, Failure> {
        let expression = arguments["expression"].as_str().unwrap_or_default();
        let level = arguments["frameId"].as_u64().unwrap_or(1).saturating_sub(1);
        let level = usize::try_from(level).unwrap_or(usize::MAX);
        let meaning = self.tape.meaning(self.step, level, expression).map_err(of_trace)?;
        let meaning = meaning.ok_or_else(|| {
            complaint(format!("`{expression}` is no variable here, and no part of one such as `p->a[2]`"))
        })?;
        Ok(json!({"result": meaning.value, "variablesReference": 0}))
    }
}

/// Reads what [`Stand::data_info`] gave.
fn target_of(id: &str) -> Option<Target> {
    let (kind, rest) = id.split_once(':')?;
    let (first, second) = rest.split_once(':')?;
    match kind {
        "memory" => Some(Target::Memory(first.parse().ok()?, second.parse().ok()?)),
        "register" => Some(Target::Register(first.parse().ok()?, second.to_owned())),
        _ => None,
    }
}

impl<'o> Session<'o> {
    /// A conversation that has not begun.
    pub fn new(open: Open<'o>) -> Self {
        Self { open, stand: None, seq: 0, first_line: 0, is_over: false }
    }

    /// Answers a message: the response, and events behind it. What is no request is passed over.
    pub fn handle(&mut self, message: &Value) -> Vec<Value> {
        if message["type"] != "request" {
            return Vec::new();
        }
        let command = message["command"].as_str().unwrap_or_default();
        let answer = self.answer(command, &message["arguments"]);
        let mut response = json!({"type": "response", "request_seq": message["seq"], "command": command});
        let mut events = Vec::new();
        match answer {
            Ok((body, after)) => {
                response["success"] = json!(true);
                response["body"] = body;
                events = after;
            }
            Err(failure) => {
                let hint = failure.hint.as_ref().map(|hint| format!("; {}", Terminal.line(hint))).unwrap_or_default();
                let text = format!("{}{hint}", Terminal.line(&failure.message));
                response["success"] = json!(false);
                response["message"] = json!(text);
                // Braces would be taken for variables.
                let format = text.replace('{', "(").replace('}', ")");
                response["body"] = json!({"error": {"id": 1, "format": format, "showUser": true}});
            }
        }
        let events = events.into_iter().map(|(name, body)| json!({"type": "event", "event": name, "body": body}));
        let mut all: Vec<Value> = std::iter::once(response).chain(events).collect();
        for message in &mut all {
            self.seq += 1;
            message["seq"] = json!(self.seq);
        }
        all
    }

    fn answer(&mut self, command: &str, arguments: &Value) -> Result<Told, Failure> {
        let silent = |body: Value| Ok((body, Vec::new()));
        match command {
            "initialize" => {
                self.first_line = i64::from(arguments["linesStartAt1"] == json!(false));
                return silent(json!({
                    "supportsConfigurationDoneRequest": true,
                    "supportsStepBack": true,
                    "supportsDataBreakpoints": true,
                    "supportsConditionalBreakpoints": true,
                    "supportsHitConditionalBreakpoints": true,
                    "supportsEvaluateForHovers": true,
                    "supportsExceptionInfoRequest": true,
                    "supportsTerminateRequest": true,
                }));
            }
            "launch" | "attach" => {
                let process = arguments["process"].as_u64().and_then(|process| usize::try_from(process).ok());
                let recording = match &arguments["recording"] {
                    Value::Number(number) => Some(number.to_string()),
                    recording => recording.as_str().map(str::to_owned),
                };
                let opened = (self.open)(&Which { recording, process })?;
                self.stand = Some(Stand::new(opened)?);
                return Ok((json!({}), vec![("initialized", json!({}))]));
            }
            "disconnect" | "terminate" => {
                self.is_over = command == "disconnect";
                let events = if self.is_over { Vec::new() } else { vec![("terminated", json!({}))] };
                return Ok((json!({}), events));
            }
            "setExceptionBreakpoints" => return silent(json!({"breakpoints": []})),
            _ => {}
        }
        let first_line = self.first_line;
        let stand = self.stand.as_mut().ok_or_else(|| complaint(format!("`{command}` needs a launch before it")))?;
        let walk = |stand: &mut Stand, stride, time| Ok((json!({}), vec![stand.walk(stride, time)]));
        match command {
            "configurationDone" => Ok((json!({}), vec![stand.stopped("entry", None)])),
            "threads" => {
                let mut threads: Vec<u32> = stand.tape.walk.rows.iter().map(|row| row.thread).collect();
                threads.sort_unstable();
                threads.dedup();
                let thread = |id: &u32| json!({"id": u64::from(*id) + 1, "name": format!("thread {id}")});
                silent(json!({"threads": threads.iter().map(thread).collect::<Vec<_>>()}))
            }
            "stackTrace" => silent(stand.stack_trace(arguments, first_line)?),
            "scopes" => silent(Stand::scopes(arguments["frameId"].as_u64().unwrap_or(1).clamp(1, 1 << 32) - 1)),
            "variables" => silent(stand.variables(arguments["variablesReference"].as_u64().unwrap_or(0))?),
            "next" => walk(stand, Stride::Over, Time::Forward),
            "stepIn" => walk(stand, Stride::Into, Time::Forward),
            "stepOut" => walk(stand, Stride::Out, Time::Forward),
            "stepBack" => walk(stand, Stride::Over, Time::Backward),
            "continue" => Ok((json!({"allThreadsContinued": true}), vec![stand.run(Time::Forward)])),
            "reverseContinue" => Ok((json!({}), vec![stand.run(Time::Backward)])),
            "pause" => Ok((json!({}), vec![stand.stopped("pause", None)])),
            "setBreakpoints" => silent(stand.set_breakpoints(arguments, first_line)?),
            "dataBreakpointInfo" => silent(stand.data_info(arguments)?),
            "setDataBreakpoints" => silent(stand.set_data_breakpoints(arguments)?),
            "evaluate" => silent(stand.evaluate(arguments)?),
            "exceptionInfo" => match stand.crash.filter(|(step, _)| *step == stand.step) {
                Some((_, number)) => {
                    let text = format!("the program ended by {} in this statement", signal(number));
                    silent(json!({"exceptionId": signal(number), "description": text, "breakMode": "unhandled"}))
                }
                None => Err(complaint("the program did not crash here")),
            },
            "source" => {
                let number = arguments["source"]["sourceReference"].as_u64().or(arguments["sourceReference"].as_u64());
                let index = number.and_then(|number| usize::try_from(number).ok()?.checked_sub(1));
                let file = index.and_then(|index| stand.files.get(index)?.as_ref());
                let file = file.ok_or_else(|| complaint("the recorded version has no such file"))?;
                silent(json!({ "content": file.content }))
            }
            _ => Err(complaint(format!("`{command}` is not supported"))),
        }
    }
}
