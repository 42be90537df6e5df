//! The tests that the culprit changed: evidence that its behaviour is wanted.

use crate::change::{ChangeSet, FilePair, FileSide, Subset};
use crate::hunt::finding::Change;
use crate::hunt::pair::Pair;
use crate::hunt::test_paths::is_test_path;
use crate::hunt::{Halt, Hunter};
use crate::revision::TreeId;
use std::collections::HashSet;

impl Hunter<'_> {
    /// The tests that the culprit changed, without those that are the cause, if at least half of the changes still
    /// exist in the tree `newest`.
    ///
    /// A reversal of such a commit probably makes these tests fail. Returns their paths in that tree. Costs no probe.
    pub(super) fn own_tests(&self, cause: &Change, pair: &Pair, newest: TreeId) -> Result<Vec<Vec<u8>>, Halt> {
        let culprit = self.trees.files(pair.older.tree, pair.newer.tree, &is_test_path)?;
        let is_of_culprit =
            |path: &[u8]| culprit.iter().any(|file| file.newer.as_ref().is_some_and(|side| side.path == path));
        let since =
            if culprit.is_empty() { Vec::new() } else { self.trees.files(pair.newer.tree, newest, &is_of_culprit)? };
        let mut paths = Vec::new();
        for file in &culprit {
            let Some(FileSide { path, .. }) = &file.newer else { continue };
            if !is_test_path(path) || cause.units.iter().any(|unit| unit.path == *path) {
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
                paths.push(path.clone());
            }
        }
        Ok(paths)
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

/// The lines of a text without indentation, and without lines that have no letter or digit.
fn lines(side: Option<&FileSide>) -> HashSet<&[u8]> {
    let text = side.and_then(FileSide::text).unwrap_or_default();
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| line.iter().any(u8::is_ascii_alphanumeric)).collect()
}
