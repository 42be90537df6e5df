//! A repository with commits that is written without running git, for tests.
#![expect(clippy::unwrap_used, reason = "only tests call this")]

use std::path::PathBuf;

use tempfile::TempDir;

use crate::repo::ids::{object_id, oid, tree_id};
use crate::repo::{Location, Repository, private};
use idd_base::{CommitId, TreeId};

/// A repository in a directory of its own, whose working tree is empty.
pub struct WrittenRepository {
    _directory: TempDir,
    location: Location,
}

impl WrittenRepository {
    /// Makes one without commits.
    pub fn create() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        let mut options = git2::RepositoryInitOptions::new();
        options.external_template(false).initial_head("main");
        git2::Repository::init_opts(&top, &options).unwrap();
        let git = top.join(".git");
        let location =
            Location { git_directory: git.clone(), common_directory: git, top: Some(top), prefix: PathBuf::new() };
        Self { _directory: directory, location }
    }

    /// Its paths.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The open repository.
    pub fn repository(&self) -> Repository {
        private::open(&self.location.git_directory).unwrap()
    }

    /// Writes a tree with these text files.
    pub fn tree(&self, texts: &[(&str, &str)]) -> TreeId {
        let repository = self.repository();
        let git = repository.git();
        let empty = git.treebuilder(None).and_then(|tree| git.find_tree(tree.write()?)).unwrap();
        let mut tree = git2::build::TreeUpdateBuilder::new();
        for (path, text) in texts {
            tree.upsert(*path, git.blob(text.as_bytes()).unwrap(), git2::FileMode::Blob);
        }
        tree_id(tree.create_updated(git, &empty).unwrap())
    }

    /// Commits a tree; the branch `main`, which is `HEAD`, names the new commit. Commits are a day apart.
    pub fn commit(&self, parents: &[CommitId], tree: TreeId, day: u8) -> CommitId {
        let repository = self.repository();
        let git = repository.git();
        let time = git2::Time::new(1_772_323_200 + 86_400 * i64::from(day), 0);
        let who = git2::Signature::new("A U Thor", "author@example.com", &time).unwrap();
        let parents: Vec<_> = parents.iter().map(|id| git.find_commit(oid(id.0)).unwrap()).collect();
        let parents: Vec<_> = parents.iter().collect();
        let tree = git.find_tree(oid(tree.0)).unwrap();
        let id = git.commit(None, &who, &who, &format!("Day {day}\n"), &tree, &parents).unwrap();
        git.reference("refs/heads/main", id, true, "").unwrap();
        CommitId(object_id(id))
    }
}
