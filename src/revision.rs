//! Revisions: ids of trees and commits, and what is known of a commit.

use std::fmt;
use std::str::FromStr;

macro_rules! object_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub [u8; 20]);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
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
                let mut bytes = [0; 20];
                if text.len() != 40 || !text.is_ascii() {
                    return Err(InvalidId);
                }
                for (index, byte) in bytes.iter_mut().enumerate() {
                    *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).map_err(|_| InvalidId)?;
                }
                Ok(Self(bytes))
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

/// A text that is not 40 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an object id of 40 hexadecimal digits")]
pub struct InvalidId;

impl CommitId {
    /// The first 12 digits, for people.
    pub fn short(&self) -> String {
        let mut text = self.to_string();
        text.truncate(12);
        text
    }
}

/// A commit, as far as the hunt needs it.
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
        let text = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(text.parse::<TreeId>().unwrap().to_string(), text);
    }

    #[test]
    fn a_short_or_foreign_text_is_no_id() {
        assert_eq!("0123".parse::<CommitId>(), Err(InvalidId));
        assert_eq!("zz23456789abcdef0123456789abcdef01234567".parse::<CommitId>(), Err(InvalidId));
    }
}
