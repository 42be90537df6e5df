//! Lines that were changed lately: a fault is more likely there.

use crate::certificate;
use crate::explain::change::{self, LinesByPath};
use idd_world::record::store::Recording;
use idd_world::repo::{Location, graph};

/// Commits that count as late, along the first parents.
const N_COMMITS: usize = 10;

/// The lines that the last [`N_COMMITS`] commits changed, as they are in the recorded version, with what was changed since
/// (held files). None if the history is not there.
///
/// Cost: the difference of two trees.
pub fn lines(location: &Location, recording: &Recording) -> LinesByPath {
    let found = || {
        let store = certificate::store(location).ok()?;
        let repository = store.repository();
        let commit = graph::resolve(repository, &recording.commit).ok()?;
        let mut oldest = commit;
        for _ in 0..N_COMMITS {
            let Some(parent) = graph::revision_of(repository, oldest).ok()?.parents.first().copied() else { break };
            oldest = parent;
        }
        let tree = recording.tree.as_ref().and_then(|tree| tree.parse().ok());
        let newer = tree
            .filter(|tree| graph::has_tree(repository, *tree))
            .or_else(|| graph::tree_of(repository, commit).ok())?;
        let older = graph::tree_of(repository, oldest).ok()?;
        let (patch, _) = store.patch(older, newer).ok()?;
        Some(change::of_patch(&String::from_utf8_lossy(&patch)))
    };
    found().unwrap_or_default()
}
