//! Raw git objects: the entries of a tree and the bytes of a blob, exactly as stored.
//!
//! Trees are parsed here and not by libgit2: for a hostile tree, the message must name the entry and the reason, and a
//! library only reports that it cannot parse it.

use crate::repo::ids::oid;
use crate::repo::loose::{Loose, LooseState};
use crate::repo::refusal::{MoveStop, Refusal, WriteError};
use crate::repo::{Repository, private};
use git2::ObjectFormat;
use idd_base::{BlobId, CommitId, ObjectId, TreeId};

/// The kind of an entry of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A directory.
    Tree,
    /// A regular file.
    File {
        /// Whether its owner may execute it.
        is_executable: bool,
    },
    /// A symbolic link; its target is the content of the blob.
    Link,
    /// A commit of another repository; an empty directory here.
    Submodule,
}

impl EntryKind {
    /// Whether it is a directory on disk.
    pub fn is_directory(self) -> bool {
        matches!(self, Self::Tree | Self::Submodule)
    }
}

/// One entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    /// One component, any bytes; not yet checked.
    pub name: Vec<u8>,
    /// What it is.
    pub kind: EntryKind,
    /// The object, of the kind `kind`.
    pub id: ObjectId,
}

impl TreeEntry {
    /// The blob of a regular file; rules in links do not count.
    pub fn regular_blob(&self) -> Option<BlobId> {
        matches!(self.kind, EntryKind::File { .. }).then_some(BlobId(self.id))
    }
}

/// Reads objects of one repository.
pub struct ObjectReader<'repo> {
    database: git2::Odb<'repo>,
    loose: Loose,
    fills_submodules: bool,
    n_id_bytes: usize,
}

/// The content of an object.
enum ObjectContent<'a> {
    Loose(Vec<u8>),
    Packed(git2::OdbObject<'a>),
}

impl ObjectContent<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Loose(bytes) => bytes,
            Self::Packed(object) => object.data(),
        }
    }
}

impl<'repo> ObjectReader<'repo> {
    /// Opens the object database of `repository`.
    pub fn open(repository: &'repo Repository) -> Result<Self, WriteError> {
        let database = repository
            .git()
            .odb()
            .map_err(|source| WriteError::Repository { action: "open the object database".into(), source })?;
        let fills_submodules = private::fills_submodules(repository);
        Ok(Self { database, loose: Loose::of(repository), fills_submodules, n_id_bytes: n_id_bytes(repository) })
    }

    /// The entries of a tree in stored order; `path` (of the tree) is for messages.
    pub fn tree(&self, tree_id: TreeId, path: &[u8]) -> Result<Vec<TreeEntry>, MoveStop> {
        let object = self.read(tree_id.0, git2::ObjectType::Tree)?;
        parse_tree(object.bytes(), self.n_id_bytes)
            .map_err(|why| MoveStop::Refused(Refusal::Path { path: path.to_vec(), why }))
    }

    /// The content of a blob.
    pub fn blob(&self, blob_id: BlobId) -> Result<Vec<u8>, WriteError> {
        Ok(match self.read(blob_id.0, git2::ObjectType::Blob)? {
            ObjectContent::Loose(bytes) => bytes,
            ObjectContent::Packed(object) => object.data().to_vec(),
        })
    }

    /// The bytes of a commit.
    pub fn commit(&self, commit_id: CommitId) -> Result<Vec<u8>, WriteError> {
        Ok(self.read(commit_id.0, git2::ObjectType::Commit)?.bytes().to_vec())
    }

    /// The bytes of an annotated tag.
    pub fn tag(&self, id: ObjectId) -> Result<Vec<u8>, WriteError> {
        Ok(self.read(id, git2::ObjectType::Tag)?.bytes().to_vec())
    }

    /// Whether the directories of submodules are those of their commits, and not empty.
    pub fn fills_submodules(&self) -> bool {
        self.fills_submodules
    }

    /// The tree of a submodule at `path`; `None` if its directory stays empty.
    pub fn submodule(&self, commit_id: CommitId, path: &[u8]) -> Result<Option<TreeId>, MoveStop> {
        if !self.fills_submodules {
            return Ok(None);
        }
        let refusal = || MoveStop::Refused(Refusal::Submodule { path: path.to_vec(), commit: commit_id });
        let commit = match self.commit(commit_id) {
            Err(WriteError::Object { .. }) => return Err(refusal()),
            commit => commit?,
        };
        let line = commit.split(|byte| *byte == b'\n').next().and_then(|line| line.strip_prefix(b"tree "));
        let tree = line.and_then(|id| str::from_utf8(id).ok()?.parse().ok());
        tree.map(Some).ok_or_else(refusal)
    }

    /// Whether a blob exists; if it is loose, also whether it is complete.
    pub fn has_blob(&self, blob_id: BlobId) -> bool {
        match self.loose.read(oid(blob_id.0)) {
            LooseState::Object(..) => true,
            LooseState::Damaged { .. } => false,
            LooseState::Nothing => self.database.exists(oid(blob_id.0)),
        }
    }

