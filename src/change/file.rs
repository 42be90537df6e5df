//! One changed file, as the world passes it in.

use std::sync::Arc;

use crate::syntax::Language;
use idd_base::ObjectId;

/// A file of at most this size is divided into lines; a larger one is one unit.
const MAX_TEXT_BYTES: usize = 4 << 20;

/// A file is binary if one of its first bytes, this many, is NUL (git's own rule).
const N_BYTES_LOOKED_AT: usize = 8000;

/// The kind of entry at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryMode {
    /// A file (100644).
    Regular,
    /// A file with its executable bit set (100755).
    Executable,
    /// A symbolic link (120000).
    Symlink,
    /// A commit of another repository (160000).
    Submodule,
}

impl EntryMode {
    /// As git writes it: `100644`.
    pub fn octal(self) -> &'static str {
        match self {
            Self::Regular => "100644",
            Self::Executable => "100755",
            Self::Symlink => "120000",
            Self::Submodule => "160000",
        }
    }

    /// Whether the entry is a file with bytes of its own, executable or not.
    pub fn is_file(self) -> bool {
        matches!(self, Self::Regular | Self::Executable)
    }
}

/// The content of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryContent {
    /// The bytes of a file, or the target of a symbolic link.
    Bytes(Arc<[u8]>),
    /// The commit id of a submodule.
    Submodule(ObjectId),
}

/// One changed file on one side of the difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSide {
    /// The path from the root of the tree, `/` between components, raw bytes.
    pub path: Vec<u8>,
    /// What kind of entry it is.
    pub mode: EntryMode,
    /// What it holds.
    pub content: EntryContent,
}

impl FileSide {
    /// The bytes, if the file can be divided into lines.
    ///
    /// `None` for links, submodules, files with a NUL among the first 8000 bytes, and files larger than 4 MiB.
    pub fn text(&self) -> Option<&[u8]> {
        match &self.content {
            EntryContent::Bytes(bytes) if self.mode.is_file() && is_text(bytes) => Some(bytes),
            _ => None,
        }
    }
}

fn is_text(bytes: &[u8]) -> bool {
    bytes.len() <= MAX_TEXT_BYTES && !bytes[..bytes.len().min(N_BYTES_LOOKED_AT)].contains(&0)
}

/// One changed file: added (no older side), removed (no newer side), changed, or renamed (two paths).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePair {
    /// The file before the change.
    pub older: Option<FileSide>,
    /// The file after the change.
    pub newer: Option<FileSide>,
}

impl FilePair {
    /// The path for sorting and for messages: the newer one, or the older one of a removed file.
    ///
    /// Panics if both sides are missing.
    pub fn path(&self) -> &[u8] {
        let side = self.newer.as_ref().or(self.older.as_ref());
        &side.expect("a pair has at least one side: `ChangeSet::new` drops the others").path
    }
}

/// How the content of a changed file is divided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileDivision {
    /// By syntax, down to lines.
    Syntax(&'static Language),
    /// Into lines only.
    Lines,
    /// Not at all: a generated file.
    Whole {
        /// Paths of possible sources: the file changes only together with those of them that changed too.
        sources: Vec<Vec<u8>>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(mode: EntryMode, bytes: &[u8]) -> FileSide {
        FileSide { path: b"f".to_vec(), mode, content: EntryContent::Bytes(bytes.into()) }
    }

    #[test]
    fn a_nul_byte_near_the_start_makes_a_file_binary() {
        assert_eq!(side(EntryMode::Regular, b"a\0b").text(), None);
        assert_eq!(side(EntryMode::Executable, b"a\nb").text(), Some(&b"a\nb"[..]));
        let mut far = vec![b'a'; N_BYTES_LOOKED_AT];
        far.push(0);
        assert!(side(EntryMode::Regular, &far).text().is_some());
    }

    #[test]
    fn links_and_files_of_more_than_four_mebibytes_are_no_text() {
        assert_eq!(side(EntryMode::Symlink, b"target").text(), None);
        assert_eq!(side(EntryMode::Regular, &vec![b'a'; MAX_TEXT_BYTES + 1]).text(), None);
        assert!(side(EntryMode::Regular, &vec![b'a'; MAX_TEXT_BYTES]).text().is_some());
    }
}
