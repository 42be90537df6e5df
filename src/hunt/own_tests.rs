//! The tests that the culprit changed: evidence that its behaviour is wanted.

use crate::finding::FoundChange;
use crate::pair::TreePair;
use crate::test_paths::is_test_path;
use crate::{ChangeEnds, Halt, Hunter};
use idd_base::{TreeId, count};
use idd_change::trees::{Trees, TreesError};
use idd_change::{ChangeSet, FilePair, FileSide, Subset};
use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

/// A test that a commit added or changed, and that still exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnTest {
    /// Its path in the newest tree.
    pub path: Vec<u8>,
    /// The lines that the commit added, without indentation.
    pub added: HashSet<Vec<u8>>,
}

/// The tests that each run of the test command executes, as far as its words tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Covered {
    /// Nothing is known.
    #[default]
    Unknown,
    /// All of the project.
    All,
    /// Those at or below these paths.
    Below(Vec<Vec<u8>>),
}

impl Covered {
    /// The same if the test command runs in this directory of the project, relative to the top.
    #[must_use]
    pub fn run_in(self, directory: &Path) -> Self {
        if directory.as_os_str().is_empty() {
            return self;
        }
        let paths = match self {
            Self::Unknown => return Self::Unknown,
            Self::All => vec![PathBuf::new()],
            Self::Below(paths) => paths.into_iter().map(|path| OsString::from_vec(path).into()).collect(),
        };
        // Of a path with `..` nothing is known.
        let is_below = |path: &PathBuf| path.components().all(|part| matches!(part, Component::Normal(_)));
        let below = paths.into_iter().filter(is_below).map(|path| directory.join(path));
        // No slash stands at the end.
        Self::Below(below.map(|path| path.components().collect::<PathBuf>().into_os_string().into_vec()).collect())
    }

    /// Whether the tests in a file are executed.
    pub fn has(&self, path: &[u8]) -> bool {
        let is_at =
            |top: &Vec<u8>| path.strip_prefix(&top[..]).is_some_and(|rest| matches!(rest.first(), None | Some(b'/')));
        match self {
            Self::Unknown => false,
            Self::All => true,
            Self::Below(paths) => paths.iter().any(is_at),
        }
    }
}

/// The files that a runner takes as arguments, by their paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunnableFiles {
    /// The path ends with one of these; with none, no file is taken.
    pub suffixes: Vec<Vec<u8>>,
    /// If there are any, it begins with one of these.
    pub prefixes: Vec<Vec<u8>>,
}

impl RunnableFiles {
    /// The same if the test command runs in this directory of the project, relative to the top.
    #[must_use]
    pub fn run_in(self, directory: &Path) -> Self {
        let below = |prefix: Vec<u8>| directory.join(OsString::from_vec(prefix)).into_os_string().into_vec();
        Self { prefixes: self.prefixes.into_iter().map(below).collect(), ..self }
    }

    /// Whether a file is taken.
    pub fn has(&self, path: &[u8]) -> bool {
        self.suffixes.iter().any(|suffix| path.ends_with(suffix))
            && (self.prefixes.is_empty() || self.prefixes.iter().any(|prefix| path.starts_with(prefix)))
    }
}

impl Hunter<'_> {
    /// The [`own_tests`] of the culprit, without those that are the cause: their paths in the tree `newest`. Costs no
    /// probe.
    pub(super) fn own_tests(&self, cause: &FoundChange, pair: &TreePair, newest: TreeId) -> Result<Vec<Vec<u8>>, Halt> {
        let is_cause = |path: &[u8]| cause.units.iter().any(|unit| unit.path == path);
        // If commits interact, the pair has the changes of all of them.
        let is_one = pair.older.revision == pair.last_good;
        let older = if is_one { pair.older.tree } else { self.view(pair.last_good)? };
        let tests = own_tests(self.trees, &is_cause, ChangeEnds { older, ..pair.ends() }, newest)?;
        Ok(tests.into_iter().map(|test| test.path).collect())
    }
}