    /// The size of a blob in bytes, without reading it.
    pub fn blob_bytes(&self, blob_id: BlobId) -> Result<u64, WriteError> {
        match self.database.read_header(oid(blob_id.0)) {
            Ok((n_bytes, _)) => Ok(n_bytes as u64),
            // Damage shows when it is read.
            Err(_) => Ok(self.read(blob_id.0, git2::ObjectType::Blob)?.bytes().len() as u64),
        }
    }

    fn read(&self, id: ObjectId, kind: git2::ObjectType) -> Result<ObjectContent<'_>, WriteError> {
        let failed = |source| unreadable(kind.str(), id, source);
        let (found, content) = match self.loose.read(oid(id)) {
            LooseState::Object(found, bytes) => (found, ObjectContent::Loose(bytes)),
            LooseState::Damaged { is_own: true } => {
                return Err(WriteError::Own { kind: kind.str(), id: oid(id).to_string() });
            }
            LooseState::Damaged { is_own: false } => return Err(bad(kind.str(), id, "is damaged")),
            LooseState::Nothing => {
                let object = self.database.read(oid(id)).map_err(failed)?;
                (object.kind(), ObjectContent::Packed(object))
            }
        };
        if found != kind {
            return Err(failed(git2::Error::from_str("the object is of another kind")));
        }
        Ok(content)
    }
}

/// Why an object cannot be read: a missing object is an answer.
fn unreadable(kind: &'static str, id: ObjectId, source: git2::Error) -> WriteError {
    match source.code() {
        git2::ErrorCode::NotFound => bad(kind, id, "is missing"),
        _ => WriteError::Repository { action: format!("read {kind} {}", oid(id)), source },
    }
}

fn bad(kind: &'static str, id: ObjectId, why: &'static str) -> WriteError {
    WriteError::Object { kind, id: oid(id).to_string(), why }
}

/// Whether a content is that of a blob of the repository.
pub fn is_known(repository: &Repository, content: &[u8]) -> bool {
    let git = repository.git();
    let id = git2::Oid::hash_object_ext(git2::ObjectType::Blob, content, git.object_format());
    id.is_ok_and(|id| git.odb().is_ok_and(|database| database.exists(id)))
}

/// The length of an id in a repository, in bytes.
pub fn n_id_bytes(repository: &Repository) -> usize {
    match repository.git().object_format() {
        ObjectFormat::Sha1 => 20,
        ObjectFormat::Sha256 => 32,
    }
}

/// Parses a raw tree: repeated `mode SP name NUL id`.
pub(super) fn parse_tree(mut raw: &[u8], n_id_bytes: usize) -> Result<Vec<TreeEntry>, &'static str> {
    const CUT: &str = "the tree object is malformed";
    let mut entries = Vec::new();
    while !raw.is_empty() {
        let space = raw.iter().position(|byte| *byte == b' ').ok_or(CUT)?;
        let kind = kind_of_mode(&raw[..space])?;
        raw = &raw[space + 1..];
        let end = raw.iter().position(|byte| *byte == 0).ok_or(CUT)?;
        let (name, rest) = (&raw[..end], &raw[end + 1..]);
        let (id, rest) = rest.split_at_checked(n_id_bytes).ok_or(CUT)?;
        if name.is_empty() {
            return Err("the tree holds an entry without a name");
        }
        entries.push(TreeEntry { name: name.to_vec(), kind, id: ObjectId::from_bytes(id).ok_or(CUT)? });
        raw = rest;
    }
    Ok(entries)
}

fn kind_of_mode(octal: &[u8]) -> Result<EntryKind, &'static str> {
    let text = str::from_utf8(octal).map_err(|_| "the tree object is malformed")?;
    let mode = u32::from_str_radix(text, 8).map_err(|_| "the tree object is malformed")?;
    match mode & 0o170_000 {
        0o040_000 => Ok(EntryKind::Tree),
        0o100_000 => Ok(EntryKind::File { is_executable: mode & 0o100 != 0 }),
        0o120_000 => Ok(EntryKind::Link),
        0o160_000 => Ok(EntryKind::Submodule),
        _ => Err("the tree holds an entry of unknown mode"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raw_tree_is_taken_apart() {
        for ids in [[[7; 20], [8; 20]].map(ObjectId::Sha1), [[7; 32], [8; 32]].map(ObjectId::Sha256)] {
            let mut raw = b"100755 run\0".to_vec();
            raw.extend(ids[0].as_bytes());
            raw.extend(b"40000 \xff/x\0");
            raw.extend(ids[1].as_bytes());
            let entries = parse_tree(&raw, ids[0].as_bytes().len()).unwrap();
            assert_eq!(entries[0].kind, EntryKind::File { is_executable: true });
            assert_eq!(entries[1], TreeEntry { name: b"\xff/x".to_vec(), kind: EntryKind::Tree, id: ids[1] });
        }
    }

    #[test]
    fn a_damaged_tree_is_refused_and_not_guessed_at() {
        for raw in [
            &b"100644"[..],
            b"100644 x",
            b"100644 x\0short",
            b"888 x\0",
            b"10644 x\0aaaaaaaaaaaaaaaaaaaa",
            b"100644 \0aaaaaaaaaaaaaaaaaaaa",
        ] {
            assert!(parse_tree(raw, 20).is_err(), "{raw:?}");
        }
    }
}
