//! `--from-artifacts`: the programs of revisions are fetched in place of a build.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};
use std::{fs, thread};

use idd_report::{Report, Status};

use crate::fixture::Fixture;

/// Number 43 of 64 commits breaks the program; each program is made of the lines that are no comments.
const HISTORY: &str = "
    echo program > .gitignore
    seq 1 20 > source
    for n in $(seq 1 64); do
        echo \"# $n\" >> source
        [ $n = 43 ] && sed -i 's/^3$/three/' source
        commit \"change $n\"
    done
";

const TEST: &str = "grep -qx 3 program";

/// The history, and a store with the programs of the commits whose number the shell expression `has` accepts.
fn with_store(has: &str) -> Fixture {
    let fixture = Fixture::of(HISTORY);
    fixture.sh(&format!(
        "mkdir $PLACE/store
        git log --format='%H %s' | while read id _ n; do
            if [ $(({has})) = 1 ]; then git show $id:source | grep -v '^#' > $PLACE/store/$id; fi
        done"
    ));
    fixture
}

/// The command that fetches from the store; it writes down each run.
fn fetch(fixture: &Fixture) -> String {
    let place = fixture.place().display();
    format!("echo {{short}} >> {place}/fetches; cp {place}/store/{{commit}} program")
}

/// The build; it writes down each run.
fn build(fixture: &Fixture) -> String {
    format!("echo >> {}/builds; grep -v '^#' source > program", fixture.place().display())
}

/// How many lines were written down since the last call.
fn taken(fixture: &Fixture, name: &str) -> usize {
    let path = fixture.place().join(name);
    let n_lines = fs::read_to_string(&path).unwrap_or_default().lines().count();
    let _ = fs::remove_file(path);
    n_lines
}

fn subject(report: &Report) -> String {
    String::from_utf8(report.first_bad.as_ref().unwrap().commit.subject.as_bytes().to_vec()).unwrap()
}

fn notes(report: &Report) -> String {
    let notes = report.notes.iter().map(|note| String::from_utf8_lossy(note.as_bytes()).into_owned());
    notes.collect::<Vec<_>>().join("\n")
}

fn n_kept(fixture: &Fixture) -> usize {
    let entries = |path| fs::read_dir(path).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries(fixture.repo().join(".git/idd/artifacts")).filter(|path| path.is_dir()).flat_map(entries).count()
}

#[test]
fn artifacts_alone_leave_the_commits_between_two_of_them_and_are_fetched_once() {
    let fixture = with_store("n % 8 == 0");
    let before = fixture.state();
    let args = ["-j1", "--from-artifacts", &fetch(&fixture), TEST];
    let report = fixture.report(&args);
    assert_eq!(report.status, Status::Range);
    assert_eq!(report.range.as_ref().unwrap().candidates.len(), 8);
    assert_eq!(subject(&report), "change 48");
    assert_eq!(report.last_good.as_ref().unwrap().subject, "change 40".into());
    let artifacts = report.artifacts.clone().unwrap();
    // 64, 56, 48, 32 and 40 are there; 63 to 57, and 47 to 41, are not.
    assert_eq!((artifacts.fetched, artifacts.absent, artifacts.built), (5, 14, 0));
    assert_eq!(artifacts.revisions.len(), 5);
    assert_eq!(taken(&fixture, "fetches"), 19);
    assert!(notes(&report).contains("Nothing can be built without `--build`"), "{}", notes(&report));
    assert!(report.evidence.len() == 2 && report.change.sufficient.is_none());
    // What is there is not fetched again by another hunt; what is absent may be there now.
    let again = fixture.report(&[&args[..3], &["--no-cache", TEST]].concat());
    assert_eq!((again.status, again.artifacts.unwrap().fetched), (Status::Range, 0));
    assert_eq!(taken(&fixture, "fetches"), 14);
    assert_eq!(fixture.state(), before);
}

#[test]
fn artifacts_come_before_builds_and_only_the_last_range_is_built() {
    let fixture = with_store("n % 8 == 0");
    let args = ["-j1", "--from-artifacts", &fetch(&fixture), "--build", &build(&fixture), "--until", "commit", TEST];
    let report = fixture.report(&args);
    assert_eq!((report.status, subject(&report).as_str()), (Status::Found, "change 43"));
    let artifacts = report.artifacts.clone().unwrap();
    assert_eq!((artifacts.fetched, artifacts.absent, artifacts.built), (5, 14, 3));
    // Each end is proved by three builds.
    assert_eq!(taken(&fixture, "builds"), 3 + 2 * 3);
    // A build is no artifact: the hunt without artifacts takes what was built, and nothing else.
    let built = fixture.report(&["-j1", "--build", &build(&fixture), "--until", "commit", TEST]);
    assert_eq!((subject(&built).as_str(), built.artifacts), ("change 43", None));
    assert!(taken(&fixture, "builds") > 3 + 2 * 3);
}

