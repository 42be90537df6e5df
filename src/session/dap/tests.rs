use crate::dap::recordings::{Opened, Recordings, WalkBegin, complaint, of_trace};
use crate::dap::session::DapSession;
use crate::dap::wire;
use crate::recorded::order::RecordOrder;
use crate::recorded::{ProcessChoice, ProcessRun};
use crate::{Failure, Talk, debug};
use idd_explain::native::recorded::NativeRecorded;
use idd_trace::Step;
use idd_trace::native::stored::player;
use idd_trace::run::Run as Outline;
use idd_world::answers::Answers;
use serde_json::{Value, json};
use std::cell::Cell;
use std::rc::Rc;

/// A stored recording whose sources are gone.
struct Kept {
    program: &'static str,
    end: u32,
}

impl Recordings for Kept {
    fn open(&mut self, which: &ProcessChoice) -> Result<Opened, Failure> {
        if which.recording.as_deref() == Some("gone") {
            return Err(complaint("it is gone"));
        }
        let run = ProcessRun::Native(Box::new(player(self.program, "bad")));
        Ok(Opened { which: which.clone(), run, end: Some(self.end), sources: Box::new(|_| None) })
    }

    fn record(&mut self, order: &RecordOrder, talk: &mut dyn Talk) -> Result<ProcessChoice, Failure> {
        talk.say("Building.");
        match &order.build {
            None => Ok(ProcessChoice::default()),
            Some(_) => Err(complaint("the build fails").with_hint("repair it")),
        }
    }

    fn walk(
        &mut self,
        _which: &ProcessChoice,
        begin: &WalkBegin,
    ) -> Result<(debug::DebugWalk, Option<Answers>), Failure> {
        let mut player = player(self.program, "bad");
        let run = Outline::read(&mut player).map_err(of_trace)?;
        let from = match &begin.from {
            Some(text) => text.parse().map_err(|_| complaint("no criterion"))?,
            None => run.n_steps(),
        };
        let mut walk =
            debug::DebugWalk::new(NativeRecorded { player, run }.into(), None, &[(Step(from), Step(u32::MAX))])?;
        walk.expect(&begin.expected)?;
        Ok((walk, None))
    }
}

/// A conversation about a stored recording.
struct Client {
    session: DapSession<'static>,
    last: Vec<Value>,
}

/// All messages to one of the client, through the wire and back.
fn said(session: &mut DapSession<'_>, message: &Value) -> Vec<Value> {
    let mut bytes = Vec::new();
    wire::write(&mut bytes, message).unwrap();
    let wire::ReadMessage::Message(message) = wire::read(&mut &bytes[..]).unwrap() else { panic!("{message}") };
    let mut all = Vec::new();
    session.handle(&message, &mut |answer| all.push(answer));
    all
}

impl Client {
    fn of(program: &'static str, end: u32) -> Self {
        let mut client = Self { session: DapSession::new(Box::new(Kept { program, end })), last: Vec::new() };
        assert_eq!(client.ask("initialize", &json!({}))["supportsStepBack"], true);
        client.ask("launch", &json!({}));
        assert_eq!(client.last[1]["event"], "initialized");
        client
    }

    fn say(&mut self, command: &str, arguments: &Value) -> Value {
        let message = json!({"type": "request", "seq": 7, "command": command, "arguments": arguments});
        let all = said(&mut self.session, &message);
        let begin = all.iter().position(|answer| answer["type"] == "response").unwrap();
        self.last = all[begin..].to_vec();
        assert_eq!(self.last[0]["request_seq"], 7);
        self.last[0].clone()
    }

    /// The message of a response that is an error.
    fn error(&mut self, command: &str, arguments: &Value) -> String {
        let response = self.say(command, arguments);
        assert_eq!(response["success"], false, "{response}");
        response["message"].as_str().unwrap().to_owned()
    }

    /// The variables of a list: name and value.
    fn list(&mut self, arguments: &Value) -> Vec<Value> {
        self.ask("variables", arguments)["variables"].as_array().unwrap().clone()
    }

