//! Revisions: ids of trees and commits, and the data of a commit.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use std::fmt;
use std::str::FromStr;

/// The id of a git object, in the format of its repository.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObjectId {
    /// Of a repository with SHA-1 ids.
    Sha1([u8; 20]),
    /// Of a repository with SHA-256 ids.
    Sha256([u8; 32]),
}

impl ObjectId {
    /// The id in these bytes; `None` if there are neither 20 nor 32.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let sha1 = || bytes.try_into().ok().map(Self::Sha1);
        sha1().or_else(|| bytes.try_into().ok().map(Self::Sha256))
    }

    /// Its 20 or 32 bytes.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Sha1(bytes) => bytes,
            Self::Sha256(bytes) => bytes,
        }
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for ObjectId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let mut bytes = [0; 32];
        let n_bytes = text.len() / 2;
        if !text.len().is_multiple_of(2) || n_bytes > bytes.len() || !text.bytes().all(|byte| byte.is_ascii_hexdigit())
        {
            return Err(InvalidId);
        }
        for (index, byte) in bytes[..n_bytes].iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).map_err(|_| InvalidId)?;
        }
        Self::from_bytes(&bytes[..n_bytes]).ok_or(InvalidId)
    }
}

macro_rules! object_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub ObjectId);

        impl $name {
            /// An id of a repository with SHA-1 ids.
            pub const fn sha1(bytes: [u8; 20]) -> Self {
                Self(ObjectId::Sha1(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                text.parse().map(Self)
            }
        }

        /// As hexadecimal digits.
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    };
}

object_id! {
    /// The id of a git tree object.
    TreeId
}

object_id! {
    /// The id of a git commit object.
    CommitId
}

object_id! {
    /// The id of a git blob object.
    BlobId
}

/// A text that is neither 40 nor 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an object id of 40 or 64 hexadecimal digits")]
pub struct InvalidId;

impl CommitId {
    /// The first 12 digits, for people.
    pub fn short(&self) -> String {
        let mut text = self.to_string();
        text.truncate(12);
        text
    }
}

/// The data of a commit that a hunt needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// The commit.
    pub id: CommitId,
    /// Its parents, first parent first; empty for a root (or where a shallow clone ends).
    pub parents: Vec<CommitId>,
    /// Its tree, as committed.
    pub tree: TreeId,
    /// Author as `Name <email>`, raw bytes made lossy UTF-8; never printed unescaped.
    pub author: String,
    /// Author time in seconds since 1970 and the offset in minutes.
    pub author_time: (i64, i32),
    /// Committer time in seconds since 1970.
    pub commit_time: i64,
    /// First line of the message, lossy UTF-8; never printed unescaped.
    pub subject: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_printed_as_it_was_read() {
        for text in ["0123456789abcdef0123456789abcdef01234567", &"0123456789abcdef".repeat(4)] {
            assert_eq!(text.parse::<TreeId>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_short_or_foreign_text_is_no_id() {
        for text in
            ["", "0123", "+123456789abcdef0123456789abcdef01234567", &"0".repeat(39), &"0".repeat(66), &"é".repeat(20)]
        {
            assert_eq!(text.parse::<CommitId>(), Err(InvalidId), "{text}");
        }
    }
}