/// The first of some tests, and how many more there are: "`a.py` and 2 other files". `None` if there are none.
pub fn named(tests: &[Vec<u8>]) -> Option<String> {
    let first = String::from_utf8_lossy(tests.first()?);
    Some(match tests.len() - 1 {
        0 => format!("`{first}`"),
        n_others => format!("`{first}` and {}", count(n_others, "other file")),
    })
}

/// The tests that a change adds or changes, if at least half of their changes still exist in the tree `newest`.
///
/// A reversal of such a change probably makes these tests fail.
///
/// - `is_cause`: whether a path is a part of the cause of the failure; it is left out.
pub fn own_tests(
    trees: &dyn Trees,
    is_cause: &dyn Fn(&[u8]) -> bool,
    ends: ChangeEnds,
    newest: TreeId,
) -> Result<Vec<OwnTest>, TreesError> {
    let culprit = trees.files(ends.older, ends.newer, &is_test_path)?;
    let is_of_culprit =
        |path: &[u8]| culprit.iter().any(|file| file.newer.as_ref().is_some_and(|side| side.path == path));
    let since = if culprit.is_empty() { Vec::new() } else { trees.files(ends.newer, newest, &is_of_culprit)? };
    let mut tests = Vec::new();
    for file in &culprit {
        let Some(FileSide { path, .. }) = &file.newer else { continue };
        if !is_test_path(path) || is_cause(path) {
            continue;
        }
        let is_it = |pair: &&FilePair| pair.older.as_ref().is_some_and(|side| side.path == *path);
        let newest = match since.iter().find(is_it) {
            Some(changed) => changed.newer.as_ref(),
            None => file.newer.as_ref(),
        };
        let [before, after, now] = [file.older.as_ref(), file.newer.as_ref(), newest].map(lines);
        let (added, removed): (Vec<_>, Vec<_>) =
            (after.difference(&before).collect(), before.difference(&after).collect());
        let n_changed = added.len() + removed.len();
        let is_there = |line: &&&&[u8]| now.contains(**line);
        let n_left = added.iter().filter(is_there).count() + removed.iter().filter(|line| !is_there(line)).count();
        if let Some(FileSide { path, .. }) = newest
            && n_changed > 0
            && 2 * n_left >= n_changed
        {
            let added = added.into_iter().map(|line| line.to_vec()).collect();
            tests.push(OwnTest { path: path.clone(), added });
        }
    }
    Ok(tests)
}

impl OwnTest {
    /// The number of its added lines that `older` has and `newer` lacks; the sides are `None` where the file does not
    /// exist.
    pub fn n_lost(&self, older: Option<&[u8]>, newer: Option<&[u8]>) -> usize {
        let [older, newer] = [older, newer].map(|text| lines_of(text.unwrap_or_default()));
        self.added.iter().filter(|line| older.contains(&line[..]) && !newer.contains(&line[..])).count()
    }
}

/// The units in files that look like tests, and units that name such a file: they make a test run.
pub(super) fn tests_and_calls(set: &ChangeSet) -> Subset {
    let names_test = |text: &[u8]| {
        let is_of_path = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./".contains(byte);
        let mut words = text.split(|byte| !is_of_path(byte));
        words.any(|word| word.iter().any(|byte| b"/.".contains(byte)) && is_test_path(word))
    };
    let mut tests = set.empty();
    tests.extend(set.full().iter().filter(|unit| {
        let text = set.describe(*unit);
        is_test_path(text.path()) || names_test(text.inserted)
    }));
    tests
}

fn lines(side: Option<&FileSide>) -> HashSet<&[u8]> {
    lines_of(side.and_then(FileSide::text).unwrap_or_default())
}

/// The lines of a text without indentation, and without lines that have no letter or digit.
fn lines_of(text: &[u8]) -> HashSet<&[u8]> {
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| line.iter().any(u8::is_ascii_alphanumeric)).collect()
}
