//! Jobs that share a directory for leases.

use crate::fixture::Fixture;
use idd_report::Status;
use std::process::Stdio;
use std::time::{Duration, Instant};
use std::{fs, thread};

#[test]
fn of_two_jobs_with_one_lease_only_one_hunts() {
    let fixture = Fixture::of("echo 1 > a; commit 'Begin'; echo 2 > a; commit 'Break'");
    let lease = fixture.place().join("leases");
    let lease = lease.to_str().unwrap();
    // It waits until the second job has answered.
    let test = "while test ! -e \"$PLACE/go\"; do sleep 0.1; done; grep -q 1 a";
    let mut first = fixture.command(&["--lease", lease, "--timeout", "60", "--", test]);
    let mut first = first.env("PLACE", fixture.place()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(30);
    while fs::read_dir(lease).map_or(0, Iterator::count) == 0 {
        assert!(Instant::now() < end, "no lease was taken");
        thread::sleep(Duration::from_millis(20));
    }
    let second = Fixture::of("echo 1 > a; commit 'Begin'; echo 2 > a; commit 'Break'");
    let report = second.report(&["--lease", lease, "--timeout", "60", "--", test]);
    assert_eq!(report.status, Status::Elsewhere);
    let (stdout, _) = second.said(&["--lease", lease, "--timeout", "60", "--", test], 0);
    assert!(stdout.contains("Another job makes this hunt now: "), "{stdout}");
    assert!(second.report(&["--lease", lease, "--", "grep -q 1 a"]).first_bad.is_some());
    fs::write(fixture.place().join("go"), "").unwrap();
    assert!(first.wait().unwrap().success());
    let left: Vec<_> = fs::read_dir(lease).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name.to_string_lossy().ends_with(".fix.json")), "{left:?}");
    // What the first job has found is the answer of the second one; it is not a hunt of this worktree.
    let found = second.report(&["--lease", lease, "--timeout", "60", "--", test]);
    assert_eq!((found.status, found.hunt), (Status::Found, None));
    let (stdout, _) = second.said(&["--lease", lease, "--timeout", "60", "--", test], 0);
    assert!(stdout.contains("Another job made this hunt") && !stdout.contains("\nnext:"), "{stdout}");
    let own = ["--lease", lease, "--no-cache", "--", "grep -q 1 a"];
    assert!(second.report(&own).hunt.is_some() && second.report(&own).hunt.is_some());
}

#[test]
fn a_finding_that_cannot_be_read_is_made_again() {
    let fixture = Fixture::of("echo 1 > a; commit 'Begin'; echo 2 > a; commit 'Break'");
    let lease = fixture.place().join("leases");
    let args = ["--lease", lease.to_str().unwrap(), "--", "grep -q 1 a"];
    assert!(fixture.report(&args).hunt.is_some());
    let file = fs::read_dir(&lease).unwrap().next().unwrap().unwrap().path();
    for broken in [&b"{}"[..], b"", b"\xff"] {
        fs::write(&file, broken).unwrap();
        assert!(fixture.report(&args).hunt.is_some());
    }
    assert_eq!(fixture.report(&args).hunt, None);
}

#[test]
fn jobs_with_one_directory_share_the_time_of_their_workers() {
    let fixture = Fixture::of("for n in 1 2 3 4; do echo $n > a; commit $n; done");
    let lease = fixture.place().join("leases");
    let test = |border: u32| format!("sleep 0.1; test $(cat a) -lt {border}");
    let lease_name = lease.to_str().unwrap().to_owned();
    let hunt = |border: u32| fixture.report(&["--lease", &lease_name, "--max-cost", "30s", "--", &test(border)]);
    assert_eq!(hunt(3).status, Status::Found);
    let cost: u64 =
        fs::read_to_string(lease.join("cost")).unwrap().lines().map(|line| line.parse::<u64>().unwrap()).sum();
    assert!(cost >= 500, "{cost} ms");
    fs::write(lease.join("cost"), "30000\n").unwrap();
    assert_eq!(hunt(4).status, Status::Budget);
    // Where the sum cannot be kept, the job counts for itself.
    fs::remove_file(lease.join("cost")).unwrap();
    fs::create_dir(lease.join("cost")).unwrap();
    let (_, stderr) = fixture.said(&["--lease", &lease_name, "--max-cost", "30s", "--no-cache", "--", &test(2)], 0);
    assert!(stderr.contains("Only the cost of this job counts from now on"), "{stderr}");
}

#[test]
fn a_hunt_with_another_script_or_another_failure_is_another_hunt() {
    let history = "echo good > a; echo good > b; commit first; echo bad > a; commit 'Break a'; echo 1 > log; commit log; echo bad > b; commit 'Break b'";
    let fixture = Fixture::of(history);
    let lease = fixture.place().join("leases");
    let lease = lease.to_str().unwrap();
    for name in ["a", "b", "a"] {
        fs::write(fixture.repo().join("t.sh"), format!("grep -q good {name}\n")).unwrap();
        let report = fixture.report(&["--lease", lease, "--until", "commit", "--", "sh", "t.sh"]);
        assert_eq!(report.first_bad.unwrap().commit.subject, format!("Break {name}").as_str().into());
    }
    let test = "! grep -H bad a b";
    for name in ["a", "b"] {
        let line = format!("^{name}:bad");
        let report = fixture.report(&["--lease", lease, "--until", "commit", "--match", &line, "--", test]);
        assert_eq!(report.first_bad.unwrap().commit.subject, format!("Break {name}").as_str().into());
    }
}

#[test]
fn a_finding_of_another_hunt_or_without_a_commit_is_not_believed() {
    let fixture = Fixture::of("echo 1 > a; commit 'Begin'; echo 2 > a; commit 'Break'");
    let lease = fixture.place().join("leases");
    let args = ["--lease", lease.to_str().unwrap(), "--", "grep -q 1 a"];
    assert!(fixture.report(&args).hunt.is_some());
    let file = fs::read_dir(&lease).unwrap().next().unwrap().unwrap().path();
    let whole = fs::read_to_string(&file).unwrap();
    let good: serde_json::Value = serde_json::from_str(&whole).unwrap();
    for (field, value) in [
        ("first_bad", serde_json::Value::Null),
        ("bad", good["last_good"].clone()),
        ("status", "never_passed".into()),
        ("find", "fix".into()),
    ] {
        let mut other = good.clone();
        other[field] = value;
        fs::write(&file, other.to_string()).unwrap();
        assert!(fixture.report(&args).hunt.is_some(), "{field}");
    }
    fs::remove_file(&file).unwrap();
    fs::File::create(&file).unwrap().set_len(1 << 36).unwrap();
    assert!(fixture.report(&args).hunt.is_some());
}
