//! What a command sees at some paths in place of what is there.

use std::path::PathBuf;

/// The mounts of one command, in their order. They end with its last process, and no other process sees them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MountView {
    /// The mounts.
    pub mounts: Vec<Mount>,
    /// The rights with which they are made.
    pub rights: Rights,
}

/// The rights with which mounts are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rights {
    /// Those of the administrator.
    #[default]
    Own,
    /// Those in a user namespace, in which the user has the same number. Programs get no other rights there (`sudo`).
    OfNamespace,
}

/// A mount; all paths are absolute, and exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mount {
    /// A file or directory appears at another path, where one of its kind is.
    Bind {
        /// It.
        from: PathBuf,
        /// Where it appears.
        to: PathBuf,
        /// Whether nothing can be written there.
        is_read_only: bool,
    },
    /// A directory appears at another path with the changes that commands have made, which do not reach it.
    Overlay {
        /// It.
        lower: PathBuf,
        /// The changes; on one file system with `work`.
        upper: PathBuf,
        /// A directory of the kernel.
        work: PathBuf,
        /// Where it appears.
        to: PathBuf,
    },
}
