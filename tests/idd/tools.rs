//! What a hunt takes from earlier ones while the programs of its test change, and while only the way to them does.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use idd_report::{Report, Status, Untrusted, json};

use crate::fixture::Fixture;

const HISTORY: &str = "
    mkdir \"$PLACE/bin\" \"$PLACE/empty\"
    for n in 1 2 3 4 5 6; do echo $n > value; commit \"change $n\"; done
";

/// Writes an interpreter that lets values below `limit` pass.
fn write_node(fixture: &Fixture, limit: u32) {
    let node = fixture.place().join("bin/node");
    fs::write(&node, format!("#!/bin/sh\n[ $(cat $1) -lt {limit} ] || {{ echo too many; exit 1; }}\n")).unwrap();
    fs::set_permissions(&node, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs git-idd with the directories `more` in front of `PATH`.
fn run(fixture: &Fixture, more: &[&str], args: &[&str]) -> (Report, String) {
    let more = more.iter().map(|name| fixture.place().join(name));
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths(more.chain(std::env::split_paths(&path))).unwrap();
    let output = fixture.command(args).env("PATH", path).output().unwrap();
    (json::read(&output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn text(untrusted: &Untrusted) -> String {
    String::from_utf8_lossy(untrusted.as_bytes()).into_owned()
}

fn subject(report: &Report) -> String {
    text(&report.first_bad.as_ref().unwrap().commit.subject)
}

const HUNT: [&str; 4] = ["--json", "--until", "commit", "node value"];

#[test]
fn results_of_a_changed_program_are_not_used_and_those_of_another_path_are() {
    let fixture = Fixture::of(HISTORY);
    write_node(&fixture, 3);
    let (first, _) = run(&fixture, &["bin"], &HUNT);
    assert_eq!(subject(&first), "change 3");

    let (second, stderr) = run(&fixture, &["empty", "no/such", "bin"], &HUNT);
    let probes = &second.probes;
    assert_eq!(probes.run, probes.reproduce + probes.verify, "only claims are run again: {probes:?}\n{stderr}");
    assert!(!stderr.contains("not used"), "{stderr}");

    write_node(&fixture, 5);
    let (third, stderr) = run(&fixture, &["bin"], &HUNT);
    assert_eq!(subject(&third), "change 5");
    let change = format!("node ({}) changed.", fixture.place().join("bin/node").display());
    assert!(stderr.contains(&format!("Earlier results are not used: {change}")), "{stderr}");
    let notes: Vec<String> = third.notes.iter().map(text).collect();
    let is_note = |note: &String| note.ends_with(&format!(" earlier results are not used: {change}"));
    assert!(notes.iter().any(is_note), "{notes:?}");
}

#[test]
fn resume_after_a_program_changed_starts_over_and_says_so() {
    let fixture = Fixture::of(HISTORY);
    write_node(&fixture, 2);
    let (stopped, _) = run(&fixture, &["bin"], &["--json", "--max-probes", "4", "node value"]);
    assert_eq!(stopped.status, Status::Budget);
    let (same, stderr) = run(&fixture, &["empty", "bin"], &["--json", "resume", "--max-probes", "1"]);
    assert!(!stderr.contains("starting over"), "{stderr}");
    assert_eq!(same.hunt, stopped.hunt);
    write_node(&fixture, 4);
    let (other, stderr) = run(&fixture, &["bin"], &["--json", "resume", "--max-probes", "1"]);
    let change = format!("(node ({}) changed); starting over", fixture.place().join("bin/node").display());
    assert!(stderr.contains(&change), "{stderr}");
    assert_ne!(other.hunt, stopped.hunt);
}
