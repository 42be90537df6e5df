//! A conversation with a client.

use crate::dap::feedback::{AskedWalk, Recommended};
use crate::dap::launch::Launch;
use crate::dap::progress::{SearchProgress, Tell};
use crate::dap::recordings::{Recordings, WalkBegin, complaint};
use crate::dap::stand::{DapEvent, DapStand, signal};
use crate::dap::{arguments, feedback, launch};
use crate::recorded::ProcessChoice;
use crate::{Failure, Talk};
use idd_report::Terminal;
use idd_trace::{Stride, TimeDirection};
use serde_json::{Value, json};
use std::mem;

/// The lists of deeper activations have no references of their own.
const MAX_LEVEL: u64 = (1 << 21) - 1;

/// Takes messages to the client.
pub type Emit<'e> = &'e mut dyn FnMut(Value);

/// A conversation with a client.
pub struct DapSession<'o> {
    recordings: Box<dyn Recordings + 'o>,
    /// What was opened.
    which: ProcessChoice,
    stand: Option<DapStand>,
    asking: Option<AskedWalk>,
    seq: u64,
    /// Searches so far.
    n_searches: u64,
    /// Whether nobody waits any longer for what goes on.
    is_over_now: Box<dyn Fn() -> bool + 'o>,
    /// Whether the last request was a search that was interrupted.
    was_interrupted: bool,
    /// Whether the client shows the progress of a search.
    shows_progress: bool,
    /// What the client adds to lines that are counted from 0: 1, else 0.
    first_line: i64,
    /// Whether the client said goodbye.
    pub is_over: bool,
}

/// What a client is told: the body of the response, and the events after it.
type ClientResponse = (Value, Vec<DapEvent>);

/// Gives each message its number.
fn number(seq: &mut u64, mut message: Value) -> Value {
    *seq += 1;
    message["seq"] = json!(*seq);
    message
}

/// Passes sentences to the client.
struct DapOutput<'o> {
    seq: &'o mut u64,
    emit: Emit<'o>,
}

impl Talk for DapOutput<'_> {
    fn say(&mut self, sentence: &str) {
        let body = json!({"category": "console", "output": format!("{sentence}\n")});
        (self.emit)(number(self.seq, json!({"type": "event", "event": "output", "body": body})));
    }
}

impl<'o> DapSession<'o> {
    /// A conversation that has not begun.
    pub fn new(recordings: Box<dyn Recordings + 'o>) -> Self {
        Self {
            recordings,
            which: ProcessChoice::default(),
            stand: None,
            asking: None,
            seq: 0,
            n_searches: 0,
            is_over_now: Box::new(|| false),
            was_interrupted: false,
            shows_progress: false,
            first_line: 0,
            is_over: false,
        }
    }

    /// The same, with what ends a launch or a search that goes on: it is asked often.
    #[must_use]
    pub fn interrupted_by(self, is_over_now: Box<dyn Fn() -> bool + 'o>) -> Self {
        Self { is_over_now, ..self }
    }

    /// Answers a message: the response, and events around it. What is no request is passed over.
    pub fn handle(&mut self, message: &Value, emit: Emit<'_>) {
        if message["type"] != "request" {
            return;
        }
        let command = message["command"].as_str().unwrap_or_default();
        let time = match command {
            "continue" => Some(TimeDirection::Forward),
            "reverseContinue" => Some(TimeDirection::Backward),
            _ => None,
        };
        // The client was told already that the program stands still.
        let is_told = mem::take(&mut self.was_interrupted) && command == "pause";
        let answer =
            if is_told { Ok((json!({}), Vec::new())) } else { self.answer(command, &message["arguments"], emit) };
        let time = time.filter(|_| answer.is_ok());
        let request = message["seq"].as_i64().unwrap_or(0);
        let mut response = json!({"type": "response", "request_seq": request, "command": command});
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
        emit(number(&mut self.seq, response));
        for (name, body) in events {
            emit(number(&mut self.seq, json!({"type": "event", "event": name, "body": body})));
        }
        if let Some(time) = time {
            self.run(time, request, emit);
        }
    }

    /// Goes to the next hit of a breakpoint, and reports it.
    fn run(&mut self, time: TimeDirection, request: i64, emit: Emit<'_>) {
        let Some(stand) = &mut self.stand else { return };
        self.n_searches += 1;
        let seq = &mut self.seq;
        let mut tell = |name: &str, body: Value| {
            emit(number(seq, json!({"type": "event", "event": name, "body": body})));
        };
        let shown: Option<Tell<'_>> = if self.shows_progress { Some(&mut tell) } else { None };
        let mut progress = SearchProgress::new(&*self.is_over_now, shown, request, self.n_searches);
        let stopped = stand.run(time, &mut progress);
        progress.end();
        let (name, body) =
            stopped.unwrap_or_else(|failure| stand.stopped("pause", Some(&Terminal.line(&failure.message))));
        self.was_interrupted = body["reason"] == "pause";
        tell(name, body);
    }

    /// What is answered to something that is no JSON.
    pub fn no_json(&mut self) -> Value {
        let text = "the message is no JSON";
        let body = json!({"error": {"id": 2, "format": text, "showUser": true}});
        let response = json!({"type": "response", "request_seq": 0, "command": "", "success": false, "message": text,
            "body": body});
        number(&mut self.seq, response)
    }