#[test]
fn artifacts_of_each_commit_need_no_build_for_the_commit_and_some_for_the_change() {
    let fixture = with_store("1");
    let args = ["-j1", "--from-artifacts", &fetch(&fixture), TEST];
    let report = fixture.report(&args);
    assert_eq!((report.status, subject(&report).as_str()), (Status::Found, "change 43"));
    assert!(notes(&report).contains("parts of a commit have no artifact"), "{}", notes(&report));
    assert_eq!(report.artifacts.unwrap().absent, 0);
    let (_, error) = fixture.said(&["report", "--format", "certificate"], 1);
    assert!(error.contains("found with artifacts"), "{error}");
    taken(&fixture, "fetches");
    let reduced = fixture.report(&["-j1", "--from-artifacts", args[2], "--build", &build(&fixture), TEST]);
    assert_eq!((reduced.status, taken(&fixture, "fetches")), (Status::Found, 0));
    assert_eq!(reduced.artifacts.unwrap().built, 0);
    let plain = fixture.report(&["-j1", "--no-cache", "--build", &build(&fixture), TEST]);
    assert_eq!((reduced.first_bad, reduced.change, reduced.fix), (plain.first_bad, plain.change, plain.fix));
}

#[test]
fn several_jobs_find_the_same_with_artifacts_as_one() {
    let fixture = with_store("n % 5 == 4");
    let (fetch, build) = (fetch(&fixture), build(&fixture));
    let hunt = |jobs: &str| {
        let report = fixture.report(&[jobs, "--no-cache", "--from-artifacts", &fetch, "--build", &build, TEST]);
        assert_eq!((report.status, subject(&report).as_str()), (Status::Found, "change 43"));
        let revisions = report.artifacts.unwrap().revisions;
        (report.first_bad, report.last_good, report.change, report.fix, revisions)
    };
    assert_eq!(hunt("-j1"), hunt("-j4"));
}

#[test]
fn artifacts_of_merges_alone_leave_the_commits_of_the_branch() {
    let fixture = Fixture::of(
        "echo program > .gitignore; echo good > source; commit first
        for n in 1 2 3; do
            git checkout -q -b side$n
            echo $n > other; commit \"side $n a\"
            [ $n = 2 ] && echo bad > source; echo x >> other; commit \"side $n b\"
            git checkout -q main; git merge -q --no-ff --no-edit -m \"merge $n\" side$n
        done
        mkdir $PLACE/store
        for id in $(git rev-list --first-parent HEAD); do git show $id:source > $PLACE/store/$id; done",
    );
    let args = ["-j1", "--from-artifacts", &fetch(&fixture), "grep -q good program"];
    let report = fixture.report(&args);
    assert_eq!((report.status, subject(&report).as_str()), (Status::Range, "merge 2"));
    let candidates = report.range.unwrap().candidates;
    let candidates: Vec<_> = candidates.into_iter().map(|commit| commit.subject).collect();
    assert_eq!(candidates, ["merge 2".into(), "side 2 b".into(), "side 2 a".into()]);
    let merges = fixture.report(&[&["--first-parent"][..], &args].concat());
    assert_eq!((merges.status, subject(&merges).as_str()), (Status::Found, "merge 2"));
}

#[test]
fn a_flaky_test_is_hunted_with_artifacts_too() {
    let fixture = with_store("n % 2 == 0");
    // Each fifth run passes, whatever the program is.
    let count = fixture.place().join("count");
    fs::write(&count, "0").unwrap();
    let count = count.display();
    let test = format!("n=$(($(cat {count}) + 1)); echo $n > {count}; [ $((n % 5)) = 0 ] || ! grep -qx three program");
    let (fetch, build) = (fetch(&fixture), build(&fixture));
    let args = ["-j1", "--flaky=0.2", "--until", "commit", "--from-artifacts", &fetch, "--build", &build, &test];
    let report = fixture.report(&args);
    assert_eq!((report.status, subject(&report).as_str()), (Status::Found, "change 43"));
    let artifacts = report.artifacts.unwrap();
    assert!(artifacts.fetched > 0 && artifacts.built > 0, "{artifacts:?}");
}

#[test]
fn a_bad_revision_without_an_artifact_is_built_or_named() {
    let fixture = with_store("n < 60");
    let (fetch, build) = (fetch(&fixture), build(&fixture));
    let report = fixture.report(&["-j1", "--from-artifacts", &fetch, TEST]);
    assert_eq!(report.status, Status::NothingTestable);
    let error = report.error.unwrap();
    let text = |text: &idd_report::Untrusted| String::from_utf8_lossy(text.as_bytes()).into_owned();
    assert!(
        text(&error.message).starts_with("there is no artifact of the bad revision (exit code 1): cp: "),
        "{error:?}"
    );
    assert!(text(&error.hint.unwrap()).contains("`--bad`"));
    let report = fixture.report(&["-j1", "--from-artifacts", &fetch, "--build", &build, "--until", "commit", TEST]);
    assert_eq!((report.status, subject(&report).as_str()), (Status::Found, "change 43"));
    // Two runs reproduce the failure.
    assert_eq!(report.artifacts.unwrap().built, 2);
}

