//! `git idd dap` as an editor drives it: by pipes.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::fixture::{self, Fixture};

const PROGRAM: &str = "#include <stdlib.h>
static int twice(int n) {
    return n + n;
}
int main(void) {
    int *p = NULL;
    int n = twice(2);
    if (n == 5)
        p = &n;
    return *p;
}
";

/// What the protocol's own client looks at; `tests/dap-client/check.mjs` knows its lines.
const RICH: &str = "#include <stdlib.h>
enum kind { BLUE, RED };
struct pair { enum kind kind; int low : 5; unsigned long whole; struct { int deep; } inner; union { int narrow; long wide; }; };
static int many[5000]; struct flex { int n; int data[]; };

static int add(int n)
{
    int sum = 3;
    sum += n;
    return sum + n;
}

int main(void)
{
    int rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
    struct pair pair = {RED, 0, 1UL << 40, {7}};
    struct pair *at = &pair;
    int *none = &rows[0][0];
    struct pair *heap = calloc(3, sizeof *heap); heap[2].whole = 9; struct flex *flex = calloc(1, sizeof *flex + 8); int *four = calloc(4, sizeof *four);
    if (at->inner.deep > 0)
    {
        /* The fault. */
        none = NULL;
    }

    pair.low = -2;
    many[4999] = (int)at->whole;

    rows[0][0] += add(2);
    many[0] = 1;
    return *none;
}
";

/// The protocol's own client, which is installed in `tests/dap-client`.
fn client() -> PathBuf {
    let place = fixture::root().join("tests/dap-client");
    for name in ["@vscode/debugadapter-testsupport", "@vscode/debugprotocol", "typescript"] {
        assert!(
            place.join("node_modules").join(name).is_dir(),
            "{name} is not there: run `npm ci` in tests/dap-client (`.ci/run` does)"
        );
    }
    place
}

