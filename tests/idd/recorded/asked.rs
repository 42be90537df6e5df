//! Everything that the result of a probe depends on, as text.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use idd_world::files::hex;
use idd_world::process::CommandWords;
use idd_world::run::sandbox::{Commands, Precheck, ProbeJob};
use regex::Regex;
use sha2::{Digest, Sha256};

/// A longer text is written as its digest.
const MAX_LENGTH: usize = 400;

/// Variables that only say where this machine has its programs. The programs themselves are compared, see
/// [`tools`](crate::recorded::tools).
const OF_MACHINE: [&str; 2] = ["PATH", "RUSTUP_HOME"];

/// The directories of one test, which differ between two runs of it.
#[derive(Debug, Clone)]
pub struct Places {
    /// Each directory, and its name in records. The first one that fits counts.
    names: Vec<(String, &'static str)>,
    /// The directory of the sandboxes of a hunt.
    root: Regex,
}

impl Places {
    /// - `place`: the directory of the fixture.
    /// - `shared`: the directory of files that tests share.
    pub fn new(place: &Path, shared: &Path) -> Self {
        let both = |path: &Path| [Some(path.to_owned()), path.canonicalize().ok()].into_iter().flatten();
        let text = |path: PathBuf| path.to_str().expect("a directory of tests is UTF-8").to_owned();
        let names =
            both(place).map(|path| (text(path), "<place>")).chain(both(shared).map(|path| (text(path), "<shared>")));
        let mut names: Vec<_> = names.collect();
        names.dedup();
        let root = Regex::new("<place>/home/\\.cache/git-idd/[0-9a-f]+-[0-9A-Za-z-]+").expect("a pattern");
        Self { names, root }
    }

    /// The text with names in the place of the directories.
    pub fn masked(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (path, name)| text.replace(path, name))
    }

    /// The text with the directories in the place of their names.
    pub fn unmasked(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (path, name)| text.replace(name, path))
    }

    /// Bytes for people, in one line and without directories; a digest if they are long.
    fn shown(&self, bytes: &OsStr) -> String {
        let masked = self.masked(&bytes.as_bytes().escape_ascii().to_string());
        let text = self.root.replace_all(&masked, "<root>").into_owned();
        if text.len() <= MAX_LENGTH {
            return text;
        }
        let digest = hex(&Sha256::digest(&text)[..16]);
        let begin: String = text.chars().take(60).collect();
        format!("{begin}... ({} bytes, {digest})", text.len())
    }

    fn words(&self, words: &CommandWords) -> String {
        match words {
            CommandWords::Shell(line) => format!("sh -c {}", self.shown(line)),
            CommandWords::Argv(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{}`", self.shown(word))).collect();
                words.join(" ")
            }
        }
    }
}

/// The probe of a tree, so that equal ones have the same result.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Asked {
    /// The part that many probes share: the commands and their environment. Lines, each with a line feed.
    pub plan: String,
    /// The tree, whether the worktree is fresh, the time limit, and the ordinal of the run. One line.
    pub run: String,
}

impl Asked {
    /// Without the ordinal of the run. Held files are in the tree.
    pub fn of(job: &ProbeJob, commands: &Commands, places: &Places) -> Self {
        // All fields are named, so that a new one is not forgotten. A service alone may share.
        let ProbeJob {
            tree,
            artifact_of,
            exposed_commit,
            precheck,
            is_clean,
            rebuild,
            limits,
            may_share: _,
            revision: _,
        } = job;
        // That of a build follows from the same runs.
        let limit = limits.test;
        let Commands {
            fetching,
            regeneration,
            build,
            test,
            artifacts,
            directory,
            environment,
            is_home_isolated,
            surroundings: _,
        } = commands;
        let mut lines = Vec::new();
        let mut add = |name: &str, value: String| lines.push(format!("{name} {value}\n"));
        if let Some(fetching) = fetching {
            add("fetch", format!("{} within {:?}", places.shown(&fetching.line), fetching.limit));
        }
        if let Some(regeneration) = regeneration {
            add("regenerate", places.words(&regeneration.command));
            add("generated", places.shown(format!("{:?}", regeneration.divisions).as_ref()));
        }
        match precheck {
            Some(Precheck::Command(words)) => add("precheck", places.words(words)),
            Some(Precheck::Java(check)) => add("precheck", places.shown(format!("{check:?}").as_ref())),
            None => {}
        }
        if let Some(build) = build {
            add("build", places.words(build));
        }
        add("test", places.words(test));
        for artifact in artifacts {
            add("artifact", places.shown(OsStr::from_bytes(artifact)));
        }
        if !directory.as_os_str().is_empty() {
            add("directory", places.shown(directory.as_os_str()));
        }
        if *is_home_isolated {
            add("home", "isolated".to_owned());
        }
        let mut variables: Vec<_> =
            environment.iter().filter(|(name, _)| !OF_MACHINE.iter().any(|it| name == it)).collect();
        variables.sort();
        for (name, value) in variables {
            add("variable", format!("{}={}", places.shown(name), places.shown(value)));
        }
        let mut run = format!("{tree} {} within {limit:?}", if *is_clean { "clean" } else { "warm" });
        if let Some(commit) = exposed_commit {
            write!(run, ", commit {commit}").expect("a text takes all");
        }
        if let Some(commit) = artifact_of {
            write!(run, ", artifact of {commit}").expect("a text takes all");
        }
        write!(run, ", rebuild {rebuild:?}").expect("a text takes all");
        Self { plan: lines.concat(), run }
    }

    /// Whether the worktree is to be fresh.
    pub fn is_clean(&self) -> bool {
        self.run.split(' ').nth(1) == Some("clean")
    }

    /// The same with the ordinal of the run, from 1.
    pub fn nth(self, nth: u32) -> Self {
        Self { run: format!("{}, run {nth}", self.run), ..self }
    }
}
