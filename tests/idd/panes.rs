//! The panes of `git idd debug` on a terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use crate::debug::recorded;
use crate::plain::{isolate, program};
use crate::terminal::{Terminal, read_all, resize};

/// The panes on a terminal of 80 by 24, and the other end of it, once the first question is on the screen.
///
/// - `options`: those of `setsid`, by which the terminal is theirs or not.
fn opened(place: &Path, options: &[&str]) -> (Child, File) {
    let terminal = Terminal::new(80, 24);
    let debug = program(place);
    let mut session = Command::new("setsid");
    session.args(options).arg(debug.get_program()).args(["debug", "--restart"]).current_dir(place);
    isolate(&mut session).env("TERM", "xterm").env("XDG_CACHE_HOME", place.join(".git/cache"));
    let child = session.stdin(terminal.open()).stdout(terminal.open()).stderr(terminal.open()).spawn().unwrap();
    drop(session);
    let mut host = terminal.host;
    let mut shown = Vec::new();
    while !String::from_utf8_lossy(&shown).contains("undo") {
        let mut part = [0; 4096];
        let n = host.read(&mut part).unwrap();
        shown.extend(&part[..n]);
    }
    (child, host)
}

/// The exit code, of a session that ends in time.
fn code(child: &mut Child, about: &str) -> Option<i32> {
    let begin = Instant::now();
    loop {
        match child.try_wait().unwrap() {
            Some(status) => return status.code(),
            None if begin.elapsed() > Duration::from_secs(20) => {
                child.kill().unwrap();
                panic!("{about}: it goes on");
            }
            None => thread::sleep(Duration::from_millis(20)),
        }
    }
}

#[test]
fn the_panes_end_when_their_terminal_is_closed() {
    let place = recorded();
    for options in [&["--wait"][..], &["--wait", "--ctty"]] {
        for keys in [0, 700] {
            let (mut child, mut host) = opened(place.path(), options);
            // Some of the keys are not read yet.
            host.write_all(&b"\x1b[B".repeat(keys / 3)).unwrap();
            drop(host);
            assert_eq!(code(&mut child, &format!("{options:?}, {keys}")), Some(130), "{options:?}, {keys}");
        }
    }
}

#[test]
fn keys_that_come_together_are_all_taken_at_once() {
    let place = recorded();
    let (mut child, mut host) = opened(place.path(), &["--wait", "--ctty"]);
    let shown = read_all(&host);
    // A look at each of them on its own would take a minute.
    let typed = [&b"/"[..], &[b'A'; 300], b"\x03"].concat();
    host.write_all(&typed).unwrap();
    assert_eq!(code(&mut child, "keys"), Some(130));
    drop(host);
    shown.join().unwrap();
}

#[test]
fn pasted_text_is_ignored_and_a_terminal_that_is_too_large_is_an_error() {
    let place = recorded();
    let (mut child, mut host) = opened(place.path(), &["--wait", "--ctty"]);
    let shown = read_all(&host);
    host.write_all(b"\x1b[200~hmq\x1b[201~").unwrap();
    thread::sleep(Duration::from_millis(300));
    assert_eq!(child.try_wait().unwrap(), None, "`h` ends the walk");
    resize(&host, u16::MAX, u16::MAX);
    assert_eq!(code(&mut child, "size"), Some(1));
    drop(host);
    let shown = String::from_utf8_lossy(&shown.join().unwrap()).into_owned();
    assert!(shown.contains("the terminal has 65535 columns and 65535 lines, which is too much for panes"), "{shown}");
    // The terminal is as before, and then comes the message. Of a line, only what is new is sent.
    let (before, after) = shown.split_once("\x1b[?1049l").unwrap();
    assert!(before.contains("pasted text"), "{shown}");
    assert!(after.contains("`--plain` asks by lines"), "{shown}");
}