#[test]
fn the_client_of_the_protocol_takes_all_that_dap_says() {
    let client = client();
    let fixture = Fixture::of(&format!("cat >a.c <<'END'\n{RICH}END\ngit add a.c && git commit -qm one"));
    let mut node = fixture.command(&["dap"]);
    let program = node.get_program().to_owned();
    let variables: Vec<_> =
        node.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
    node = Command::new("node");
    for (name, value) in variables {
        match value {
            Some(value) => node.env(name, value),
            None => node.env_remove(name),
        };
    }
    node.arg("check.mjs").arg(program).arg(fixture.repo()).current_dir(client);
    let output =
        node.output().unwrap_or_else(|error| panic!("node: {error}; install the package nodejs (`.ci/run` does)"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("messages as they should be"), "{said}");
}

/// What a server says to bytes, and how it ends.
fn told(fixture: &Fixture, bytes: &[u8]) -> (String, String, Option<i32>) {
    let mut server = fixture.command(&["dap"]);
    let server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = server.spawn().unwrap();
    // It may end before all was written.
    let _ = server.stdin.take().unwrap().write_all(bytes);
    let output = server.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

#[test]
fn what_is_not_the_protocol_ends_the_conversation_and_what_is_no_request_does_not() {
    let fixture = Fixture::of("echo a >a; commit one");
    let message = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
    let over = [
        ("hello\r\n\r\n".to_owned(), "has no length"),
        ("Content-Length: 99999999999\r\n\r\n".to_owned(), "longer than 16 MiB"),
        ("Content-Length: 18446744073709551616\r\n\r\n".to_owned(), "has no length"),
        ("Content-Length: -1\r\n\r\n".to_owned(), "has no length"),
        ("Content-Length: 10\r\n\r\n{}".to_owned(), "ends within a message"),
        ("Content-Length: 2\r\n".to_owned(), "cut short"),
        ("x".repeat(100_000), "cut short or too long"),
        (message("{}") + "garbage", "cut short"),
    ];
    for (bytes, expected) in over {
        let (out, err, code) = told(&fixture, bytes.as_bytes());
        assert!(err.contains(expected) && out.is_empty() && code.is_some_and(|code| code != 0 && code != 101), "{err}");
    }
    let deep = "[".repeat(100_000);
    for text in ["{", "\u{0}", "nul", &deep] {
        let (out, err, code) = told(&fixture, message(text).as_bytes());
        assert!(out.contains("the message is no JSON") && err.is_empty() && code == Some(0), "{text}: {out} {err}");
    }
    let request = |command: &str, arguments: &str| {
        message(&format!("{{\"type\":\"request\",\"seq\":1,\"command\":{command},\"arguments\":{arguments}}}"))
    };
    for (bytes, expected) in [
        (request("\"next\"", "{}"), "`next` needs a launch before it"),
        (request("3", "{}"), "needs a launch before it"),
        (request("\"launch\"", "{}"), "nothing was recorded in this worktree"),
        (request("\"launch\"", "[1]"), "nothing was recorded in this worktree"),
        (request("\"launch\"", "{\"recording\":\"../..\"}"), "there is no recording `../..`"),
        (request("\"launch\"", "{\"command\":{}}"), "a line for the shell"),
        (request("\"launch\"", "{\"command\":\"./a\",\"at\":\"nowhere\"}"), "nowhere"),
    ] {
        let (out, err, code) = told(&fixture, bytes.as_bytes());
        assert!(out.contains(expected) && out.contains("\"success\":false"), "{expected}: {out}");
        assert!(err.is_empty() && code == Some(0), "{err}");
    }
    for text in ["3", "[]", "null", "{}", "{\"type\":\"response\"}", "{\"type\":3}"] {
        let (out, err, code) = told(&fixture, message(text).as_bytes());
        assert!(out.is_empty() && err.is_empty() && code == Some(0), "{text}: {out} {err}");
    }
    assert_eq!(told(&fixture, b""), (String::new(), String::new(), Some(0)));
}

#[test]
fn a_client_that_closes_its_pipe_ends_the_server_with_an_error() {
    let fixture = Fixture::of("echo a >a; commit one");
    let mut server = fixture.command(&["dap"]);
    let server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = server.spawn().unwrap();
    drop(server.stdout.take());
    let text = "{\"type\":\"request\",\"seq\":1,\"command\":\"initialize\"}";
    write!(server.stdin.take().unwrap(), "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
    let output = server.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code().is_some_and(|code| code != 0 && code != 101), "{said}");
    assert!(said.contains("broke off"), "{said}");
}

#[test]
fn a_client_that_leaves_while_a_test_is_recorded_interrupts_it() {
    let fixture = Fixture::of(&format!("cat >a.c <<'END'\n{PROGRAM}END\ngit add a.c && git commit -qm one"));
    let request = |command: &str, arguments: Value| {
        let text = json!({"type": "request", "seq": 1, "command": command, "arguments": arguments}).to_string();
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    };
    let launch = request("launch", json!({"command": "./a; sleep 1000", "build": "$CC -o a a.c", "once": true}));
    for leave in [request("disconnect", json!({})), String::new()] {
        let (out, err, _) = told(&fixture, format!("{launch}{leave}").as_bytes());
        assert!(out.contains("interrupted") && out.contains("\"success\":false"), "{out} {err}");
        assert!(!fixture.repo().join(".git/idd/recordings/0001/recording.json").exists());
    }
}

#[test]
fn a_signal_ends_a_server_that_waits() {
    let fixture = Fixture::of("echo a >a; commit one");
    let mut server = fixture.command(&["dap"]);
    let mut server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
    let text = "{\"type\":\"request\",\"seq\":1,\"command\":\"initialize\"}";
    write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
    // It answers, so it has its handlers.
    output.read_line(&mut String::new()).unwrap();
    assert!(Command::new("kill").arg(server.id().to_string()).status().unwrap().success());
    assert_eq!(server.wait().unwrap().code(), Some(0));
}

#[test]
fn a_recording_that_is_cut_or_of_another_version_is_a_clear_error() {
    let fixture = Fixture::of(&format!("cat >a.c <<'END'\n{PROGRAM}END\ngit add a.c && git commit -qm one"));
    assert!(fixture.run(&["record", "--once", "--build", "$CC -o a a.c", "--", "./a"]).status.success());
    let place = fixture.repo().join(".git/idd/recordings/0001");
    let launch = "{\"type\":\"request\",\"seq\":1,\"command\":\"launch\",\"arguments\":{}}";
    let message = format!("Content-Length: {}\r\n\r\n{launch}", launch.len());
    let mut files = fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path());
    let trace = files.find(|path| path.extension().is_some_and(|extension| extension == "trace")).unwrap();
    let whole = fs::read(&trace).unwrap();
    let mut other = whole.clone();
    other[7] += 1;
    let cut = |length: usize| whole[..length].to_vec();
    for (bytes, expected) in [
        (cut(whole.len() / 2), "the trace is damaged"),
        (cut(10), "the trace is damaged"),
        (cut(0), "the trace is damaged"),
        (other, "another version"),
    ] {
        fs::write(&trace, bytes).unwrap();
        let (out, err, code) = told(&fixture, message.as_bytes());
        assert!(err.is_empty() && code == Some(0), "{err}");
        assert!(out.contains(expected) && out.contains("record it again with `git idd record`"), "{out}");
    }
    fs::write(&trace, &whole).unwrap();
    let description = place.join("recording.json");
    let whole = fs::read_to_string(&description).unwrap();
    fs::write(&description, &whole[..whole.len() / 2]).unwrap();
    let (out, _, _) = told(&fixture, message.as_bytes());
    assert!(out.contains("there is no recording `0001` that can be read"), "{out}");
}

/// An editor that talks to a server.
pub struct Editor {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Editor {
    /// Starts a server.
    pub fn new(server: &mut Command) -> Self {
        let mut server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
        let mut editor = Self { server, input, output };
        editor.ask("initialize", &json!({"adapterID": "git-idd"}), 0);
        editor
    }

    fn read(&mut self) -> Value {
        let mut header = String::new();
        self.output.read_line(&mut header).unwrap();
        let length = header.trim().strip_prefix("Content-Length: ").unwrap().parse().unwrap();
        self.output.read_line(&mut String::new()).unwrap();
        let mut bytes = vec![0; length];
        self.output.read_exact(&mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    /// The body of the answer to a request, and those of so many events after it.
    #[track_caller]
    pub fn ask(&mut self, command: &str, arguments: &Value, n_events: usize) -> Vec<Value> {
        let text = json!({"seq": 1, "type": "request", "command": command, "arguments": arguments}).to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        let all: Vec<Value> = (0..=n_events).map(|_| self.read()).collect();
        assert_eq!(all[0]["success"], true, "{}", all[0]);
        all.into_iter().map(|mut message| message["body"].take()).collect()
    }

    /// Ends the conversation.
    pub fn leave(mut self) {
        self.ask("disconnect", &json!({}), 0);
        assert!(self.server.wait().unwrap().success());
    }
}

#[test]
fn an_editor_goes_back_from_a_crash() {
    let fixture = Fixture::of(&format!("cat >a.c <<'END'\n{PROGRAM}END\ngit add a.c && git commit -qm one"));
    let recorded = fixture.run(&["record", "--build", "$CC -o a a.c", "--", "./a"]);
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    let mut editor = Editor::new(&mut fixture.command(&["dap"]));
    editor.ask("launch", &json!({}), 1);
    let file = fixture.repo().join("a.c");
    let set = json!({"source": {"path": file}, "breakpoints": [{"line": 3}]});
    assert_eq!(editor.ask("setBreakpoints", &set, 0)[0]["breakpoints"][0]["verified"], true);
    let stopped = editor.ask("configurationDone", &json!({}), 1)[1].clone();
    assert_eq!(stopped["reason"], "exception");
    let top = editor.ask("stackTrace", &json!({"threadId": stopped["threadId"]}), 0)[0]["stackFrames"][0].clone();
    assert_eq!((&top["line"], &top["name"]), (&json!(10), &json!("main")), "{top}");
    assert!(top["source"]["path"].as_str().unwrap().ends_with("/a.c"), "{top}");
    assert_eq!(editor.ask("reverseContinue", &json!({"threadId": 1}), 1)[1]["reason"], "breakpoint");
    let value = editor.ask("evaluate", &json!({"expression": "n"}), 0)[0]["result"].clone();
    assert_eq!(value, "2");
    editor.leave();
}
