//! Hunts that are killed, interrupted, out of budget or out of disk, and go on.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use idd_report::{Probes, Report, Status, json};
use idd_world::journal::{self, Replay};

use crate::fixture::Fixture;
use crate::plain::{self, git};

/// Two lines of one commit break the test only together, among noise; the fix has to be carried.
const HISTORY: &str = "
    printf 'a=1\\nx\\ny\\nb=1\\nz\\nc=1\\n' > values
    for n in 1 2 3 4 5 6 7 8 9; do
        echo $n >> log
        if [ $n = 4 ]; then sed -i 's/a=1/a=2/; s/b=1/b=2/; s/c=1/c=2/' values; seq 1 5 > noise; fi
        if [ $n = 7 ]; then sed -i 's/^z/moved/' values; fi
        commit \"change $n\"
    done
";

/// Writes down every run; what stands in front of it decides what the run is like.
fn test_command(fixture: &Fixture, prefix: &str) -> String {
    let log = fixture.place().join("runs");
    format!("echo $IDD_TREE >> {}; {prefix} ! grep -q a=2 values || ! grep -q b=2 values", log.display())
}

/// How often each tree was tested.
fn runs(fixture: &Fixture) -> BTreeMap<String, usize> {
    let mut runs = BTreeMap::new();
    for tree in fs::read_to_string(fixture.place().join("runs")).unwrap().lines() {
        *runs.entry(tree.to_owned()).or_default() += 1;
    }
    runs
}

/// What is the same however a hunt was interrupted.
fn stable(report: &Report) -> Report {
    Report { probes: Probes::default(), seconds: 0.0, hunt: None, log: None, notes: Vec::new(), ..report.clone() }
}

fn report_of(output: &Output) -> Report {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("panicked"), "{stderr}");
    json::read(&output.stdout)
        .unwrap_or_else(|error| panic!("stdout is no report ({error}), {}\n{stderr}", output.status))
}

fn segments(fixture: &Fixture) -> Vec<PathBuf> {
    journal::segments(&fixture.repo().join(".git/idd")).unwrap().into_iter().map(|(_, path)| path).collect()
}

