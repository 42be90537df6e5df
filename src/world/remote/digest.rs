//! The name of a blob: its SHA-256 and its size.

use crate::files;
use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use prost::Message;
use sha2::{Digest as _, Sha256};

/// A digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest {
    /// SHA-256 of the content.
    pub hash: [u8; 32],
    /// The size of the content in bytes.
    pub n_bytes: u64,
}

/// The length of a stored digest in bytes.
const STORED_BYTES: usize = 40;

impl Digest {
    /// The digest of this content.
    pub fn of(content: &[u8]) -> Self {
        Self { hash: Sha256::digest(content).into(), n_bytes: content.len() as u64 }
    }

    /// A message, and the digest of its encoded form.
    pub fn encode(message: &impl Message) -> (Self, Vec<u8>) {
        let bytes = message.encode_to_vec();
        (Self::of(&bytes), bytes)
    }

    /// In the form of the protocol.
    pub fn to_api(self) -> api::Digest {
        api::Digest { hash: self.hex(), size_bytes: i64::try_from(self.n_bytes).unwrap_or(i64::MAX) }
    }

    /// From the form of the protocol; `None` if it is malformed.
    pub fn from_api(digest: &api::Digest) -> Option<Self> {
        let hash = files::unhex(&digest.hash)?.try_into().ok()?;
        Some(Self { hash, n_bytes: digest.size_bytes.try_into().ok()? })
    }

    /// The hash in hexadecimal digits.
    pub fn hex(&self) -> String {
        files::hex(&self.hash)
    }

    /// In the form of the stored map.
    pub fn stored(&self) -> [u8; STORED_BYTES] {
        let mut bytes = [0; STORED_BYTES];
        bytes[..32].copy_from_slice(&self.hash);
        bytes[32..].copy_from_slice(&self.n_bytes.to_be_bytes());
        bytes
    }

    /// From the form of the stored map; `None` if it is malformed.
    pub fn from_stored(bytes: &[u8]) -> Option<Self> {
        let (hash, n_bytes) = bytes.split_at_checked(32)?;
        Some(Self { hash: hash.try_into().ok()?, n_bytes: u64::from_be_bytes(n_bytes.try_into().ok()?) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_survives_both_forms() {
        let digest = Digest::of(b"abc");
        assert_eq!(digest.hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(Digest::from_api(&digest.to_api()), Some(digest));
        assert_eq!(Digest::from_stored(&digest.stored()), Some(digest));
    }

    #[test]
    fn a_malformed_digest_of_a_service_is_none() {
        let api = |hash: &str, size_bytes| api::Digest { hash: hash.to_owned(), size_bytes };
        for digest in [
            api("", 1),
            api(&"0".repeat(63), 1),
            api(&"g".repeat(64), 1),
            api(&"0".repeat(64), -1),
            api(&"é".repeat(32), 1),
        ] {
            assert_eq!(Digest::from_api(&digest), None);
        }
    }
}
