//! Several hunts at once: in worktrees of one repository, in one worktree, and probes that run in parallel.

use std::process::Stdio;
use std::time::{Duration, Instant};
use std::{fs, thread};

use idd_report::{Probes, Report, Status, json};

use crate::fixture::Fixture;

const HISTORY: &str = "
    seq 1 6 > value
    for n in 1 2 3 4 5 6 7 8; do
        echo $n >> log
        [ $n = 4 ] && sed -i 's/3/three/' value
        commit \"change $n\"
    done
";

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        thread::sleep(Duration::from_millis(2));
    }
}

fn finding(report: &Report) -> Report {
    Report { probes: Probes::default(), seconds: 0.0, hunt: None, log: None, notes: Vec::new(), ..report.clone() }
}

#[test]
fn two_hunts_in_two_worktrees_share_what_they_observe() {
    let fixture = Fixture::of(&format!("{HISTORY}\ngit worktree add -q \"$PLACE/other\""));
    let before = fixture.state();
    let home = fixture.place().join("home");
    // Both test the same trees; the first one stops at its seventh run until the second one has ended.
    let test = "echo >> $HOME/runs; if [ $(wc -l < $HOME/runs) = 7 ]; then : > $HOME/waiting; \
        while ! [ -e $HOME/gate ]; do sleep 0.01; done; fi; grep -q 3 value";
    let mut command = fixture.command(&["--json", test]);
    let first = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the first hunt comes to its seventh run", || home.join("waiting").exists());
    let second = fixture.command(&["--json", test]).current_dir(fixture.place().join("other")).output().unwrap();
    fs::write(home.join("gate"), "").unwrap();
    let first = json::read(&first.wait_with_output().unwrap().stdout).unwrap();
    let second = json::read(&second.stdout).unwrap();
    assert_eq!((first.status, second.status), (Status::Found, Status::Found));
    assert_eq!(finding(&first), finding(&second));
    let alone = fixture.report(&["--no-cache", "grep -q 3 value"]).probes;
    assert!(second.probes.cached > alone.cached && second.probes.run + 2 <= alone.run, "{alone:?} {:?}", second.probes);
    // The first one goes on with what the second one saw; it proves for itself.
    assert!(first.probes.run <= 8 + first.probes.verify, "{alone:?} {:?}", first.probes);
    assert_eq!(fixture.state(), before);
    assert_eq!(fixture.sandboxes_left().len(), 0);
    // Each worktree has its own finding.
    for place in ["repo", "other"] {
        let refs =
            fixture.sh(&format!("cd \"$PLACE/{place}\"; git for-each-ref refs/worktree/idd --format='%(refname)'"));
        assert_eq!(refs.lines().count(), 4, "{refs}");
    }
    assert!(!fixture.sh("cd \"$PLACE/other\"; git worktree list --porcelain").contains("prunable"));
}

#[test]
fn a_second_hunt_in_the_same_worktree_is_an_error() {
    let fixture = Fixture::of(HISTORY);
    let gate = fixture.place().join("gate");
    let test = format!("while ! [ -e {} ]; do sleep 0.01; done; grep -q 3 value", gate.display());
    let mut command = fixture.command(&["--json", &test]);
    let first = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the first hunt runs", || fixture.repo().join(".git/idd/session.json").exists());
    for args in [&[test.as_str()] as &[&str], &["true"], &["resume"], &["reset"]] {
        let output = fixture.run(args);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {stderr}");
        assert!(
            stderr.contains("error: `git idd` is at work already in this worktree, as process ")
                && stderr.contains("\n\nhint: "),
            "{args:?}: {stderr}"
        );
    }
    let status = String::from_utf8(fixture.run(&["status"]).stdout).unwrap();
    assert!(status.contains("state:     running\n"), "{status}");
    let gc = String::from_utf8(fixture.run(&["gc"]).stdout).unwrap();
    assert!(gc.contains("A hunt is running"), "{gc}");
    fs::write(&gate, "").unwrap();
    let first = json::read(&first.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(first.status, Status::Found);
}

#[test]
fn jobs_2_finds_what_jobs_1_finds() {
    let fixture = Fixture::of(HISTORY);
    let one = fixture.report(&["-j1", "grep -q 3 value"]);
    let two = fixture.report(&["-j2", "--no-cache", "grep -q 3 value"]);
    assert_eq!(finding(&one), finding(&two));
    let configured = fixture.sh(&format!(
        "git -c idd.jobs=2 -c alias.idd='!{}' idd --no-cache --json 'grep -q 3 value' 2> /dev/null",
        env!("CARGO_BIN_EXE_git-idd")
    ));
    assert_eq!(finding(&json::read(configured.as_bytes()).unwrap()), finding(&one));
}

#[test]
fn jobs_2_with_a_test_that_cannot_run_twice_at_once_falls_back_to_one() {
    let fixture = Fixture::of(HISTORY);
    // From the second run on, the lock is kept until another run has found it taken.
    let test = format!(
        "echo >>{place}/begun; mkdir {place}/lock || {{ : >{place}/taken; echo locked; exit 9; }}
         [ $(wc -l <{place}/begun) -lt 2 ] || until [ -e {place}/taken ]; do sleep 0.01; done
         rmdir {place}/lock; grep -q 3 value",
        place = fixture.place().display()
    );
    let output = fixture.run(&["--json", "-j2", &test]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("differently when it runs twice at once; going on with one run at a time"), "{stderr}");
    let report = json::read(&output.stdout).unwrap();
    assert_eq!(report.status, Status::Found);
    assert_eq!(finding(&report).first_bad, finding(&fixture.report(&["grep -q 3 value"])).first_bad);
}

#[test]
fn what_was_guessed_in_vain_is_ended() {
    let fixture = Fixture::of(HISTORY);
    let before = fixture.state();
    let one = fixture.report(&["-j1", "grep -q 3 value"]);
    let log = fixture.place().join("asked");
    // The walk never comes to the second change, but with eight workers it is tried all the same, and would never end.
    let test = format!(
        "if [ $(wc -l < log) = 2 ] && grep -q 3 value; then : > {}; sleep 1000; fi; grep -q 3 value",
        log.display()
    );
    let eight = fixture.report(&["-j8", "--no-cache", &test]);
    assert_eq!((eight.status, eight.first_bad), (Status::Found, one.first_bad));
    assert!(log.exists());
    assert_eq!(fixture.processes_left(), Vec::<String>::new());
    assert_eq!(fixture.state(), before);
}
