//! Hunts whose probes run on a service of the Remote Execution API, also on one that fails.

mod service;

use crate::fixture::Fixture;
use idd_report::{Report, Status};
use rustix::process::{Pid, Signal, kill_process};
use service::{CERTIFICATES, Fault, Service};
use std::io::Write as _;
use std::net::TcpListener;
use std::process::Stdio;
use std::time::{Duration, Instant};
use std::{io, thread};

/// Twelve revisions; the test fails since the seventh, where one of three lines of a change does it.
const STORY: &str = r#"
printf 'one\ntwo\nthree\nfour\nfive\n' > words
mkdir -p src/deep
echo 1 > src/deep/number
printf '#!/bin/sh\n. ./check.sh\n' > test.sh
chmod +x test.sh
printf 'grep -q four words && exit 0\necho "no four in words"\nexit 1\n' > check.sh
ln -s src/deep/number link
commit 'Begin'
for i in 2 3 4 5 6; do echo $i > src/deep/number; commit "Count to $i"; done
printf 'ONE\ntwo\nthree\nvier\nfive\nsix\n' > words
commit 'Say it differently'
for i in 8 9 10 11; do echo $i > src/deep/number; commit "Count to $i"; done
"#;

fn hunt(fixture: &Fixture, service: &Service, more: &[&str]) -> Report {
    let url = service.url();
    let args: Vec<&str> = more.iter().copied().chain(["--remote", &url, "--", "./test.sh"]).collect();
    fixture.report(&args)
}

/// What a hunt in [`STORY`] finds.
#[track_caller]
fn check_found(report: &Report) {
    check_commit(report);
    assert_eq!(report.change.sufficient.as_ref().unwrap().lines, 2);
}

fn check_commit(report: &Report) {
    assert_eq!(report.status, Status::Found, "{report:?}");
    assert_eq!(report.first_bad.as_ref().unwrap().commit.subject, "Say it differently".into());
    assert_eq!(report.last_good.as_ref().unwrap().subject, "Count to 6".into());
}

#[test]
fn a_hunt_on_a_service_finds_what_one_on_this_machine_finds() {
    let (fixture, service) = (Fixture::of(STORY), Service::start());
    let before = fixture.state();
    check_found(&hunt(&fixture, &service, &["--no-cache"]));
    assert_eq!(fixture.state(), before);
    let state = service.state();
    assert!(state.n_executed > 10);
    assert_eq!(state.variables.iter().map(String::as_str).collect::<Vec<_>>(), ["PATH"]);
    drop(state);
    check_found(&fixture.report(&["--no-cache", "--", "./test.sh"]));
}

#[test]
fn results_are_shared_through_the_service_but_never_for_a_claim() {
    let service = Service::start();
    let first = Fixture::of(STORY);
    check_found(&hunt(&first, &service, &[]));
    let n_first = service.state().n_executed;
    // Another clone of the same history, with a cache of its own.
    let second = Fixture::of(STORY);
    check_found(&hunt(&second, &service, &[]));
    let n_second = service.state().n_executed - n_first;
    assert!(n_second + 10 < n_first, "{n_second} of {n_first}");
    // Runs that reproduce the failure, the question for the programs, and eight claims.
    assert!(n_second >= 10, "{n_second}");
}

/// What a hunt with faults has shown.
struct Survived {
    /// Whether it found the commit and the lines; if not, it ended with an error that names the service.
    is_right: bool,
    n_actions: usize,
    n_faults: usize,
}

