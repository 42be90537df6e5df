//! Reads the history of a hunt.

use crate::repo::ids::{commit_id, oid};
use crate::repo::object::{ObjectReader, n_id_bytes};
use crate::repo::{RepoError, Repository, refs};
use encoding_rs::{Encoding, UTF_8};
use idd_base::{CommitId, ObjectId, Revision, RevisionTable, TreeId};
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::num::{IntErrorKind, ParseIntError};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Resolves a revision expression to a commit, as `git rev-parse` does.
///
/// libgit2 is not used, because it loops for ever on a cut object. Cost: runs git, unless the expression is a whole id;
/// once more for an annotated tag.
pub fn resolve(user: &Repository, expression: &str) -> Result<CommitId, RepoError> {
    let unknown = || RepoError::UnknownRevision { expression: expression.to_owned() };
    let id = refs::id(user, expression).ok_or_else(unknown)?;
    let objects = ObjectReader::open(user).map_err(RepoError::Object)?;
    if objects.commit(commit_id(id)).is_ok() {
        return Ok(commit_id(id));
    }
    refs::id(user, &format!("{id}^{{commit}}")).map(commit_id).ok_or_else(unknown)
}

/// Why `HEAD` is no commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Headless {
    /// There is no commit in the repository.
    Empty,
    /// It names a branch without commits.
    Unborn {
        /// Its short name.
        branch: String,
    },
    /// It names a missing object, or one that is no commit.
    Missing {
        /// The id.
        id: String,
    },
    /// It names a damaged commit.
    Damaged {
        /// The id.
        id: String,
    },
}

/// Why `HEAD` cannot be resolved.
pub fn headless(user: &Repository) -> Headless {
    if let Some(id) = refs::id(user, "HEAD") {
        let is_there = user.git().odb().is_ok_and(|objects| objects.exists(id));
        let id = id.to_string();
        return if is_there { Headless::Damaged { id } } else { Headless::Missing { id } };
    }
    match refs::branch(user) {
        Some(branch) if refs::has_any(user) => Headless::Unborn { branch },
        _ => Headless::Empty,
    }
}

/// All revisions reachable from `tips`, children before parents, and the borders of a shallow clone.
///
/// Replaced commits and grafts count, as for git. Cost: one read for each commit, and git is started once.
pub fn load(repository: &Repository, tips: &[CommitId]) -> Result<(RevisionTable, HashSet<CommitId>), RepoError> {
    let shallow = shallow_borders(repository)?;
    let objects = ObjectReader::open(repository).map_err(RepoError::Object)?;
    let (replaced, grafts) = (refs::replaced(repository)?, grafts(repository));
    let mut found = RevisionTable::default();
    for tip in tips {
        found.add(*tip);
    }
    let mut next = 0;
    while next < found.n_rows() {
        let id = found.id(next);
        let content = replaced.get(&id).copied().unwrap_or(id);
        let mut revision = Revision { id, ..revision(&objects, content)? };
        if let Some(parents) = grafts.get(&id) {
            revision.parents.clone_from(parents);
        }
        if shallow.contains(&id) {
            revision.parents.clear();
        }
        found.push(&revision);
        next += 1;
    }
    found.sort();
    Ok((found, shallow))
}

/// The commits with other parents than their own, of the deprecated file for them.
fn grafts(repository: &Repository) -> HashMap<CommitId, Vec<CommitId>> {
    let text = fs::read_to_string(repository.git().commondir().join("info/grafts")).unwrap_or_default();
    let n_bytes = n_id_bytes(repository);
    let of_id = |id: &str| id.parse().ok().filter(|id: &CommitId| id.0.as_bytes().len() == n_bytes);
    let of_line = |line: &str| {
        let mut ids = line.split_whitespace().map(of_id);
        Some((ids.next()??, ids.collect::<Option<Vec<CommitId>>>()?))
    };
    text.lines().filter(|line| !line.starts_with('#')).filter_map(of_line).collect()
}