#[test]
fn an_artifact_that_differs_from_the_build_ends_the_hunt_with_what_artifacts_show() {
    let wrong = "echo other > program";
    let fixture = with_store("1");
    let fetch_all = fetch(&fixture);
    let report = fixture.report(&["-j1", "--from-artifacts", &fetch_all, "--build", wrong, TEST]);
    assert_eq!((report.status, subject(&report).as_str()), (Status::Found, "change 43"));
    assert!(report.change.sufficient.is_none());
    assert!(notes(&report).contains("the outcome of the artifact is `pass`, that of the build here `fail`"));
    // Builds between two artifacts are not believed, either.
    let fixture = with_store("n % 8 == 0");
    let report = fixture.report(&["-j1", "--from-artifacts", &fetch(&fixture), "--build", wrong, TEST]);
    assert_eq!((report.status, subject(&report).as_str()), (Status::Range, "change 48"));
    assert_eq!(report.range.as_ref().unwrap().candidates.len(), 8);
    assert!(notes(&report).contains("so revisions that were built are not used"), "{}", notes(&report));
}

#[test]
fn a_hostile_artifact_is_refused_and_the_revision_counts_as_one_without() {
    let fixture = with_store("n == 64 || n == 32 || n == 48");
    let id = String::from_utf8(fixture.git(&["rev-parse", ":/change 48"])).unwrap();
    let secret = fixture.place().join("secret");
    let fetch = format!(
        "[ {{commit}} = {} ] && ln -s {} link && echo > program || {{ {}; }}",
        id.trim_end(),
        secret.display(),
        fetch(&fixture)
    );
    let report = fixture.report(&["-j1", "--from-artifacts", &fetch, TEST]);
    assert_eq!((report.status, subject(&report).as_str()), (Status::Range, "change 64"));
    let said = "the artifact is not used: `link` is a link that may lead out of the checkout.";
    assert!(notes(&report).contains(said), "{}", notes(&report));
    assert_eq!(n_kept(&fixture), 2);
    assert!(!secret.exists());
}

#[test]
fn a_hunt_that_is_killed_while_it_fetches_keeps_no_half_artifact_and_goes_on() {
    let fixture = with_store("1");
    let slow = fixture.place().join("slow");
    fs::write(&slow, "").unwrap();
    let waiting = fixture.place().join("waiting");
    let wait = format!("[ ! -e {} ] || {{ touch {}; sleep 60; }}", slow.display(), waiting.display());
    let fetch = format!("echo half > program; {wait}; {}", fetch(&fixture));
    let args = ["-j1", "--from-artifacts", &fetch, TEST];
    let mut child = fixture.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !waiting.exists() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    fs::remove_file(&slow).unwrap();
    assert_eq!(n_kept(&fixture), 1, "what was being fetched");
    let report = fixture.report(&["resume"]);
    assert_eq!((report.status, subject(&report).as_str()), (Status::Found, "change 43"));
    assert_eq!(n_kept(&fixture) as u64, report.artifacts.unwrap().fetched);
    assert_eq!(fixture.processes_left(), Vec::<String>::new());
}

#[test]
fn a_fetch_that_is_cut_off_is_said_and_not_taken_for_a_missing_artifact() {
    let fixture = with_store("1");
    let id = String::from_utf8(fixture.git(&["rev-parse", "HEAD~1"])).unwrap();
    let fetch = format!("[ {{commit}} = {} ] && sleep 60; {}", id.trim_end(), fetch(&fixture));
    let report = fixture.report(&["-j1", "--timeout", "1s", "--from-artifacts", &fetch, TEST]);
    assert_eq!((report.status, subject(&report).as_str()), (Status::Found, "change 43"));
    assert!(notes(&report).contains(&format!("`--from-artifacts` at {}: timeout;", &id[..12])), "{}", notes(&report));
    let (_, error) = fixture.said(&["--from-artifacts", "no-such-program {commit}", "--build", "true", "true"], 3);
    assert!(error.contains(": exit code 127, `/bin/sh: "), "{error}");
}

#[test]
fn kept_artifacts_take_no_more_space_than_allowed() {
    let fixture = with_store("1");
    fixture.sh("for file in $PLACE/store/*; do dd if=/dev/zero bs=1k count=400 status=none >> $file; done");
    let test = "grep -qax 3 program";
    let report = fixture.report(&["-j1", "--from-artifacts", &fetch(&fixture), "--artifacts-size", "1M", test]);
    assert_eq!(report.status, Status::Found);
    assert_eq!(n_kept(&fixture), 2);
}

#[test]
fn a_command_that_names_no_commit_is_an_error() {
    let fixture = Fixture::of("echo > file; commit first");
    let check = |args: &[&str], expected: &str| {
        let (_, error) = fixture.said(args, 129);
        assert!(error.contains(expected), "{error}");
    };
    check(&["--from-artifacts", "curl x", "true"], "the command of `--from-artifacts` names no commit");
    check(&["--from-artifacts", " ", "true"], "`--from-artifacts` has no command");
    let linear = ["--from-artifacts", "curl {short}", "--walk", "linear", "true"];
    check(&linear, "`--from-artifacts` cannot be used with `--walk linear`");
}