/// A hunt with a fault in each `every`th chance: right, or an error that names the service.
#[track_caller]
fn survives(fault: Fault, every: usize) -> Survived {
    let (fixture, service) = (Fixture::of(STORY), Service::start());
    service.state().every = every;
    service.state().faults = vec![fault];
    let url = service.url();
    let mut args = vec!["--json", "--until", "change", "--remote", &url, "--", "./test.sh"];
    if fault != Fault::Foreign {
        args.insert(0, "--no-cache");
    }
    let output = fixture.run(&args);
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!stderr.contains("panicked"), "{fault:?} {every}: {stderr}");
    let n_faults = service.state().happened.get(&fault).copied().unwrap_or_default();
    assert!(n_faults > 0, "{fault:?} {every}: it never happened");
    let is_right = matches!(output.status.code(), Some(0 | 8));
    if is_right {
        check_found(&idd_report::json::read(&output.stdout).unwrap());
    } else {
        assert!(stderr.contains(&url), "{fault:?} {every}: {stdout} {stderr}");
    }
    let n_actions = service.state().n_executed;
    Survived { is_right, n_actions, n_faults }
}

/// The variable with the intervals of faults; docs/bench-wide.md has a table of more of them.
const INTERVALS: &str = "IDD_FAULT_INTERVALS";

#[test]
fn a_fault_of_every_third_chance_changes_no_finding() {
    let intervals = std::env::var(INTERVALS).unwrap_or_else(|_| "3".to_owned());
    for fault in Fault::ALL {
        let every = intervals.split(' ').map(|every| every.parse().unwrap());
        let survived: Vec<Survived> = every.map(|every| survives(fault, every)).collect();
        let sum = |count: fn(&Survived) -> usize| survived.iter().map(count).sum::<usize>();
        let (n_actions, n_faults) = (sum(|hunt| hunt.n_actions), sum(|hunt| hunt.n_faults));
        let n_right = sum(|hunt| usize::from(hunt.is_right));
        writeln!(io::stdout(), "| {fault:?} | {} | {n_actions} | {n_faults} | {n_right} |", survived.len()).unwrap();
        assert!(intervals != "3" || survived[0].is_right, "{fault:?}");
    }
}

#[test]
fn a_service_that_always_fails_is_named_and_no_outcome_is_invented() {
    for fault in [Fault::DeadWorker, Fault::KilledScript, Fault::LostAction, Fault::WrongOutput] {
        assert!(!survives(fault, 1).is_right, "{fault:?}");
    }
}

#[test]
fn all_faults_together_change_no_finding() {
    let (fixture, service) = (Fixture::of(STORY), Service::start());
    service.state().every = 23;
    service.state().faults = Fault::ALL.to_vec();
    check_found(&hunt(&fixture, &service, &["--no-cache"]));
    assert!(service.state().happened.len() > 3, "{:?}", service.state().happened);
}

#[test]
fn a_cache_that_lies_is_found_out_by_the_claims() {
    let (fixture, service) = (Fixture::of(STORY), Service::start());
    service.state().lies = true;
    let url = service.url();
    let (_, stderr) = fixture.said(&["--until", "change", "--remote", &url, "--", "./test.sh"], 0);
    assert!(stderr.contains("A clean run contradicts"), "{stderr}");
    check_found(&fixture.report(&["show"]));
}

#[test]
fn a_service_may_ask_for_a_token_which_comes_from_a_file() {
    let (fixture, service) = (Fixture::of(STORY), Service::start());
    service.state().token = Some("s3cret".to_owned());
    let url = service.url();
    let (_, stderr) = fixture.said(&["--remote", &url, "--", "./test.sh"], 1);
    assert!(stderr.contains("no token, or another one"), "{stderr}");
    fixture.sh("echo s3cret > ../token; git config idd.remoteTokenFile \"$PLACE/token\"");
    check_found(&hunt(&fixture, &service, &[]));
    let journals = fixture.sh("grep -rl s3cret .git || true");
    assert_eq!(journals, "");
}

/// Names the files of certificates in the configuration of a repository.
fn use_certificates(fixture: &Fixture, names: &[(&str, &str)]) {
    for (key, name) in names {
        fixture.git(&["config", &format!("idd.remote{key}"), &format!("{CERTIFICATES}/{name}")]);
    }
}

