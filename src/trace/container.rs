//! The form of a trace on disk: chunks, and an index of them at the end.
//!
//! All numbers are little-endian.
//!
//! ```text
//! file:  8 "IDDTRC01", chunks, index, trailer
//! chunk: 4 "CHNK"   4 kind   4 thread   8 offset   4 length   4 packed length   4 CRC-32 of the packed bytes   .. packed bytes (zstd)
//! index: for each chunk: 8 its place in the file   4 kind   4 thread   8 offset   4 length
//! trailer: 8 place of the index   4 number of chunks   4 CRC-32 of the index   8 "IDDEND01"
//! ```
//!
//! - `kind` 0: who ran, see [`TracedProcess`]; `kind` 1: records of a thread, whole ones only, the first of them `offset` bytes after the thread's first
//!   one; `kind` 2: addresses (8 bytes each) of the global variables of the unit `thread`, in the order of
//!   [`Module::globals`](crate::instrument::module::Module::globals); `kind` 3: the process ended, `thread` is its exit code, or 256
//!   and the number of a signal, or [`REPLACED`]; `kind` 4: a fault of a thread, see [`fault`](crate::native::fault);
//!   `kind` 5 and 6: the class files and the objects of a Java program.
//! - Of a process that was killed the last records of a thread come from its buffer; behind the last one are zeros, which is the number of no segment.
//! - Chunks stand in the order in which they came. A file without a trailer (the recorder was killed) is read from the front.
//! - Where a trace would have become too long, its first records were given up: their chunks are not in the index, and a hole is in their place. The offset
//!   of the first chunk of each thread tells how many bytes that are.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Seek, SeekFrom, Write};

use crate::TraceError;

/// What a file begins with.
const MAGIC: &[u8; 8] = b"IDDTRC01";

const END_MAGIC: &[u8; 8] = b"IDDEND01";

const CHUNK_MAGIC: &[u8; 4] = b"CHNK";

const CHUNK_HEADER: usize = 32;

const INDEX_ENTRY: usize = 28;

/// Bytes of the trailer.
const TRAILER: u64 = 24;

/// A chunk is never longer unpacked; a header that says so is damaged.
pub const MAX_CHUNK: u32 = 16 << 20;

/// A chunk whose records take so many times the bytes that it takes on disk repeats one thing.
const REPEATED: u64 = 100;

/// Bytes of records that are kept of what a stopped program repeats: tens of thousands of iterations.
const MAX_REPEATED: u64 = 256 << 10;

/// The signals that end a program from outside, by the numbers of Linux: SIGHUP, SIGINT, SIGQUIT, SIGKILL, SIGALRM,
/// SIGTERM, SIGXCPU, SIGPROF.
const STOPS: [u32; 8] = [1, 2, 3, 9, 14, 15, 24, 27];

/// Whether a process was stopped from outside, or may have been: it did not end by itself.
pub fn is_stopped(end: Option<u32>) -> bool {
    end.is_none_or(|end| STOPS.iter().any(|signal| end == 0x100 + signal))
}

/// How a process ended in whose place another program ran (`execve`).
pub const REPLACED: u32 = 0x200;

/// What is in a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkKind {
    /// Who ran.
    Process,
    /// Records of a thread.
    Records,
    /// Addresses of global variables.
    Globals,
    /// The end of the process.
    End,
    /// A fault of a thread.
    Fault,
    /// The class files of a Java program.
    Classes,
    /// The objects of a Java program.
    Objects,
}

impl ChunkKind {
    /// The kind with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        let all = [Self::Process, Self::Records, Self::Globals, Self::End, Self::Fault, Self::Classes, Self::Objects];
        all.get(number as usize).copied()
    }
}

/// A chunk, as the index has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// Its place in the file.
    pub place: u64,
    /// What is in it.
    pub kind: ChunkKind,
    /// Of which thread; see the module for other kinds.
    pub thread: u32,
    /// Bytes of the thread's records before it.
    pub offset: u64,
    /// Its bytes, unpacked.
    pub length: u32,
    /// Which of the files that the trace is read from has it, see [`Trace::after`].
    source: u32,
    /// Bytes of the thread's records in the files before.
    before: u64,
}