    /// A variable of a list, by its name.
    fn one(&mut self, reference: &Value, name: &str) -> Value {
        let list = self.list(&json!({"variablesReference": reference}));
        list.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name} in {list:?}")).clone()
    }

    /// The body of a response that is no error.
    fn ask(&mut self, command: &str, arguments: &Value) -> Value {
        let response = self.say(command, arguments);
        assert_eq!(response["success"], true, "{response}");
        response["body"].clone()
    }

    /// Moves, and gives the reason of the stop and the line.
    fn go(&mut self, command: &str) -> (String, u64) {
        self.ask(command, &json!({"threadId": 0}));
        let reason = self.last[1]["body"]["reason"].as_str().unwrap().to_owned();
        (reason, self.lines()[0])
    }

    fn lines(&mut self) -> Vec<u64> {
        let trace = self.ask("stackTrace", &json!({}));
        trace["stackFrames"].as_array().unwrap().iter().map(|frame| frame["line"].as_u64().unwrap()).collect()
    }

    fn value(&mut self, expression: &str) -> String {
        self.ask("evaluate", &json!({"expression": expression, "frameId": 1}))["result"].as_str().unwrap().to_owned()
    }
}

fn stop(reason: &str, line: u64) -> (String, u64) {
    (reason.to_owned(), line)
}

#[test]
fn a_run_that_did_not_crash_is_walked_from_its_first_step_both_ways() {
    let mut client = Client::of("returns", 0);
    assert_eq!(client.go("configurationDone"), stop("entry", 23));
    assert_eq!(client.go("next"), stop("step", 24));
    assert_eq!(client.value("chosen"), "1");
    assert_eq!(client.go("stepIn").1, 11);
    assert_eq!(client.lines(), [11, 24]);
    let scopes = client.ask("scopes", &json!({"frameId": 1}));
    assert_eq!(scopes["scopes"].as_array().unwrap().len(), 4);
    let locals = client.ask("variables", &json!({"variablesReference": 1}));
    assert_eq!(locals["variables"][0]["name"], "height");
    assert_eq!(locals["variables"][0]["value"], "5000");
    let outer = client.ask("variables", &json!({"variablesReference": 9}));
    assert!(outer["variables"].as_array().unwrap().iter().any(|variable| variable["name"] == "chosen"));
    let read = client.ask("variables", &json!({"variablesReference": 2}));
    assert!(read["variables"].is_array());
    assert_eq!(client.go("stepBack").1, 24);
    assert_eq!(client.go("reverseContinue"), stop("entry", 23));
    assert!(client.go("continue").1 >= 28);
    assert_eq!(client.last.len(), 1);
}

#[test]
fn breakpoints_are_hit_both_ways_if_their_conditions_hold() {
    let mut client = Client::of("returns", 0);
    let source = json!({"path": "/somewhere/a.c"});
    let set = |breakpoints: Value| json!({"source": source, "breakpoints": breakpoints});
    let body = client.ask("setBreakpoints", &set(json!([{"line": 11}, {"line": 1}, {"line": 11, "condition": "x"}])));
    let verified: Vec<bool> =
        body["breakpoints"].as_array().unwrap().iter().map(|one| one["verified"] == true).collect();

    assert_eq!(verified, [true, false, false]);
    assert_eq!(client.go("continue"), stop("breakpoint", 11));
    assert_eq!(client.go("continue"), stop("breakpoint", 11));
    assert_eq!(client.go("reverseContinue"), stop("breakpoint", 11));
    assert_eq!(client.go("reverseContinue"), stop("entry", 23));
    client.ask("setBreakpoints", &set(json!([{"line": 11, "condition": "height < 5000"}])));
    client.go("continue");
    client.ask("setBreakpoints", &set(json!([{"line": 11, "hitCondition": "2"}])));
    assert_eq!(client.go("reverseContinue"), stop("breakpoint", 11));
    assert_eq!(client.go("reverseContinue"), stop("entry", 23));
    assert_eq!(client.go("continue"), stop("breakpoint", 11));
    assert!(client.go("continue").1 >= 28);
}

