use super::*;
use crate::trace::native::stored::player;

/// A conversation about a stored recording whose sources are gone.
struct Client {
    session: Session<'static>,
    last: Vec<Value>,
}

impl Client {
    fn of(program: &'static str, end: u32) -> Self {
        let open =
            move |_: &Which| Ok(Opened { player: player(program, "bad"), end: Some(end), sources: Box::new(|_| None) });
        let mut client = Self { session: Session::new(Box::new(open)), last: Vec::new() };
        assert_eq!(client.ask("initialize", &json!({}))["supportsStepBack"], true);
        client.ask("launch", &json!({}));
        assert_eq!(client.last[1]["event"], "initialized");
        client
    }

    fn say(&mut self, command: &str, arguments: &Value) -> Value {
        let message = json!({"type": "request", "seq": 7, "command": command, "arguments": arguments});
        // Through the wire and back.
        let mut bytes = Vec::new();
        wire::write(&mut bytes, &message).unwrap();
        let wire::Read::Message(message) = wire::read(&mut &bytes[..]).unwrap() else { panic!("{message}") };
        self.last = self.session.handle(&message);
        assert_eq!(self.last[0]["request_seq"], 7);
        self.last[0].clone()
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
    assert_eq!(scopes["scopes"].as_array().unwrap().len(), 3);
    let locals = client.ask("variables", &json!({"variablesReference": 1}));
    assert_eq!(locals["variables"][0]["name"], "height");
    assert_eq!(locals["variables"][0]["value"], "5000");
    let outer = client.ask("variables", &json!({"variablesReference": 5}));
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
    client.ask("scopes", &json!({"frameId": u64::MAX}));
    assert!(client.session.handle(&json!([1])).is_empty());
    let mut early = Session::new(Box::new(|_: &Which| Err(complaint("nothing was recorded"))));
    let request = |command: &str| json!({"type": "request", "command": command});
    assert_eq!(early.handle(&request("next"))[0]["success"], false);
    assert_eq!(early.handle(&request("launch"))[0]["message"], "nothing was recorded");
    early.handle(&request("disconnect"));
    assert!(early.is_over);
}
