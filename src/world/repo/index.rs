//! The index of a worker's worktree in git's format: the written files with their stat data.

use crate::repo::stat::{BlobForm, Directory, FileStat, TrackedEntry};
use idd_base::ObjectId;
use rustix::process::{getegid, geteuid};
use std::collections::BTreeSet;
use std::iter;

/// The maximum length that fits into the flags.
const MAX_NAME_BYTES: usize = 0xfff;

/// The bytes of an index (version 2) of the files in `written`.
///
/// - `beside`: files that have no entry.
/// - `n_id_bytes`: the length of an id in the repository.
///
/// Each entry has size and times, so `git status` and similar commands of a build read no unchanged file. It has no
/// extensions, and zeros in place of the checksum (`index.skipHash`), which git checks only in `fsck`: both cost as
/// much as all the rest. Cost: one entry for each file.
pub fn bytes(written: &Directory, beside: Option<&BTreeSet<Vec<u8>>>, n_id_bytes: usize) -> Vec<u8> {
    /// The approximate size of an entry.
    const ENTRY_BYTES: usize = 128;
    let mut index = IndexWriter {
        bytes: Vec::with_capacity(ENTRY_BYTES * written.totals.n_entries),
        path: Vec::new(),
        n_entries: 0,
        beside,
        owner: [geteuid().as_raw(), getegid().as_raw()],
    };
    index.bytes.extend(b"DIRC\0\0\0\x02\0\0\0\0");
    index.directory(written);
    index.bytes[8..12].copy_from_slice(&index.n_entries.to_be_bytes());
    index.bytes.extend(iter::repeat_n(0, n_id_bytes));
    index.bytes
}

struct IndexWriter<'w> {
    bytes: Vec<u8>,
    path: Vec<u8>,
    n_entries: u32,
    beside: Option<&'w BTreeSet<Vec<u8>>>,
    /// User and group.
    owner: [u32; 2],
}

impl IndexWriter<'_> {
    fn directory(&mut self, directory: &Directory) {
        // Ordered by whole path: a directory sorts as its name with a slash. Most entries are in order already.
        let mut entries: Vec<(&Vec<u8>, &TrackedEntry)> = directory.entries.iter().collect();
        let slash = |node: &TrackedEntry| {
            matches!(node, TrackedEntry::Directory(below) if below.submodule.is_none()).then_some(&b'/')
        };
        entries
            .sort_by(|(name, node), (other, its)| name.iter().chain(slash(node)).cmp(other.iter().chain(slash(its))));
        let path_bytes = self.path.len();
        for (name, node) in entries {
            self.path.extend_from_slice(name);
            match node {
                TrackedEntry::Directory(Directory { submodule: Some(commit_id), .. }) => {
                    self.entry(SUBMODULE, commit_id.0, None);
                }
                TrackedEntry::Directory(below) => {
                    self.path.push(b'/');
                    self.directory(below);
                }
                TrackedEntry::File(_) if self.beside.is_some_and(|beside| beside.contains(&self.path)) => {}
                TrackedEntry::File(record) => self.entry(mode(record.form), record.blob_id.0, Some(&record.stat)),
                TrackedEntry::Submodule(commit_id) => self.entry(SUBMODULE, commit_id.0, None),
            }
            self.path.truncate(path_bytes);
        }
    }

    /// - `stat`: without it, git examines the path itself.
    fn entry(&mut self, mode: u32, id: ObjectId, stat: Option<&FileStat>) {
        /// Entries are padded with at least one zero to a multiple of this.
        const ALIGNMENT: usize = 8;
        self.n_entries += 1;
        let begin = self.bytes.len();
        let (mtime, ctime) = stat.map_or(([0; 2], [0; 2]), |stat| (time(stat.mtime_ns), time(stat.ctime_ns)));
        let (inode, n_bytes) = stat.map_or((0, 0), |stat| (low_bits(stat.inode), low_bits(stat.n_bytes.into())));
        // The device number is not compared.
        for word in [ctime[0], ctime[1], mtime[0], mtime[1], 0, inode, mode, self.owner[0], self.owner[1], n_bytes] {
            self.bytes.extend(word.to_be_bytes());
        }
        self.bytes.extend(id.as_bytes());
        let name_bytes = u16::try_from(self.path.len().min(MAX_NAME_BYTES)).expect("the largest length fits");
        self.bytes.extend(name_bytes.to_be_bytes());
        self.bytes.extend_from_slice(&self.path);
        let n_padding = ALIGNMENT - (self.bytes.len() - begin) % ALIGNMENT;
        self.bytes.extend(iter::repeat_n(0, n_padding));
    }
}

const SUBMODULE: u32 = 0o160_000;

fn mode(form: BlobForm) -> u32 {
    match form {
        BlobForm::File { is_executable: true, .. } => 0o100_755,
        BlobForm::File { is_executable: false, .. } => 0o100_644,
        BlobForm::Link => 0o120_000,
    }
}

/// Seconds and nanoseconds, as far as they fit.
fn time(ns: i128) -> [u32; 2] {
    const NS: i128 = 1_000_000_000;
    [ns.div_euclid(NS), ns.rem_euclid(NS)].map(|part| u32::try_from(part & i128::from(u32::MAX)).expect("it was cut"))
}

fn low_bits(number: u128) -> u32 {
    u32::try_from(number & u128::from(u32::MAX)).expect("it was cut")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::Worktree;
    use crate::repo::object::n_id_bytes;
    use crate::repo::testing::{Leaf, Sandbox, files, tree_of};
    use std::fs;

    #[track_caller]
    fn check(format: git2::ObjectFormat) {
        let sandbox = Sandbox::of(format);
        let repository = sandbox.repository();
        let long = "long".repeat(20);
        let mut leaves = files(&[("a.b", "1\n"), ("a/b", "2\n"), ("a/b.c", "3\n"), ("a0", "4\n"), (&long, "5\n")]);
        leaves.insert(b"run".to_vec(), Leaf::Executable(b"#!/bin/sh\n".to_vec()));
        leaves.insert(b"to".to_vec(), Leaf::Link(b"a0".to_vec()));
        leaves.insert(b"module".to_vec(), Leaf::Submodule);
        let tree_id = tree_of(&repository, &leaves);
        let mut worktree = Worktree::create(&sandbox.path("tree")).unwrap();
        worktree.move_to(&repository, tree_id).unwrap().unwrap();
        fs::write(sandbox.path(".git/index"), bytes(worktree.written(), None, n_id_bytes(&repository))).unwrap();
        assert_eq!(sandbox.git(&["write-tree", "--missing-ok"]).trim(), tree_id.to_string());
        assert_eq!(sandbox.git(&["--work-tree=tree", "diff-files"]), "");
        sandbox.write("tree/a/b", b"9\n");
        assert!(sandbox.git(&["--work-tree=tree", "diff-files"]).ends_with("M\ta/b\n"));
    }

    #[test]
    fn git_reads_from_it_the_tree_that_was_written_and_sees_no_file_changed() {
        check(git2::ObjectFormat::Sha1);
        check(git2::ObjectFormat::Sha256);
    }
}