#[test]
fn a_crash_is_where_one_begins_and_its_writer_is_found_backward() {
    let mut client = Client::of("crash", 256 + 11);
    assert_eq!(client.go("configurationDone"), stop("exception", 11));
    assert_eq!(client.ask("exceptionInfo", &json!({"threadId": 1}))["exceptionId"], "SIGSEGV");
    assert_eq!(client.value("whole->part"), "NULL");
    let info = client.ask("dataBreakpointInfo", &json!({"variablesReference": 1, "name": "whole->part"}));
    let set = json!({"breakpoints": [{"dataId": info["dataId"], "accessType": "write"}]});
    assert_eq!(client.ask("setDataBreakpoints", &set)["breakpoints"][0]["verified"], true);
    assert_eq!(client.go("reverseContinue"), stop("data breakpoint", 16));
    assert_eq!(client.go("continue"), stop("exception", 11));
}

#[test]
fn what_cannot_be_answered_is_an_error_response() {
    let mut client = Client::of("crash", 0);
    for (command, arguments) in [
        ("launch_missiles", json!({})),
        ("evaluate", json!({"expression": "{nothing}"})),
        ("evaluate", json!({"expression": "whole", "frameId": u64::MAX})),
        ("variables", json!({"variablesReference": u64::MAX})),
        ("variables", json!(3)),
        ("source", json!({"sourceReference": 0})),
    ] {
        let response = client.say(command, &arguments);
        assert_eq!(response["success"], false, "{response}");
    }
    client.ask("setBreakpoints", &json!({"breakpoints": 3}));
    client.ask("setDataBreakpoints", &json!({"breakpoints": [{"dataId": "memory:x:1"}, 4]}));
    client.ask("stackTrace", &json!({"startFrame": u64::MAX, "levels": -1}));
    for (command, arguments, expected) in [
        ("evaluate", json!({"expression": "whole", "frameId": "2"}), "`frameId`"),
        ("scopes", json!({"frameId": -1}), "`frameId`"),
        ("dataBreakpointInfo", json!({"name": "whole", "frameId": 1.5}), "`frameId`"),
        ("variables", json!({"variablesReference": 1, "start": "x"}), "`start`"),
        ("variables", json!({"variablesReference": [1]}), "`variablesReference`"),
        ("stackTrace", json!({"startFrame": -1}), "`startFrame`"),
    ] {
        assert!(client.error(command, &arguments).contains(expected), "{command} {arguments}");
    }
    let typed = json!({"source": {"path": "a.c"}, "breakpoints": [{"line": 16, "condition": 5}, {"line": 16, "hitCondition": [3]}]});
    let set = client.ask("setBreakpoints", &typed);
    assert_eq!(set["breakpoints"][0]["message"], "a condition is a text");
    assert_eq!(set["breakpoints"][1]["message"], "a hit count is a text");
    client.ask("scopes", &json!({"frameId": u64::MAX}));
    assert!(said(&mut client.session, &json!([1])).is_empty());
    let early = Kept { program: "crash", end: 0 };
    let mut early = DapSession::new(Box::new(early));
    let mut first = |command: &str, arguments: Value| {
        let request = json!({"type": "request", "command": command, "arguments": arguments});
        said(&mut early, &request)[0].clone()
    };
    for command in ["next", "variables", "evaluate", "gitIdd/recommend", "gitIdd/expect", "gitIdd/answer", "threads"] {
        let response = first(command, json!({}));
        assert!(response["message"].as_str().unwrap().contains("needs a launch"), "{response}");
        assert_eq!(response["request_seq"], 0);
    }
    assert_eq!(first("launch", json!({"recording": "gone"}))["message"], "it is gone");
    first("disconnect", json!({}));
    assert!(early.is_over);
}

#[test]
fn a_launch_that_fails_leaves_nothing_of_the_one_before() {
    let mut client = Client::of("crash", 0);
    assert_eq!(client.error("launch", &json!({"process": "x"})), "`process` is a number, from 0");
    client.ask("threads", &json!({}));
    client.error("launch", &json!({"recording": "gone"}));
    assert!(client.error("threads", &json!({})).contains("needs a launch"));
}

