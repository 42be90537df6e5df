//! A git tree as the directories of the protocol.
//!
//! The files are those that a [worktree](crate::repo::Worktree) would have: with the tree's own line ends and
//! encodings, and with submodules if they are filled. A digest of an object never changes, so it is computed once; of a
//! candidate that differs in one line, only the directories on the way to it are encoded.
//!
//! Differences to a worktree: no times, no `.git`, and only names in UTF-8, because the protocol has no others.

use crate::remote::digest::Digest;
use crate::remote::map::DigestMap;
use crate::repo::ConversionNotice;
use crate::repo::attributes::{AttributeFile, AttributeStack};
use crate::repo::conversion::Conversion;
use crate::repo::object::{EntryKind, ObjectReader, TreeEntry};
use crate::repo::paths::refuse_component;
use crate::repo::refusal::{MoveStop, Refusal, WriteError, WrittenTreeLimits};
use crate::repo::stat::BlobForm;
use crate::repo::write::content;
use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use idd_base::{BlobId, CommitId, TreeId};
use std::collections::{BTreeSet, HashSet};
use std::mem;

/// The place of the tree below the root of an action: beside the tree, a worker's own directories cannot hide it.
pub const TOP: &str = "w";

/// The largest content that is sent in bytes.
const MAX_BLOB_BYTES: u64 = 1 << 30;

/// The maximum number of notices; a tree can have any number of them.
const MAX_NOTICES: usize = 1000;

/// Where the content of a blob is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlobContent {
    /// Here.
    Bytes(Vec<u8>),
    /// In the repository.
    Blob(BlobId, BlobForm),
}

/// A blob that a service may lack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedBlob {
    /// Its digest.
    pub digest: Digest,
    /// Its content.
    pub content: BlobContent,
}

impl WantedBlob {
    /// Its bytes.
    pub fn bytes(&self, objects: &ObjectReader<'_>) -> Result<Vec<u8>, WriteError> {
        match &self.content {
            BlobContent::Bytes(bytes) => Ok(bytes.clone()),
            BlobContent::Blob(blob, form) => content(objects, *blob, *form),
        }
    }
}

/// Encodes the trees of a repository.
pub struct Encoder<'e> {
    objects: &'e ObjectReader<'e>,
    map: &'e mut DigestMap,
    /// Blobs and whole directories that the service has.
    present: &'e HashSet<Digest>,
    limits: WrittenTreeLimits,
    path: Vec<u8>,
    attributes: AttributeStack,
    /// The attribute files above, which contents depend on; empty if there is none.
    above: Vec<u8>,
    n_entries: usize,
    listed: HashSet<Digest>,
    wanted: Vec<WantedBlob>,
    /// The notices about the encoded trees.
    pub notices: BTreeSet<ConversionNotice>,
}

impl<'e> Encoder<'e> {
    /// - `present`: what the service has; of a directory, also everything below.
    pub fn new(objects: &'e ObjectReader<'e>, map: &'e mut DigestMap, present: &'e HashSet<Digest>) -> Self {
        Self {
            objects,
            map,
            present,
            limits: WrittenTreeLimits::default(),
            path: Vec::new(),
            attributes: AttributeStack::default(),
            above: Vec::new(),
            n_entries: 0,
            listed: HashSet::new(),
            wanted: Vec::new(),
            notices: BTreeSet::new(),
        }
    }

    /// The root directory for a tree, and the blobs below it that the service may lack: contents before directories.
    ///
    /// Cost: reads the directories that the service does not have, and the contents whose digest is unknown.
    pub fn root(mut self, tree: TreeId) -> Result<(Digest, Vec<WantedBlob>, BTreeSet<ConversionNotice>), MoveStop> {
        let top = self.directory(tree, 0)?;
        let node = api::DirectoryNode { name: TOP.to_owned(), digest: Some(top.to_api()) };
        let root = self.encoded(&api::Directory { directories: vec![node], ..api::Directory::default() });
        Ok((root, self.wanted, self.notices))
    }

    /// The key of a directory. With attribute files above, the result also depends on its place below them.
    fn key(&self, tree: TreeId) -> Vec<u8> {
        let filled: &[u8] = if self.objects.fills_submodules() { b"t|" } else { b"T|" };
        let place: &[u8] = if self.above.is_empty() { b"" } else { &self.path };
        [filled, tree.0.as_bytes(), b"|", &self.above, b"|", place].concat()
    }