fn start(fixture: &Fixture, args: &[&str]) -> Child {
    let mut command = fixture.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until the only journal holds so many lines, or the hunt has ended.
fn wait_for_records(fixture: &Fixture, child: &mut Child, n_records: usize) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline && child.try_wait().unwrap().is_none() {
        let lines = segments(fixture).first().and_then(|path| fs::read(path).ok()).unwrap_or_default();
        if lines.split(|byte| *byte == b'\n').count() > n_records {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn signal(child: &Child, name: &str) {
    // The child is not reaped yet, so its number is its own.
    let output = Command::new("kill").args([name, &child.id().to_string()]).output().unwrap();
    // It may have come to its end in between.
    assert!(output.status.success() || String::from_utf8_lossy(&output.stderr).contains("No such process"));
}

struct Uninterrupted {
    report: Report,
    runs: BTreeMap<String, usize>,
    n_records: usize,
}

/// The hunt as it goes if nothing comes in between; made once.
fn uninterrupted() -> &'static Uninterrupted {
    static MADE: OnceLock<Uninterrupted> = OnceLock::new();
    MADE.get_or_init(hunt_uninterrupted)
}

fn hunt_uninterrupted() -> Uninterrupted {
    let fixture = Fixture::of(HISTORY);
    let report = fixture.report(&[&test_command(&fixture, "")]);
    assert_eq!(report.status, Status::Found);
    assert_eq!(report.first_bad.as_ref().unwrap().commit.subject, "change 4".into());
    assert_eq!(report.change.sufficient.as_ref().unwrap().lines, 4);
    let n_records = journal::read(&segments(&fixture)[0]).unwrap().records.len();
    Uninterrupted { report, runs: runs(&fixture), n_records }
}

/// Runs of `later` that are not in `earlier`; all of `earlier` must be there.
#[track_caller]
fn extra_runs(earlier: &BTreeMap<String, usize>, later: &BTreeMap<String, usize>) -> usize {
    for (tree, n_runs) in earlier {
        assert!(later.get(tree).is_some_and(|n_later| n_later >= n_runs), "tree {tree} was tested less often");
    }
    later.values().sum::<usize>() - earlier.values().sum::<usize>()
}

#[track_caller]
fn check_nothing_is_left(fixture: &Fixture, before: &BTreeMap<String, String>) {
    assert_eq!(fixture.processes_left(), Vec::<String>::new());
    assert_eq!(fixture.sandboxes_left(), Vec::<PathBuf>::new());
    assert_eq!(&fixture.state(), before);
}

/// Kills a hunt after so many records, lets it go on, and compares.
fn kill_and_resume(expected: &Uninterrupted, n_records: usize, with_resume: bool) {
    let what = format!("killed after {n_records} records");
    let fixture = Fixture::of(HISTORY);
    let before = fixture.state();
    let test = test_command(&fixture, "");
    let mut child = start(&fixture, &["--json", &test]);
    wait_for_records(&fixture, &mut child, n_records);
    signal(&child, "-KILL");
    let status = child.wait().unwrap();
    if status.signal() != Some(9) {
        assert_eq!(status.code(), Some(0), "{what}: it came to its end before the kill");
        return;
    }
    let args: &[&str] = if with_resume { &["resume"] } else { &[&test] };
    let report = fixture.report(args);
    assert_eq!(stable(&report), stable(&expected.report), "{what}");
    let n_extra = extra_runs(&expected.runs, &runs(&fixture));
    assert!(n_extra <= 1, "{what}: {n_extra} runs were repeated");
    assert_eq!(segments(&fixture).len(), 1, "{what}: the same hunt went on");
    check_nothing_is_left(&fixture, &before);
}

#[test]
fn the_costs_of_a_resumed_hunt_are_those_of_all_its_runs_of_the_program() {
    let fixture = Fixture::of(HISTORY);
    let test = test_command(&fixture, "sleep 0.05;");
    let n_runs = || runs(&fixture).values().sum::<usize>() as u64;
    let said = |args: &[&str]| {
        let output = fixture.run(args);
        (report_of(&fixture.run(&[args, &["--json"]].concat())), String::from_utf8(output.stdout).unwrap())
    };
    let mut seconds = 0.0;
    let mut check = |what: &str, n_running: u64| {
        let (status, printed) = said(&["status"]);
        let probes = status.probes.clone();
        assert!(printed.contains(&format!("probes:    {} completed, in ", probes.run)), "{what}: {printed}");
        assert!(probes.run == n_runs() || probes.run + n_running == n_runs(), "{what}: {probes:?}, {}", n_runs());
        assert!(status.seconds >= 0.05 * f64::from(u32::try_from(probes.run).unwrap()), "{what}: {} s", status.seconds);
        assert!(status.seconds > seconds, "{what}: {} after {seconds} s", status.seconds);
        seconds = status.seconds;
        let (shown, printed) = said(&["show", "--full"]);
        assert_eq!((shown.probes, shown.seconds), (probes.clone(), seconds), "{what}");
        assert!(printed.contains(&format!("probes: {} run (", probes.run)), "{what}: {printed}");
        let parts = [probes.reproduce, probes.search, probes.repair, probes.reduce, probes.port, probes.verify];
        assert_eq!(parts.iter().sum::<u64>(), probes.run, "{what}: {probes:?}");
    };
    assert_eq!(fixture.report(&["-j1", "--max-probes", "3", &test]).status, Status::Budget);
    check("the first run", 0);
    assert_eq!(fixture.report(&["resume", "--max-probes", "2"]).status, Status::Budget);
    check("resumed", 0);
    let n_counted = || Replay::read(&segments(&fixture)[0]).unwrap().counts.values().sum::<u64>();
    let n_before = n_counted();
    let mut child = start(&fixture, &["resume", "--max-probes", "1000"]);
    while n_counted() < n_before + 2 && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(5));
    }
    signal(&child, "-KILL");
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    // The probe that was killed does not count.
    check("killed", 1);
    assert_eq!(fixture.report(&["resume", "--max-probes", "1000"]).status, Status::Found);
    check("ended", 1);
}