/// The revisions from `tips` back to the oldest of them, children before parents; empty if none can be read.
///
/// Unreadable commits, such as those behind the border of a shallow clone, are left out, with commits that only they
/// lead to. Cost: one read for each commit that is newer than the oldest tip, at most `limit`.
pub fn back_to(repository: &Repository, tips: &[CommitId], limit: usize) -> RevisionTable {
    let mut found = RevisionTable::default();
    let mut read: HashMap<CommitId, Revision> = HashMap::new();
    let mut ready: BinaryHeap<(i64, CommitId)> = BinaryHeap::new();
    let Ok(objects) = ObjectReader::open(repository) else { return found };
    let wait = |id: CommitId, ready: &mut BinaryHeap<(i64, CommitId)>, read: &mut HashMap<CommitId, Revision>| {
        if let Ok(revision) = revision(&objects, id) {
            ready.push((revision.commit_time, id));
            read.insert(id, revision);
        }
    };
    for tip in tips {
        wait(*tip, &mut ready, &mut read);
    }
    let mut left: HashSet<CommitId> = read.keys().copied().collect();
    while let Some((_, id)) = ready.pop() {
        if left.is_empty() || found.rows().len() >= limit {
            break;
        }
        left.remove(&id);
        let Some(revision) = read.remove(&id) else { continue };
        for parent in &revision.parents {
            if found.row(*parent).is_none() && !read.contains_key(parent) {
                wait(*parent, &mut ready, &mut read);
            }
        }
        found.push(&revision);
    }
    found.sort();
    found
}

/// One commit of a repository.
///
/// Read leniently, as git does: a damaged author or date is no error, and is shown as far as possible.
pub fn revision_of(repository: &Repository, id: CommitId) -> Result<Revision, RepoError> {
    revision(&ObjectReader::open(repository).map_err(RepoError::Object)?, id)
}

fn revision(objects: &ObjectReader<'_>, id: CommitId) -> Result<Revision, RepoError> {
    let raw = objects.commit(id).map_err(RepoError::Object)?;
    let nameless = || RepoError::git(format!("read the commit {id}"), git2::Error::from_str("it names no tree"));
    parse(id, &raw).ok_or_else(nameless)
}

/// Reads a raw commit object; `None` if it names no tree.
pub(super) fn parse(id: CommitId, raw: &[u8]) -> Option<Revision> {
    let (header, message) = split_at_blank_line(raw);
    let mut tree = None;
    let mut parents = Vec::new();
    let (mut author, mut committer, mut encoding) = (None, None, None);
    for line in header.split(|byte| *byte == b'\n') {
        let (key, value) = line.split_at(line.iter().position(|byte| *byte == b' ').unwrap_or(line.len()));
        let value = value.get(1..).unwrap_or_default();
        let is_alike = |object: &ObjectId| object.as_bytes().len() == id.0.as_bytes().len();
        let object = || std::str::from_utf8(value).ok()?.parse().ok().filter(is_alike);
        match key {
            b"tree" if tree.is_none() => tree = object().map(TreeId),
            b"parent" => parents.push(CommitId(object()?)),
            b"author" if author.is_none() => author = Some(value),
            b"committer" if committer.is_none() => committer = Some(value),
            b"encoding" => encoding = Encoding::for_label_no_replacement(value),
            _ => {}
        }
    }
    let encoding = encoding.unwrap_or(UTF_8);
    let (author, author_time) = author.map(|author| person(author, encoding)).unwrap_or_default();
    let commit_time = committer.map_or(author_time.0, |committer| person(committer, encoding).1.0);
    let subject = message.split(|byte| *byte == b'\n').find(|line| !line.is_empty()).unwrap_or_default();
    let subject = encoding.decode_without_bom_handling(subject).0.into_owned();
    Some(Revision { id, parents, tree: tree?, author, author_time, commit_time, subject })
}

fn split_at_blank_line(raw: &[u8]) -> (&[u8], &[u8]) {
    match raw.windows(2).position(|pair| pair == b"\n\n") {
        Some(at) => (&raw[..at], &raw[at + 2..]),
        None => (raw, &[]),
    }
}

/// `Name <email> seconds +hhmm` as name with email, and time with offset in minutes.
fn person(line: &[u8], encoding: &'static Encoding) -> (String, (i64, i32)) {
    let end = line.iter().rposition(|byte| *byte == b'>').map_or(line.len(), |at| at + 1);
    let (who, when) = line.split_at(end);
    let when = String::from_utf8_lossy(when);
    let mut words = when.split_whitespace();
    let seconds = words.next().map_or(0, seconds_of);
    let zone: i32 = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
    let offset = zone.signum() * ((zone.abs() / 100).min(99) * 60 + zone.abs() % 100);
    (encoding.decode_without_bom_handling(who).0.trim().to_owned(), (seconds, offset))
}