impl Chunk {
    /// Bytes of the thread's records before it, in all files.
    pub fn begin(&self) -> u64 {
        self.before + self.offset
    }
}

/// A process that was traced.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TracedProcess {
    /// Its number, and that of its parent.
    pub pid: u32,
    /// See [`pid`](Self::pid).
    pub parent: u32,
    /// For one that was forked and ran no other program: the parent's thread that forked, and bytes of that thread's records before it.
    pub forked_at: Option<(u32, u64)>,
    /// The program.
    pub program: Vec<u8>,
    /// Its arguments, each ended by a zero byte.
    pub words: Vec<u8>,
}

impl TracedProcess {
    /// Its arguments one by one, as text.
    pub fn arguments(&self) -> Vec<String> {
        let words = self.words.split(|byte| *byte == 0).filter(|word| !word.is_empty());
        words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
    }

    /// As the first chunk has it: 4 pid, 4 parent, 4 whether it was forked, 4 thread, 8 offset, 4 length of the program's name, then that name and the arguments.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (thread, offset) = self.forked_at.unwrap_or_default();
        let length = u32::try_from(self.program.len()).expect("a path is shorter than 4 GiB");
        let numbers = [self.pid, self.parent, u32::from(self.forked_at.is_some()), thread];
        let mut bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        bytes.extend(offset.to_le_bytes());
        bytes.extend(length.to_le_bytes());
        bytes.extend(&self.program);
        bytes.extend(&self.words);
        bytes
    }

    /// Reads the first chunk.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let number = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let offset = u64::from_le_bytes(*bytes.get(16..)?.first_chunk()?);
        let behind = 28_usize.checked_add(number(24)? as usize)?;
        Some(Self {
            pid: number(0)?,
            parent: number(4)?,
            forked_at: (number(8)? != 0).then_some((number(12)?, offset)),
            program: bytes.get(28..behind)?.to_vec(),
            words: bytes.get(behind..)?.to_vec(),
        })
    }
}

/// Writes a trace.
pub struct TraceWriter<W: Write> {
    out: W,
    place: u64,
    index: Vec<Vec<u8>>,
    packer: zstd::bulk::Compressor<'static>,
}

impl<W: Write> TraceWriter<W> {
    /// Begins a trace.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        let packer = zstd::bulk::Compressor::new(1)?;
        Ok(Self { out, place: MAGIC.len() as u64, index: Vec::new(), packer })
    }

    /// Adds a chunk of at most [`MAX_CHUNK`] bytes.
    pub fn add(&mut self, kind: ChunkKind, thread: u32, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let packed = self.packer.compress(bytes)?;
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::FileTooLarge);
        let mut entry = Vec::new();
        entry.extend((kind as u32).to_le_bytes());
        entry.extend(thread.to_le_bytes());
        entry.extend(offset.to_le_bytes());
        entry.extend(length(bytes)?.to_le_bytes());
        self.index.push([&self.place.to_le_bytes()[..], &entry].concat());
        self.out.write_all(CHUNK_MAGIC)?;
        self.out.write_all(&entry)?;
        self.out.write_all(&length(&packed)?.to_le_bytes())?;
        self.out.write_all(&crc32fast::hash(&packed).to_le_bytes())?;
        self.out.write_all(&packed)?;
        // What is given up later has to be in the file by then.
        self.out.flush()?;
        self.place += (CHUNK_HEADER + packed.len()) as u64;
        Ok(())
    }

    /// Bytes written so far.
    pub fn size(&self) -> u64 {
        self.place
    }

    /// Writes the index.
    pub fn finish(self) -> io::Result<W> {
        let (out, unfinished) = self.pause()?;
        unfinished.finish_without(out, &HashSet::new())
    }

    /// Lets go of the file, so that it can be closed before the index is written behind what is there.
    pub fn pause(mut self) -> io::Result<(W, Unfinished)> {
        self.out.flush()?;
        Ok((self.out, Unfinished { place: self.place, index: self.index }))
    }
}

