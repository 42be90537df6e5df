//! Partial and shallow clones: what they lack is named, and fetched only with `--fetch`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use idd_report::{Report, Status, json};

use crate::fixture::Fixture;

const HISTORY: &str = "
    git config uploadpack.allowFilter true
    mkdir -p sub/below
    seq 1 9 > sub/value
    for n in 1 2 3 4 5 6 7 8; do
        echo $n >> log; echo $n > sub/below/file$n
        [ $n = 3 ] && sed -i 's/^3$/three/' sub/value
        commit \"change $n\"
    done
    git tag late
";
const TEST: &str = "grep -qx 3 sub/value";

/// A clone, and what it looks like to its user.
struct Clone<'f> {
    fixture: &'f Fixture,
    directory: PathBuf,
}

impl<'f> Clone<'f> {
    fn new(fixture: &'f Fixture, name: &str, options: &str) -> Self {
        fixture.sh(&format!("git clone -q {options} \"file://$PWD\" \"$PLACE/{name}\""));
        Self { fixture, directory: fixture.place().join(name) }
    }

    fn run(&self, args: &[&str]) -> Output {
        self.fixture.command(args).current_dir(&self.directory).output().unwrap()
    }

    fn report(&self, args: &[&str]) -> Report {
        let args: Vec<&str> = ["--json"].iter().chain(args).copied().collect();
        let output = self.run(&args);
        json::read(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)))
    }

    fn sh(&self, script: &str) -> String {
        self.fixture.sh(&format!("cd {}; {script}", self.directory.display()))
    }

    /// Everything in the git directory but objects and what is ours, and the files.
    fn state(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut state = BTreeMap::new();
        let mut open = vec![self.directory.clone()];
        while let Some(directory) = open.pop() {
            for path in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
                let name = path.strip_prefix(&self.directory).unwrap().to_owned();
                if ["objects", "idd", "refs/worktree"].iter().any(|part| name == Path::new(".git").join(part)) {
                    continue;
                }
                if path.is_dir() {
                    open.push(path);
                } else {
                    state.insert(name, fs::read(&path).unwrap());
                }
            }
        }
        state
    }

    fn n_missing(&self) -> usize {
        self.sh("git rev-list --objects --missing=print HEAD | grep -c '^?' || true").trim().parse().unwrap()
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn check_found(report: &Report) {
    assert_eq!(report.status, Status::Found, "{report:?}");
    assert_eq!(report.first_bad.as_ref().unwrap().commit.subject, "change 3".into());
}

fn notes(report: &Report) -> String {
    report.notes.iter().map(|note| String::from_utf8_lossy(note.as_bytes()).into_owned()).collect()
}

#[test]
fn fetch_gets_what_a_partial_clone_lacks_and_leaves_every_ref_as_it_is() {
    let fixture = Fixture::of(HISTORY);
    for (name, filter) in [("blobs", "blob:none"), ("trees", "tree:0")] {
        let clone = Clone::new(&fixture, name, &format!("--filter={filter}"));
        // The remote has moved on since, and has another tag: neither is a matter of the hunt.
        fixture.sh(&format!("echo more >> log; commit more; git tag later-{name}"));
        let before = clone.state();
        let n_missing = clone.n_missing();
        assert!(n_missing > 0);
        let report = clone.report(&["--fetch", TEST]);
        check_found(&report);
        assert!(notes(&report).contains("objects from `origin` that this partial clone lacked."), "{}", notes(&report));
        assert_eq!(clone.state(), before, "{name}");
        assert!(!clone.directory.join(".git/FETCH_HEAD").exists());
        assert!(clone.n_missing() < n_missing);
        // What was needed is there now.
        fixture.sh("mv .git/objects .git/gone");
        check_found(&clone.report(&["--no-cache", TEST]));
        fixture.sh("mv .git/gone .git/objects");
    }
}

#[test]
fn fetch_is_named_by_the_message_about_a_partial_clone_and_resume_takes_it() {
    let fixture = Fixture::of(HISTORY);
    let clone = Clone::new(&fixture, "partial", "--filter=blob:none");
    let n_missing = clone.n_missing();
    let output = clone.run(&[TEST]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("this partial clone lacks 1 object of a revision, which `origin` has"), "{said}");
    assert!(said.contains("`git idd --fetch`") && said.contains("`git fetch --refetch --no-filter origin`"), "{said}");
    assert_eq!(clone.n_missing(), n_missing, "something was fetched");
    check_found(&clone.report(&["resume", "--fetch"]));
    // The other command does what is said of it.
    let other = Clone::new(&fixture, "other", "--filter=blob:none");
    other.sh("git fetch -q --refetch --no-filter origin");
    check_found(&other.report(&[TEST]));
}

#[test]
fn fetch_gets_the_history_of_a_shallow_clone_when_nothing_in_it_passes() {
    let fixture = Fixture::of(HISTORY);
    let clone = Clone::new(&fixture, "shallow", "--depth 3");
    let mut before = clone.state();
    let without = clone.report(&[TEST]);
    assert_eq!(without.status, Status::NeverPassed);
    assert!(
        notes(&without).contains("`git idd --fetch` or `git fetch --unshallow` gives more to search"),
        "{}",
        notes(&without)
    );
    let said = String::from_utf8(clone.run(&[TEST]).stdout).unwrap();
    assert_eq!((said.matches("unshallow").count(), said.matches("--fetch").count()), (1, 1), "{said}");
    assert_eq!(clone.state(), before);
    let report = clone.report(&["--fetch", TEST]);
    check_found(&report);
    assert!(notes(&report).contains("Fetched 5 more revisions from `origin`"), "{}", notes(&report));
    // Only the borders went; they are said to.
    assert!(before.remove(Path::new(".git/shallow")).is_some());
    assert_eq!(clone.state(), before);
}

#[test]
fn fetch_is_not_made_where_the_shallow_history_is_enough_and_finds_a_good_behind_it() {
    let fixture = Fixture::of(HISTORY);
    let enough = Clone::new(&fixture, "enough", "--depth 7");
    let before = enough.state();
    let report = enough.report(&["--fetch", TEST]);
    check_found(&report);
    assert_eq!(enough.state(), before);
    let shallow = Clone::new(&fixture, "shallow", "--depth 3");
    let good = fixture.sh("git rev-parse late~6");
    let output = shallow.run(&["--good", good.trim(), TEST]);
    assert!(stderr(&output).contains("this clone is shallow: `git fetch --unshallow`"), "{}", stderr(&output));
    check_found(&shallow.report(&["--fetch", "--good", good.trim(), TEST]));
}

#[test]
fn fetch_that_fails_says_what_git_said() {
    let fixture = Fixture::of(HISTORY);
    let clone = Clone::new(&fixture, "partial", "--filter=blob:none");
    fixture.sh("mv .git .moved");
    let output = clone.run(&["--fetch", TEST]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("failed to fetch objects from `origin`: "), "{}", stderr(&output));
}

#[test]
fn a_fetch_leaves_the_configuration_and_takes_no_name_for_an_option() {
    let fixture = Fixture::of(HISTORY);
    // Git would write down the filter that it is given, where none is.
    let clone = Clone::new(&fixture, "unset", "--filter=blob:none");
    clone.sh("git config --unset remote.origin.partialclonefilter");
    let before = clone.state();
    let report = clone.report(&["--fetch", "--no-cache", "--", TEST]);
    assert_eq!(report.status, Status::Found, "{report:?}");
    assert!(report.notes.iter().all(|note| !String::from_utf8_lossy(note.as_bytes()).contains("config")), "{report:?}");
    assert_eq!(clone.state(), before);

    let clone = Clone::new(&fixture, "odd", "--filter=blob:none");
    let marker = fixture.place().join("marker");
    let name = format!("--upload-pack=touch {};", marker.display());
    clone.sh("git remote remove origin");
    for (key, value) in [("url", "."), ("promisor", "true")] {
        clone.sh(&format!("git config 'remote.{name}.{key}' '{value}'"));
    }
    let before = clone.state();
    let output = clone.run(&["--fetch", "--no-cache", "--", TEST]);
    assert!(stderr(&output).contains("its name could be taken for something else"), "{}", stderr(&output));
    assert!(!marker.exists());
    assert_eq!(clone.state(), before);
}