/// Seconds since 1970, limited to 64 bits; 0 if it is no number.
fn seconds_of(word: &str) -> i64 {
    word.parse().unwrap_or_else(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => i64::MAX,
        IntErrorKind::NegOverflow => i64::MIN,
        _ => 0,
    })
}

/// Whether the repository, or its alternate, has a tree.
pub fn has_tree(repository: &Repository, tree: TreeId) -> bool {
    repository.git().find_tree(oid(tree.0)).is_ok()
}

/// The tree of a commit.
pub fn tree_of(repository: &Repository, id: CommitId) -> Result<TreeId, RepoError> {
    Ok(revision_of(repository, id)?.tree)
}

/// Whether `older` is an ancestor of `newer`, and not the same commit. If the history cannot be read, it is none.
pub fn is_ancestor(repository: &Repository, older: CommitId, newer: CommitId) -> bool {
    repository.git().graph_descendant_of(oid(newer.0), oid(older.0)).unwrap_or(false)
}

/// The best common ancestor of two commits; `None` if there is none.
pub fn merge_base(repository: &Repository, one: CommitId, other: CommitId) -> Option<CommitId> {
    repository.git().merge_base(oid(one.0), oid(other.0)).ok().map(commit_id)
}

/// Whether the tree of a commit has a path.
pub fn has_path(repository: &Repository, id: CommitId, path: &[u8]) -> bool {
    object_at(repository, id, path).is_some()
}

/// The object (file or directory) at a path of the tree of a commit; `None` if there is none.
pub fn object_at(repository: &Repository, id: CommitId, path: &[u8]) -> Option<git2::Oid> {
    let tree = repository.git().find_commit(oid(id.0)).and_then(|commit| commit.tree()).ok()?;
    tree.get_path(Path::new(OsStr::from_bytes(path))).ok().map(|entry| entry.id())
}

fn shallow_borders(repository: &Repository) -> Result<HashSet<CommitId>, RepoError> {
    let path = repository.git().commondir().join("shallow");
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text.lines().filter_map(|line| line.trim().parse().ok()).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(HashSet::new()),
        Err(source) => Err(RepoError::io("read", &path, source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(author: &str, expected: (&str, (i64, i32))) {
        let raw = format!("tree {}\nauthor {author}\ncommitter x\n\nsubject\n", "0".repeat(40));
        let revision = parse(CommitId::sha1([1; 20]), raw.as_bytes()).unwrap();
        assert_eq!((revision.author.as_str(), revision.author_time), expected);
        assert_eq!(revision.subject, "subject");
    }

    #[test]
    fn author_and_subject_are_in_the_encoding_that_the_commit_names() {
        let of = |encoding: &str| {
            let mut raw = format!("tree {}\nauthor ", "0".repeat(40)).into_bytes();
            raw.extend(b"J\xfcrg <j> 9 +0000\n");
            raw.extend(encoding.bytes().chain(*b"\n\xfcber\n"));
            let revision = parse(CommitId::sha1([0; 20]), &raw).unwrap();
            (revision.author, revision.subject)
        };
        assert_eq!(of("encoding ISO-8859-1\n"), ("J\u{fc}rg <j>".to_owned(), "\u{fc}ber".to_owned()));
        assert_eq!(of("encoding koi8-r\n").1, "\u{42d}ber");
        for unknown in ["", "encoding none\n"] {
            assert_eq!(of(unknown).1, "\u{fffd}ber");
        }
    }

    #[test]
    fn an_author_is_read_as_far_as_it_can_be() {
        check("A B <a@b> 1000 +0130", ("A B <a@b>", (1000, 90)));
        check("A B <a@b> 1000 -0800", ("A B <a@b>", (1000, -480)));
        check("", ("", (0, 0)));
        check("A <a@b", ("A <a@b", (0, 0)));
        check("A <a@b> 99999999999999999999999 +0000", ("A <a@b>", (i64::MAX, 0)));
        check("A <a@b> never +0000", ("A <a@b>", (0, 0)));
    }
}