/// What is still to be written to a trace: its index.
pub struct Unfinished {
    place: u64,
    index: Vec<Vec<u8>>,
}

impl Unfinished {
    /// Bytes written so far.
    pub fn size(&self) -> u64 {
        self.place
    }

    /// Writes the index without the chunks at these places; `out` stands at the end of the file.
    pub fn finish_without<W: Write>(mut self, mut out: W, given_up: &HashSet<u64>) -> io::Result<W> {
        let place = |entry: &[u8]| entry.first_chunk().map_or(0, |place| u64::from_le_bytes(*place));
        self.index.retain(|entry| !given_up.contains(&place(entry)));
        let n_chunks = u32::try_from(self.index.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let index = self.index.concat();
        out.write_all(&index)?;
        out.write_all(&self.place.to_le_bytes())?;
        out.write_all(&n_chunks.to_le_bytes())?;
        out.write_all(&crc32fast::hash(&index).to_le_bytes())?;
        out.write_all(END_MAGIC)?;
        out.flush()?;
        Ok(out)
    }
}

/// What a trace is read from.
pub trait TraceSource: Read + Seek {}

impl<S: Read + Seek> TraceSource for S {}

/// A trace on disk.
pub struct Trace {
    sources: Vec<Box<dyn TraceSource>>,
    chunks: Vec<Chunk>,
    /// Whether the recorder came to its end.
    pub is_complete: bool,
    /// Records at the end that are left out, because a program that was stopped did the same again and again.
    repeated: Vec<Chunk>,
    /// Who ran.
    pub process: TracedProcess,
}

impl Trace {
    /// Opens a trace; only its index is read.
    pub fn open(mut source: Box<dyn TraceSource>) -> Result<Self, TraceError> {
        let mut magic = [0; 8];
        source.seek(SeekFrom::Start(0))?;
        source.read_exact(&mut magic).map_err(|_| TraceError::Damaged("it is cut short"))?;
        if &magic != MAGIC {
            let is_other = magic.starts_with(b"IDDTRC");
            return Err(if is_other { TraceError::Version } else { TraceError::Damaged("it does not begin like one") });
        }
        let length = source.seek(SeekFrom::End(0))?;
        let indexed = read_index(&mut *source, length)?;
        let is_complete = indexed.is_some();
        let chunks = match indexed {
            Some(chunks) => chunks,
            None => scan(&mut *source, length)?,
        };
        let unknown = TracedProcess::default();
        let mut trace = Self { sources: vec![source], chunks, is_complete, repeated: Vec::new(), process: unknown };
        let first = trace.chunks.first().copied().filter(|chunk| chunk.kind == ChunkKind::Process);
        let first = first.ok_or(TraceError::Damaged("it does not say who ran"))?;
        let bytes = trace.read(&first)?;
        trace.process = TracedProcess::from_bytes(&bytes).ok_or(TraceError::Damaged("it does not say who ran"))?;
        if is_complete && is_stopped(trace.end()) {
            trace.leave_repetition_out();
        }
        Ok(trace)
    }

    /// Leaves out the end of a trace that repeats itself, but for its beginning: a program that hangs does the same millions
    /// of times. What repeats itself takes next to nothing on disk.
    fn leave_repetition_out(&mut self) {
        let chunks = &self.chunks;
        let records: Vec<usize> = (0..chunks.len()).filter(|at| chunks[*at].kind == ChunkKind::Records).collect();
        let Some((last, before)) = records.split_last() else { return };
        if before.iter().any(|at| chunks[*at].thread != chunks[*last].thread) {
            return;
        }
        let is_new = |at: &usize| {
            let n_packed = chunks[at + 1].place - chunks[*at].place;
            n_packed * REPEATED > u64::from(chunks[*at].length)
        };
        // The last chunk is not asked: it may be so short that its header counts.
        let n_new = before.iter().rposition(is_new).map_or(0, |at| at + 1);
        let mut n_kept = 0;
        let mut rest = records[n_new..].iter().skip_while(|at| {
            let is_kept = n_kept < MAX_REPEATED;
            n_kept += u64::from(chunks[**at].length);
            is_kept
        });
        let Some(first) = rest.next().copied() else { return };
        let place = chunks[first].place;
        let is_repeated = |chunk: &mut Chunk| chunk.place >= place && chunk.kind == ChunkKind::Records;
        self.repeated = self.chunks.extract_if(.., is_repeated).collect();
    }

