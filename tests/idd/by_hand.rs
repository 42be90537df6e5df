//! Hunts in which a person judges the revisions.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use idd_report::{Report, Status, json};
use serde_json::Value;

use crate::fixture::Fixture;
use crate::terminal::{Terminal, read_all};

/// `value` is broken since change 6; the changes 3 and 4 cannot be built.
const HISTORY: &str = "
    mkdir sub
    for n in 1 2 3 4 5 6 7 8 9 10; do
        echo $n > sub/log
        if [ $n -lt 6 ]; then echo right > value; else echo wrong > value; fi
        if [ $n = 3 ] || [ $n = 4 ]; then touch broken; else rm -f broken; fi
        commit \"change $n\"
    done
";

/// Fails if the revision is broken; the product says that it was run.
const BUILD: &str = "test ! -e broken && cp value product";

/// The revision that waits, and its directory.
fn waiting(fixture: &Fixture, args: &[&str]) -> (String, PathBuf) {
    let (stdout, _) = fixture.said(&[args, &["--json"]].concat(), 0);
    let value: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&value["schema"], &value["status"]), (&"git-idd by hand 1".into(), &"waiting".into()), "{stdout}");
    (value["subject"].as_str().unwrap().to_owned(), value["directory"].as_str().unwrap().into())
}

/// Judges by the file in the checkout until the hunt ends; returns the report, and the revisions that were shown.
fn judged(fixture: &Fixture, start: &[&str], is_turned: bool) -> (Report, Vec<String>) {
    let (mut subject, mut directory) = waiting(fixture, start);
    let mut shown = Vec::new();
    loop {
        let value = fs::read_to_string(directory.join("value")).unwrap();
        shown.push(subject);
        let verdict = if value.starts_with("right") { "good" } else { "bad" };
        let why = format!("it is {} here", value.trim());
        let output = fixture.run(&[verdict, "--why", &why, "--json"]);
        if let Ok(report) = json::read(&output.stdout) {
            assert!(!is_turned || report.find == idd_base::Sought::Fix);
            return (report, shown);
        }
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(value["n_judged"], shown.len(), "{value}");
        (subject, directory) =
            (value["subject"].as_str().unwrap().to_owned(), value["directory"].as_str().unwrap().into());
    }
}

fn text(text: &idd_report::Untrusted) -> String {
    String::from_utf8_lossy(text.as_bytes()).into_owned()
}

#[test]
fn a_person_finds_the_commit_and_the_report_says_why() {
    let fixture = Fixture::of(HISTORY);
    let before = fixture.state();
    let (report, shown) = judged(&fixture, &["start", "--build", BUILD], false);
    assert_eq!(report.status, Status::Found);
    assert_eq!(text(&report.first_bad.as_ref().unwrap().commit.subject), "change 6");
    assert_eq!(text(&report.last_good.as_ref().unwrap().subject), "change 5");
    assert!(shown.len() <= 5 && !shown.contains(&"change 3".to_owned()), "{shown:?}");
    let notes: Vec<String> = report.notes.iter().map(text).collect();
    assert!(notes.iter().any(|note| note.ends_with(" is bad: it is wrong here")), "{notes:?}");
    assert!(notes.iter().any(|note| note.ends_with(" is good: it is right here")), "{notes:?}");
    assert!(report.evidence.is_empty() && report.change.sufficient.is_none());
    let (stdout, _) = fixture.said(&["show"], 0);
    assert!(stdout.contains("is the first bad commit") && !stdout.contains("--until"), "{stdout}");
    let (log, _) = fixture.said(&["log"], 0);
    assert!(log.contains("pass: [") && log.contains("first bad commit: ["), "{log}");
    let (list, _) = fixture.said(&["list"], 0);
    assert!(list.contains("by hand") && list.contains("change 6"), "{list}");
    assert_eq!(fixture.state(), before);
    fixture.said(&["reset"], 0);
    assert_eq!(fixture.sandboxes_left(), Vec::<PathBuf>::new());
}

#[test]
fn the_build_has_run_in_the_checkout_and_where_it_fails_nobody_is_asked() {
    let fixture = Fixture::of(HISTORY);
    let (subject, directory) = waiting(&fixture, &["start", "HEAD", "HEAD~9", "--build", BUILD]);
    assert!(directory.join("product").is_file() && directory.join(".git").is_file(), "{subject}");
    let (stdout, _) = fixture.said(&["good"], 0);
    assert!(stdout.starts_with("Judge ") && stdout.contains("It is checked out in /"), "{stdout}");
    // `change 4` is repaired or left out; only trees that are built are shown.
    let (_, directory) = waiting(&fixture, &["resume"]);
    assert!(directory.join("product").is_file());
    assert!(!directory.join("broken").exists());
}

