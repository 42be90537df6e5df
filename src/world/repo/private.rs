//! The private repository: it contains the candidates, so the user's object store never gets them.
//!
//! It is bare, has no remotes, no hooks and none of the user's configuration, and uses the user's objects as an
//! alternate. Tags are copied, so that `git describe` works in its worktrees.

use crate::files;
use crate::repo::ids::{commit_id, oid};
use crate::repo::object::{ObjectReader, n_id_bytes};
use crate::repo::stat::Directory;
use crate::repo::{RepoError, Repository, index, loose, modules, refs};
use git2::{ConfigLevel, ObjectFormat, Oid, RepositoryInitOptions, Signature};
use idd_base::{CommitId, ObjectId, TreeId};
use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::{fs, iter};

/// The private repository below a common git directory.
pub fn private_directory(idd_directory: &Path) -> PathBuf {
    idd_directory.join("objects.git")
}

/// Whether a repository is the private one of some user's repository.
pub fn is_private(repository: &Repository) -> bool {
    let directory = repository.git().commondir();
    directory.parent().is_some_and(|idd| private_directory(idd) == directory)
}

/// Removes damaged objects from the private repository, so that they are made again; returns their number.
///
/// Cost: reads the objects that were written since the last call.
pub fn clear(idd_directory: &Path) -> usize {
    let private = private_directory(idd_directory);
    let damaged = loose::damaged(&private.join("objects"), &private.join("idd-sound"));
    damaged.into_iter().filter(|path| fs::remove_file(path).is_ok()).count()
}

/// Disables every configuration outside of the opened repository in libgit2. Runs once for each process.
///
/// Git itself has checked the ownership of the repository.
fn isolate_libgit2() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for level in [ConfigLevel::ProgramData, ConfigLevel::System, ConfigLevel::XDG, ConfigLevel::Global] {
            #[expect(unsafe_code, reason = "libgit2 has process-wide settings only")]
            // SAFETY: called once, before any repository is opened by any thread of this process.
            let result = unsafe { git2::opts::set_search_path(level, "") };
            result.expect("an empty search path is always accepted");
        }
        #[expect(unsafe_code, reason = "libgit2 has process-wide settings only")]
        // SAFETY: as above.
        let result = unsafe { git2::opts::set_verify_owner_validation(false) };
        result.expect("the owner check can always be turned off");
        #[expect(unsafe_code, reason = "libgit2 has process-wide settings only")]
        // SAFETY: as above.
        let result = unsafe { git2::opts::set_extensions(&["refstorage"]) };
        // Its answers about refs are wrong for refs in tables: git reads those, see `refs`.
        result.expect("a name of an extension is always accepted");
        #[expect(unsafe_code, reason = "libgit2 has process-wide settings only")]
        // SAFETY: as above.
        let result = unsafe { git2::opts::set_cache_object_limit(git2::ObjectType::Commit, 0) };
        // A history is read once, and a cache of its commits takes up to 256 MiB.
        result.expect("commits can always be left out of the cache");
        // As in git. It takes as long as inflating them, and damage shows in their own checksums.
        git2::opts::strict_hash_verification(false);
    });
}

/// Opens a repository by its git directory, with only its own configuration.
pub fn open(git_directory: &Path) -> Result<Repository, RepoError> {
    isolate_libgit2();
    git2::Repository::open(git_directory)
        .map(Repository::from)
        .map_err(|source| RepoError::git("open the repository", source))
}

/// The whole configuration of the private repository.
fn config(format: ObjectFormat) -> Vec<u8> {
    let (version, extensions) = match format {
        ObjectFormat::Sha1 => (0, ""),
        ObjectFormat::Sha256 => (1, "[extensions]\n\tobjectformat = sha256\n"),
    };
    let core = format!("[core]\n\trepositoryformatversion = {version}\n\tfilemode = true\n\tbare = true\n");
    (core + extensions).into_bytes()
}

/// The file with the refs of the private repository.
const PACKED_REFS: &str = "packed-refs";

/// The file that disables filling the directories of submodules.
const EMPTY_SUBMODULES: &str = "idd-empty-submodules";

/// Whether the directories of submodules are filled in the worktrees of a repository.
pub fn fills_submodules(repository: &Repository) -> bool {
    is_private(repository) && !repository.git().commondir().join(EMPTY_SUBMODULES).exists()
}

/// Sets whether the directories of submodules are filled from now on.
pub fn fill_submodules(idd_directory: &Path, are_filled: bool) -> Result<(), RepoError> {
    let path = private_directory(idd_directory).join(EMPTY_SUBMODULES);
    let done = if are_filled { files::remove(&path) } else { files::create_new(&path).map(drop) };
    done.map_err(|source| RepoError::io("write", &path, source))
}

