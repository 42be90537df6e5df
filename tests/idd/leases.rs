//! Jobs that share a directory for leases.

use crate::fixture::Fixture;
use git_idd::report::Status;
use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;
use std::time::Instant;

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
    assert_eq!(fs::read_dir(lease).unwrap().count(), 0);
}