#[test]
fn an_encrypted_service_is_used_if_its_certificate_is_signed_and_for_its_host() {
    let fixture = Fixture::of(STORY);
    let check = |service: &Service, expected: &str| {
        let (_, stderr) = fixture.said(&["--remote", &service.url(), "--", "./test.sh"], 1);
        assert!(stderr.contains(expected) && stderr.contains(&service.url()), "{expected}: {stderr}");
        assert_eq!(service.state().n_executed, 0);
    };
    let (service, other) = (Service::encrypted("service", false), Service::encrypted("other", false));
    check(&service, "UnknownIssuer");
    use_certificates(&fixture, &[("Authorities", "authority.pem")]);
    check(&other, "certificate not valid for name \"127.0.0.1\"");
    check_found(&hunt(&fixture, &service, &[]));
}

#[test]
fn a_service_that_asks_for_a_certificate_gets_it() {
    let (fixture, service) = (Fixture::of(STORY), Service::encrypted("service", true));
    use_certificates(&fixture, &[("Authorities", "authority.pem")]);
    let (_, stderr) = fixture.said(&["--remote", &service.url(), "--", "./test.sh"], 1);
    assert!(stderr.contains("hint: perhaps the service asks for your certificate"), "{stderr}");
    use_certificates(&fixture, &[("Certificate", "client.pem"), ("Key", "client.key")]);
    check_found(&hunt(&fixture, &service, &[]));
}

#[test]
fn a_certificate_needs_its_key_and_every_documented_key_is_known() {
    let fixture = Fixture::of(STORY);
    fixture.sh("for key in TokenFile Authorities Key; do git config idd.remote$key /absent; done");
    let (_, stderr) = fixture.said(&["--remote", "grpcs://localhost:1", "--", "./test.sh"], 129);
    assert!(stderr.contains("one of `idd.remoteCertificate` and `idd.remoteKey` is missing"), "{stderr}");
    assert!(!stderr.contains("is unknown"), "{stderr}");
    fixture.sh("git config idd.remoteCertificate /absent");
    let (_, stderr) = fixture.said(&["--remote", "grpcs://localhost:1", "--", "./test.sh"], 1);
    assert!(stderr.contains("failed to read `/absent`") && !stderr.contains("is unknown"), "{stderr}");
}

#[test]
fn only_named_variables_are_sent_and_none_that_looks_like_a_secret() {
    let (fixture, service) = (Fixture::of(STORY), Service::start());
    fixture.sh("git config --add idd.remoteEnv LC_ALL; git config --add idd.remotePlatform OSFamily=linux");
    check_found(&hunt(&fixture, &service, &[]));
    let mut names: Vec<String> = service.state().variables.iter().cloned().collect();
    names.sort();
    assert_eq!(names, ["LC_ALL", "PATH"]);
    fixture.sh("git config --add idd.remoteEnv NPM_TOKEN; git config --add idd.remoteEnv DB_PASSWORD");
    let url = service.url();
    let (_, stderr) = fixture.said(&["--remote", &url, "--", "./test.sh"], 129);
    assert!(stderr.contains("NPM_TOKEN, DB_PASSWORD"), "{stderr}");
    assert!(!stderr.contains("is unknown"), "{stderr}");
}

#[test]
fn a_connection_without_encryption_leaves_this_machine_never() {
    let fixture = Fixture::of(STORY);
    for url in ["grpc://192.0.2.1:8980", "http://build.example.org"] {
        let begin = Instant::now();
        let (_, stderr) = fixture.said(&["--remote", url, "--", "./test.sh"], 1);
        assert!(stderr.contains("is not encrypted and not on this machine"), "{stderr}");
        assert!(begin.elapsed() < Duration::from_secs(5));
    }
    let (_, stderr) = fixture.said(&["--remote", "ftp://x", "--", "./test.sh"], 129);
    assert!(stderr.contains("`ftp://` is not known"), "{stderr}");
}

