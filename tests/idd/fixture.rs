//! Histories made by script, and the real binary run on them.
//!
//! Each test has a copy of a history, see `histories.rs`. The binary runs with a HOME, a configuration and a TMPDIR of its
//! own; so what it leaves behind can be seen.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use idd_report::{Report, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::expect::Expect;
use crate::histories::Histories;
use crate::kits;

/// The root of the package.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The directory of a fixture.
pub fn story(name: &str) -> PathBuf {
    root().join("fixtures-repos").join(name)
}

/// All fixtures, sorted.
pub fn names() -> Vec<String> {
    let Ok(entries) = fs::read_dir(root().join("fixtures-repos")) else { return Vec::new() };
    let entries = entries.map(|entry| entry.unwrap()).filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Makes the history of a fixture at `repo`, which must not exist.
pub fn history(name: &str, format: Format, repo: &Path) {
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("histories");
    Histories::new(root().join("fixtures-repos"), kept).make(name, format, repo);
}

/// How git names objects and keeps refs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// What makes ids of objects: `sha1` or `sha256`.
    pub hash: &'static str,
    /// Where refs stand: in `files` or in a `reftable`.
    pub refs: &'static str,
}

impl Format {
    /// What git makes unless it is told otherwise.
    pub const USUAL: Self = Self { hash: "sha1", refs: "files" };

    /// SHA-256 ids, and refs in tables.
    pub const NEWEST: Self = Self { hash: "sha256", refs: "reftable" };

    /// What `git init` is told.
    fn options(self) -> Vec<String> {
        let told = [("--object-format", self.hash, "sha1"), ("--ref-format", self.refs, "files")];
        let told = told.into_iter().filter(|(_, value, usual)| value != usual);
        told.map(|(option, value, _)| format!("{option}={value}")).collect()
    }

    /// The formats in which git can make repositories, of this one and of those with only one of its parts; what is missing is said.
    #[expect(clippy::print_stderr, reason = "a test that does not test what it is called for says so")]
    pub fn known(self) -> Vec<Self> {
        let candidates = [self, Self { refs: "files", ..self }, Self { hash: "sha1", ..self }];
        let is_known = |format: &Self| {
            let scratch = TempDir::new_in(scratch_place()).unwrap();
            let mut command = Command::new("git");
            let made = command.args(["init", "-q"]).args(format.options()).arg(scratch.path()).output().unwrap();
            if !made.status.success() {
                eprintln!("this git makes no repository in {format:?}: that format is not tested");
            }
            made.status.success()
        };
        candidates.into_iter().filter(is_known).collect()
    }
}

/// A copy of a fixture's history, with a place of its own for everything that a program may write.
pub struct Fixture {
    /// What the fixture expects.
    pub expect: Expect,
    scratch: TempDir,
    /// What compiles Java, if that is not `javac`.
    javac: Option<String>,
}

impl Fixture {
    /// Makes the history `name`, and checks the id of its HEAD.
    pub fn make(name: &str) -> Self {
        Self::make_in(Format::USUAL, name)
    }

    /// The same in a format.
    pub fn make_in(format: Format, name: &str) -> Self {
        let expect = Expect::of(name);
        let scratch = TempDir::with_prefix_in(format!("{name}-"), scratch_place()).unwrap();
        let javac = expect.arguments.iter().any(|argument| argument.contains("${JAVAC")).then(quick_javac).flatten();
        let fixture = Self { expect, scratch, javac };
        fixture.furnish(&["home", "tmp"]);
        history(name, format, &fixture.repo());
        let head = fixture.git(&["rev-parse", "HEAD"]);
        if format.hash == "sha1" {
            assert_eq!(String::from_utf8_lossy(&head).trim_end(), fixture.expect.head, "HEAD of {name}");
        }
        fixture
    }

    /// An empty repository in which `script` was run, with fixed dates and names; see [`Fixture::sh`].
    pub fn of(script: &str) -> Self {
        Self::of_format(Format::USUAL, script)
    }