    /// What a forked process did: what its parent did up to there, then its own records. Its threads go on where those of the parent were.
    #[must_use]
    pub fn after(mut self, parent: Self) -> Self {
        let Some((thread, offset)) = self.process.forked_at else { return self };
        let own_sources = u32::try_from(parent.sources.len()).unwrap_or(u32::MAX);
        let is_behind =
            |chunk: &Chunk| chunk.kind == ChunkKind::Records && chunk.thread == thread && chunk.begin() >= offset;
        // It may have been forked in what the parent repeated.
        let mut chunks = [parent.chunks, parent.repeated].concat();
        chunks.sort_by_key(|chunk| (chunk.source, chunk.place));
        let n_before = chunks.iter().position(is_behind).unwrap_or(chunks.len());
        chunks.truncate(n_before);
        chunks.retain(|chunk| chunk.kind != ChunkKind::End);
        let mut ends: HashMap<u32, u64> = HashMap::new();
        for chunk in chunks.iter().filter(|chunk| chunk.kind == ChunkKind::Records) {
            ends.insert(chunk.thread, chunk.begin() + u64::from(chunk.length));
        }
        let own = |chunk: Chunk| {
            let at_fork = if chunk.thread == thread { offset } else { 0 };
            let before = chunk.before + ends.get(&chunk.thread).copied().unwrap_or(at_fork);
            Chunk { source: own_sources + chunk.source, before, ..chunk }
        };
        chunks.extend(self.chunks.into_iter().map(own));
        self.chunks = chunks;
        self.repeated = self.repeated.into_iter().map(own).collect();
        self.sources = parent.sources.into_iter().chain(self.sources).collect();
        self
    }

    /// Whether something ran before the first record, of which nothing is known.
    pub fn is_window(&self) -> bool {
        self.n_given_up() > 0 || (self.process.forked_at.is_some() && self.sources.len() == 1)
    }

    /// Bytes of records that were given up before the first one that was kept.
    pub fn n_given_up(&self) -> u64 {
        let mut firsts: HashMap<u32, u64> = HashMap::new();
        for chunk in self.chunks.iter().filter(|chunk| chunk.kind == ChunkKind::Records) {
            firsts.entry(chunk.thread).or_insert(chunk.begin());
        }
        firsts.values().sum()
    }

    /// Its chunks in the order in which they came.
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// Bytes of all records of all threads.
    pub fn n_bytes(&self) -> u64 {
        let records = self.chunks.iter().filter(|chunk| chunk.kind == ChunkKind::Records);
        records.map(|chunk| u64::from(chunk.length)).sum()
    }

    /// Bytes of records at the end that are left out, because a program that was stopped repeated itself there.
    pub fn n_repeated(&self) -> u64 {
        self.repeated.iter().map(|chunk| u64::from(chunk.length)).sum()
    }

    /// How the process ended, as the module has it; `None` if it was killed.
    pub fn end(&self) -> Option<u32> {
        self.chunks.iter().rfind(|chunk| chunk.kind == ChunkKind::End).map(|chunk| chunk.thread)
    }