#[test]
fn large_files_and_long_outputs_go_in_parts() {
    let service = Service::start();
    service.state().batch_bytes = 65_536;
    let fixture = Fixture::of(
        r#"
head -c 1000000 /dev/zero > large
head -c 300000 /dev/zero | tr '\0' 'x' > middle
printf '#!/bin/sh\nseq 30000\ncat value\ntest "$(cat value)" = good\n' > test.sh
chmod +x test.sh
echo good > value; commit 'Begin'
echo bad > value; commit 'Break'
"#,
    );
    let report = hunt(&fixture, &service, &["--no-cache"]);
    assert_eq!(report.first_bad.unwrap().commit.subject, "Break".into());
    let state = service.state();
    assert!(state.calls["Write"] >= 2 && state.calls["Read"] >= 2, "{:?}", state.calls);
    assert!(state.uploaded.contains(&1_000_000));
}

#[test]
fn a_candidate_costs_four_calls_and_ten_kilobytes() {
    let service = Service::start();
    let fixture = Fixture::of(
        r#"
for i in $(seq 40); do mkdir -p "lib/part$i"; for j in $(seq 50); do echo "$i $j" > "lib/part$i/file$j"; done; done
seq 40 > lib/part7/list
printf '#!/bin/sh\n! grep -qx forty lib/part7/list\n' > test.sh
chmod +x test.sh
commit 'Begin'
{ seq 20 | sed 's/^/a/'; echo forty; seq 20 | sed 's/^/b/'; } > lib/part7/list
commit 'Break'
"#,
    );
    let report = hunt(&fixture, &service, &["--no-cache", "--until", "change", "-j", "1"]);
    assert_eq!(report.status, Status::Found);
    let state = service.state();
    let n_candidates = state.uploaded.len() - 2;
    // The first upload has all files; the second the revision before. From then on there are only differences.
    let largest = state.uploaded.iter().skip(2).max().copied().unwrap();
    assert!(largest < 10_000, "{:?}", state.uploaded);
    let n_calls: usize = state.calls.values().sum();
    assert!(n_calls <= 4 * state.n_executed + 8, "{n_candidates} candidates, {:?}", state.calls);
}

#[test]
fn a_test_that_hangs_is_ended_by_the_service() {
    let service = Service::start();
    let fixture = Fixture::of(
        r"
printf '#!/bin/sh\ntest -e stop || exit 0\nsleep 600\n' > test.sh
chmod +x test.sh
commit 'Begin'
touch stop; commit 'Stop'
",
    );
    let report = hunt(&fixture, &service, &["--timeout", "1", "--until", "commit"]);
    assert_eq!(report.first_bad.unwrap().commit.subject, "Stop".into());
    assert_eq!(report.signature.unwrap().ending, "timeout");
}

