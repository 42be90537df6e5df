//! The commit at once, `--until` and `--effort`.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use idd_base::Outcome;
use idd_report::{Report, Status, json};

use crate::fixture::Fixture;

/// `change 4` breaks the test with two of its lines.
const HISTORY: &str = "
    printf 'a=1\\nx\\ny\\nb=1\\nz\\nc=1\\n' > values
    for n in 1 2 3 4 5 6 7 8 9; do
        echo $n >> log
        if [ $n = 4 ]; then sed -i 's/a=1/a=2/; s/b=1/b=2/; s/c=1/c=2/' values; seq 1 5 > noise; fi
        commit \"change $n\"
    done
";

const TEST: &str = "! grep -q a=2 values || ! grep -q b=2 values";

/// The same test, which waits for [`go`] at candidates of the reduction: trees with some, but not all, of what the commit brings.
fn waiting() -> String {
    // A path that began with a slash would be an input of the hunt.
    let wait = "until [ -e $HOME/go ]; do sleep 0.02; done";
    format!(
        "if ! grep -q c=2 values && grep -q b=2 values || [ -e noise ] && ! grep -q a=2 values; then {wait}; fi; {TEST}"
    )
}

/// Lets the test go on.
fn go(fixture: &Fixture) {
    fs::write(fixture.place().join("home/go"), "").unwrap();
}