    /// Reads a chunk.
    pub fn read(&mut self, chunk: &Chunk) -> Result<Vec<u8>, TraceError> {
        let source = self.sources.get_mut(chunk.source as usize).ok_or(TraceError::Damaged("a chunk of no file"))?;
        source.seek(SeekFrom::Start(chunk.place))?;
        let (found, packed_length, sum) = read_header(&mut **source, chunk.place)?;
        if found != (Chunk { source: 0, before: 0, ..*chunk }) {
            return Err(TraceError::Damaged("a chunk is not what the index says"));
        }
        let mut packed = vec![0; packed_length as usize];
        source.read_exact(&mut packed).map_err(|_| TraceError::Damaged("a chunk is cut short"))?;
        if crc32fast::hash(&packed) != sum {
            return Err(TraceError::Damaged("the sum of a chunk is wrong"));
        }
        let bytes = zstd::bulk::decompress(&packed, chunk.length as usize)
            .map_err(|_| TraceError::Damaged("a chunk cannot be unpacked"))?;
        if bytes.len() != chunk.length as usize {
            return Err(TraceError::Damaged("a chunk has another length"));
        }
        Ok(bytes)
    }
}

fn number_at<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], TraceError> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk::<N>());
    found.copied().ok_or(TraceError::Damaged("it is cut short"))
}

/// What the header of a chunk and the index both say.
fn entry(bytes: &[u8], place: u64) -> Result<Chunk, TraceError> {
    let kind = ChunkKind::from_number(u32::from_le_bytes(number_at(bytes, 0)?));
    let chunk = Chunk {
        place,
        kind: kind.ok_or(TraceError::Damaged("a chunk of an unknown kind"))?,
        thread: u32::from_le_bytes(number_at(bytes, 4)?),
        offset: u64::from_le_bytes(number_at(bytes, 8)?),
        length: u32::from_le_bytes(number_at(bytes, 16)?),
        source: 0,
        before: 0,
    };
    if chunk.length > MAX_CHUNK {
        return Err(TraceError::Damaged("a chunk is too long"));
    }
    Ok(chunk)
}

fn read_header(source: &mut dyn TraceSource, place: u64) -> Result<(Chunk, u32, u32), TraceError> {
    let mut header = [0; CHUNK_HEADER];
    source.read_exact(&mut header).map_err(|_| TraceError::Damaged("a chunk is cut short"))?;
    if !header.starts_with(CHUNK_MAGIC) {
        return Err(TraceError::Damaged("there is no chunk where one should be"));
    }
    let packed_length = u32::from_le_bytes(number_at(&header, 24)?);
    if packed_length > 2 * MAX_CHUNK {
        return Err(TraceError::Damaged("a chunk is too long"));
    }
    Ok((entry(&header[4..], place)?, packed_length, u32::from_le_bytes(number_at(&header, 28)?)))
}

/// The index at the end; `None` if there is no trailer.
fn read_index(source: &mut dyn TraceSource, length: u64) -> Result<Option<Vec<Chunk>>, TraceError> {
    if length < MAGIC.len() as u64 + TRAILER {
        return Ok(None);
    }
    source.seek(SeekFrom::Start(length - TRAILER))?;
    let mut trailer = [0; 24];
    source.read_exact(&mut trailer)?;
    if !trailer.ends_with(END_MAGIC) {
        return Ok(None);
    }
    let place = u64::from_le_bytes(number_at(&trailer, 0)?);
    let n_chunks = u32::from_le_bytes(number_at(&trailer, 8)?) as usize;
    let index_length = n_chunks * INDEX_ENTRY;
    if place.checked_add(index_length as u64) != Some(length - TRAILER) {
        return Err(TraceError::Damaged("its index is not where it should be"));
    }
    source.seek(SeekFrom::Start(place))?;
    let mut index = vec![0; index_length];
    source.read_exact(&mut index)?;
    if crc32fast::hash(&index).to_le_bytes() != number_at::<4>(&trailer, 12)? {
        return Err(TraceError::Damaged("the sum of its index is wrong"));
    }
    let chunk = |bytes: &[u8]| entry(&bytes[8..], u64::from_le_bytes(number_at(bytes, 0)?));
    index.chunks_exact(INDEX_ENTRY).map(chunk).collect::<Result<_, _>>().map(Some)
}