#[test]
fn an_interrupted_hunt_cancels_its_actions_and_goes_on_later() {
    let service = Service::start();
    let fixture = Fixture::of(&format!("{STORY}printf 'sleep 600\n' > slow; commit 'Slow'"));
    let url = service.url();
    let test = "test -e slow && sleep 600; ./test.sh";
    let mut command = fixture.command(&["--remote", &url, "--timeout", "500", "--", test]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while service.state().running.0 == 0 || service.state().n_executed < 2 {
        assert!(Instant::now() < end, "no action was started");
        thread::sleep(Duration::from_millis(20));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert!(!child.wait().unwrap().success());
    assert!(service.state().n_cancelled >= 1);
    let end = Instant::now() + Duration::from_secs(10);
    while service.state().running.0 > 0 {
        assert!(Instant::now() < end, "a cancelled action still runs");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_path_that_the_protocol_cannot_name_leaves_its_revision_untested() {
    let service = Service::start();
    let fixture =
        Fixture::of(&format!("{STORY}touch \"$(printf 'odd\\377')\"; commit 'Odd'; git rm -q odd*; commit 'Even'"));
    let report = hunt(&fixture, &service, &[]);
    check_found(&report);
    let url = service.url();
    let (_, stderr) = fixture.said(&["--bad", "HEAD~1", "--remote", &url, "--", "./test.sh"], 4);
    assert!(stderr.contains("its name is not UTF-8"), "{stderr}");
}

#[test]
fn many_actions_run_at_once() {
    let (fixture, service) = (Fixture::of(STORY), Service::start());
    // At other revisions than HEAD, each waits until eight have begun.
    let test = format!(
        "[ $(cat src/deep/number) = 11 ] || {{ echo >>'{begun}'; until [ $(wc -l <'{begun}') -ge 8 ]; do sleep 0.01; done; }}; ./test.sh",
        begun = fixture.place().join("begun").display()
    );
    check_found(&fixture.report(&["--no-cache", "-j", "200", "--remote", &service.url(), "--", &test]));
    assert!(service.state().running.1 >= 8, "{:?}", service.state().running);
}

/// A hunt with two workers of this machine beside a service; what they wrote of their runs, and standard error.
fn hunt_with_both(fixture: &Fixture, service: &Service, more: &[&str]) -> (String, String) {
    let here = fixture.place().join("here");
    // Only a worker of this machine sets it.
    let test = format!("[ -z \"$IDD_TREE\" ] || env | cut -d= -f1 >> '{}'; ./test.sh", here.display());
    let url = service.url();
    let args = [more, &["--no-cache", "--local-jobs", "2", "--remote", &url, "--", &test]].concat();
    let (_, stderr) = fixture.said(&args, 0);
    check_commit(&fixture.report(&["show"]));
    (std::fs::read_to_string(here).unwrap_or_default(), stderr)
}

#[test]
fn a_hunt_uses_workers_of_this_machine_beside_the_service_and_says_where_each_claim_ran() {
    // The failure needs two lines, so there are more claims at once than workers of this machine.
    let story = STORY.replace("grep -q four words", "grep -q \"four\\|one\" words");
    let (fixture, service) = (Fixture::of(&story), Service::start());
    let (here, stderr) = hunt_with_both(&fixture, &service, &["-j", "4"]);
    assert!(stderr.contains("This machine has the same programs, and runs up to 2 probes at once."), "{stderr}");
    assert!(service.state().n_executed > 3 && here.lines().filter(|name| *name == "IDD_TREE").count() > 3, "{here}");
    let mut names: Vec<&str> = here.lines().collect();
    names.sort_unstable();
    names.dedup();
    let of_shells = ["OLDPWD", "PWD", "SHLVL", "_"];
    names.retain(|name| !of_shells.contains(name));
    assert_eq!(names, ["HOME", "IDD_PROBE", "IDD_TREE", "IDD_WORKTREE", "PATH", "TMPDIR"]);
    let report = fixture.report(&["show"]);
    let (far, near): (Vec<_>, Vec<_>) = report.evidence.iter().partition(|claim| claim.place.is_some());
    assert!(!far.is_empty() && !near.is_empty(), "{:?}", report.evidence);
    assert!(far.iter().all(|claim| claim.place == Some(service.url().as_str().into())));
    let (text, _) = fixture.said(&["show", "--full"], 0);
    assert!(text.contains(", on this machine)") && text.contains(&format!(", on {})", service.url())), "{text}");
}

#[test]
fn a_test_that_ends_otherwise_on_the_service_than_here_ends_a_hunt_on_both() {
    let (fixture, service) = (Fixture::of(STORY), Service::start());
    let url = service.url();
    let hunt = |test: &str, code: i32| {
        let args = ["--local-jobs", "2", "-j", "4", "--no-cache", "--until", "commit", "--remote", &url, "--", test];
        fixture.said(&args, code)
    };
    for (test, there) in [
        ("[ -n \"$IDD_TREE\" ] || { echo 'no IDD_TREE'; exit 3; }; ./test.sh", "exit code 3: no IDD_TREE)"),
        ("[ -n \"$IDD_TREE\" ] || exit 0; ./test.sh", "exit code 0)"),
    ] {
        let (_, stderr) = hunt(test, 5);
        let expected = format!("the test ends differently on `{url}` ({there}");
        assert!(stderr.contains(&expected) && stderr.contains("without `--local-jobs`"), "{stderr}");
    }
    let (stdout, _) = hunt("./test.sh", 0);
    assert!(stdout.contains("Say it differently"), "{stdout}");
}

#[test]
fn a_hunt_with_one_job_runs_near() {
    let (fixture, service) = (Fixture::of(STORY), Service::start());
    let (here, _) = hunt_with_both(&fixture, &service, &["-j", "1"]);
    // The question for the programs.
    assert_eq!((service.state().n_executed, here.is_empty()), (1, false));
}

#[test]
fn a_machine_with_other_programs_than_the_service_runs_no_probe() {
    let (fixture, service) = (Fixture::of(STORY), Service::start());
    service.state().has_another_program = true;
    let (here, stderr) = hunt_with_both(&fixture, &service, &[]);
    assert!(stderr.contains("these programs differ from those of the service: kcc."), "{stderr}");
    assert_eq!(here, "");
}

#[test]
fn trouble_of_the_service_ends_a_hunt_on_both_and_the_workers_near_end_with_it() {
    let (fixture, service) = (Fixture::of(STORY), Service::start());
    let url = service.url();
    let mut command =
        fixture.command(&["--local-jobs", "1", "-j", "3", "--remote", &url, "--", "sleep 0.3; ./test.sh"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while service.state().n_executed < 3 {
        assert!(Instant::now() < end, "no action was started");
        thread::sleep(Duration::from_millis(20));
    }
    drop(service);
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && stderr.contains(&url), "{stderr}");
    // What is known is kept: the rest of the hunt needs no service.
    check_found(&fixture.report(&["--remote", "none", "--", "sleep 0.3; ./test.sh"]));
}

#[test]
fn a_service_says_what_it_can_do() {
    let (fixture, service) = (Fixture::of("commit 'Begin'"), Service::start());
    let (stdout, _) = fixture.said(&["remote", "check", &service.url()], 0);
    for line in ["protocol:     2.0 to 2.3, SHA-256", "time limits:  kept", "cancellation: taken", "programs:     sh"] {
        assert!(stdout.contains(line), "{stdout}");
    }
    assert!(stdout.contains("this machine: has the same"), "{stdout}");
    fixture.sh(&format!("git config idd.remote {}", service.url()));
    service.state().has_another_program = true;
    let (stdout, _) = fixture.said(&["remote", "check", "--json"], 0);
    assert!(stdout.contains(r#""cancels":true"#) && stdout.contains(r#""differing_here":["kcc"]"#), "{stdout}");
    fixture.sh("git config idd.remote none");
    let (_, stderr) = fixture.said(&["remote", "check"], 129);
    assert!(stderr.contains("no remote service is named"), "{stderr}");
}

#[test]
fn a_service_that_is_not_there_is_named() {
    let fixture = Fixture::of(STORY);
    let url = {
        let service = Service::start();
        service.url()
    };
    let (_, stderr) = fixture.said(&["--remote", &url, "--", "./test.sh"], 1);
    assert!(stderr.contains(&url) && stderr.contains("git idd remote check"), "{stderr}");
}

#[test]
fn the_output_of_a_build_is_not_that_of_the_test() {
    let (fixture, service) = (Fixture::of(STORY), Service::start());
    let build = "echo FAIL: compiling $(cat src/deep/number)";
    let url = service.url();
    let test = "./test.sh >/dev/null";
    let report = fixture.report(&["--build", build, "--remote", &url, "--", test]);
    check_found(&report);
    assert_eq!(report.signature.unwrap().line, None);
    // That of a build that fails is shown.
    let (_, stderr) = fixture.said(&["--build", "echo cannot compile; exit 1", "--remote", &url, "--", test], 4);
    assert!(stderr.contains("cannot compile"), "{stderr}");
}

#[test]
fn a_service_that_does_not_answer_can_be_interrupted() {
    let fixture = Fixture::of(STORY);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("grpc://{}", silent.local_addr().unwrap());
    let mut command = fixture.command(&["--remote", &url, "--", "./test.sh"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let _connection = silent.accept().unwrap();
    let begin = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(begin.elapsed() < Duration::from_secs(20));
}