#[test]
fn resume_after_kill_repeats_no_completed_probe_and_finds_the_same() {
    const N_KILLS: usize = 12;
    let expected = uninterrupted();
    let mut seed: usize = 20_240_101;
    for n in 0..N_KILLS {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // The first two records stand before anything can be resumed. Somewhere in each part of the rest, so that none is left out.
        let part = (expected.n_records - 5) / N_KILLS;
        let n_records = 3 + n * part + (seed >> 33) % part.max(1);
        kill_and_resume(expected, n_records, n % 2 == 0);
    }
}

#[test]
fn a_hunt_killed_again_and_again_comes_to_its_end() {
    let expected = uninterrupted();
    let fixture = Fixture::of(HISTORY);
    let test = test_command(&fixture, "");
    let mut n_kills = 0;
    for n in 1..6 {
        let mut child = start(&fixture, &["--json", &test]);
        wait_for_records(&fixture, &mut child, n * expected.n_records / 6);
        signal(&child, "-KILL");
        n_kills += usize::from(child.wait().unwrap().signal() == Some(9));
    }
    let report = fixture.report(&["resume"]);
    assert_eq!(stable(&report), stable(&expected.report));
    assert!(extra_runs(&expected.runs, &runs(&fixture)) <= n_kills);
}

#[test]
fn kill_leaves_a_daemon_that_resume_ends() {
    let fixture = Fixture::of(HISTORY);
    let before = fixture.state();
    let block = fixture.place().join("block");
    let daemon = format!("if [ -e {} ]; then (setsid sleep 345 > /dev/null 2>&1 &); sleep 345; fi;", block.display());
    let test = test_command(&fixture, &daemon);
    fs::write(&block, "").unwrap();
    let mut child = start(&fixture, &["--json", &test]);
    wait_for_records(&fixture, &mut child, 4);
    let is_daemon_there =
        || fixture.processes_left().iter().filter(|command| command.starts_with("sleep")).count() >= 2;
    let deadline = Instant::now() + Duration::from_secs(20);
    while !is_daemon_there() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(2));
    }
    signal(&child, "-KILL");
    child.wait().unwrap();
    assert!(
        fixture.processes_left().iter().any(|command| command.starts_with("sleep")),
        "the daemon outlives the kill"
    );
    fs::remove_file(&block).unwrap();
    assert_eq!(fixture.report(&["resume"]).status, Status::Found);
    check_nothing_is_left(&fixture, &before);
}

#[test]
fn another_hunt_ends_what_a_killed_one_left() {
    let fixture = Fixture::of(HISTORY);
    let before = fixture.state();
    let block = fixture.place().join("block");
    fs::write(&block, "").unwrap();
    let prefix = format!("if [ -e {} ]; then setsid sleep 346; fi;", block.display());
    let mut child = start(&fixture, &[&test_command(&fixture, &prefix)]);
    wait_for_records(&fixture, &mut child, 4);
    signal(&child, "-KILL");
    child.wait().unwrap();
    assert!(!fixture.sandboxes_left().is_empty());
    let report = fixture.report(&["! grep -q a=2 values"]);
    assert_eq!(report.status, Status::Found);
    check_nothing_is_left(&fixture, &before);
}

