//! `git idd dap` as an editor drives it: by pipes.

use std::io::BufRead as _;
use std::io::BufReader;
use std::io::Read as _;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;
use serde_json::json;

use crate::fixture::Fixture;

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

#[test]
fn an_editor_goes_back_from_a_crash() {
    let fixture = Fixture::of(&format!("cat >a.c <<'END'\n{PROGRAM}END\ngit add a.c && git commit -qm one"));
    let recorded = fixture.run(&["record", "--build", "$CC -o a a.c", "--", "./a"]);
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    let mut server = fixture.command(&["dap"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
    let mut read = || -> Value {
        let mut header = String::new();
        output.read_line(&mut header).unwrap();
        let length = header.trim().strip_prefix("Content-Length: ").unwrap().parse().unwrap();
        output.read_line(&mut String::new()).unwrap();
        let mut bytes = vec![0; length];
        output.read_exact(&mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    };
    let mut ask = |command: &str, arguments: Value, n_events: usize| -> Vec<Value> {
        let text = json!({"seq": 1, "type": "request", "command": command, "arguments": arguments}).to_string();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        let all: Vec<Value> = (0..=n_events).map(|_| read()).collect();
        assert_eq!(all[0]["success"], true, "{}", all[0]);
        all
    };
    ask("initialize", json!({"adapterID": "git-idd"}), 0);
    ask("launch", json!({}), 1);
    let file = fixture.repo().join("a.c");
    let set = json!({"source": {"path": file}, "breakpoints": [{"line": 3}]});
    assert_eq!(ask("setBreakpoints", set, 0)[0]["body"]["breakpoints"][0]["verified"], true);
    let stopped = ask("configurationDone", json!({}), 1)[1]["body"].clone();
    assert_eq!(stopped["reason"], "exception");
    let top = ask("stackTrace", json!({"threadId": stopped["threadId"]}), 0)[0]["body"]["stackFrames"][0].clone();
    assert_eq!((&top["line"], &top["name"]), (&json!(10), &json!("main")), "{top}");
    assert!(top["source"]["path"].as_str().unwrap().ends_with("/a.c"), "{top}");
    assert_eq!(ask("reverseContinue", json!({"threadId": 1}), 1)[1]["body"]["reason"], "breakpoint");
    let value = ask("evaluate", json!({"expression": "n"}), 0)[0]["body"]["result"].clone();
    assert_eq!(value, "2");
    ask("disconnect", json!({}), 0);
    assert!(server.wait().unwrap().success());
}