    /// The same in a format.
    pub fn of_format(format: Format, script: &str) -> Self {
        let scratch = TempDir::with_prefix_in("inline-", scratch_place()).unwrap();
        let fixture = Self { expect: Expect::read("head = ''\narguments = []"), scratch, javac: None };
        fixture.furnish(&["home", "tmp", "repo"]);
        let options = format.options();
        let options: Vec<&str> =
            ["init", "-q", "-b", "main"].into_iter().chain(options.iter().map(String::as_str)).collect();
        fixture.git(&options);
        fixture.sh(script);
        fixture
    }

    /// The repository of a script with a recording of its HEAD, made once for all tests.
    ///
    /// - `words`: the words of `git idd record`.
    pub fn recorded(script: &str, words: &[&str]) -> Self {
        let what = [&[script], words].concat();
        let scratch = kits::once(&what, || {
            let fixture = Self::of(script);
            let output = fixture.run(&[&["record"], words].concat());
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            fixture.scratch
        });
        Self { expect: Expect::read("head = ''\narguments = []"), scratch, javac: None }
    }

    /// Runs a shell script in the working tree, which fails if one of its commands fails; returns its stdout.
    ///
    /// `$PLACE` is the directory that holds everything, `commit <subject>` commits all files.
    pub fn sh(&self, script: &str) -> String {
        const COMMIT: &str = "commit() { git add -A && git commit -q --allow-empty -m \"$1\"; }\n";
        let mut command = Command::new("sh");
        self.isolate(command.args(["-ec", &(COMMIT.to_owned() + script)]).env("PLACE", self.place()));
        String::from_utf8(succeed(&mut command)).unwrap()
    }

    /// Runs a shell script in the working tree, whatever becomes of it. `$PLACE` is the directory that holds everything.
    pub fn shell(&self, script: &str) -> Output {
        let mut command = Command::new("sh");
        self.isolate(command.args(["-c", script]).env("PLACE", self.place()));
        command.output().unwrap()
    }

    /// The directory that holds the repository, HOME and TMPDIR.
    pub fn place(&self) -> &Path {
        self.scratch.path()
    }

