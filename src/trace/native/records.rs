//! The records of a process, chunk by chunk.
//!
//! Each thread has its own records; they come in the order in which the program sent them, a buffer at a time. So between threads the order is only roughly that
//! of the execution.

use std::collections::HashMap;
use std::sync::Arc;

use crate::instrument::segment::HEADER_SIZE;
use crate::native::units::{RecordedUnits, SegmentEntry};
use crate::{Chunk, ChunkKind, Trace, TraceError};

/// One record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NativeRecord<'c> {
    /// Its thread.
    pub thread: u32,
    /// The number of its segment.
    pub segment: u32,
    /// What that leads to.
    pub entry: SegmentEntry,
    /// The record with its number; [`SegmentItem::offset`](crate::instrument::segment::SegmentItem::offset) counts from its beginning.
    pub bytes: &'c [u8],
    /// Bytes of the thread's records before it.
    pub offset: u64,
}

/// Where records can be read from: a number of chunks, and bytes of the next one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordPosition {
    n_chunks: usize,
    /// Bytes of the next chunk that are skipped.
    n_skipped: usize,
    /// Bytes of the records before, for each thread; those that are skipped do not count.
    offsets: HashMap<u32, u64>,
}

/// The records of a process; at most one chunk is in memory.
pub struct Records {
    chunks: Arc<[Chunk]>,
    position: RecordPosition,
    content: Vec<u8>,
    at: usize,
    thread: u32,
    /// Bytes of the thread's records before `content`.
    offset: u64,
}

impl Records {
    /// All records from the first one on.
    pub fn new(trace: &Trace) -> Self {
        Self::of(trace, |_| true)
    }

    /// The records of some chunks.
    pub fn of(trace: &Trace, is_wanted: impl Fn(&Chunk) -> bool) -> Self {
        let is_ours = |chunk: &&Chunk| chunk.kind == ChunkKind::Records && is_wanted(chunk);
        let chunks = trace.chunks().iter().filter(is_ours).copied().collect();
        Self { chunks, position: RecordPosition::default(), content: Vec::new(), at: 0, thread: 0, offset: 0 }
    }

    /// Where the next record is, if that is the first of a chunk.
    pub fn position(&self) -> Option<&RecordPosition> {
        (self.at == self.content.len()).then_some(&self.position)
    }

    /// Where the next record is, also in the middle of a chunk.
    pub fn middle(&self) -> RecordPosition {
        let mut position = self.position.clone();
        if self.at < self.content.len() {
            position.n_chunks -= 1;
            position.n_skipped = self.at;
            position.offsets.insert(self.thread, self.offset);
        }
        position
    }

    /// Goes on from there.
    pub fn seek(&mut self, position: &RecordPosition) {
        self.position = position.clone();
        self.content.clear();
        self.at = 0;
    }

    /// The next record; `None` at the end. A record of no number is the end of its chunk.
    pub fn next(
        &mut self,
        trace: &mut Trace,
        units: &mut RecordedUnits,
    ) -> Result<Option<NativeRecord<'_>>, TraceError> {
        // Behind what a killed process left in its buffer are zeros.
        let is_end = |content: &[u8], at: usize| content[at..].iter().take(HEADER_SIZE as usize).all(|byte| *byte == 0);
        while is_end(&self.content, self.at) {
            self.at = self.content.len();
            let Some(chunk) = self.chunks.get(self.position.n_chunks) else { return Ok(None) };
            // Where the first ones were given up, those of each thread begin somewhere.
            let before = self.position.offsets.entry(chunk.thread).or_insert(chunk.begin());
            if chunk.begin() != *before {
                return Err(TraceError::Damaged("records are missing"));
            }
            self.content = trace.read(chunk)?;
            let n_skipped = std::mem::take(&mut self.position.n_skipped);
            (self.at, self.thread, self.offset) = (n_skipped.min(self.content.len()), chunk.thread, *before);
            *before += self.content.len() as u64;
            self.position.n_chunks += 1;
        }
        let rest = &self.content[self.at..];
        let number = rest
            .first_chunk::<{ HEADER_SIZE as usize }>()
            .ok_or_else(|| TraceError::Damaged("a record is cut short"))?;
        let segment = u32::from_le_bytes(*number);
        let entry = units.entry(segment)?;
        let bytes = rest.get(..entry.size as usize).ok_or_else(|| TraceError::Damaged("a record is cut short"))?;
        let offset = self.offset + self.at as u64;
        self.at += entry.size as usize;
        Ok(Some(NativeRecord { thread: self.thread, segment, entry, bytes, offset }))
    }
}