    fn answer(&mut self, command: &str, arguments: &Value, emit: Emit<'_>) -> Result<ClientResponse, Failure> {
        match command {
            "initialize" => {
                self.first_line = i64::from(arguments["linesStartAt1"] == json!(false));
                self.shows_progress = arguments["supportsProgressReporting"] == json!(true);
                Ok((capabilities(), Vec::new()))
            }
            "launch" | "attach" => {
                self.launch(arguments, emit)?;
                Ok((json!({}), vec![("initialized", json!({}))]))
            }
            "disconnect" | "terminate" => {
                self.is_over = command == "disconnect";
                let events = if self.is_over { Vec::new() } else { vec![("terminated", json!({}))] };
                Ok((json!({}), events))
            }
            // What goes on was ended when it arrived.
            "cancel" => Ok((json!({}), Vec::new())),
            "setExceptionBreakpoints" => Ok((json!({"breakpoints": []}), Vec::new())),
            "gitIdd/recommend" | "gitIdd/expect" | "gitIdd/answer" => self.feedback(command, arguments),
            _ => {
                let stand = self.stand.as_mut();
                let stand = stand.ok_or_else(|| complaint(format!("`{command}` needs a launch before it")))?;
                asked(stand, command, arguments, self.first_line)
            }
        }
    }

    fn launch(&mut self, arguments: &Value, emit: Emit<'_>) -> Result<(), Failure> {
        let which = match launch::read(arguments)? {
            Launch::Open(which) => which,
            Launch::Record(order, process) => {
                let mut output = DapOutput { seq: &mut self.seq, emit };
                let recorded = self.recordings.record(&order, &mut output)?;
                output.say(&format!("Recorded as {}.", recorded.recording.as_deref().unwrap_or("the newest one")));
                ProcessChoice { process, ..recorded }
            }
        };
        // A second launch that fails leaves nothing of the first one.
        (self.stand, self.asking) = (None, None);
        let opened = self.recordings.open(&which)?;
        self.which = opened.which.clone();
        self.stand = Some(DapStand::new(opened, &*self.is_over_now)?);
        Ok(())
    }

    /// Recommends a step, after an answer, with expectations, or without either, and goes there.
    fn feedback(&mut self, command: &str, arguments: &Value) -> Result<ClientResponse, Failure> {
        let stand = self.stand.as_mut().ok_or_else(|| complaint("a recommendation needs a launch before it"))?;
        let begin = feedback::begin(command, arguments)?;
        if self.asking.is_none() || begin != WalkBegin::default() {
            let (walk, answers) = self.recordings.walk(&self.which, &begin)?;
            self.asking = Some(AskedWalk::new(walk, answers)?);
        }
        let is_answer = command == "gitIdd/answer";
        let asking = self.asking.as_mut().ok_or_else(|| complaint("there is nothing to ask about"))?;
        let (mut body, step): Recommended = if is_answer { asking.answer(arguments)? } else { asking.recommend()? };
        let Some(step) = step else { return Ok((body, Vec::new())) };
        stand.go(step);
        if let Some(place) = stand.tape.place(step) {
            body["line"] = json!(i64::from(place.line) - self.first_line);
            body["source"] = stand.source(place);
        }
        let text = body["text"].as_str().unwrap_or_default().to_owned();
        let (name, mut event) = stand.stopped("recommendation", Some(&text));
        // Also where the program crashed it is the recommendation that counts.
        event["reason"] = json!("recommendation");
        Ok((body, vec![(name, event)]))
    }
}

fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsStepBack": true,
        "supportsDataBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsEvaluateForHovers": true,
        "supportsExceptionInfoRequest": true,
        "supportsTerminateRequest": true,
        "supportsCancelRequest": true,
        "supportsDelayedStackTraceLoading": true,
    })
}

/// Answers a request about the run.
fn asked(stand: &mut DapStand, command: &str, arguments: &Value, first_line: i64) -> Result<ClientResponse, Failure> {
    let silent = |body: Value| Ok((body, Vec::new()));
    let walk = |stand: &mut DapStand, stride, time| Ok((json!({}), vec![stand.walk(stride, time)]));
    match command {
        "configurationDone" => Ok((json!({}), vec![stand.stopped("entry", None)])),
        "threads" => {
            let thread = |id: &u32| json!({"id": u64::from(*id) + 1, "name": format!("thread {id}")});
            silent(json!({"threads": stand.tape.threads.iter().map(thread).collect::<Vec<_>>()}))
        }
        "stackTrace" => silent(stand.stack_trace(arguments, first_line)?),
        "scopes" => silent(DapStand::scopes((arguments::level(arguments)? as u64).min(MAX_LEVEL))),
        "variables" => silent(stand.variables(arguments)?),
        "next" => walk(stand, Stride::Over, TimeDirection::Forward),
        "stepIn" => walk(stand, Stride::Into, TimeDirection::Forward),
        "stepOut" => walk(stand, Stride::Out, TimeDirection::Forward),
        "stepBack" => walk(stand, Stride::Over, TimeDirection::Backward),
        // Where it stops is searched after the response.
        "continue" => silent(json!({"allThreadsContinued": true})),
        "reverseContinue" => silent(json!({})),
        "pause" => Ok((json!({}), vec![stand.stopped("pause", None)])),
        "setBreakpoints" => silent(stand.set_breakpoints(arguments, first_line)?),
        "dataBreakpointInfo" => silent(stand.data_info(arguments)?),
        "setDataBreakpoints" => silent(stand.set_data_breakpoints(arguments)),
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