#[test]
fn ctrl_c_ends_children_and_says_how_to_go_on() {
    let expected = uninterrupted();
    for name in ["-INT", "-TERM", "-HUP", "-QUIT"] {
        let fixture = Fixture::of(HISTORY);
        let before = fixture.state();
        let block = fixture.place().join("block");
        let prefix = format!("if [ -e {} ]; then sleep 347; fi;", block.display());
        let test = test_command(&fixture, &prefix);
        let mut child = start(&fixture, &[&test]);
        wait_for_records(&fixture, &mut child, 12);
        fs::write(&block, "").unwrap();
        let n_runs = || runs(&fixture).values().sum::<usize>();
        let deadline = Instant::now() + Duration::from_secs(20);
        while fixture.processes_left().iter().all(|command| !command.starts_with("sleep")) && Instant::now() < deadline
        {
            thread::sleep(Duration::from_millis(2));
        }
        let n_before = n_runs();
        let begin = Instant::now();
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        assert!(begin.elapsed() < Duration::from_secs(10), "{name}");
        assert_eq!(output.status.code(), Some(130), "{name}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("next: `git idd resume` goes on"), "{name}");
        check_nothing_is_left(&fixture, &before);
        assert_eq!(n_runs(), n_before, "{name}");
        fs::remove_file(&block).unwrap();
        let report = fixture.report(&["resume"]);
        assert_eq!(stable(&report), stable(&expected.report), "{name}");
        assert!(extra_runs(&expected.runs, &runs(&fixture)) <= 1, "{name}");
        check_nothing_is_left(&fixture, &before);
    }
}

/// All answers but those of reproduction are known, so that nothing runs which could notice an interrupt.
#[test]
fn ctrl_c_ends_a_hunt_that_lives_on_what_is_known() {
    /// Less than it has to say.
    const PIPE_BYTES: usize = 4096;
    let fixture = Fixture::of(
        "seq 1 40 > values; commit zero; seq 1 40 | sed 's/^/x/' >> values; commit one; echo more > other; commit two",
    );
    let args = ["-v", "--json", "-j1", "--", "test $(grep -c '^x' values) -lt 25"];
    assert_eq!(fixture.run(&args).status.code(), Some(0));
    let (reader, writer) = io::pipe().unwrap();
    rustix::pipe::fcntl_setpipe_size(&writer, PIPE_BYTES).unwrap();
    let mut command = fixture.command(&args);
    let mut child = command.stdout(Stdio::piped()).stderr(writer).spawn().unwrap();
    drop(command);
    // It waits for somebody to read what it says.
    let deadline = Instant::now() + Duration::from_secs(60);
    while rustix::io::ioctl_fionread(&reader).unwrap() + 256 < PIPE_BYTES as u64 {
        assert!(Instant::now() < deadline && child.try_wait().unwrap().is_none());
        thread::sleep(Duration::from_millis(5));
    }
    signal(&child, "-INT");
    let said = thread::spawn(move || io::read_to_string(reader).unwrap());
    let output = child.wait_with_output().unwrap();
    assert_eq!(report_of(&output).status, Status::Interrupted, "{}", said.join().unwrap());
    let again = fixture.run(&["resume"]);
    assert_eq!(again.status.code(), Some(0));
}

#[test]
fn with_several_jobs_a_killed_hunt_goes_on_and_an_interrupted_one_leaves_nothing() {
    let expected = uninterrupted();
    for (name, n_records) in [("-KILL", 9), ("-KILL", 30), ("-INT", 9), ("-INT", 30)] {
        let fixture = Fixture::of(HISTORY);
        let before = fixture.state();
        let test = test_command(&fixture, "");
        let mut child = start(&fixture, &["-j3", "--json", &test]);
        wait_for_records(&fixture, &mut child, n_records);
        signal(&child, name);
        let status = child.wait().unwrap();
        if status.code() != Some(0) {
            if name == "-INT" {
                assert_eq!(status.code(), Some(130));
                check_nothing_is_left(&fixture, &before);
            }
            let report = fixture.report(&["resume"]);
            let found =
                |report: &Report| (report.status, report.first_bad.clone(), report.change.clone(), report.fix.clone());
            assert_eq!(found(&report), found(&expected.report), "{name} after {n_records} records");
            assert_eq!(segments(&fixture).len(), 1, "the same hunt went on");
        }
        check_nothing_is_left(&fixture, &before);
    }
}

#[test]
fn max_probes_stops_with_6_and_resume_goes_on() {
    let expected = uninterrupted();
    let fixture = Fixture::of(HISTORY);
    let before = fixture.state();
    let test = test_command(&fixture, "");
    let mut report = fixture.report(&["--max-probes", "4", &test]);
    let mut n_sessions = 1;
    while report.status == Status::Budget {
        assert_eq!(report.probes.run, 4 * n_sessions, "all sessions together");
        check_nothing_is_left(&fixture, &before);
        report = fixture.report(&["resume"]);
        n_sessions += 1;
        assert!(n_sessions < 40);
    }
    assert!(n_sessions > 3);
    assert_eq!(stable(&report), stable(&expected.report));
    let counts = |report: &Report| Probes { outcomes: BTreeMap::new(), ..report.probes.clone() };
    assert_eq!(counts(&report), counts(&expected.report), "as if it had not been stopped");
    assert_eq!(runs(&fixture), expected.runs);
    check_nothing_is_left(&fixture, &before);
}

#[test]
fn started_by_git_or_by_itself_it_is_the_same_hunt() {
    let fixture = Fixture::of(HISTORY);
    let first = fixture.report(&["--max-probes", "4", &test_command(&fixture, "")]);
    assert_eq!((first.status, first.probes.run), (Status::Budget, 4));
    let line = format!("git -c alias.idd='!{}' idd resume --json || true", env!("CARGO_BIN_EXE_git-idd"));
    let seen = fixture.sh(&line);
    assert_eq!(json::read(seen.as_bytes()).unwrap().probes.run, 8);
    assert_eq!(segments(&fixture).len(), 1, "the same hunt went on");
}

#[test]
fn budget_stops_with_6_and_the_same_command_goes_on_without_it() {
    let expected = uninterrupted();
    let fixture = Fixture::of(HISTORY);
    let test = test_command(&fixture, "sleep 0.1;");
    let report = fixture.report(&["--budget", "350ms", &test]);
    assert_eq!(report.status, Status::Budget);
    let report = fixture.report(&[&test]);
    assert_eq!(stable(&report), stable(&expected.report));
    // What the end of the budget cut was run again.
    let runs = runs(&fixture);
    let n_more = runs.values().sum::<usize>() - expected.runs.values().sum::<usize>();
    assert!(runs.len() == expected.runs.len() && n_more <= 1, "{runs:?}");
}

#[test]
fn resume_of_an_ended_hunt_shows_its_finding() {
    let fixture = Fixture::of(HISTORY);
    let report = fixture.report(&[&test_command(&fixture, "")]);
    let n_runs = runs(&fixture);
    assert_eq!(fixture.report(&["resume"]), report);
    assert_eq!(runs(&fixture), n_runs);
}

#[test]
fn resume_without_a_hunt_is_an_error_with_a_hint() {
    let fixture = Fixture::of(HISTORY);
    let output = fixture.run(&["resume"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("no hunt in this worktree") && stderr.contains("hint: "), "{stderr}");
}

#[test]
fn resume_after_the_test_script_changed_starts_over_and_says_so() {
    let fixture =
        Fixture::of(&format!("printf '#!/bin/sh\\n! grep -q a=2 values\\n' > t.sh; chmod +x t.sh\n{HISTORY}"));
    assert_eq!(fixture.report(&["--max-probes", "3", "./t.sh"]).status, Status::Budget);
    fixture.sh("echo '# edited' >> t.sh");
    let output = fixture.run(&["--json", "resume"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("its conditions changed (the held file `t.sh`); starting over"), "{stderr}");
    assert_eq!(report_of(&output).status, Status::Budget);
}

#[test]
fn resume_takes_another_budget_whatever_is_configured() {
    let fixture = Fixture::of(HISTORY);
    let test = test_command(&fixture, "");
    assert_eq!(fixture.report(&["--max-probes", "4", &test]).probes.run, 4);
    fixture.sh("git config idd.maxProbes 7");
    assert_eq!(fixture.report(&["resume"]).probes.run, 8);
    assert_eq!(fixture.report(&["resume", "--max-probes", "2"]).probes.run, 10);
    assert_eq!(fixture.report(&["resume", "--max-probes", "1000"]).status, Status::Found);
}

/// Kills a hunt in its middle.
fn half(fixture: &Fixture, test: &str) {
    let mut child = start(fixture, &[test]);
    wait_for_records(fixture, &mut child, 30);
    signal(&child, "-KILL");
    assert_eq!(child.wait().unwrap().signal(), Some(9));
}

#[test]
fn a_damaged_end_of_the_journal_is_set_aside_and_the_finding_is_the_same() {
    let expected = uninterrupted();
    let append = |path: &Path, bytes: &[u8]| {
        let mut all = fs::read(path).unwrap();
        all.extend_from_slice(bytes);
        fs::write(path, all).unwrap();
    };
    let halve = |path: &Path| {
        let mut all = fs::read(path).unwrap();
        all.truncate(all.len() * 2 / 3);
        all.push(b'x');
        fs::write(path, all).unwrap();
    };
    let garble = |path: &Path| {
        let mut all = fs::read(path).unwrap();
        let middle = all.len() / 2;
        all[middle] ^= 1;
        fs::write(path, all).unwrap();
    };
    let damages: [&dyn Fn(&Path); 4] =
        [&|path| append(path, b"0123 {\"observed\""), &|path| append(path, &[0; 5000]), &halve, &garble];
    for damage in damages {
        let fixture = Fixture::of(HISTORY);
        let before = fixture.state();
        half(&fixture, &test_command(&fixture, ""));
        damage(&segments(&fixture)[0]);
        let output = fixture.run(&["--json", "resume"]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("The journal was damaged at its end"), "{stderr}");
        assert_eq!(stable(&report_of(&output)), stable(&expected.report));
        check_nothing_is_left(&fixture, &before);
    }
}

#[test]
fn a_damaged_index_is_made_anew_from_the_journals() {
    let expected = uninterrupted();
    let overwrite = "dd if=/dev/zero of=.git/idd/cache.sled/conf bs=1 count=30 seek=20 conv=notrunc 2> /dev/null";
    let replace = "for file in $(find .git/idd/cache.sled -type f); do echo garbage > $file; done";
    for (damage, is_reported) in [(overwrite, true), (replace, false)] {
        let fixture = Fixture::of(HISTORY);
        let test = test_command(&fixture, "");
        assert_eq!(fixture.report(&["--max-probes", "9", &test]).status, Status::Budget);
        fixture.sh(damage);
        let output = fixture.run(&["--json", &test]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        // An index without any content is an empty one.
        assert!(!is_reported || stderr.contains("The index of known results was damaged"), "{stderr}");
        assert_eq!(stable(&report_of(&output)), stable(&expected.report));
        assert_eq!(fixture.repo().join(".git/idd/cache.sled.damaged-0").exists(), is_reported);
        // The next hunt finds a sound index, and knows everything that was not asked for afresh.
        let again = fixture.run(&["--json", &test]);
        assert!(!String::from_utf8_lossy(&again.stderr).contains("damaged"));
        let probes = report_of(&again).probes;
        assert_eq!(probes.run, probes.reproduce + probes.verify);
    }
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_and_the_hunt_goes_on_later() {
    let expected = uninterrupted();
    for blocks in [2, 8, 16] {
        let fixture = Fixture::of(HISTORY);
        let before = fixture.state();
        let test = test_command(&fixture, "");
        let mut command = fixture.command(&["--json", &test]);
        let program = command.get_program().to_owned();
        let args: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        let mut limited = Command::new("sh");
        limited.arg("-c").arg(format!("ulimit -f {blocks}; exec \"$0\" \"$@\"")).arg(program).args(args);
        limited.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command = limited;
        let output = command.current_dir(fixture.repo()).output().unwrap();
        let report = report_of(&output);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(i32::from(report.status.code())), "{blocks} blocks: {stderr}");
        if report.status == Status::Error {
            let error = report.error.unwrap();
            assert!(
                String::from_utf8_lossy(error.message.as_bytes()).contains("File too large"),
                "{blocks}: {error:?}"
            );
            assert!(error.hint.is_some(), "{blocks}: {error:?}");
        }
        assert_eq!(fixture.processes_left(), Vec::<String>::new());
        let report = fixture.report(&[&test]);
        assert_eq!(stable(&report), stable(&expected.report), "{blocks} blocks");
        check_nothing_is_left(&fixture, &before);
    }
}

#[test]
fn a_full_disk_is_an_error_and_the_hunt_goes_on_when_there_is_space() {
    let fixture = Fixture::of("mkdir \"$PLACE/disk\"");
    let disk = fixture.place().join("disk");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=3m", "tmpfs"]).arg(&disk).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        // Only root may mount; the limit on the size of files shows the same elsewhere.
        return;
    }
    let unmount = || Command::new("umount").arg("-l").arg(&disk).status().unwrap();
    let worked = std::panic::catch_unwind(|| {
        fixture.sh(&format!("git init -q -b main \"$PLACE/disk/r\"; cd \"$PLACE/disk/r\"\n{HISTORY}"));
        let run = |args: &[&str]| fixture.command(args).current_dir(disk.join("r")).output().unwrap();
        // It stops as soon as something does not fit, and never harms what is there.
        fs::write(disk.join("ballast"), vec![1; 2_000_000]).unwrap();
        while fs::write(disk.join(format!("b{}", fs::read_dir(&disk).unwrap().count())), vec![1; 60_000]).is_ok() {}
        let full = run(&["--json", "! grep -q a=2 values"]);
        let report = report_of(&full);
        assert_eq!(report.status, Status::Error);
        let error = report.error.unwrap();
        assert!(String::from_utf8_lossy(error.message.as_bytes()).contains("No space left"), "{error:?}");
        fs::remove_file(disk.join("ballast")).unwrap();
        let report = report_of(&run(&["--json", "! grep -q a=2 values"]));
        assert_eq!(report.status, Status::Found);
    });
    assert!(unmount().success());
    worked.unwrap();
}

#[test]
fn what_a_test_prints_otherwise_in_each_run_is_known_in_a_resumed_hunt_too() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    git(place, &["init", "--quiet", "."]);
    let test =
        "echo \"job $(date +%N) begins\"\ngrep -q 'limit = 1;' source || { echo 'the limit is wrong'; exit 1; }\n";
    fs::write(place.join("t.sh"), test).unwrap();
    for n in 1..7 {
        let (limit, other) = if n < 4 { (1, 5) } else { (2, 7) };
        fs::write(place.join("source"), format!("int other = {other};\nint limit = {limit};\nint n = {n};\n")).unwrap();
        git(place, &["add", "."]);
        git(place, &["commit", "--quiet", "-m", &format!("change {n}")]);
    }
    let (said, progress, code) = plain::idd(place, &["--until", "commit", "sh", "./t.sh"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    let (said, progress, code) = plain::idd(place, &["resume", "--until", "fix"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(said.contains("(2 of 6 lines)"), "{said}{progress}");
    assert!(said.contains("- int limit = 1;") && !said.contains("int other"), "{said}{progress}");
}
