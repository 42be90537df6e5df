//! The objects that a partial clone left with its remote.
//!
//! libgit2 does not know promised objects. So a tree is completed before it is read: if the user allows it, all missing
//! objects below the tree are fetched at once. Then a probe lacks nothing.

use crate::repo::fetch::Remote;
use crate::repo::ids::oid;
use crate::repo::object::{EntryKind, ObjectReader};
use crate::repo::{RepoError, Repository};
use git2::OdbLookupFlags;
use idd_base::{ObjectId, TreeId};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

/// The keys of the configuration for a remote with promised objects.
///
/// The old one names the remote; the others are `remote.<name>.promisor`.
const OLD_KEY: &str = "extensions.partialclone";

/// The missing objects of a partial clone, and their remote.
#[derive(Debug, Clone)]
pub struct Promisor {
    remote: Remote,
    may_fetch: bool,
    /// Trees without missing objects.
    complete: Rc<RefCell<HashSet<TreeId>>>,
    n_fetched: Rc<Cell<u64>>,
}

/// The name of the remote with promised objects, from the keys and values of the configuration.
pub fn promising<'c>(configuration: impl Iterator<Item = (&'c str, &'c str)>) -> Option<String> {
    let of_key = |(key, value): (&str, &str)| {
        if key.eq_ignore_ascii_case(OLD_KEY) {
            return Some(value.to_owned());
        }
        let name = key.strip_prefix("remote.")?.strip_suffix(".promisor")?;
        matches!(value, "true" | "yes" | "on" | "1").then(|| name.to_owned())
    };
    configuration.filter_map(of_key).last()
}

impl Promisor {
    /// Objects are fetched from `remote`, if `may_fetch`.
    pub fn new(remote: Remote, may_fetch: bool) -> Self {
        Self { remote, may_fetch, complete: Rc::default(), n_fetched: Rc::default() }
    }

    /// The number of objects fetched so far, and the remote.
    pub fn fetched(&self) -> (u64, &str) {
        (self.n_fetched.get(), &self.remote.name)
    }

    /// Makes sure that all objects below `tree` exist.
    ///
    /// [`RepoError::Promised`] if some are missing and must not be fetched. Cost: examines every object below the tree
    /// that is not below an earlier tree.
    pub fn complete(&self, repository: &Repository, tree: TreeId) -> Result<(), RepoError> {
        while !self.complete.borrow().contains(&tree) {
            let missing = self.missing(repository, tree)?;
            if missing.is_empty() {
                return Ok(());
            }
            let n_missing = missing.len() as u64;
            if !self.may_fetch {
                return Err(RepoError::Promised { n_missing, remote: self.remote.name.clone() });
            }
            let ids: Vec<String> = missing.iter().map(ToString::to_string).collect();
            self.remote.objects(&ids)?;
            self.n_fetched.set(self.n_fetched.get() + n_missing);
            if self.missing(repository, tree)?.intersection(&missing).next().is_some() {
                let said = "it does not have them".to_owned();
                return Err(RepoError::NotFetched { remote: self.remote.name.clone(), said });
            }
        }
        Ok(())
    }

    /// The ids of missing objects below `tree`, as far as existing trees name them. If there are none, the tree is
    /// recorded as complete.
    fn missing(&self, repository: &Repository, tree: TreeId) -> Result<BTreeSet<git2::Oid>, RepoError> {
        let failed = |source| RepoError::git("look for objects", source);
        let database = repository.git().odb().map_err(failed)?;
        database.refresh().map_err(failed)?;
        let is_there = |id: ObjectId| database.exists_ext(oid(id), OdbLookupFlags::NO_REFRESH);
        let mut missing = BTreeSet::new();
        let mut seen = HashSet::new();
        let mut open = vec![tree];
        while let Some(tree) = open.pop() {
            if self.complete.borrow().contains(&tree) || !seen.insert(tree) {
                continue;
            }
            if !is_there(tree.0) {
                missing.insert(oid(tree.0));
                continue;
            }
            // A malformed tree is reported by the writer.
            let entries = ObjectReader::open(repository).ok().and_then(|objects| objects.tree(tree, b"").ok());
            for entry in entries.unwrap_or_default() {
                match entry.kind {
                    EntryKind::Tree => open.push(TreeId(entry.id)),
                    EntryKind::Submodule => {}
                    _ if is_there(entry.id) => {}
                    _ => {
                        missing.insert(oid(entry.id));
                    }
                }
            }
        }
        if missing.is_empty() {
            self.complete.borrow_mut().extend(seen);
        }
        Ok(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_remote_that_promises_is_asked() {
        let check = |configuration: &[(&str, &str)], expected: Option<&str>| {
            assert_eq!(promising(configuration.iter().copied()).as_deref(), expected, "{configuration:?}");
        };
        check(&[("idd.jobs", "1"), ("color.ui", "auto")], None);
        check(&[("remote.origin.promisor", "true")], Some("origin"));
        check(&[("remote.a.b.promisor", "true"), ("remote.c.promisor", "false")], Some("a.b"));
        check(&[("extensions.partialclone", "up")], Some("up"));
    }
}
