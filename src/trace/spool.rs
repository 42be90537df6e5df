//! Bytes that are written once, in order, and then read anywhere: in memory, or in a file if they are too many.
//!
//! The file is the caller's affair: [`Spool`] says from which size on it is used, and opens it.

use std::sync::Arc;
use std::{fmt, io};

/// Bytes that are collected before they go to the file.
const BUFFER: usize = 1 << 20;

/// Bytes in a file, mapped into memory.
pub type Mapped = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A file that is being written.
pub trait Store {
    /// Adds bytes at the end.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// All bytes, for reading.
    fn finish(self: Box<Self>) -> io::Result<Mapped>;
}

/// Where bytes go that are too many for memory.
#[derive(Clone)]
pub struct Spool {
    /// The largest number of bytes that stay in memory.
    pub limit_bytes: usize,
    /// Opens a file.
    pub open: Arc<dyn Fn() -> io::Result<Box<dyn Store>> + Send + Sync>,
}

/// Writes bytes.
#[derive(Default)]
pub struct SpoolWriter {
    spool: Option<Spool>,
    store: Option<Box<dyn Store>>,
    /// All bytes, or those that are not in the file yet.
    buffer: Vec<u8>,
    n_stored: usize,
    /// The first error; nothing is written after it.
    error: Option<io::Error>,
}

impl SpoolWriter {
    /// With a file for many bytes; all stay in memory without one.
    pub fn new(spool: Option<Spool>) -> Self {
        Self { spool, ..Self::default() }
    }

    /// The number of bytes so far.
    pub fn len(&self) -> usize {
        self.n_stored + self.buffer.len()
    }

    /// Whether there is no byte yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The end of the bytes, to add to. At least the last bytes that were added in this way are still there.
    #[inline]
    pub fn end(&mut self) -> &mut Vec<u8> {
        let limit = if self.store.is_some() {
            BUFFER
        } else {
            self.spool.as_ref().map_or(usize::MAX, |spool| spool.limit_bytes)
        };
        if self.buffer.len() > limit {
            self.spill();
        }
        &mut self.buffer
    }

    #[cold]
    fn spill(&mut self) {
        let written = self.try_spill();
        self.n_stored += self.buffer.len();
        self.buffer.clear();
        self.buffer.shrink_to(2 * BUFFER);
        if self.error.is_none() {
            self.error = written.err();
        }
    }

    fn try_spill(&mut self) -> io::Result<()> {
        if self.error.is_some() {
            return Ok(());
        }
        let store = match (&mut self.store, &self.spool) {
            (Some(store), _) => store,
            (none, Some(spool)) => none.insert((spool.open)()?),
            (None, None) => return Ok(()),
        };
        store.append(&self.buffer)
    }

    /// All bytes.
    ///
    /// Errors: the file could not be written.
    pub fn finish(mut self) -> io::Result<SpooledBytes> {
        if self.store.is_some() {
            self.spill();
        }
        match (self.error, self.store) {
            (Some(error), _) => Err(error),
            (None, Some(store)) => store.finish().map(SpooledBytes::Mapped),
            (None, None) => Ok(SpooledBytes::Memory(self.buffer)),
        }
    }
}

/// Bytes that are read.
#[derive(Clone)]
pub enum SpooledBytes {
    /// In memory.
    Memory(Vec<u8>),
    /// In a file.
    Mapped(Mapped),
}

impl SpooledBytes {
    /// Whether they are in a file.
    pub fn is_mapped(&self) -> bool {
        matches!(self, Self::Mapped(_))
    }
}

impl AsRef<[u8]> for SpooledBytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Memory(bytes) => bytes,
            Self::Mapped(bytes) => (**bytes).as_ref(),
        }
    }
}

impl PartialEq for SpooledBytes {
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}

impl Eq for SpooledBytes {}

impl Default for SpooledBytes {
    fn default() -> Self {
        Self::Memory(Vec::new())
    }
}

impl fmt::Debug for SpooledBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.as_ref().len())
    }
}