    /// `git-idd` with these arguments in the repository.
    pub fn command<S: AsRef<str>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_git-idd"));
        self.isolate(command.args(args.iter().map(S::as_ref)));
        kits::lend(&self.cache());
        command
    }

    /// The directory of the user for what can be made again.
    fn cache(&self) -> PathBuf {
        self.place().join("home/.cache")
    }

    /// The sandboxes that are still there.
    pub fn sandboxes_left(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.cache().join("git-idd")).into_iter().flatten();
        let entries = entries.map(|entry| entry.unwrap().path());
        entries.filter(|path| !kits::NAMES.iter().any(|name| path.ends_with(name))).collect()
    }

    /// The working tree.
    pub fn repo(&self) -> PathBuf {
        self.scratch.path().join("repo")
    }

    /// Runs git in it; fails the test if git fails.
    pub fn git(&self, args: &[&str]) -> Vec<u8> {
        let mut command = Command::new("git");
        self.isolate(command.arg("--no-optional-locks").args(args));
        succeed(&mut command)
    }

    /// Runs `git-idd` in it, for at most ten minutes.
    pub fn run<S: AsRef<str>>(&self, args: &[S]) -> Output {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", "600", env!("CARGO_BIN_EXE_git-idd")]);
        command.args(args.iter().map(S::as_ref));
        self.isolate(&mut command);
        kits::lend(&self.cache());
        let output = command.output().unwrap();
        kits::keep(&self.cache());
        output
    }

    /// Runs `git-idd`, which must end with `code`; returns stdout and stderr.
    #[track_caller]
    pub fn said<S: AsRef<str>>(&self, args: &[S], code: i32) -> (String, String) {
        let output = self.run(args);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        let words: Vec<&str> = args.iter().map(AsRef::as_ref).collect();
        assert_eq!(output.status.code(), Some(code), "{words:?}\n{stdout}\n{stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
        (stdout, stderr)
    }

    /// Runs `git-idd --json`; checks that stdout is one report and that its exit code is the program's.
    pub fn report<S: AsRef<str>>(&self, args: &[S]) -> Report {
        let args: Vec<&str> = ["--json"].into_iter().chain(args.iter().map(S::as_ref)).collect();
        let output = self.run(&args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let report = json::read(&output.stdout)
            .unwrap_or_else(|error| panic!("stdout is no report ({error}), {}\n{stderr}", output.status));
        assert_eq!(output.status.code(), Some(i32::from(report.status.code())), "{stderr}");
        report
    }

    /// Whether `git apply` takes `patch` at HEAD.
    pub fn applies(&self, patch: &[u8]) -> bool {
        let file = self.scratch.path().join("fix.patch");
        fs::write(&file, patch).unwrap();
        let mut command = Command::new("git");
        self.isolate(command.args(["--no-optional-locks", "apply", "--check"]).arg(file));
        command.status().unwrap().success()
    }

    /// The processes that were started by the program and are still there.
    pub fn processes_left(&self) -> Vec<String> {
        let place = self.scratch.path().as_os_str().as_bytes();
        let mut left = Vec::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            if environment.windows(place.len()).any(|window| window == place) {
                let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
                left.push(String::from_utf8_lossy(&command).replace('\0', " "));
            }
        }
        left
    }

    /// Everything of the user's that a hunt must leave alone, by name.
    pub fn state(&self) -> BTreeMap<String, String> {
        let mut state = BTreeMap::new();
        let git = self.repo().join(".git");
        for file in ["HEAD", "index", "config", "logs/HEAD", "logs/refs/stash", "info/exclude", "MERGE_HEAD"] {
            state.insert(format!(".git/{file}"), fs::read(git.join(file)).map_or("absent".into(), |it| digest(&it)));
        }
        if git.join("reftable").is_dir() {
            let head = self.shell("git symbolic-ref -q HEAD; git rev-parse -q --verify HEAD").stdout;
            state.insert("HEAD".to_owned(), String::from_utf8(head).unwrap());
        }
        let refs = self.git(&["for-each-ref", "--format=%(refname) %(objectname) %(symref)"]);
        for line in String::from_utf8_lossy(&refs).lines().filter(|line| !line.starts_with("refs/worktree/idd/")) {
            let (name, value) = line.split_once(' ').unwrap();
            state.insert(name.to_owned(), value.to_owned());
        }
        describe(&self.repo(), &mut state);
        state
    }

    /// Makes the directories around the repository, and the configuration of the user.
    fn furnish(&self, directories: &[&str]) {
        for directory in directories {
            fs::create_dir(self.place().join(directory)).unwrap();
        }
        // How many probes run ahead of the answers is a matter of speed: counts of runs are those of one at a time.
        let jobs = std::env::var("IDD_TEST_JOBS").unwrap_or_else(|_| "1".to_owned());
        fs::write(self.place().join("gitconfig"), format!("[idd]\n\tjobs = {jobs}\n")).unwrap();
    }

    fn isolate(&self, command: &mut Command) {
        command.current_dir(self.repo());
        let set: Vec<(OsString, Option<OsString>)> =
            command.get_envs().map(|(name, value)| (name.to_owned(), value.map(OsString::from))).collect();
        command.env_clear().envs(self.environment());
        command.envs(set.into_iter().filter_map(|(name, value)| Some((name, value?))));
    }

    /// The environment of the program.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let place = self.place();
        let mut environment = vec![
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ("HOME".into(), place.join("home").into()),
            ("XDG_CONFIG_HOME".into(), place.join("home").into()),
            ("TMPDIR".into(), place.join("tmp").into()),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
            ("GIT_CONFIG_GLOBAL".into(), place.join("gitconfig").into()),
            ("LC_ALL".into(), "C".into()),
            ("TZ".into(), "UTC".into()),
        ];
        environment.extend(self.javac.iter().map(|javac| ("JAVAC".into(), javac.into())));
        environment.extend(rustup().map(|home| ("RUSTUP_HOME".into(), home.into())));
        for part in ["AUTHOR", "COMMITTER"] {
            environment.push((format!("GIT_{part}_NAME").into(), "A U Thor".into()));
            environment.push((format!("GIT_{part}_EMAIL").into(), "author@example.org".into()));
            environment.push((format!("GIT_{part}_DATE").into(), "2024-01-01T00:00:00Z".into()));
        }
        environment
    }
}

