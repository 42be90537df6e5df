//! Copies a tree of the private repository into the user's, as a commit for a ref of a finding.
//!
//! The objects come as one pack with a `.keep` file: `git gc`, `repack` and `prune` leave such packs alone. The file
//! stays as long as the ref, because git, when it prunes, does not count the refs of other worktrees.

use crate::files;
use crate::repo::ids::{commit_id, oid};
use crate::repo::{Location, RepoError, Repository, private, refs};
use git2::{ObjectType, Oid, Signature, Time};
use idd_base::{CommitId, TreeId};
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

/// The beginning of each line of our `.keep` files. The commit and the git directory of a worktree follow, with a space
/// between them.
const MARK: &[u8] = b"git-idd keeps ";

/// Writes a commit of `tree` with the parent `parent` into the user's object store, with all objects that the parent does
/// not have. They stay until they are [released](release).
///
/// The commit depends only on the arguments: author and time are fixed. No ref is changed.
pub fn keep(
    private: &Repository,
    user: &Repository,
    tree: TreeId,
    parent: CommitId,
    message: &str,
) -> Result<CommitId, RepoError> {
    let failed = |source| RepoError::git("keep the fix in the repository", source);
    let (source, tree) = (private.git(), oid(tree.0));
    let parent = source.find_commit(oid(parent.0)).map_err(failed)?;
    let signature = Signature::new("git-idd", "git-idd", &Time::new(parent.time().seconds(), 0)).map_err(failed)?;
    let of_tree = source.find_tree(tree).map_err(failed)?;
    let commit = source.commit(None, &signature, &signature, message, &of_tree, &[&parent]).map_err(failed)?;
    let owner = owner_of(user, commit_id(commit));
    if !kept(user).iter().any(|(_, owners)| owners.contains(&owner)) {
        let mut objects = vec![commit];
        new_objects(source, tree, Some(parent.tree_id()), &mut objects).map_err(failed)?;
        pack(source, &objects, user, &owner)?;
    }
    Ok(commit_id(commit))
}

/// Removes the `.keep` files of this worktree but that of `except`, and those of worktrees that no longer exist. The
/// objects stay until git removes them, as it removes all that no ref reaches.
pub fn release(user: &Repository, except: Option<CommitId>) {
    let wanted = except.map(|commit| owner_of(user, commit));
    let own = user.git().path().as_os_str().as_bytes();
    for (file, owners) in kept(user) {
        let stays = |owner: &&Vec<u8>| {
            let worktree = owner.splitn(2, |byte| *byte == b' ').last().unwrap_or_default();
            Some(*owner) == wanted.as_ref() || (worktree != own && Path::new(OsStr::from_bytes(worktree)).exists())
        };
        let rest: Vec<&Vec<u8>> = owners.iter().filter(stays).collect();
        // A file that stays costs space only.
        let _ = match rest.len() {
            0 => files::remove(&file),
            n_left if n_left < owners.len() => files::replace(&file, &lines(rest)),
            _ => Ok(()),
        };
    }
}

fn lines<'a>(owners: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    owners.into_iter().flat_map(|owner| [MARK, owner, b"\n"].concat()).collect()
}

/// Removes the refs of this worktree below `refs/worktree/idd/` whose objects are gone; returns their names.
///
/// Git itself ends with an error as long as there is one. Nothing is done if the refs cannot be read.
pub fn mend(location: &Location) -> Vec<String> {
    let targets = refs::targets_of_findings(location).unwrap_or_default();
    let user = if targets.is_empty() { None } else { private::open(&location.git_directory).ok() };
    let Some(objects) = user.as_ref().and_then(|user| user.git().odb().ok()) else { return Vec::new() };
    let broken = targets.into_iter().filter(|(_, target)| !objects.exists(oid(*target))).map(|(name, _)| name);
    broken.filter(|name| refs::set(location, name, None).is_ok()).collect()
}

/// The commit and the worktree, as in a line of a `.keep` file.
fn owner_of(user: &Repository, commit: CommitId) -> Vec<u8> {
    [commit.to_string().as_bytes(), b" ", user.git().path().as_os_str().as_bytes()].concat()
}

fn objects_of(user: &Repository) -> PathBuf {
    user.git().commondir().join("objects")
}