#[test]
fn verdicts_are_given_in_the_checkout_too_and_can_be_taken_back() {
    let fixture = Fixture::of(HISTORY);
    fs::create_dir_all(fixture.repo().join("sub")).unwrap();
    let mut start = fixture.command(&["start", "--json", "HEAD", "HEAD~9"]);
    let output = start.current_dir(fixture.repo().join("sub")).output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let directory = PathBuf::from(value["directory"].as_str().unwrap());
    assert!(directory.ends_with("checkout/tree") && directory.join("sub/log").is_file(), "{directory:?}");
    let first = value["subject"].clone();
    let inside = |args: &[&str]| {
        let output = fixture.command(&[args, &["--json"]].concat()).current_dir(&directory).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
    };
    let second = inside(&["bad", "--why", "a slip"]);
    assert_ne!(second["subject"], first);
    let again = inside(&["undo"]);
    assert_eq!((&again["subject"], &again["n_judged"]), (&first, &0.into()));
    let skipped = inside(&["skip"]);
    assert_ne!(skipped["subject"], first);
    assert_eq!(inside(&["undo"])["subject"], first);
    // A shell that stands in the directory sees the files of the next revision.
    let mut shell = fixture.command::<&str>(&[]);
    let environment: Vec<_> =
        shell.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
    shell = Command::new("sh");
    for (name, value) in environment {
        if let Some(value) = value {
            shell.env(name, value);
        }
    }
    let line = format!("cat sub/log; {} good >/dev/null; cat sub/log", env!("CARGO_BIN_EXE_git-idd"));
    let output = shell.args(["-c", &line]).current_dir(&directory).output().unwrap();
    let seen = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = seen.lines().collect();
    assert!(lines.len() == 2 && lines[0] != lines[1], "{seen}{}", String::from_utf8_lossy(&output.stderr));
}

fn refs(fixture: &Fixture) -> String {
    String::from_utf8(fixture.git(&["for-each-ref"])).unwrap()
}

#[test]
fn a_verdict_on_another_revision_counts_and_an_ended_hunt_goes_on_after_undo() {
    let fixture = Fixture::of(HISTORY);
    waiting(&fixture, &["start"]);
    waiting(&fixture, &["good", "HEAD~5"]);
    let output = fixture.run(&["bad", "HEAD~4", "--json"]);
    let report = json::read(&output.stdout).unwrap_or_else(|_| {
        let mut last = output;
        for _ in 0..6 {
            last = fixture.run(&["bad", "--json"]);
            if json::read(&last.stdout).is_ok() {
                break;
            }
        }
        json::read(&last.stdout).unwrap()
    });
    assert_eq!(text(&report.first_bad.as_ref().unwrap().commit.subject), "change 6");
    let (_, stderr) = fixture.said(&["good"], 129);
    assert!(stderr.contains("has ended") && stderr.contains("`git idd undo`"), "{stderr}");
    let (_, stderr) = fixture.said(&["resume", "--until", "fix"], 0);
    assert!(stderr.contains("has ended already"), "{stderr}");
    assert!(refs(&fixture).contains("idd/first-bad"));
    waiting(&fixture, &["undo"]);
    let (stdout, _) = fixture.said(&["status"], 0);
    assert!(stdout.contains("waiting for a person"), "{stdout}");
    // The finding is withdrawn everywhere.
    assert!(!refs(&fixture).contains("refs/worktree/idd"));
    let (_, stderr) = fixture.said(&["show"], 1);
    assert!(stderr.contains("has no result yet"), "{stderr}");
    for (command, named) in [("status", "first bad:"), ("list", "change 6"), ("log", "first bad commit: [")] {
        let (stdout, _) = fixture.said(&[command], 0);
        assert!(!stdout.contains(named), "{stdout}");
    }
}

#[test]
fn the_first_fixed_commit_is_found_by_hand_with_the_words_turned() {
    let fixture = Fixture::of(
        &HISTORY.replace("echo right", "echo x").replace("echo wrong", "echo right").replace("echo x", "echo wrong"),
    );
    let (report, _) = judged(&fixture, &["start", "--find", "fix"], true);
    assert_eq!(text(&report.first_bad.as_ref().unwrap().commit.subject), "change 6");
    let notes: Vec<String> = report.notes.iter().map(text).collect();
    assert!(notes.iter().any(|note| note.ends_with(" is good: it is right here")), "{notes:?}");
    let (stdout, _) = fixture.said(&["show"], 0);
    assert!(stdout.contains("is the first fixed commit"), "{stdout}");
}