fn stdout_of(fixture: &Fixture, args: &[&str], code: i32) -> String {
    let output = fixture.run(args);
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn first_bad(report: &Report) -> String {
    let subject = &report.first_bad.as_ref().unwrap().commit.subject;
    String::from_utf8_lossy(subject.as_bytes()).into_owned()
}

fn notes(report: &Report) -> String {
    let notes = report.notes.iter().map(|note| String::from_utf8_lossy(note.as_bytes()).into_owned());
    notes.collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn wait_for(what: &str, is_there: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_there() {
        assert!(Instant::now() < deadline, "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_commit_is_on_stdout_in_the_journal_and_told_while_the_reduction_runs() {
    let fixture = Fixture::of(HISTORY);
    let told = fixture.place().join("told");
    let notify = format!("echo \"$IDD_STATUS $IDD_COMMIT\" >> {}", told.display());
    let mut command = fixture.command(&["-q", "--notify", &notify, "--", &waiting()]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(fs::File::create(fixture.place().join("stderr")).unwrap())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut begin = String::new();
    while !begin.contains("\nfailure:") {
        assert_ne!(stdout.read_line(&mut begin).unwrap(), 0, "{begin}");
    }
    let commit = String::from_utf8(fixture.git(&["rev-parse", "HEAD~5"])).unwrap();
    let commit = commit.trim();
    assert!(begin.starts_with(&format!("{commit} is the first bad commit\nAuthor: ")), "{begin}");
    wait_for("the commit is told", || fs::read_to_string(&told).is_ok_and(|told| told.ends_with('\n')));
    assert_eq!(fs::read_to_string(&told).unwrap(), format!("culprit {commit}\n"));
    let status = stdout_of(&fixture, &["status"], 0);
    assert!(status.contains(&format!("\nfirst bad: [{commit}] change 4\n")) && status.contains("running"), "{status}");
    let shown = stdout_of(&fixture, &["show"], 0);
    assert!(shown.starts_with(&begin), "{shown}");
    assert_eq!(fixture.git(&["rev-parse", "refs/worktree/idd/first-bad"]), format!("{commit}\n").as_bytes());
    for command in ["show", "status"] {
        let report = json::read(stdout_of(&fixture, &["--json", command], 0).as_bytes()).unwrap();
        assert_eq!((report.status, first_bad(&report).as_str()), (Status::Culprit, "change 4"), "{command}");
        assert!(report.change.sufficient.is_none() && report.hunt.is_some() && report.evidence.len() == 2);
    }
    go(&fixture);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    let said = || fs::read_to_string(fixture.place().join("stderr")).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{}", said());
    assert!(rest.starts_with("\nThe change that breaks the test") && !rest.contains("first bad commit\n"));
    assert_eq!(begin + &rest, stdout_of(&fixture, &["show"], 0));
    assert_eq!(fs::read_to_string(&told).unwrap(), format!("culprit {commit}\nfound {commit}\n"));
}

/// The same test, which waits for [`go`] at the culprit when that was tested before.
fn waiting_for_the_proof() -> String {
    let seen = "$HOME/seen";
    let wait = format!("if [ -e {seen} ]; then until [ -e $HOME/go ]; do sleep 0.02; done; fi; touch {seen}");
    format!("if [ $(wc -l < log) = 4 ]; then {wait}; fi; {TEST}")
}

#[test]
fn the_commit_is_in_the_journal_and_told_before_it_is_proved() {
    let fixture = Fixture::of(HISTORY);
    let told = fixture.place().join("told");
    let notify = format!("echo \"$IDD_STATUS $IDD_SUMMARY\" >> {}", told.display());
    let stderr = fixture.place().join("stderr");
    let mut command = fixture.command(&["--until", "commit", "--notify", &notify, "--", &waiting_for_the_proof()]);
    let mut child = command.stdout(Stdio::piped()).stderr(fs::File::create(&stderr).unwrap()).spawn().unwrap();
    wait_for("the commit is told", || fs::read_to_string(&told).is_ok_and(|told| told.ends_with('\n')));
    let first = fs::read_to_string(&told).unwrap();
    assert!(first.starts_with("culprit ") && first.ends_with("(change 4, not proved)\n"), "{first}");
    let said = fs::read_to_string(&stderr).unwrap();
    assert!(said.ends_with(" (change 4).\n") && said.contains("\nFound the first bad commit, "), "{said}");
    let status = stdout_of(&fixture, &["status"], 0);
    assert!(status.contains("] change 4, not proved\n") && status.contains("running"), "{status}");
    let shown = stdout_of(&fixture, &["show"], 0);
    assert!(shown.contains(" is the first bad commit (not proved)\n"), "{shown}");
    for command in ["show", "status"] {
        let report = json::read(stdout_of(&fixture, &["--json", command], 0).as_bytes()).unwrap();
        assert_eq!((report.status, report.proved), (Status::Culprit, false), "{command}");
        assert_eq!(first_bad(&report), "change 4");
    }
    let refs = String::from_utf8(fixture.git(&["for-each-ref", "refs/worktree"])).unwrap();
    assert!(!refs.contains("first-bad"), "{refs}");
    go(&fixture);
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(text.contains(" is the first bad commit\n") && !text.contains("not proved"), "{text}");
    let said = fs::read_to_string(&stderr).unwrap();
    let line = said.lines().find_map(|line| line.strip_prefix("Found ")).unwrap();
    assert!(said.contains(&format!("\nProved {line}\n")), "{said}");
    let report = json::read(stdout_of(&fixture, &["--json", "show"], 0).as_bytes()).unwrap();
    assert_eq!((report.status, report.proved), (Status::Found, true));
    let told = fs::read_to_string(&told).unwrap();
    assert!(told.starts_with(&first) && told.ends_with("(change 4)\n") && told.lines().count() == 2, "{told}");
}

#[test]
fn until_found_tests_nothing_twice_and_resume_proves_the_commit() {
    let fixture = Fixture::of(HISTORY);
    let command = format!("echo run >> $HOME/runs.$IDD_TREE; {TEST}");
    let output = fixture.run(&["-j1", "--until", "found", "--", &command]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(" is the first bad commit (not proved)\n"), "{text}");
    assert!(text.contains("`git idd resume --until commit` proves it"), "{text}");
    let runs = |fixture: &Fixture| -> Vec<usize> {
        let files = fs::read_dir(fixture.place().join("home")).unwrap().map(|entry| entry.unwrap().path());
        let runs = files.filter(|path| path.to_string_lossy().contains("runs."));
        let mut runs: Vec<usize> = runs.map(|path| fs::read_to_string(path).unwrap().lines().count()).collect();
        runs.sort_unstable();
        runs
    };
    // The bad revision, twice; 8, 7 and 5 fail on the way back, 1 passes, and of the rest two decide.
    let found = runs(&fixture);
    assert_eq!((found.last(), found.iter().filter(|n_runs| **n_runs > 1).count()), (Some(&2), 1), "{found:?}");
    let report = json::read(stdout_of(&fixture, &["--json", "show"], 0).as_bytes()).unwrap();
    assert_eq!((report.status, report.proved, report.evidence.len()), (Status::Culprit, false, 0));
    let text = stdout_of(&fixture, &["resume", "--until", "commit"], 0);
    assert!(text.contains(" is the first bad commit\n"), "{text}");
    assert_eq!(runs(&fixture).iter().sum::<usize>(), found.iter().sum::<usize>() + 6);
}

#[test]
fn a_hunt_killed_after_the_commit_keeps_it_and_resume_goes_on() {
    let fixture = Fixture::of(HISTORY);
    let told = fixture.place().join("told");
    let notify = format!("echo $IDD_STATUS >> {}", told.display());
    let mut child = fixture.command(&["--notify", &notify, "--", &waiting()]);
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the commit is told", || told.exists());
    let is_proved = || stdout_of(&fixture, &["show"], 0).contains(" is the first bad commit\n");
    wait_for("the commit is proved", is_proved);
    child.kill().unwrap();
    child.wait().unwrap();
    let status = stdout_of(&fixture, &["status"], 0);
    assert!(status.contains("state:     stopped; `git idd resume` goes on\n") && status.contains("] change 4\n"));
    let shown = stdout_of(&fixture, &["show"], 0);
    assert!(shown.contains(" is the first bad commit\n") && shown.contains("`git idd resume` goes on"), "{shown}");
    go(&fixture);
    let text = stdout_of(&fixture, &["resume"], 0);
    assert_eq!(text.matches(" is the first bad commit\n").count(), 1, "{text}");
    assert_eq!(text, stdout_of(&fixture, &["show"], 0));
    assert_eq!(fs::read_to_string(&told).unwrap(), "culprit\nfound\n");
}

#[test]
fn an_interrupted_reduction_prints_the_rest_behind_the_commit() {
    let fixture = Fixture::of(HISTORY);
    let mut command = fixture.command(&["-q", "--", &waiting()]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    while !text.contains("\nfailure:") {
        assert_ne!(stdout.read_line(&mut text).unwrap(), 0);
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    stdout.read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(text.contains("\n\nThe hunt was interrupted; this is what was learned so far.\n"), "{text}");
    assert_eq!(text.matches("last good:").count(), 1, "{text}");
}

#[test]
fn until_names_a_stage_and_resume_goes_on_from_it() {
    let fixture = Fixture::make("linear-c");
    let report = fixture.report(&["--until", "commit", "--build", "make", "--good", "v0.1", "--", "./test.sh"]);
    assert_eq!((report.status, first_bad(&report).as_str()), (Status::Found, "Add the power operator"));
    assert_eq!((report.probes.reduce, report.probes.port), (0, 0));
    let applied = fixture.run(&["apply"]);
    assert!(String::from_utf8_lossy(&applied.stderr).contains("has not looked for a fix yet"));
    assert!(report.change.sufficient.is_none() && report.change.necessary.is_none() && report.fix.is_none());
    assert!(notes(&report).contains("`git idd resume --until fix` goes on"), "{}", notes(&report));
    let evidence: Vec<bool> = report.evidence.iter().map(|shown| shown.expected == shown.outcome).collect();
    assert_eq!(evidence, [true, true]);
    let ended = fixture.run(&["resume"]);
    assert!(String::from_utf8_lossy(&ended.stderr).contains("has ended already"));

    let changed = fixture.report(&["resume", "--until", "change"]);
    assert_eq!((changed.status, changed.hunt.clone()), (Status::Found, report.hunt.clone()));
    // All sessions are counted together.
    assert_eq!((changed.probes.search, changed.probes.port), (report.probes.search, 0));
    assert!(report.probes.search > 0 && changed.probes.reduce > 0);
    assert!(changed.change.sufficient.is_some() && changed.change.necessary.is_some() && changed.fix.is_none());
    let ended = fixture.run(&["resume"]);
    assert!(String::from_utf8_lossy(&ended.stderr).contains("has ended already"), "it stays as it was asked for last");

    let fixed = fixture.report(&["resume", "--until", "fix"]);
    assert_eq!((fixed.probes.search, fixed.probes.reduce), (changed.probes.search, changed.probes.reduce));
    assert!(fixed.fixes.iter().any(|fix| fix.complete && fix.tested == Outcome::Pass));
    assert_eq!((fixed.hunt, fixed.change), (report.hunt, changed.change));
    let ended = notes(&fixture.report(&["resume"]));
    assert!(!ended.contains("--until"), "{ended}");
}

#[test]
fn until_commit_from_the_configuration_goes_on_with_the_same_command() {
    let fixture = Fixture::of(HISTORY);
    fixture.git(&["config", "idd.until", "commit"]);
    let text = stdout_of(&fixture, &[TEST], 0);
    assert!(text.contains(" is the first bad commit\n") && !text.contains("Fix for"), "{text}");
    assert_eq!(text, stdout_of(&fixture, &["show"], 0));
    let first = fixture.report(&["resume"]);
    let report = fixture.report(&["--until", "fix", TEST]);
    assert!(report.fix.is_some());
    assert_eq!(report.hunt, first.hunt, "the same hunt goes on");
    // A reduction has no commit to end with.
    assert!(fixture.report(&["minimize", "HEAD~6", "HEAD", "--", TEST]).change.sufficient.is_some());
}

#[test]
fn a_commit_of_tests_that_fail_by_themselves_is_not_announced() {
    let fixture = Fixture::make("vacuous-pass");
    let arguments: Vec<String> = fixture.expect.arguments.clone();
    let mut args = vec!["--until", "commit"];
    args.extend(arguments.iter().map(String::as_str));
    let report = fixture.report(&args);
    assert_eq!(first_bad(&report), "Store the days in bytes");
}

/// Every candidate of the reduction takes a while.
fn slow(fixture: &Fixture) -> String {
    let log = fixture.place().join("runs");
    format!("echo $IDD_TREE >> {}; [ ! -e many ] || sleep 0.3; ! grep -q x40 many || ! grep -q x60 many", log.display())
}

const MANY: &str =
    "echo 0 > many; commit zero; seq 1 100 | sed 's/^/x/' >> many; commit one; echo 1 > other; commit two";

#[test]
fn effort_bounds_the_reduction_and_resume_goes_on_with_more() {
    let fixture = Fixture::of(MANY);
    let test = slow(&fixture);
    let n_runs = || fs::read_to_string(fixture.place().join("runs")).unwrap().lines().count();
    let report = fixture.report(&["--effort", "2s", "--good", "HEAD~2", "--", &test]);
    assert_eq!((report.status, first_bad(&report).as_str()), (Status::Found, "one"));
    let changes = [report.change.sufficient.as_ref().unwrap(), report.change.necessary.as_ref().unwrap()];
    assert!(changes.iter().any(|change| !change.is_minimal), "{changes:?}");
    assert!(report.sound_revert().is_some(), "it is carried all the same");
    assert!((1..=9).contains(&report.probes.reduce), "{}", report.probes.reduce);
    let note = notes(&report);
    assert!(
        note.contains("stopped after 2.0 s (`--effort`)") && note.contains("`git idd resume --effort 4s`"),
        "{note}"
    );

    let before = n_runs();
    let ended = fixture.run(&["resume"]);
    assert!(String::from_utf8_lossy(&ended.stderr).contains("has ended already"));
    let same = fixture.report(&["resume", "--effort", "1s"]);
    assert_eq!((n_runs(), same.change), (before, report.change.clone()), "what is known is free, and no more is asked");

    let full = fixture.report(&["resume", "--effort", "unlimited"]);
    assert_eq!(full.hunt, report.hunt);
    let sufficient = full.change.sufficient.unwrap();
    assert!(sufficient.is_minimal && sufficient.lines <= 3, "{sufficient:?}");
    assert!(full.change.necessary.unwrap().is_minimal);
    assert!(!notes(&Report { notes: full.notes, ..report }).contains("--effort"));
    let trees = fs::read_to_string(fixture.place().join("runs")).unwrap();
    let in_reduction: Vec<&str> = trees.lines().collect();
    assert!(in_reduction.len() > before);
}

/// Without a known good revision, a tagged revision near a step of the search is tested in its place.
#[test]
fn a_release_near_a_step_of_the_search_is_tested_in_its_place() {
    let fixture = Fixture::of(
        "for n in $(seq 40); do
            echo $n > log; [ $n -gt 22 ] && echo 2 > value || echo 1 > value
            commit \"change $n\"
        done
        git tag -a -m release v1 HEAD~5; git tag near HEAD~14; git tag far HEAD~23",
    );
    let (_, said) = fixture.said(&["-j1", "--until", "found", "--", "grep -q 1 value"], 0);
    let places: Vec<&str> =
        said.lines().filter(|line| line.starts_with("  ")).filter_map(|line| line.split_whitespace().nth(1)).collect();
    // The annotated tag is one away from step 4, and `far` three away from step 20; a quarter of the way is allowed.
    assert_eq!(places[..3], ["HEAD", "HEAD~5", "HEAD~23"], "{said}");
    assert!(said.contains("(change 23).\n"), "{said}");
}

#[test]
fn a_tag_without_its_object_is_no_obstacle() {
    let fixture = Fixture::of(HISTORY);
    fixture.sh("echo 1234567890123456789012345678901234567890 > .git/refs/tags/missing; git tag fine HEAD~8");
    let report = fixture.report(&["--until", "found", "--", TEST]);
    assert_eq!((report.status, first_bad(&report).as_str()), (Status::Culprit, "change 4"));
}

#[test]
fn until_found_names_no_commit_where_several_may_be_it() {
    let fixture = Fixture::of(HISTORY);
    let skips = format!("[ $(wc -l < log) = 4 ] && exit 125; {TEST}");
    let (text, _) = fixture.said(&["--until", "found", "--", &skips], 2);
    assert!(text.contains("one of 2") && !text.contains("first bad:"), "{text}");
    let (status, _) = fixture.said(&["status"], 0);
    assert!(status.contains("first bad: one of 2\n"), "{status}");
}