/// Our `.keep` files, each with its commits and worktrees.
fn kept(user: &Repository) -> Vec<(PathBuf, Vec<Vec<u8>>)> {
    const MAX_BYTES: u64 = 64 << 10;
    let directory = objects_of(user).join("pack");
    let names = files::names(&directory).into_iter().filter(|name| name.as_bytes().ends_with(b".keep"));
    let read = |path: PathBuf| {
        let bytes = files::bytes_up_to(&path, MAX_BYTES).ok()?;
        let owners = bytes.strip_suffix(b"\n")?.split(|byte| *byte == b'\n');
        let owners = owners.map(|line| line.strip_prefix(MARK).map(<[u8]>::to_vec)).collect::<Option<_>>()?;
        Some((path, owners))
    };
    names.filter_map(|name| read(directory.join(name))).collect()
}

/// The objects of a tree that the tree `older` does not have at the same path.
fn new_objects(
    repository: &git2::Repository,
    tree: Oid,
    older: Option<Oid>,
    objects: &mut Vec<Oid>,
) -> Result<(), git2::Error> {
    if older == Some(tree) {
        return Ok(());
    }
    objects.push(tree);
    let older = older.map(|older| repository.find_tree(older)).transpose()?;
    for entry in &repository.find_tree(tree)? {
        let before = older.as_ref().and_then(|older| older.get_name_bytes(entry.name_bytes()));
        match entry.kind() {
            Some(ObjectType::Tree) => {
                let before = before.filter(|before| before.kind() == Some(ObjectType::Tree)).map(|before| before.id());
                new_objects(repository, entry.id(), before, objects)?;
            }
            Some(ObjectType::Blob) if before.is_none_or(|before| before.id() != entry.id()) => objects.push(entry.id()),
            _ => {}
        }
    }
    Ok(())
}

/// The beginning of the names of directories in which a pack is written.
const UNFINISHED: &str = "git-idd-";

/// Removes the directories of programs that were killed while they wrote a pack.
fn remove_unfinished(stores: &Path) {
    const LONG_AGO: Duration = Duration::from_secs(24 * 60 * 60);
    let names = files::names(stores).into_iter().filter(|name| name.as_bytes().starts_with(UNFINISHED.as_bytes()));
    for place in names.map(|name| stores.join(name)) {
        let changed = fs::symlink_metadata(&place).and_then(|metadata| metadata.modified());
        if changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > LONG_AGO)) {
            let _ = files::remove(&place);
        }
    }
}

/// Writes a pack into the user's object store, its `.keep` file before all, so that it is never there without.
fn pack(source: &git2::Repository, objects: &[Oid], user: &Repository, owner: &[u8]) -> Result<(), RepoError> {
    let failed = |error| RepoError::git("keep the fix in the repository", error);
    let mut builder = source.packbuilder().map_err(failed)?;
    for object in objects {
        builder.insert_object(*object, None).map_err(failed)?;
    }
    let (stores, packs) = (objects_of(user), objects_of(user).join("pack"));
    remove_unfinished(&stores);
    // In the same file system, under a name that git leaves alone.
    let place = stores.join(format!("{UNFINISHED}{}", std::process::id()));
    let mut write = || {
        files::remove(&place)?;
        fs::create_dir(&place)?;
        builder.write(&place, 0o444).map_err(io::Error::other)?;
        let name = builder.name().map_err(io::Error::other)?.unwrap_or_default();
        let keep = packs.join(format!("pack-{name}.keep"));
        let others = kept(user).into_iter().find(|(file, _)| *file == keep).map(|(_, owners)| owners);
        files::replace(&keep, &lines(others.iter().flatten().chain([&owner.to_vec()])))?;
        // The index comes last: without it, the pack does not count.
        for ending in ["pack", "idx"] {
            let name = format!("pack-{name}.{ending}");
            File::open(place.join(&name))?.sync_all()?;
            fs::rename(place.join(&name), packs.join(&name))?;
        }
        File::open(&packs)?.sync_all()
    };
    let written: io::Result<()> = write();
    let _ = files::remove(&place);
    written.map_err(|error| failed(git2::Error::from_str(&error.to_string())))
}