#[test]
fn what_cannot_be_done_is_told_with_the_next_step() {
    let fixture = Fixture::of(HISTORY);
    for command in ["good", "bad", "skip", "undo"] {
        let (_, stderr) = fixture.said(&[command], 129);
        assert!(stderr.contains("no hunt by hand is under way here") && stderr.contains("`git idd start`"), "{stderr}");
    }
    waiting(&fixture, &["start"]);
    let (_, stderr) = fixture.said(&["undo"], 129);
    assert!(stderr.contains("there is no verdict to take back"), "{stderr}");
    let (_, stderr) = fixture.said(&["good", "nothing"], 129);
    assert!(stderr.contains("nothing") && stderr.contains("\nhint: "), "{stderr}");
    fixture.sh("git checkout -q --orphan other; git commit -q -m other; git checkout -q main");
    let (_, stderr) = fixture.said(&["good", "other"], 129);
    assert!(stderr.contains("is not in the history of the hunt"), "{stderr}");
    let (_, stderr) = fixture.said(&["start", "HEAD", "--bad", "HEAD~1"], 129);
    assert!(stderr.contains("revisions are given twice"), "{stderr}");
    let (_, stderr) = fixture.said(&["start", "HEAD~3", "HEAD"], 129);
    assert!(stderr.contains("is older than the good one") && stderr.contains("takes the bad one first"), "{stderr}");
    let (_, stderr) = fixture.said(&["start", "--build", " "], 129);
    assert!(stderr.contains("`--build` is empty"), "{stderr}");
    // The revision still waits.
    let (subject, _) = waiting(&fixture, &["resume"]);
    // A second hunt does not lose the first one.
    let (_, stderr) = fixture.said(&["start", "HEAD~1"], 0);
    let (_, resume) = stderr.split_once(" is kept; `git idd ").unwrap();
    let words: Vec<&str> = resume.split('`').next().unwrap().split(' ').collect();
    assert_eq!(waiting(&fixture, &words).0, subject, "{stderr}");
}

#[test]
fn verdicts_that_contradict_each_other_end_with_a_report_and_not_in_a_loop() {
    let fixture = Fixture::of(HISTORY);
    waiting(&fixture, &["start", "HEAD", "HEAD~9"]);
    let output = fixture.run(&["bad", "HEAD~9", "--json"]);
    let report = json::read(&output.stdout).unwrap();
    assert_eq!(report.status, Status::GoodFails, "{report:?}");
    waiting(&fixture, &["undo"]);
    for _ in 0..12 {
        let output = fixture.run(&["skip", "--json"]);
        if let Ok(report) = json::read(&output.stdout) {
            assert_eq!(report.status, Status::Range, "{report:?}");
            return;
        }
    }
    panic!("skipping all revisions does not end");
}

#[test]
fn on_a_terminal_a_shell_is_started_in_the_checkout() {
    let fixture = Fixture::of(HISTORY);
    let terminal = Terminal::new(100, 30);
    let mut command = fixture.command(&["start"]);
    command.env("SHELL", "/bin/sh").stdin(terminal.open()).stdout(terminal.open()).stderr(terminal.open());
    let mut child = command.spawn().unwrap();
    drop(command);
    let shown = read_all(&terminal.host);
    let mut host = &terminal.host;
    host.write_all(b"pwd; cat value; exit\n").unwrap();
    assert!(child.wait().unwrap().success());
    let shown = String::from_utf8_lossy(&shown.join().unwrap()).into_owned();
    assert!(shown.contains("checkout/tree") && shown.contains("wrong") && shown.contains("Judge "), "{shown}");
}

#[test]
fn a_file_in_a_repository_leads_no_command_elsewhere() {
    let fixture = Fixture::of(
        "mkdir checkout; printf '%s' \"$PWD\" > of; mkdir inner; commit hostile; for n in 1 2 3 4 5; do echo $n > n; commit $n; done",
    );
    let other = fixture.place().join("other");
    fs::create_dir_all(other.join("checkout/tree")).unwrap();
    fs::write(other.join("of"), fixture.repo().as_os_str().as_encoded_bytes()).unwrap();
    waiting(&fixture, &["start"]);
    // Not below another repository.
    let mut command = fixture.command(&["good"]);
    let output =
        command.current_dir(other.join("checkout/tree")).env("GIT_CEILING_DIRECTORIES", &other).output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    let (stdout, _) = fixture.said(&["resume"], 0);
    assert!(stdout.contains("So far 0 verdicts"), "{stdout}");
}