/// Creates (or completes) the private repository with the user's objects.
///
/// - `objects`: the object directory of the user's repository, absolute.
/// - `head`: HEAD of the private repository itself.
pub fn create(idd_directory: &Path, user: &Repository, head: CommitId) -> Result<Repository, RepoError> {
    isolate_libgit2();
    let directory = private_directory(idd_directory);
    fs::create_dir_all(idd_directory).map_err(|source| RepoError::io("create", idd_directory, source))?;
    if directory.is_dir() {
        // A test may have overwritten it.
        write_if_new(&directory.join("config"), &config(user.git().object_format()))?;
    }
    let mut options = RepositoryInitOptions::new();
    options
        .bare(true)
        .external_template(false)
        .no_reinit(false)
        .initial_head("idd")
        .object_format(user.git().object_format());
    let repository = git2::Repository::init_opts(&directory, &options)
        .map(Repository::from)
        .map_err(|source| RepoError::git("create the private repository", source))?;
    let objects = user.git().commondir().join("objects");
    let objects = fs::canonicalize(&objects).map_err(|source| RepoError::io("find", &objects, source))?;
    let mut alternates = Vec::new();
    for objects in [objects].into_iter().chain(modules::object_directories(&[user.git().commondir(), user.path()])) {
        alternates.extend(alternate(&directory.join("objects"), &objects)?);
    }
    write_if_new(&directory.join("objects/info/alternates"), &alternates)?;
    restore_refs(&directory, &tags(user)?)?;
    write_if_new(&directory.join("HEAD"), format!("{head}\n").as_bytes())?;
    drop(repository);
    open(&directory)
}

/// The refs of the private repository: those of the user's tags.
pub fn packed_refs(repository: &Repository) -> Vec<u8> {
    files::bytes(&repository.git().commondir().join(PACKED_REFS)).unwrap_or_default()
}

/// Makes these the only refs of a private repository: a test may have made, moved or removed some.
pub fn restore_refs(directory: &Path, packed: &[u8]) -> Result<(), RepoError> {
    for kind in files::names(&directory.join("refs")) {
        let kind = directory.join("refs").join(kind);
        if !kind.is_dir() || !files::names(&kind).is_empty() {
            files::remove(&kind).map_err(|source| RepoError::io("remove", &kind, source))?;
        }
    }
    write_if_new(&directory.join(PACKED_REFS), packed)
}

/// The line in `alternates` of `from` that adds the objects in `objects`, which is absolute.
///
/// It is the relative path: the git directory can be moved, and a probe can see it elsewhere. A line cannot contain a line
/// break.
fn alternate(from: &Path, objects: &Path) -> Result<Vec<u8>, RepoError> {
    let has_break = |path: &Path| path.as_os_str().as_bytes().contains(&b'\n');
    let from = fs::canonicalize(from).map_err(|source| RepoError::io("find", from, source))?;
    let n_common = from.components().zip(objects.components()).take_while(|(one, other)| one == other).count();
    let mut path: PathBuf = from.components().skip(n_common).map(|_| "..").collect();
    path.extend(objects.components().skip(n_common));
    if has_break(&path) {
        return Err(RepoError::Unsupported { what: "objects behind a path with a line break are" });
    }
    Ok([path.as_os_str().as_bytes(), b"\n"].concat())
}

/// The user's tags as a `packed-refs` file.
fn tags(user: &Repository) -> Result<Vec<u8>, RepoError> {
    let mut text = b"# pack-refs with: peeled fully-peeled sorted \n".to_vec();
    let objects = ObjectReader::open(user).map_err(RepoError::Object)?;
    for (name, target) in refs::tags(user)? {
        let peeled = peeled(&objects, target);
        text.extend_from_slice(format!("{target} ").as_bytes());
        text.extend_from_slice(&name);
        text.push(b'\n');
        if let Some(peeled) = peeled {
            text.extend_from_slice(format!("^{peeled}\n").as_bytes());
        }
    }
    Ok(text)
}

/// The object at the end of an annotated tag; `None` if it is no such tag, or cannot be read.
fn peeled(objects: &ObjectReader<'_>, tag: ObjectId) -> Option<ObjectId> {
    let target = |tag| {
        let tag = objects.tag(tag).ok()?;
        let line = tag.split(|byte| *byte == b'\n').next()?.strip_prefix(b"object ")?;
        str::from_utf8(line).ok()?.parse().ok()
    };
    // A tag names an older object, so this ends.
    iter::successors(target(tag), |object| target(*object)).last()
}

