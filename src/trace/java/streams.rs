//! The records of all threads in one order.
//!
//! A stream has marks with values of a counter that all threads share. From one mark to the next is a piece that counts
//! as a whole; the pieces of all threads are taken in the order of their marks. In a program without data races each
//! thread takes a mark after it has got what another one has let go, so the order is that of the reads and writes.

use crate::instrument::java::sites::{CLOCK, CUT, LOST};
use crate::java::JavaProgram;
use crate::{Chunk, ChunkKind, Trace, TraceError};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamRecord {
    pub thread: u32,
    pub site: u32,
    /// Its payload: up to 64 bits.
    pub payload: u64,
}

#[derive(Clone)]
struct ThreadStream {
    thread: u32,
    /// The chunks that are not read yet.
    chunks: VecDeque<Chunk>,
    bytes: Vec<u8>,
    at: usize,
}

/// The records of a trace.
#[derive(Clone)]
pub struct Streams {
    threads: Vec<ThreadStream>,
    /// The streams that are not over, by the mark of their present piece; empty until the first record is taken.
    waiting: BinaryHeap<Reverse<(u32, usize)>>,
    is_begun: bool,
    /// The stream whose piece is being taken.
    current: Option<usize>,
}

impl Streams {
    /// The records of a trace, from the beginning.
    pub fn new(trace: &Trace) -> Self {
        let mut threads: BTreeMap<u32, ThreadStream> = BTreeMap::new();
        for chunk in trace.chunks().iter().filter(|chunk| chunk.kind == ChunkKind::Records) {
            let thread = chunk.thread;
            let new = || ThreadStream { thread, chunks: VecDeque::new(), bytes: Vec::new(), at: 0 };
            threads.entry(thread).or_insert_with(new).chunks.push_back(*chunk);
        }
        Self { threads: threads.into_values().collect(), waiting: BinaryHeap::new(), is_begun: false, current: None }
    }

    /// The next record; `None` at the end.
    pub fn next(&mut self, trace: &mut Trace, program: &JavaProgram) -> Result<Option<StreamRecord>, TraceError> {
        if !self.is_begun {
            self.begin(trace, program)?;
        }
        loop {
            let Some(current) = self.current else {
                let Some(Reverse((_, first))) = self.waiting.pop() else { return Ok(None) };
                self.current = Some(first);
                continue;
            };
            let stream = &mut self.threads[current];
            match stream.record(trace, program)? {
                Some((CLOCK, clock)) => {
                    #[expect(clippy::cast_possible_truncation, reason = "a mark has 32 bits")]
                    let clock = clock as u32;
                    self.waiting.push(Reverse((clock, current)));
                    self.current = None;
                }
                Some((CUT | LOST, _)) | None => {
                    stream.let_go();
                    self.current = None;
                }
                Some((site, payload)) => return Ok(Some(StreamRecord { thread: stream.thread, site, payload })),
            }
        }
    }

    /// Reads the first mark of each stream, which is its first record.
    fn begin(&mut self, trace: &mut Trace, program: &JavaProgram) -> Result<(), TraceError> {
        self.is_begun = true;
        for (index, stream) in self.threads.iter_mut().enumerate() {
            let clock = match stream.peek(trace)? {
                Some(CLOCK) => stream.record(trace, program)?.map_or(0, |(_, clock)| clock),
                _ => 0,
            };
            self.waiting.push(Reverse((u32::try_from(clock).unwrap_or(0).max(1), index)));
        }
        Ok(())
    }
}

impl ThreadStream {
    /// Drops what was read: the stream is over.
    fn let_go(&mut self) {
        (self.chunks, self.bytes, self.at) = (VecDeque::new(), Vec::new(), 0);
    }

    /// Reads chunks until so many bytes are there; whether they are.
    fn fill(&mut self, trace: &mut Trace, n: usize) -> Result<bool, TraceError> {
        while self.bytes.len() - self.at < n {
            let Some(chunk) = self.chunks.pop_front() else { return Ok(false) };
            self.bytes.drain(..self.at);
            self.at = 0;
            self.bytes.extend(trace.read(&chunk)?);
        }
        Ok(true)
    }

    fn peek(&mut self, trace: &mut Trace) -> Result<Option<u32>, TraceError> {
        if !self.fill(trace, 4)? {
            return Ok(None);
        }
        let word = self.bytes[self.at..].first_chunk().expect("the bytes are there");
        Ok(Some(u32::from_le_bytes(*word)).filter(|site| *site != 0))
    }

    #[inline]
    fn record(&mut self, trace: &mut Trace, program: &JavaProgram) -> Result<Option<(u32, u64)>, TraceError> {
        let Some(site) = self.peek(trace)? else { return Ok(None) };
        let n = program.size(site).ok_or_else(|| TraceError::Damaged("a record of a site that does not exist"))?;
        if !self.fill(trace, 4 + n)? {
            return Ok(None);
        }
        let payload = &self.bytes[self.at + 4..self.at + 4 + n];
        let payload = match (payload.first_chunk::<8>(), payload.first_chunk::<4>()) {
            (Some(bytes), _) => u64::from_le_bytes(*bytes),
            (None, Some(bytes)) => u64::from(u32::from_le_bytes(*bytes)),
            (None, None) => 0,
        };
        self.at += 4 + n;
        Ok(Some((site, payload)))
    }
}
