//! `git idd watch` and `git idd status` of a hunt that is under way, of one that has ended, and of none.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use idd_report::{Status, json};

use crate::fixture::Fixture;
use crate::terminal::{Terminal, read_all, resize};

/// Twenty commits; the 12th breaks the test. A subject has escape sequences.
const HISTORY: &str = r#"
    for n in $(seq 20); do
        echo $n > log
        if [ $n -lt 12 ]; then echo good > value; else echo bad > value; fi
        subject="change $n"
        [ $n != 12 ] || subject="$(printf 'change 12 \033]0;title\007\033[2J<b>')"
        commit "$subject"
    done
"#;

/// A hunt that waits in its test of a revision.
struct RunningHunt {
    fixture: Fixture,
    child: Child,
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

impl RunningHunt {
    /// Of the eighth run, when both ends of the range are known.
    fn new() -> Self {
        Self::waiting_at("8")
    }

    /// Of these runs: a pattern of the shell.
    fn waiting_at(runs: &str) -> Self {
        let fixture = Fixture::of(HISTORY);
        fixture.sh("mkfifo \"$PLACE/gate\"");
        let place = fixture.place().display().to_string();
        let test = format!(
            "echo >> {place}/runs; case $(wc -l < {place}/runs) in {runs}) : > {place}/waiting; cat {place}/gate;; esac; \
             printf 'the value\\033[2J is %s\\n' $(cat value); grep -q good value"
        );
        let mut command = fixture.command(&["--json", "--no-port", "--timeout", "10m", &test]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let waiting = fixture.place().join("waiting");
        wait_until("a test waits", || waiting.exists());
        let is_recorded = || String::from_utf8_lossy(&fixture.run(&["status"]).stdout).contains("running:");
        wait_until("the journal has this test", is_recorded);
        Self { fixture, child }
    }

    /// Lets the hunt go on.
    fn go_on(&self) {
        fs::write(self.fixture.place().join("gate"), "").unwrap();
    }

    /// Lets the hunt go on, and waits for its end.
    fn finish(self) -> Fixture {
        self.go_on();
        self.ended()
    }

    fn ended(self) -> Fixture {
        let output = self.child.wait_with_output().unwrap();
        assert_eq!(json::read(&output.stdout).unwrap().status, Status::Found);
        self.fixture
    }
}

/// `git idd watch` in a terminal of 80 by 24, once the screen has this word; the other end of the terminal, and what is shown.
fn opened(fixture: &Fixture, word: &str) -> (Child, File, Vec<u8>) {
    let terminal = Terminal::new(80, 24);
    let mut command = fixture.command(&["watch"]);
    command.env("TERM", "xterm").stdin(terminal.open()).stdout(terminal.open()).stderr(terminal.open());
    let child = command.spawn().unwrap();
    drop(command);
    let mut host = terminal.host;
    let mut shown = Vec::new();
    while !String::from_utf8_lossy(&shown).contains(word) {
        let mut part = [0; 4096];
        let n = host.read(&mut part).unwrap();
        shown.extend(&part[..n]);
    }
    (child, host, shown)
}

/// The rows without what differs from run to run: ids, times.
fn stable(text: &str) -> String {
    let id = regex::Regex::new(r"\b([0-9a-f]{40}|[0-9a-f]{12})\b").unwrap();
    let hunt = regex::Regex::new(r"(?m)^hunt:      .*$").unwrap();
    let time = regex::Regex::new(r"(in |, )[0-9.]+ s\b").unwrap();
    let left = regex::Regex::new(r"(?m)^(left: .*); .*$").unwrap();
    let text = left.replace(text, "$1");
    let text = hunt.replace(&text, "hunt:      <id>");
    time.replace_all(&id.replace_all(&text, "<commit>"), "$1<time>").into_owned()
}

#[test]
fn watch_without_a_terminal_prints_the_state_of_a_running_hunt_once() {
    let hunt = RunningHunt::new();
    let (watched, _) = hunt.fixture.said(&["watch"], 0);
    insta::assert_snapshot!(stable(&watched), @r"
    hunt:      <id>
    state:     running
    probes:    7 completed, in <time>
    revisions: 2 pass, 4 fail, 0 unresolved
    passes:    <commit> 2024-01-01 (HEAD~10) change 10
    fails:     <commit> 2024-01-01 (HEAD~8) change 12 \x1b]0;title\x07\x1b[2J<b>
    left:      2 revisions may be the first bad commit
    running:   search, <time>: <commit> 2024-01-01 (HEAD~9) change 11

      fail       HEAD       <commit> 2024-01-01 change 20
      … 3 commits
      fail       HEAD~4     <commit> 2024-01-01 change 16
      … 2 commits
      fail       HEAD~7     <commit> 2024-01-01 change 13
    * fail       HEAD~8     <commit> 2024-01-01 change 12 \x1b]0;title\x07\x1b[2J<b>
      running    HEAD~9     <commit> 2024-01-01 change 11
    * pass       HEAD~10    <commit> 2024-01-01 change 10
      … 5 commits
      pass       HEAD~16    <commit> 2024-01-01 change 4

    Output of the last completed probe, 6, search at HEAD~8 (test: exit code 1)
      the value\x1b[2J is bad
    ");
    assert!(!watched.contains(['\x1b', '\x07']), "{watched:?}");
    let (status, _) = hunt.fixture.said(&["status"], 0);
    assert!(stable(&watched).starts_with(&stable(&status)), "{status}");
    let report = json::read(hunt.fixture.said(&["status", "--json"], 0).0.as_bytes()).unwrap();
    assert_eq!(report.status, Status::Running);
    assert_eq!(report.bad.unwrap().subject, "change 20".into());
    assert!(report.last_good.unwrap().subject.as_bytes().starts_with(b"change "));
    let fixture = hunt.finish();
    let (status, _) = fixture.said(&["status"], 0);
    assert!(!status.contains("passes:") && !status.contains("running:"), "{status}");
}

#[test]
fn watch_in_a_terminal_is_left_with_q_and_the_hunt_goes_on() {
    for key in [b"q", b"\x03"] {
        let hunt = RunningHunt::new();
        let (mut child, mut host, mut shown) = opened(&hunt.fixture, "leaves");
        let rest = read_all(&host);
        host.write_all(key).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        drop(host);
        shown.extend(rest.join().unwrap());
        let shown = String::from_utf8(shown).unwrap();
        let (screen, after) = shown.split_once("\x1b[?1049l").unwrap();
        for part in ["passes:", "fails:", "running:", "HEAD~8"] {
            assert!(screen.contains(part), "{part}: {screen:?}");
        }
        assert!(!shown.contains("\x1b]0;") && !shown.contains('\x07'), "{shown:?}");
        assert!(after.contains("state:     running"), "{after}");
        hunt.finish();
    }
}

#[test]
fn watch_in_a_terminal_ends_with_the_hunt_and_prints_its_state() {
    let hunt = RunningHunt::new();
    let (mut child, host, _) = opened(&hunt.fixture, "leaves");
    let rest = read_all(&host);
    hunt.go_on();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drop(host);
    let shown = String::from_utf8(rest.join().unwrap()).unwrap();
    let (_, after) = shown.split_once("\x1b[?1049l").unwrap();
    assert!(after.contains("state:     found") && after.contains("first bad: ["), "{after}");
    hunt.ended();
}

#[test]
fn watch_of_a_hunt_that_has_ended_says_so_and_of_none_is_an_error() {
    let fixture = Fixture::of(HISTORY);
    let (_, error) = fixture.said(&["watch"], 1);
    assert!(error.contains("there is no hunt in this worktree"), "{error}");
    fixture.report(&["--no-port", "grep -q good value"]);
    let (watched, _) = fixture.said(&["watch"], 0);
    assert!(watched.starts_with("No hunt is running. This is the last one:\n\nhunt:      "), "{watched}");
    assert!(watched.contains("state:     found\n") && watched.contains("  … "), "{watched}");
    let id = watched.lines().nth(2).unwrap().trim_start_matches("hunt:").trim().to_owned();
    let (named, _) = fixture.said(&["watch", "--hunt", &id], 0);
    assert!(named.starts_with("This hunt is not running.\n\n"), "{named}");
}

#[test]
fn watch_writes_a_page_that_loads_itself_again_until_the_hunt_ends() {
    const REFRESH: &str = r#"<meta http-equiv="refresh" content="2">"#;
    let hunt = RunningHunt::new();
    let file = hunt.fixture.place().join("page.html");
    let mut command = hunt.fixture.command(&["watch", "--html", &file.display().to_string()]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the page is written", || file.exists());
    let page = fs::read_to_string(&file).unwrap();
    assert!(page.contains(REFRESH) && page.ends_with("</html>\n"), "{page}");
    for part in ["<dt>passes</dt>", "<dt>running</dt>", "<svg class=\"graph\"", "HEAD~8", "change 12", "&lt;b&gt;"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains(['\x1b', '\x07']) && !page.contains("<b>") && !page.contains("<script"), "{page}");
    hunt.go_on();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let page = fs::read_to_string(&file).unwrap();
    assert!(!page.contains(REFRESH) && page.contains("first bad"), "{page}");
    hunt.ended();
}

#[test]
fn each_verdict_has_one_line_with_its_place_without_a_terminal() {
    let fixture = Fixture::of(HISTORY);
    let (_, told) = fixture.said(&["--no-port", "grep -q good value"], 0);
    let line = regex::Regex::new(r"^  ([0-9a-f]{12}) (HEAD(?:~\d+)?) (pass|fail)  change \d+").unwrap();
    let lines: Vec<_> = told.lines().filter_map(|row| line.captures(row)).collect();
    assert!(lines.len() >= 5, "{told}");
    for captures in lines {
        let id = fixture.sh(&format!("git rev-parse --short=12 {}", &captures[2]));
        assert_eq!(id.trim_end(), &captures[1], "{told}");
    }
}

#[test]
fn watch_follows_the_hunt_in_a_terminal_and_on_a_page() {
    let hunt = RunningHunt::waiting_at("2|8");
    let (mut child, mut host, shown) = opened(&hunt.fixture, "running:");
    assert!(!String::from_utf8_lossy(&shown).contains("passes:"), "{}", String::from_utf8_lossy(&shown));
    let file = hunt.fixture.place().join("page.html");
    let mut command = hunt.fixture.command(&["watch", "--html", &file.display().to_string()]);
    let mut writing = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the page is written", || file.exists());
    let page = || fs::read_to_string(&file).unwrap();
    assert!(page().contains("No revision has a verdict yet.") && !page().contains("<dt>passes</dt>"), "{}", page());
    fs::remove_file(hunt.fixture.place().join("waiting")).unwrap();
    hunt.go_on();
    wait_until("the eighth test waits", || hunt.fixture.place().join("waiting").exists());
    wait_until("the page follows", || page().contains("<dt>passes</dt>"));
    let mut shown = Vec::new();
    // Only what differs from the last screen is drawn. After a change of size, that is all of it.
    for columns in [81, 80].into_iter().cycle() {
        if String::from_utf8_lossy(&shown).contains("passes:") {
            break;
        }
        resize(&host, columns, 24);
        let mut part = [0; 4096];
        let n = host.read(&mut part).unwrap();
        shown.extend(&part[..n]);
    }
    host.write_all(b"q").unwrap();
    let rest = read_all(&host);
    assert!(child.wait().unwrap().success());
    drop(host);
    drop(rest);
    let _fixture = hunt.finish();
    assert!(writing.wait().unwrap().success());
}

#[test]
fn watch_writes_no_page_in_the_place_of_something_else() {
    let fixture = Fixture::of("commit one");
    fixture.report(&["false"]);
    fixture.sh("mkfifo \"$PLACE/fifo\"");
    let place = fixture.place().display().to_string();
    for (file, why) in [("fifo", "it is no file"), ("home", "it is no file"), ("none/page.html", "no directory for it")]
    {
        let (_, said) = fixture.said(&["watch", "--html", &format!("{place}/{file}")], 1);
        assert!(said.contains(why) && said.contains("`--html -` prints it once"), "{said}");
    }
    assert!(!fixture.place().join("none").exists());
    let (page, _) = fixture.said(&["watch", "--html", "-"], 0);
    assert!(page.starts_with("<!") && page.ends_with("</html>\n"), "{page}");
}