/// The chunks of a file that ends somewhere.
fn scan(source: &mut dyn TraceSource, length: u64) -> Result<Vec<Chunk>, TraceError> {
    let mut chunks = Vec::new();
    let mut place = MAGIC.len() as u64;
    source.seek(SeekFrom::Start(place))?;
    while place + CHUNK_HEADER as u64 <= length {
        let (chunk, packed_length, _) = read_header(source, place)?;
        let behind = place + CHUNK_HEADER as u64 + u64::from(packed_length);
        if behind > length {
            break;
        }
        chunks.push(chunk);
        place = source.seek(SeekFrom::Start(behind))?;
    }
    Ok(chunks)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn process() -> TracedProcess {
        let (program, words) = (b"/bin/x".to_vec(), b"x\0-v\0".to_vec());
        TracedProcess { pid: 7, parent: 5, forked_at: Some((1, 99)), program, words }
    }

    fn sample(is_finished: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = TraceWriter::new(&mut bytes).unwrap();
        writer.add(ChunkKind::Process, 0, 0, &process().to_bytes()).unwrap();
        writer.add(ChunkKind::Records, 3, 12, &[9; 5000]).unwrap();
        writer.add(ChunkKind::End, 0x10b, 0, &[]).unwrap();
        if is_finished {
            writer.finish().unwrap();
        }
        bytes
    }

    fn read_all(bytes: Vec<u8>) -> Result<Trace, TraceError> {
        let mut trace = Trace::open(Box::new(Cursor::new(bytes)))?;
        for chunk in trace.chunks().to_vec() {
            trace.read(&chunk)?;
        }
        Ok(trace)
    }

    #[test]
    fn what_was_written_is_read_also_without_an_index() {
        for is_finished in [true, false] {
            let mut trace = read_all(sample(is_finished)).unwrap();
            assert_eq!((&trace.process, trace.is_complete), (&process(), is_finished));
            assert_eq!((trace.n_bytes(), trace.end()), (5000, Some(0x10b)));
            let chunk = trace.chunks()[1];
            assert_eq!((chunk.thread, chunk.offset, trace.read(&chunk).unwrap()), (3, 12, vec![9; 5000]));
        }
    }

    #[test]
    fn what_a_stopped_program_repeats_is_left_out() {
        let of = |end| {
            let mut bytes = Vec::new();
            let mut writer = TraceWriter::new(&mut bytes).unwrap();
            writer.add(ChunkKind::Process, 0, 0, &process().to_bytes()).unwrap();
            let noise: Vec<u8> = (0_u32..50_000).flat_map(|n| n.wrapping_mul(0x9e37_79b9).to_le_bytes()).collect();
            let same = vec![9; 200_000];
            for (at, records) in [&*noise, &same, &same, &same, &same[..10]].into_iter().enumerate() {
                writer.add(ChunkKind::Records, 0, at as u64 * 200_000, records).unwrap();
            }
            writer.add(ChunkKind::End, end, 0, &[]).unwrap();
            writer.finish().unwrap();
            let trace = read_all(bytes).unwrap();
            (trace.n_bytes(), trace.n_repeated(), trace.end())
        };
        assert_eq!(of(0x10f), (600_000, 200_010, Some(0x10f)));
        assert_eq!(of(0x10b), (800_010, 0, Some(0x10b)), "a program that crashes is kept to its end");
    }

    #[test]
    fn damage_is_an_error_or_a_shorter_trace_and_never_a_panic() {
        let whole = sample(true);
        for end in 0..whole.len() {
            if let Ok(trace) = read_all(whole[..end].to_vec()) {
                assert!(!trace.is_complete && trace.chunks().len() <= 3, "{end}");
            }
        }
        for at in 0..whole.len() {
            for bit in [1, 0x80] {
                let mut damaged = whole.clone();
                damaged[at] ^= bit;
                if let Ok(trace) = read_all(damaged) {
                    // Only the magic of the end may be missed: the file is then read from the front.
                    assert!(at >= whole.len() - 8 && !trace.is_complete, "{at}");
                }
            }
        }
    }
}