    fn directory(&mut self, tree: TreeId, depth: usize) -> Result<Digest, MoveStop> {
        let key = self.key(tree);
        if let Some(digest) = self.map.get(&key)
            && (self.present.contains(&digest) || self.listed.contains(&digest))
        {
            return Ok(digest);
        }
        let entries = self.objects.tree(tree, &self.path)?;
        if depth == self.limits.max_depth && !entries.is_empty() {
            return Err(self.too_large("more directories inside each other than allowed"));
        }
        let attributes = entries.iter().find(|entry| entry.name == b".gitattributes").and_then(TreeEntry::regular_blob);
        let n_above = self.above.len();
        let path_bytes = self.path.len();
        let file = match attributes {
            Some(blob) => {
                self.above.extend_from_slice(blob.0.as_bytes());
                self.above.extend_from_slice(&path_bytes.to_be_bytes());
                AttributeFile::parse(&self.objects.blob(blob)?)
            }
            None => AttributeFile::default(),
        };
        self.attributes.push(if path_bytes == 0 { 0 } else { path_bytes + 1 }, file);
        let mut directory = api::Directory::default();
        let mut names = HashSet::new();
        for entry in &entries {
            self.at(&entry.name, |encoder| {
                if let Some(why) = refuse_component(&entry.name) {
                    return Err(encoder.refused(why));
                }
                if !names.insert(&entry.name) {
                    return Err(encoder.refused("the tree holds this name twice"));
                }
                encoder.entry(entry, &mut directory, depth)
            })?;
        }
        self.attributes.pop();
        self.above.truncate(n_above);
        directory.files.sort_by(|one, other| one.name.cmp(&other.name));
        directory.directories.sort_by(|one, other| one.name.cmp(&other.name));
        directory.symlinks.sort_by(|one, other| one.name.cmp(&other.name));
        let digest = self.encoded(&directory);
        self.map.put(key, digest);
        Ok(digest)
    }

    fn entry(&mut self, entry: &TreeEntry, directory: &mut api::Directory, depth: usize) -> Result<(), MoveStop> {
        self.n_entries += 1;
        if self.n_entries > self.limits.max_entries {
            return Err(self.too_large("more entries than allowed"));
        }
        if self.path.len() > self.limits.max_path_bytes {
            return Err(self.too_large("a longer path than allowed"));
        }
        let Ok(name) = String::from_utf8(entry.name.clone()) else {
            return Err(self.refused("its name is not UTF-8, and a remote service takes no other"));
        };
        match entry.kind {
            EntryKind::Tree => {
                let digest = self.directory(TreeId(entry.id), depth + 1)?;
                directory.directories.push(api::DirectoryNode { name, digest: Some(digest.to_api()) });
            }
            EntryKind::Submodule => {
                let digest = self.submodule(CommitId(entry.id), depth)?;
                directory.directories.push(api::DirectoryNode { name, digest: Some(digest.to_api()) });
            }
            EntryKind::File { is_executable } => {
                let digest = self.file(BlobId(entry.id), is_executable)?;
                let digest = Some(digest.to_api());
                directory.files.push(api::FileNode { name, digest, is_executable, node_properties: None });
            }
            EntryKind::Link => {
                let Ok(target) = String::from_utf8(self.objects.blob(BlobId(entry.id))?) else {
                    return Err(self.refused("the target of the link is not UTF-8"));
                };
                if target.is_empty() || target.contains('\0') {
                    return Err(self.refused("the target of the link is empty or contains a NUL byte"));
                }
                directory.symlinks.push(api::SymlinkNode { name, target, node_properties: None });
            }
        }
        Ok(())
    }

    /// A submodule is the tree of its commit; attributes of the outer tree do not apply in it.
    fn submodule(&mut self, commit: CommitId, depth: usize) -> Result<Digest, MoveStop> {
        let Some(tree) = self.objects.submodule(commit, &self.path)? else {
            return Ok(self.encoded(&api::Directory::default()));
        };
        let (attributes, above) = (mem::take(&mut self.attributes), mem::take(&mut self.above));
        let digest = self.directory(tree, depth + 1);
        (self.attributes, self.above) = (attributes, above);
        digest
    }

    fn file(&mut self, blob: BlobId, is_executable: bool) -> Result<Digest, MoveStop> {
        let (conversion, notices) = Conversion::choose(&self.attributes.lookup(&self.path));
        for notice in notices {
            if self.notices.len() < MAX_NOTICES {
                self.notices.insert(notice);
            }
        }
        let form = BlobForm::File { is_executable, conversion };
        let kind = if conversion == Conversion::default() { String::new() } else { format!("{conversion:?}") };
        let key = [b"b|", blob.0.as_bytes(), b"|", kind.as_bytes()].concat();
        let digest = if let Some(digest) = self.map.get(&key) {
            digest
        } else {
            if self.objects.blob_bytes(blob)? > MAX_BLOB_BYTES {
                return Err(self.too_large("more than 1 GiB in one file"));
            }
            let digest = Digest::of(&content(self.objects, blob, form)?);
            self.map.put(key, digest);
            digest
        };
        self.want(digest, BlobContent::Blob(blob, form));
        Ok(digest)
    }

    fn encoded(&mut self, directory: &api::Directory) -> Digest {
        let (digest, bytes) = Digest::encode(directory);
        self.want(digest, BlobContent::Bytes(bytes));
        digest
    }

    fn want(&mut self, digest: Digest, content: BlobContent) {
        // Every service has the empty blob.
        if digest.n_bytes > 0 && !self.present.contains(&digest) && self.listed.insert(digest) {
            self.wanted.push(WantedBlob { digest, content });
        }
    }

    fn at<T>(&mut self, name: &[u8], step: impl FnOnce(&mut Self) -> Result<T, MoveStop>) -> Result<T, MoveStop> {
        let path_bytes = self.path.len();
        if path_bytes > 0 {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(name);
        let result = step(self);
        self.path.truncate(path_bytes);
        result
    }

    fn refused(&self, why: &'static str) -> MoveStop {
        MoveStop::Refused(Refusal::Path { path: self.path.clone(), why })
    }

    fn too_large(&self, why: &'static str) -> MoveStop {
        MoveStop::Refused(Refusal::Limit { path: self.path.clone(), why })
    }
}