#[test]
fn a_launch_records_and_reports_the_progress() {
    let mut session = DapSession::new(Box::new(Kept { program: "list", end: 0 }));
    let launch = |arguments: Value| json!({"type": "request", "seq": 1, "command": "launch", "arguments": arguments});
    let all = said(&mut session, &launch(json!({"command": ["./a"]})));
    let kinds: Vec<&Value> = all.iter().map(|one| &one["event"]).collect();
    assert_eq!(kinds, [&json!("output"), &json!("output"), &Value::Null, &json!("initialized")]);
    assert_eq!(all[0]["body"], json!({"category": "console", "output": "Building.\n"}));
    let numbers: Vec<u64> = all.iter().map(|one| one["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    let failed = said(&mut session, &launch(json!({"command": "./a", "build": "make"})));
    assert_eq!(failed[1]["message"], "the build fails; repair it");
}

#[test]
fn structures_arrays_and_targets_of_pointers_have_lists_of_their_own() {
    let mut client = Client::of("list", 0);
    client.ask(
        "setBreakpoints",
        &json!({"source": {"path": "a.c"}, "breakpoints": [{"line": 17, "condition": "sum > 0"}]}),
    );
    assert_eq!(client.go("continue"), stop("breakpoint", 17));
    let node = client.one(&json!(1), "node");
    let list = client.list(&json!({"variablesReference": node["variablesReference"]}));
    let names: Vec<&Value> = list.iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["next", "value"]);
    assert_eq!((&list[1]["value"], &list[1]["evaluateName"]), (&json!("4"), &json!("node->value")));
    let next = client.one(&list[0]["variablesReference"], "next");
    assert_eq!((&next["value"], &next["variablesReference"]), (&json!("NULL"), &json!(0)));
    assert_eq!(client.one(&json!(4), "weights")["value"], "{2, 4, 5}");
    let sum = client.one(&json!(1), "sum");
    assert_eq!(sum["variablesReference"], 0);

    let weights = client.ask("evaluate", &json!({"expression": "weights", "frameId": 1}));
    assert_eq!(weights["indexedVariables"], 3);
    let page =
        json!({"variablesReference": weights["variablesReference"], "filter": "indexed", "start": 1, "count": 1});
    let page = client.list(&page);
    assert_eq!((page.len(), &page[0]["name"], &page[0]["value"]), (1, &json!("[1]"), &json!("4")));
    let after = json!({"variablesReference": weights["variablesReference"], "start": 3, "count": 9});
    assert!(client.list(&after).is_empty());
    let others = json!({"variablesReference": weights["variablesReference"], "filter": "named"});
    assert!(client.list(&others).is_empty());
    let info =
        client.ask("dataBreakpointInfo", &json!({"variablesReference": node["variablesReference"], "name": "value"}));
    assert!(info["dataId"].as_str().unwrap().starts_with("memory:"), "{info}");

    // References are those of one step.
    client.go("stepIn");
    assert!(
        client.error("variables", &json!({"variablesReference": node["variablesReference"]})).contains("no such list")
    );
}

#[test]
fn expressions_are_computed_on_the_recorded_state() {
    let mut client = Client::of("list", 0);
    client.ask(
        "setBreakpoints",
        &json!({"source": {"path": "a.c"}, "breakpoints": [{"line": 17, "condition": "sum == 5"}]}),
    );
    client.go("continue");
    for (expression, value) in [
        ("sum * 2 + 1", "11"),
        ("node->value == weights[1]", "1"),
        ("weights[1] + *weights", "6"),
        ("node && node->next != NULL ? node->value : -1", "4"),
        ("(unsigned char) (sum - 6)", "255"),
        ("sizeof(int) * sizeof node", "32"),
        ("&weights[2] - weights", "2"),
        ("node->next->next", "NULL"),
    ] {
        assert_eq!(client.value(expression), value, "{expression}");
    }
    for (expression, error) in [
        ("sum / 0", "division by zero"),
        ("total(node)", "cannot be called"),
        ("sum = 3", "nothing can be assigned"),
        ("node->next->next->value", "null"),
        ("list", "no variable `list`"),
    ] {
        let message = client.error("evaluate", &json!({"expression": expression, "frameId": 1}));
        assert!(message.contains(error), "{expression}: {message}");
    }
    assert_eq!(
        client.ask("evaluate", &json!({"expression": "list", "frameId": 2}))["variablesReference"]
            .as_u64()
            .map(|n| n > 0),
        Some(true)
    );
}

#[test]
fn steps_are_recommended_and_answers_move_the_session() {
    let mut client = Client::of("list", 0);
    let first = client.ask("gitIdd/recommend", &json!({}));
    assert_eq!((&first["reason"], &first["judged"]), (&json!("failure"), &json!(0)), "{first}");
    assert_eq!(client.last[1]["body"]["reason"], "recommendation");
    assert_eq!(client.lines()[0], first["line"].as_u64().unwrap());
    // From the line that prints the sum.
    client.ask("setBreakpoints", &json!({"source": {"path": "a.c"}, "breakpoints": [{"line": 30}]}));
    client.ask("reverseContinue", &json!({}));
    let at = client.last[1]["body"]["description"].as_str().unwrap().strip_prefix("step ").unwrap().to_owned();
    let print = client.ask("gitIdd/recommend", &json!({"from": at}));
    let used = print["used"].as_array().unwrap();
    assert_eq!(
        (&used[1]["index"], &used[1]["name"], &used[1]["value"]),
        (&json!(1), &json!("total()"), &json!("11")),
        "{print}"
    );
    let wrong = json!({"answer": "wrongValue", "values": [1]});
    let next = client.ask("gitIdd/answer", &wrong);
    assert_eq!((&next["judged"], &next["found"]), (&json!(1), &json!(false)));
    assert_eq!(client.last[1]["body"]["reason"], "recommendation");
    assert_eq!(client.lines()[0], next["line"].as_u64().unwrap());
    assert!(client.error("gitIdd/answer", &json!({"answer": "wrongValue", "values": [99]})).contains("number 99"));
    assert!(client.error("gitIdd/answer", &json!({"answer": "wrongValue"})).contains("`values`"));
    assert!(client.error("gitIdd/answer", &json!({"answer": "perhaps"})).contains("`answer`"));
    assert!(client.error("gitIdd/answer", &json!({"answer": "correct", "step": 0})).contains("`step`"));
    assert!(client.error("gitIdd/answer", &json!({"answer": "correct", "from": "1"})).contains("`from`"));
    let back = client.ask("gitIdd/answer", &json!({"answer": "undo"}));
    assert_eq!((&back["judged"], &back["step"]), (&json!(0), &print["step"]));
    assert!(client.error("gitIdd/answer", &json!({"answer": "undo"})).contains("no answer"));
    client.ask("gitIdd/answer", &wrong);
    for answer in ["unclear", "correct", "wrongPath"] {
        client.ask("gitIdd/answer", &json!({"answer": answer}));
    }
    let found = client.ask("gitIdd/answer", &json!({"answer": "wrongResult", "step": 3}));
    assert_eq!((&found["found"], &found["reason"]), (&json!(true), &json!("ringleader")));
    let again = client.ask("gitIdd/recommend", &json!({}));
    assert_eq!(again["step"], found["step"]);
    let back = client.ask("gitIdd/answer", &json!({"answer": "undo"}));
    assert_eq!((&back["found"], &back["judged"]), (&json!(false), &json!(4)));
}

#[test]
fn expectations_begin_a_walk() {
    let mut client = Client::of("list", 0);
    let told = client.ask("gitIdd/expect", &json!({"expect": ["sum < 9 at a.c:17", "sum >= 0 at a.c:17"]}));
    let checked = told["expectations"].as_array().unwrap();
    assert_eq!((&checked[0]["wrong"], &checked[1]["step"]), (&json!(["sum = 9"]), &json!(null)), "{told}");
    assert_eq!((&told["judged"], &told["found"]), (&json!(1), &json!(false)), "{told}");
    for (arguments, text) in [
        (json!({}), "`expect`"),
        (json!({"expect": ["sum"]}), "an expectation has the form"),
        (json!({"expect": ["nothing > 0 at a.c:17"]}), "no variable `nothing`"),
    ] {
        let error = client.error("gitIdd/expect", &arguments);
        assert!(error.contains(text), "{error}");
    }
}

#[test]
fn a_walk_ends_when_all_was_judged() {
    let mut client = Client::of("list", 0);
    for _ in 0..100 {
        let told = client.ask("gitIdd/answer", &json!({"answer": "correct"}));
        if told["exhausted"] == true {
            assert_eq!(client.last.len(), 1);
            assert!(client.error("gitIdd/answer", &json!({"answer": "correct"})).contains("nothing is left"));
            assert_eq!(client.ask("gitIdd/answer", &json!({"answer": "undo"}))["exhausted"], false);
            return;
        }
    }
    panic!("it does not end");
}

#[test]
fn a_search_that_is_interrupted_leaves_the_session_where_it_is() {
    let mut client = Client::of("list", 0);
    let is_over = Rc::new(Cell::new(false));
    let session = DapSession::new(Box::new(Kept { program: "list", end: 0 }));
    client.session = session.interrupted_by(Box::new({
        let is_over = Rc::clone(&is_over);
        move || is_over.get()
    }));
    client.ask("initialize", &json!({"supportsProgressReporting": true}));
    client.ask("launch", &json!({}));
    let list = client.ask("dataBreakpointInfo", &json!({"name": "list", "frameId": 1}));
    let set = json!({"breakpoints": [{"dataId": list["dataId"]}]});
    assert_eq!(client.ask("setDataBreakpoints", &set)["breakpoints"][0]["verified"], true);

    is_over.set(true);
    let before = client.lines();
    client.ask("continue", &json!({}));
    let stopped = &client.last[1]["body"];
    assert_eq!((&stopped["reason"], &stopped["text"]), (&json!("pause"), &json!("the search was interrupted")));
    // The client was told already.
    client.ask("pause", &json!({}));
    assert_eq!(client.last.len(), 1);
    client.ask("pause", &json!({}));
    assert_eq!(client.last[1]["body"]["reason"], "pause");
    client.ask("cancel", &json!({"requestId": 7}));
    assert_eq!(client.lines(), before);
    is_over.set(false);
    assert_eq!(client.go("continue"), stop("data breakpoint", 28));
}

#[test]
fn data_breakpoints_have_hit_counts_and_no_conditions() {
    let mut client = Client::of("list", 0);
    client.go("continue");
    let list = client.ask("dataBreakpointInfo", &json!({"name": "list", "frameId": 1}));
    let set = |more: Value| {
        let mut one = json!({"dataId": list["dataId"]});
        for (name, value) in more.as_object().unwrap() {
            one[name] = value.clone();
        }
        json!({"breakpoints": [one]})
    };
    let body = client.ask("setDataBreakpoints", &set(json!({"condition": "list"})));
    assert_eq!(body["breakpoints"][0], json!({"verified": false, "message": "a data breakpoint has no condition"}));
    let body = client.ask("setDataBreakpoints", &set(json!({"hitCondition": "x"})));
    assert_eq!(body["breakpoints"][0]["verified"], false);
    client.ask("setDataBreakpoints", &set(json!({"hitCondition": "1"})));
    assert_eq!(client.go("reverseContinue"), stop("data breakpoint", 23));
    client.ask("setDataBreakpoints", &set(json!({"hitCondition": "% 2"})));
    assert_eq!(client.go("continue"), stop("data breakpoint", 28));
    assert_eq!(client.go("continue"), stop("data breakpoint", 28));
    assert_eq!(client.go("continue").0, "step");
}

#[test]
fn an_unknown_name_in_a_condition_is_reported_and_a_value_that_is_unknown_at_some_steps_is_not() {
    let mut client = Client::of("list", 0);
    let set =
        |condition: &str| json!({"source": {"path": "a.c"}, "breakpoints": [{"line": 16, "condition": condition}]});
    let body = client.ask("setBreakpoints", &set("nothing == 1"));
    assert_eq!(body["breakpoints"][0]["verified"], false, "{body}");
    assert!(body["breakpoints"][0]["message"].as_str().unwrap().contains("no variable `nothing`"));
    let body = client.ask("setBreakpoints", &set("node->value == 2"));
    assert_eq!(body["breakpoints"][0]["verified"], true, "{body}");
}
