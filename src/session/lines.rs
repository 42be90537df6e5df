//! The lines of one commit in another one, for reports whose places must all be in one revision.

use crate::{Failure, certificate, story};
use idd_base::difference::common_items;
use idd_base::{CommitId, TreeId};
use idd_report::{Explained, Untrusted};
use idd_world::repo::{Location, Repository, TreeStore, graph, private};
use std::collections::HashMap;

/// A file of the explained version: its path in the target commit, and the number there of each of its lines.
type MovedFile = Option<(Untrusted, Vec<Option<u64>>)>;

/// Finds the lines of explained versions in a target commit. Each file is compared once.
pub struct TargetLines {
    user: Repository,
    store: Option<TreeStore>,
    known: HashMap<(TreeId, Untrusted, CommitId), MovedFile>,
}

impl TargetLines {
    /// Reads the repository of a hunt.
    pub fn new(location: &Location) -> Result<Self, Failure> {
        let user = private::open(&location.git_directory)?;
        let store = certificate::store(location).ok().or_else(|| story::of_user(location));
        Ok(Self { user, store, known: HashMap::new() })
    }

    /// The path and the number in `commit` of a line of the explained version.
    ///
    /// - `file`: as the explanation names it.
    /// - `line`: from 1.
    /// - Result: `None` if the line was changed or removed in between, or cannot be read. A renamed file is not followed.
    pub fn find(
        &mut self,
        explained: &Explained,
        commit: CommitId,
        file: &Untrusted,
        line: u64,
    ) -> Option<(Untrusted, u64)> {
        let key = (explained.tree, file.clone(), commit);
        if !self.known.contains_key(&key) {
            let moved = self.compare(explained, commit, file);
            self.known.insert(key.clone(), moved);
        }
        let (path, lines) = self.known.get(&key)?.as_ref()?;
        let number = *lines.get(usize::try_from(line.checked_sub(1)?).ok()?)?;
        Some((path.clone(), number?))
    }

    fn compare(&self, explained: &Explained, commit: CommitId, file: &Untrusted) -> MovedFile {
        let store = self.store.as_ref()?;
        let (path, explained) = story::found(&self.user, store, explained, file)?;
        let target = graph::tree_of(&self.user, commit).ok()?;
        let (_, content) = store.file(target, path.as_bytes()).ok()??;
        Some((path, moved(&explained, &content)))
    }
}

/// The number in `target` of each line of `text`, from 1; `None` for a line that is not there.
fn moved(text: &[u8], target: &[u8]) -> Vec<Option<u64>> {
    let [text, target] = [text, target].map(|text| text.split(|byte| *byte == b'\n').collect::<Vec<_>>());
    let mut numbers = vec![None; text.len()];
    for (index, other) in common_items(&text, &target) {
        numbers[index] = u64::try_from(other + 1).ok();
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_number_after_insertions_and_none_if_it_was_changed() {
        assert_eq!(moved(b"a\nb\nc\n", b"new\na\nB\nc\n"), [Some(2), None, Some(4), Some(5)]);
        assert_eq!(moved(b"a\nb", b"b"), [None, Some(1)]);
        assert_eq!(moved(b"", b"x"), [None]);
    }
}