/// Registers a worker's worktree; returns its git directory.
///
/// `name` is unique among the worktrees of the private repository.
pub fn link_worktree(private: &Path, name: &str, worktree: &Path, head: CommitId) -> Result<PathBuf, RepoError> {
    let directory = private.join("worktrees").join(name);
    fs::create_dir_all(&directory).map_err(|source| RepoError::io("create", &directory, source))?;
    let file = worktree.join(".git");
    write_if_new(&directory.join("commondir"), b"../..\n")?;
    write_if_new(&directory.join("HEAD"), format!("{head}\n").as_bytes())?;
    write_if_new(&directory.join("gitdir"), &[file.as_os_str().as_bytes(), b"\n"].concat())?;
    Ok(directory)
}

/// The content of the `.git` file in a worktree, with which git commands find its git directory.
pub fn git_file(git_directory: &Path) -> Vec<u8> {
    [b"gitdir: ", git_directory.as_os_str().as_bytes(), b"\n"].concat()
}

/// Sets HEAD and index of a worktree for a probe of `tree`, whatever the last probe did with git; returns the commit of HEAD.
///
/// - `head`: the tested revision.
/// - `written`: the files of `tree` in the worktree; `beside`: those of them that count as untracked, if `head` has all others.
///
/// HEAD is `head` if its files are those of `tree`, and otherwise a commit of `tree` with the parent `head`. So git answers
/// questions about the revision as in a checkout of it, and `git status`, `ls-files`, `stash`, `clean` or `reset --hard` of a
/// build or test work on the tested files. Cost: the index has an entry for each file.
pub fn set_head(
    private: &Repository,
    name: &str,
    head: CommitId,
    tree: TreeId,
    written: &Directory,
    beside: &BTreeSet<Vec<u8>>,
) -> Result<CommitId, RepoError> {
    let directory = private.path().join("worktrees").join(name);
    let is_of_head = tree_of(private, head).is_some_and(|of_head| is_tree_with(private, of_head, tree, beside));
    let (commit, beside) = if is_of_head {
        (oid(head.0), Some(beside))
    } else {
        (probe_commit(private, head, tree).unwrap_or(oid(head.0)), None)
    };
    write_if_new(&directory.join("HEAD"), format!("{commit}\n").as_bytes())?;
    let path = directory.join("index");
    for stale in [&path, &directory.join("index.lock")] {
        match fs::remove_file(stale) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(RepoError::io("remove", stale, error)),
            _ => {}
        }
    }
    let file = files::create_new(&path)
        .and_then(|mut file| file.write_all(&index::bytes(written, beside, n_id_bytes(private))));
    file.map_err(|source| RepoError::io("write", &path, source))?;
    Ok(commit_id(commit))
}

/// The tree of a commit; `None` if it cannot be read.
fn tree_of(private: &Repository, commit: CommitId) -> Option<Oid> {
    Some(private.git().find_commit(oid(commit.0)).ok()?.tree_id())
}

/// Whether `with` is the tree `plain` with the files `beside`, and nothing else.
fn is_tree_with(private: &Repository, plain: Oid, with: TreeId, beside: &BTreeSet<Vec<u8>>) -> bool {
    if plain == oid(with.0) {
        return true;
    }
    if beside.is_empty() {
        return false;
    }
    let git = private.git();
    let tree = |id: Oid| git.find_tree(id).ok();
    let (Some(plain), Some(with)) = (tree(plain), tree(oid(with.0))) else { return false };
    let Ok(difference) = git.diff_tree_to_tree(Some(&plain), Some(&with), None) else { return false };
    let is_beside = |delta: git2::DiffDelta<'_>| {
        delta.status() == git2::Delta::Added && delta.new_file().path_bytes().is_some_and(|path| beside.contains(path))
    };
    difference.deltas().all(is_beside)
}

/// A commit of `tree` with the parent `head`; `None` if libgit2 cannot read `head`.
fn probe_commit(private: &Repository, head: CommitId, tree: TreeId) -> Option<Oid> {
    let parent = private.git().find_commit(oid(head.0)).ok()?;
    let tree = private.git().find_tree(oid(tree.0)).ok()?;
    let who = Signature::new("git-idd", "git-idd", &parent.time()).ok()?;
    private.git().commit(None, &who, &who, "Probe\n", &tree, &[&parent]).ok()
}

/// Writes a file by rename, unless it already has this content.
fn write_if_new(path: &Path, bytes: &[u8]) -> Result<(), RepoError> {
    let mut present = Vec::new();
    let opened = files::own(fs::OpenOptions::new().read(true)).open(path);
    if opened.and_then(|file| file.take(bytes.len() as u64 + 1).read_to_end(&mut present)).is_ok() && present == bytes {
        return Ok(());
    }
    let failed = |source| RepoError::io("write", path, source);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".new-{}", std::process::id()));
    let temporary = path.with_file_name(name);
    files::create_new(&temporary).and_then(|mut file| file.write_all(bytes)).map_err(failed)?;
    fs::rename(&temporary, path).map_err(failed)
}
