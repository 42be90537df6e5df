//! The records of one thread in order, chunk by chunk.

use crate::instrument::segment::HEADER_SIZE;
use crate::trace::TraceError;
use crate::trace::container::Chunk;
use crate::trace::container::Kind;
use crate::trace::container::Trace;
use crate::trace::units::Entry;
use crate::trace::units::Units;

/// One record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'c> {
    /// The number of its segment.
    pub segment: u32,
    /// What that leads to.
    pub entry: Entry,
    /// The record with its number; [`Item::offset`](crate::instrument::segment::Item::offset) counts from its beginning.
    pub bytes: &'c [u8],
    /// Bytes of the thread's records before it.
    pub offset: u64,
}

/// The records of a thread; at most one chunk is in memory.
pub struct Records {
    chunks: std::vec::IntoIter<Chunk>,
    content: Vec<u8>,
    at: usize,
    /// Bytes of the thread's records before `content`.
    offset: u64,
}

impl Records {
    /// From the record on that has `offset` bytes before it, which must be the first of a chunk (see [`Trace::chunks`]) or 0.
    pub fn new(trace: &Trace, thread: u32, offset: u64) -> Self {
        let is_ours = |chunk: &&Chunk| chunk.kind == Kind::Records && chunk.thread == thread && chunk.offset >= offset;
        let chunks: Vec<Chunk> = trace.chunks().iter().filter(is_ours).copied().collect();
        Self { chunks: chunks.into_iter(), content: Vec::new(), at: 0, offset }
    }

    /// The next record; `None` at the end.
    pub fn next(&mut self, trace: &mut Trace, units: &mut Units) -> Result<Option<Record<'_>>, TraceError> {
        while self.at == self.content.len() {
            let behind = self.offset + self.at as u64;
            let Some(chunk) = self.chunks.next() else { return Ok(None) };
            if chunk.offset != behind {
                return Err(TraceError::Damaged("records are missing"));
            }
            self.content = trace.read(&chunk)?;
            (self.at, self.offset) = (0, behind);
        }
        let rest = &self.content[self.at..];
        let number =
            rest.first_chunk::<{ HEADER_SIZE as usize }>().ok_or(TraceError::Damaged("a record is cut short"))?;
        let segment = u32::from_le_bytes(*number);
        let entry = units.entry(segment)?;
        let bytes = rest.get(..entry.size as usize).ok_or(TraceError::Damaged("a record is cut short"))?;
        let offset = self.offset + self.at as u64;
        self.at += entry.size as usize;
        Ok(Some(Record { segment, entry, bytes, offset }))
    }
}