/// Where rustup finds its compilers, if there is one: the tests have a HOME of their own.
pub fn rustup() -> Option<PathBuf> {
    let named = std::env::var_os("RUSTUP_HOME").map(PathBuf::from);
    let usual = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".rustup"));
    named.or_else(usual).filter(|home| home.is_dir())
}

/// Where repositories of tests are made: the gate names a place in memory where there is one.
pub fn scratch_place() -> PathBuf {
    std::env::var_os("GIT_IDD_TEST_SCRATCH").map_or_else(|| env!("CARGO_TARGET_TMPDIR").into(), PathBuf::from)
}

/// A `javac` that starts from an archive of its own classes, in half the time; `None` if this one cannot make one (before version 13).
fn quick_javac() -> Option<String> {
    let place = &scratch_place();
    let archive = place.join("javac.jsa");
    if !archive.is_file() {
        let scratch = TempDir::with_prefix_in("javac-", place).unwrap();
        fs::write(scratch.path().join("A.java"), "import java.util.*; class A { String a(List<String> b) { for (String c : b) return c + b.size(); return null; } }").unwrap();
        let mut command = Command::new("javac");
        command.args([
            "-J-XX:TieredStopAtLevel=1",
            "-J-XX:+UseSerialGC",
            "-J-XX:ArchiveClassesAtExit=made",
            "-proc:none",
        ]);
        command.arg("A.java").current_dir(scratch.path()).output().ok()?;
        fs::rename(scratch.path().join("made"), &archive).ok()?;
    }
    Some(format!("javac -J-XX:SharedArchiveFile='{}'", archive.display()))
}

/// Runs `command`; returns its stdout.
pub fn succeed(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{stderr}", output.status);
    output.stdout
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Adds all files below `directory` but `.git`, with their modes and contents.
fn describe(directory: &Path, state: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        if path.ends_with(".git") {
            continue;
        }
        let contents = if metadata.is_symlink() {
            format!("-> {}", fs::read_link(&path).unwrap().display())
        } else if metadata.is_dir() {
            describe(&path, state);
            "directory".to_owned()
        } else {
            digest(&fs::read(&path).unwrap_or_default())
        };
        let name = path.as_os_str().as_bytes().escape_ascii().to_string();
        state.insert(name, format!("{:o} {contents}", metadata.permissions().mode()));
    }
}

#[test]
fn the_state_of_a_repository_shows_every_change() {
    let fixture = Fixture::make("single-commit");
    let before = fixture.state();
    assert_eq!(fixture.state(), before, "looking changes nothing");
    fs::write(fixture.repo().join("new"), "x").unwrap();
    fixture.git(&["config", "a.b", "c"]);
    fixture.git(&["tag", "t"]);
    fixture.git(&["update-ref", "refs/worktree/idd/finding", "HEAD"]);
    let after = fixture.state();
    let mut changed: Vec<&String> = after.keys().filter(|name| before.get(*name) != after.get(*name)).collect();
    changed.retain(|name| !name.ends_with("/new"));
    assert_eq!(changed, [".git/config", "refs/tags/t"]);
    assert_eq!(after.len(), before.len() + 2);
}
