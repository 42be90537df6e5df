//! Hunts that are kept: more than one in a worktree, and those of older versions of the program.

use std::fs;

use git_idd::report::Status;
use git_idd::report::json;

use crate::fixture::Fixture;
use crate::fixture::root;

/// The history of the recorded journals.
const HISTORY: &str = "
    printf 'limit=1\\n' > limits; commit 'Set a limit'
    printf 'limit=1\\nname=a\\n' > limits; commit 'Name it'
    printf 'limit=2\\nname=a\\nspeed=3\\n' > limits; commit 'Raise the limit'
    printf 'limit=2\\nname=b\\nspeed=3\\n' > limits; commit 'Rename it'
";

/// Its test.
const TEST: &str = "grep limit=1 limits";

/// Runs `git-idd`, which must end with `code`; returns stdout and stderr.
#[track_caller]
fn run(fixture: &Fixture, args: &[&str], code: i32) -> (String, String) {
    let output = fixture.run(args);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{stdout}\n{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    (stdout, stderr)
}

/// The history, with a journal that version 1 of the format has of a hunt in it.
fn with_journal(name: &str) -> Fixture {
    let fixture = Fixture::of(HISTORY);
    let idd = fixture.repo().join(".git/idd");
    fs::create_dir_all(idd.join("segments")).unwrap();
    fs::copy(root().join("tests/idd/journals").join(name), idd.join("segments/0-1.log")).unwrap();
    fs::write(idd.join("session.json"), "{\"hunt\":\"0-1\"}").unwrap();
    fixture
}

fn journal(fixture: &Fixture) -> Vec<u8> {
    fs::read(fixture.repo().join(".git/idd/segments/0-1.log")).unwrap()
}

#[test]
fn a_journal_of_format_1_is_read_by_every_command() {
    let fixture = with_journal("found.log");
    let before = journal(&fixture);
    let (shown, _) = run(&fixture, &["show"], 0);
    assert!(shown.contains("Raise the limit") && shown.contains("-limit=1\n+limit=2\n"), "{shown}");
    let (status, _) = run(&fixture, &["status"], 0);
    assert!(status.contains("state:     found\n") && status.contains("revisions: 1 pass, 2 fail, 0 unresolved\n"));
    let (log, _) = run(&fixture, &["log"], 0);
    assert!(log.starts_with("fail: [16df887bfff200dee8412484c978495453e87d95] Rename it\n"), "{log}");
    let (page, _) = run(&fixture, &["report", "--html", "-"], 0);
    // The outputs of its probes are in it, and what the reductions came to.
    assert!(page.contains("limit=1") && page.contains("the necessary change"), "{page}");
    assert_eq!(journal(&fixture), before);
}

#[test]
fn a_hunt_with_a_journal_of_format_1_starts_over_and_leaves_it_alone() {
    let fixture = with_journal("budget.log");
    let before = journal(&fixture);
    let (stdout, stderr) = run(&fixture, &["resume", "--max-probes", "100", "--json"], 0);
    let report = json::read(stdout.as_bytes()).unwrap();
    assert_eq!(report.status, Status::Found);
    assert!(stderr.contains("An older version of this program made the hunt; starting over."), "{stderr}");
    assert_eq!(journal(&fixture), before);
    // The same command does not append to it either.
    let fixture = with_journal("budget.log");
    assert_eq!(fixture.report(&[TEST]).status, Status::Found);
    assert_eq!(journal(&fixture), before);
}
