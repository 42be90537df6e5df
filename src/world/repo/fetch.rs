//! Fetches objects from the user's remote, with the user's git. It changes no ref and no `FETCH_HEAD`, and runs no
//! hook.

use crate::repo::locate::run_git;
use crate::repo::{Location, RepoError};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::PathBuf;

/// The number of ids on one command line; the system allows about fifty thousand.
const MAX_IDS: usize = 10_000;

/// The options of every fetch, so that it fetches objects only. Without a destination no refs are written, and an empty
/// map leaves those of the remote unchanged.
const OBJECTS_ONLY: [&str; 8] = [
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-prune",
    "--no-write-fetch-head",
    "--no-recurse-submodules",
    "--no-auto-maintenance",
    "--refmap=",
];

/// A remote of the user, with its environment.
#[derive(Debug, Clone)]
pub struct Remote {
    /// Its name.
    pub name: String,
    git_directory: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

impl Remote {
    /// The remote `name`.
    ///
    /// - `environment`: the environment of the user, for its credentials.
    pub fn new(name: &str, location: &Location, environment: &[(OsString, OsString)]) -> Self {
        let git_directory = location.git_directory.clone();
        Self { name: name.to_owned(), git_directory, environment: environment.to_owned() }
    }

    /// The remote of the history: the only one, or else `origin`; `None` if there is neither.
    pub fn of_history(location: &Location, environment: &[(OsString, OsString)]) -> Option<Self> {
        let words = ["--git-dir".as_ref(), location.git_directory.as_os_str(), "remote".as_ref()];
        let output = run_git(&location.git_directory, environment, &words).ok()?;
        let names = String::from_utf8_lossy(&output).into_owned();
        let mut names = names.lines();
        let (first, second) = (names.next()?, names.next());
        let name = if second.is_none() || first == "origin" { first } else { names.find(|name| *name == "origin")? };
        Some(Self::new(name, location, environment))
    }

    /// Fetches objects by their ids, without the objects that they refer to.
    pub fn objects(&self, ids: &[String]) -> Result<(), RepoError> {
        // Given as an option, git would store it as the filter of the remote in the user's configuration.
        let filter = format!("remote.{}.partialclonefilter=blob:none", self.name);
        ids.chunks(MAX_IDS).try_for_each(|ids| self.fetch(&["-c", &filter], &[], ids))
    }

    /// Fetches everything behind the borders of a shallow clone; then they are no longer borders.
    pub fn history_behind(&self, borders: &[String]) -> Result<(), RepoError> {
        self.fetch(&[], &["--unshallow"], borders)
    }

    fn fetch(&self, more: &[&str], options: &[&str], ids: &[String]) -> Result<(), RepoError> {
        if self.name.starts_with('-') || self.name.contains('=') {
            let said = "its name could be taken for something else".to_owned();
            return Err(RepoError::NotFetched { remote: self.name.clone(), said });
        }
        // Missing objects are requested by id: there is nothing to negotiate, and the question for existing objects
        // would fetch them.
        let settings = ["-c", "core.hooksPath=/dev/null", "-c", "fetch.negotiationAlgorithm=noop"];
        let mut words: Vec<&OsStr> = settings.iter().chain(more).map(OsStr::new).collect();
        words.extend(["--git-dir".as_ref(), self.git_directory.as_os_str()]);
        words.extend(OBJECTS_ONLY.iter().chain(options).map(OsStr::new));
        words.push(OsStr::new(&self.name));
        words.extend(ids.iter().map(OsStr::new));
        run_git(&self.git_directory, &self.environment, &words).map(drop).map_err(|error| match error {
            RepoError::GitSays { said } => RepoError::NotFetched { remote: self.name.clone(), said },
            other => other,
        })
    }
}

/// The borders of a shallow clone; none if it is not shallow.
pub fn borders(location: &Location) -> Vec<String> {
    let text = fs::read_to_string(location.common_directory.join("shallow")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}
