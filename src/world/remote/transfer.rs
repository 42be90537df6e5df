//! Sends the blobs that a service lacks.

use crate::remote::client::Client;
use crate::remote::digest::Digest;
use crate::remote::merkle::WantedBlob;
use crate::remote::trouble::Trouble;
use crate::repo::object::ObjectReader;
use crate::repo::refusal::WriteError;
use std::collections::HashSet;
use std::mem;
use std::time::{Duration, Instant};

/// How long a blob that was sent counts as present: a service removes blobs that were not used for long.
const LIFETIME: Duration = Duration::from_secs(20 * 60);

/// What takes a frame of a message besides the content of a blob, in bytes.
const FRAME_BYTES: usize = 128;

/// What a service has, as far as this process knows.
pub struct Present {
    /// Blobs, and directories with everything below them.
    pub digests: HashSet<Digest>,
    since: Instant,
}

impl Default for Present {
    fn default() -> Self {
        Self { digests: HashSet::new(), since: Instant::now() }
    }
}

impl Present {
    /// Forgets everything if it was learned long ago.
    pub fn age(&mut self) {
        if self.since.elapsed() > LIFETIME {
            *self = Self::default();
        }
    }
}

/// An error on the way.
#[derive(Debug)]
pub enum TransferError {
    /// Of the service.
    Service(Trouble),
    /// Of the repository.
    Repository(WriteError),
}

impl From<Trouble> for TransferError {
    fn from(trouble: Trouble) -> Self {
        Self::Service(trouble)
    }
}

impl From<WriteError> for TransferError {
    fn from(error: WriteError) -> Self {
        Self::Repository(error)
    }
}

/// Those of these blobs that the service lacks.
///
/// Cost: one call; none if nothing is wanted.
pub fn missing(client: &Client, wanted: Vec<WantedBlob>) -> Result<Vec<WantedBlob>, Trouble> {
    if wanted.is_empty() {
        return Ok(wanted);
    }
    let digests: Vec<Digest> = wanted.iter().map(|wanted| wanted.digest).collect();
    let missing: HashSet<Digest> = client.missing(&digests)?.into_iter().collect();
    Ok(wanted.into_iter().filter(|wanted| missing.contains(&wanted.digest)).collect())
}

/// Sends blobs.
///
/// Cost: one call for each batch of them; one for each blob that is larger than a batch.
pub fn send(client: &Client, objects: &ObjectReader<'_>, missing: &[WantedBlob]) -> Result<(), TransferError> {
    let max_bytes = client.capabilities.batch_bytes;
    let mut batch = Vec::new();
    let mut n_bytes = 0;
    for wanted in missing {
        let (digest, content) = (wanted.digest, wanted.bytes(objects)?);
        if content.len() + FRAME_BYTES > max_bytes {
            client.send(digest, &content)?;
            continue;
        }
        if n_bytes + content.len() + FRAME_BYTES > max_bytes {
            client.send_batch(&mem::take(&mut batch))?;
            n_bytes = 0;
        }
        n_bytes += content.len() + FRAME_BYTES;
        batch.push((digest, content));
    }
    if !batch.is_empty() {
        client.send_batch(&batch)?;
    }
    Ok(())
}
