//! Receives the records of running programs, and writes them to disk.
//!
//! Programs connect to a socket, one connection for each process; each connection becomes one file. A process begins
//! with a greeting (see `runtime/trace.c`), receives the [memory](crate::record::memory) for its records, and
//! sends messages: kind, thread, length, bytes. A killed process can stop anywhere: its last whole message is followed
//! by the rest in that memory.
//!
//! If the traces would exceed their limit, the oldest chunks of all processes are dropped: they become holes in the
//! files, and the index at the end does not list them. So the result is a complete window before the end. Deviation
//! from the usual two-level scheme (a skeleton of headers and calls, then a second run for a complete window): it needs
//! no second form of records and no repeatable run. The price is the beginning: frames that were entered there are
//! incomplete, and their variables are unknown until they are written again.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io::{BufWriter, Read, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::OwnedFd;
use rustix::process::Pid;

use crate::process::{CommandWatch, ProcessGroup};
use crate::record::RecordError;
use crate::record::memory::ProcessMemory;
use crate::system;
use idd_base::Ending;
use idd_trace::container::{MAX_CHUNK, REPLACED};
use idd_trace::native::fault;
use idd_trace::{ChunkKind, TraceWriter, TracedProcess, Unfinished};

/// The variable with the socket, for instrumented programs.
pub const VARIABLE: &str = "IDD_TRACE";

const PROTOCOL: u32 = 2;

/// The kind of a message with the number of a forked child.
const FORKED: u32 = 5;

/// The maximum time to wait for forked children that have not greeted, and for unread messages.
const PATIENCE: Duration = Duration::from_secs(2);

/// A marker in place of a greeting: no process connects, but wait for earlier ones.
const OVER: [u8; 40] = [0; 40];

/// Listens until the programs have ended.
pub struct TraceListener {
    socket: PathBuf,
    is_closing: Arc<AtomicBool>,
    test: ConnectedTest,
    thread: JoinHandle<Vec<io::Result<TakenTrace>>>,
}

/// The test whose programs connect.
#[derive(Debug, Clone)]
pub struct ConnectedTest {
    socket: PathBuf,
    is_over: Arc<AtomicBool>,
    connections: Arc<Mutex<Vec<Weak<Connection>>>>,
    children: Arc<Mutex<Children>>,
}

/// Children that were forked.
#[derive(Debug, Default)]
struct Children {
    greeted: HashSet<u32>,
    /// Children that their parents reported before they greeted.
    awaited: Vec<(u32, Option<OwnedFd>)>,
}

impl Children {
    /// Whether all living children have greeted.
    fn are_there(&mut self) -> bool {
        let greeted = &self.greeted;
        self.awaited.retain(|(pid, process)| {
            let ends = process.as_ref().map(|process| PollFd::new(process, PollFlags::IN));
            let is_alive = ends.is_some_and(|end| rustix::event::poll(&mut [end], Some(&Timespec::default())) == Ok(0));
            is_alive && !greeted.contains(pid)
        });
        self.awaited.is_empty()
    }
}

/// A process that sends its records.
#[derive(Debug)]
struct Connection {
    stream: UnixStream,
    /// Whether it was still connected when the test ended.
    is_left: AtomicBool,
    /// Whether everything that it sent was read.
    is_read: AtomicBool,
}

impl Connection {
    /// Whether the other end is closed; there can still be unread data.
    fn is_closed(&self) -> bool {
        let mut ends = [PollFd::new(&self.stream, PollFlags::empty())];
        rustix::event::poll(&mut ends, Some(&Timespec::default())).is_ok() && ends[0].revents().contains(PollFlags::HUP)
    }
}

impl ConnectedTest {
    fn connect(&self, stream: UnixStream) -> Arc<Connection> {
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        let is_left = AtomicBool::new(self.is_over.load(Ordering::SeqCst));
        let connection = Arc::new(Connection { stream, is_left, is_read: AtomicBool::new(false) });
        connections.push(Arc::downgrade(&connection));
        connection
    }

    /// Waits until all earlier connections are accepted.
    fn accept_all(&self) {
        // Connections are accepted in order: once this one is accepted, all earlier ones are. If the listener has
        // ended, nothing is accepted.
        let marker = UnixStream::connect(&self.socket);
        let _ = marker.and_then(|mut marker| marker.write_all(&OVER).and_then(|()| marker.read(&mut [0])));
    }

    fn connections(&self) -> Vec<Arc<Connection>> {
        let connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.iter().filter_map(Weak::upgrade).collect()
    }

    /// The command itself has ended: processes that are still connected will be killed.
    fn is_over(&self) {
        self.accept_all();
        // A child may not have connected yet when its parent, and with it the test, ended.
        let begin = Instant::now();
        let is_unread =
            |connection: &Arc<Connection>| connection.is_closed() && !connection.is_read.load(Ordering::SeqCst);
        let are_there = || self.children.lock().unwrap_or_else(PoisonError::into_inner).are_there();
        while (self.connections().iter().any(is_unread) || !are_there()) && begin.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(1));
        }
        self.accept_all();
        let connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_over.store(true, Ordering::SeqCst);
        for connection in connections.iter().filter_map(Weak::upgrade) {
            connection.is_left.store(!connection.is_closed(), Ordering::SeqCst);
        }
    }
}

/// Watches the test, and the programs that outlive it.
pub struct Watched<'w> {
    /// The watcher of the test.
    pub watch: &'w mut dyn CommandWatch,
    /// The test.
    pub test: ConnectedTest,
}

impl CommandWatch for Watched<'_> {
    fn starting(&mut self) {
        // The build ran before. A process can connect, and be killed, before `started` is called.
        self.test.is_over.store(false, Ordering::SeqCst);
        self.watch.starting();
    }

    fn started(&mut self, group: ProcessGroup) {
        self.watch.started(group);
    }

    fn is_interrupted(&self) -> bool {
        self.watch.is_interrupted()
    }

    fn ended(&mut self) {
        self.test.is_over();
        self.watch.ended();
    }
}

/// The data of one recorded process.
#[expect(clippy::struct_excessive_bools, reason = "they are independent facts")]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TakenTrace {
    /// The trace, relative to the directory.
    pub file: String,
    /// The process.
    pub process: TracedProcess,
    /// Bytes of its records.
    pub n_bytes: u64,
    /// How it ended, see [`container`](idd_trace::container); `None` if it was killed.
    pub end: Option<u32>,
    /// Whether it was killed because it outlived the test.
    pub is_left: bool,
    /// Bytes that were dropped at the beginning, because of the limit.
    pub n_given_up: u64,
    /// Whether records are missing at the end, because of the limit.
    pub is_cut: bool,
    /// Whether records are missing at the end for another reason: it shared no memory with the recorder, or closed its
    /// connection.
    pub is_lost: bool,
    /// Bytes of the trace on disk.
    pub n_packed: u64,
    /// Whether it is a Java virtual machine; how one ended is not known.
    pub is_java: bool,
    /// Whether values were recorded, beside the steps.
    pub has_values: bool,
    /// The methods of recorded Java classes that were not recorded, and why.
    pub left_out: Vec<String>,
}

/// The part of the traces that is kept if they exceed their limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptPart {
    /// The first records.
    First,
    /// The last ones, of all processes together.
    Last,
}

/// Whether a process failed, by its ending and whether it outlived the test.
///
/// A process that outlived the test did not fail, unless the test reached its time limit. A process that executed
/// another program did not fail either.
pub fn has_failed(end: Option<u32>, is_left: bool, test: Ending) -> bool {
    ![Some(0), Some(REPLACED)].contains(&end) && (!is_left || test == Ending::Timeout)
}

/// The smallest unit that the file system can free.
const BLOCK: u64 = 4096;

/// A chunk of records that can be dropped.
struct Old {
    path: Arc<Path>,
    process: usize,
    place: u64,
    length: u64,
    n_bytes: u64,
}

/// The dropped chunks of a process.
#[derive(Default)]
struct GivenUp {
    /// Offsets of the chunks.
    places: HashSet<u64>,
    /// Bytes of their records.
    n_bytes: u64,
    /// Their bytes on disk.
    n_packed: u64,
    /// The last hole: its begin and end.
    hole: (u64, u64),
}

/// The space for all traces together.
struct Room {
    /// Negative if several processes wrote at once; the next ones compensate for it.
    n_left: i64,
    keep: KeptPart,
    /// The chunks of all processes, the oldest first.
    olds: VecDeque<Old>,
    /// By process.
    given_up: HashMap<usize, GivenUp>,
}

impl Room {
    /// Makes room for a chunk, by dropping old ones if needed; returns whether there is room.
    fn make(&mut self) -> bool {
        while self.n_left <= 0 && self.keep == KeptPart::Last {
            let Some(old) = self.olds.pop_front() else { break };
            // The space is returned to the file system; if that is not possible, nothing is gained.
            let end = old.place + old.length;
            let before = self.given_up.get(&old.process).map_or((0, 0), |given_up| given_up.hole);
            let hole = if before.1 == old.place { (before.0, end) } else { (old.place, end) };
            // A block is freed when all of it is in the hole; this can now be the case for the last block of the
            // previous hole.
            let begin = hole.0.max(old.place - old.place % BLOCK);
            let punched = File::options().write(true).open(&old.path);
            let punched = punched.and_then(|file| system::free_range(&file, begin, end - begin));
            if punched.is_err() {
                self.keep = KeptPart::First;
                break;
            }
            let given_up = self.given_up.entry(old.process).or_default();
            given_up.places.insert(old.place);
            given_up.n_bytes += old.n_bytes;
            given_up.n_packed += old.length;
            given_up.hole = hole;
            self.n_left += old.length.cast_signed();
        }
        self.n_left > 0
    }

    /// Records that a chunk was written.
    fn take(&mut self, old: Old) {
        self.n_left -= old.length.cast_signed();
        if self.keep == KeptPart::Last && old.n_bytes > 0 {
            self.olds.push_back(old);
        }
    }
}

/// A trace whose index is not written yet: its chunks can still be dropped.
struct OpenTrace {
    taken: TakenTrace,
    process: usize,
    path: Arc<Path>,
    unfinished: Unfinished,
}

impl TraceListener {
    /// Starts to listen at `socket`. Traces are written to `directory`, and take at most `max_bytes` together, plus one
    /// chunk and some blocks for each process.
    pub fn start(socket: &Path, directory: &Path, max_bytes: u64, keep: KeptPart) -> Result<Self, RecordError> {
        let failed = |source| RecordError::Keep { path: directory.to_owned(), source };
        fs::create_dir_all(directory).map_err(failed)?;
        let listener = UnixListener::bind(socket).map_err(failed)?;
        let is_closing = Arc::new(AtomicBool::new(false));
        let (closing, directory) = (Arc::clone(&is_closing), directory.to_owned());
        let n_left = i64::try_from(max_bytes).unwrap_or(i64::MAX);
        let room = Room { n_left, keep, olds: VecDeque::new(), given_up: HashMap::new() };
        let room = Arc::new(Mutex::new(room));
        let (is_over, connections) = <(Arc<AtomicBool>, Arc<Mutex<Vec<Weak<Connection>>>>)>::default();
        let children = Arc::default();
        let test = ConnectedTest { socket: socket.to_owned(), is_over, connections, children };
        let of_test = test.clone();
        let thread = thread::spawn(move || {
            let mut takers: Vec<JoinHandle<io::Result<Option<OpenTrace>>>> = Vec::new();
            while let Ok((stream, _)) = listener.accept() {
                let (process, directory, room) = (takers.len(), directory.clone(), Arc::clone(&room));
                let (connection, children) = (of_test.connect(stream), Arc::clone(&of_test.children));
                let is_closing = Arc::clone(&closing);
                takers.push(thread::spawn(move || {
                    let place = TraceFile { directory: &directory, process, room: &room };
                    let taken = take(&connection, &place, &children, &is_closing);
                    connection.is_read.store(true, Ordering::SeqCst);
                    taken
                }));
                // Programs that ended just now can still be in the queue.
                if closing.load(Ordering::SeqCst) && listener.set_nonblocking(true).is_err() {
                    break;
                }
            }
            let join = |taker: JoinHandle<_>| taker.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
            let opens: Vec<io::Result<OpenTrace>> =
                takers.into_iter().filter_map(|taker| join(taker).transpose()).collect();
            let mut room = hold(&room);
            opens.into_iter().map(|open| finish(open?, &mut room)).collect()
        });
        Ok(Self { socket: socket.to_owned(), is_closing, test, thread })
    }

    /// Watches the test, so that processes that outlive it are distinguished from other killed ones.
    pub fn watched<'w>(&self, watch: &'w mut dyn CommandWatch) -> Watched<'w> {
        Watched { watch, test: self.test.clone() }
    }

    /// Waits for unread data, and returns the traces in the order of connection. All programs must have ended.
    pub fn finish(self) -> Vec<io::Result<TakenTrace>> {
        self.is_closing.store(true, Ordering::SeqCst);
        drop(UnixStream::connect(&self.socket));
        let taken = self.thread.join().unwrap_or_default();
        let _ = fs::remove_file(&self.socket);
        taken
    }
}

fn hold(room: &Mutex<Room>) -> MutexGuard<'_, Room> {
    room.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the index of a trace.
fn finish(open: OpenTrace, room: &mut Room) -> io::Result<TakenTrace> {
    let given_up = room.given_up.remove(&open.process).unwrap_or_default();
    let n_packed = open.unfinished.size() - given_up.n_packed;
    let file = File::options().append(true).open(&open.path)?;
    open.unfinished.finish_without(BufWriter::new(file), &given_up.places)?;
    Ok(TakenTrace { n_given_up: given_up.n_bytes, n_packed, ..open.taken })
}

/// The file of a process's trace.
struct TraceFile<'p> {
    directory: &'p Path,
    process: usize,
    room: &'p Mutex<Room>,
}

/// A trace that is being written.
struct IncomingTrace<'p> {
    place: &'p TraceFile<'p>,
    path: Arc<Path>,
    writer: TraceWriter<BufWriter<File>>,
    taken: TakenTrace,
    /// Bytes of the records of each thread.
    offsets: Vec<u64>,
}

impl IncomingTrace<'_> {
    /// Counts records of a thread; returns the number of bytes before them.
    fn count(&mut self, thread: u32, length: u64) -> io::Result<u64> {
        let index = thread as usize;
        if index > 1 << 20 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if self.offsets.len() <= index {
            self.offsets.resize(index + 1, 0);
        }
        let offset = self.offsets[index];
        self.offsets[index] += length;
        self.taken.n_bytes += length;
        // The other program did not start, and this one continued.
        self.taken.end = self.taken.end.filter(|end| *end != REPLACED);
        Ok(offset)
    }

    /// Writes a chunk; records only while there is room.
    fn add(&mut self, kind: ChunkKind, thread: u32, offset: u64, content: &[u8], length: u64) -> io::Result<()> {
        if kind == ChunkKind::Records && (self.taken.is_cut || !hold(self.place.room).make()) {
            self.taken.is_cut = true;
            return Ok(());
        }
        let place = self.writer.size();
        self.writer.add(kind, thread, offset, content)?;
        let n_bytes = if kind == ChunkKind::Records { length } else { 0 };
        let (path, process) = (Arc::clone(&self.path), self.place.process);
        hold(self.place.room).take(Old { path, process, place, length: self.writer.size() - place, n_bytes });
        Ok(())
    }
}

/// Receives the data of one process; `None` if it sends nothing, as our own connection does.
fn take(
    connection: &Connection,
    place: &TraceFile<'_>,
    children: &Mutex<Children>,
    is_closing: &AtomicBool,
) -> io::Result<Option<OpenTrace>> {
    // A connection from a non-blocking listener can be non-blocking too.
    let mut stream = &connection.stream;
    stream.set_nonblocking(false)?;
    let Some(process) = greeting(&mut stream)? else { return Ok(None) };
    children.lock().unwrap_or_else(PoisonError::into_inner).greeted.insert(process.pid);
    let memory = ProcessMemory::give(stream).ok();
    let name = format!("{}.trace", place.process);
    let path: Arc<Path> = place.directory.join(&name).into();
    let mut writer = TraceWriter::new(BufWriter::with_capacity(1 << 20, File::create(&path)?))?;
    writer.add(ChunkKind::Process, 0, 0, &process.to_bytes())?;
    let taken = TakenTrace { file: name, process, has_values: true, ..TakenTrace::default() };
    let mut taking = IncomingTrace { place, path, writer, taken, offsets: Vec::new() };
    let mut content = Vec::new();
    let mut head = [0; 16];
    // A killed process can stop anywhere; whole messages are kept.
    while stream.read_exact(&mut head).is_ok() {
        let [kind, thread] = [0, 4].map(|at| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]));
        let length = u64::from_le_bytes(*head.last_chunk().expect("16 bytes have a last 8"));
        if kind == FORKED {
            let pid = i32::try_from(thread).ok().and_then(Pid::from_raw);
            let process = pid.and_then(system::end_of);
            children.lock().unwrap_or_else(PoisonError::into_inner).awaited.push((thread, process));
            continue;
        }
        let known = ChunkKind::from_number(kind).filter(|_| length <= u64::from(MAX_CHUNK));
        let kind = known.ok_or(io::ErrorKind::InvalidData)?;
        content.resize(usize::try_from(length).map_err(|_| io::ErrorKind::InvalidData)?, 0);
        if stream.read_exact(&mut content).is_err() {
            break;
        }
        let offset = match kind {
            ChunkKind::Records => taking.count(thread, length)?,
            ChunkKind::End => {
                taking.taken.end = Some(thread);
                continue;
            }
            ChunkKind::Fault => fault::offset(&content).ok_or(io::ErrorKind::InvalidData)?,
            ChunkKind::Process | ChunkKind::Globals => 0,
            ChunkKind::Classes | ChunkKind::Objects => return Err(io::ErrorKind::InvalidData.into()),
        };
        taking.add(kind, thread, offset, &content, length)?;
    }
    connection.is_read.store(true, Ordering::SeqCst);
    if taking.taken.end.is_none_or(|end| end == REPLACED) {
        // A process that closed the connection runs on for a while; so does one that executed another program, but
        // without this memory.
        let is_awaited = || taking.taken.end.is_none() && !is_closing.load(Ordering::SeqCst);
        let left = memory.map(|memory| {
            memory.wait(is_awaited);
            memory.left(&taking.offsets)
        });
        let is_lost = left.as_ref().is_none_or(|left| left.is_lost || (left.n_slots == 0 && taking.taken.n_bytes > 0));
        let end = left.as_ref().and_then(|left| left.end);
        for tail in left.into_iter().flat_map(|left| left.tails) {
            let length = tail.length as u64;
            taking.count(tail.thread, length)?;
            taking.add(ChunkKind::Records, tail.thread, tail.offset, &tail.bytes, length)?;
        }
        taking.taken.is_lost = is_lost && taking.taken.end.is_none();
        taking.taken.end = taking.taken.end.or(end);
    }
    let IncomingTrace { mut writer, mut taken, path, .. } = taking;
    if let Some(end) = taken.end {
        writer.add(ChunkKind::End, end, 0, &[])?;
    }
    taken.is_left = taken.end.is_none() && connection.is_left.load(Ordering::SeqCst);
    // A test can run more programs than files can be open.
    let (_, unfinished) = writer.pause()?;
    Ok(Some(OpenTrace { taken, process: place.process, path, unfinished }))
}

fn greeting(stream: &mut &UnixStream) -> io::Result<Option<TracedProcess>> {
    let mut head = [0; 40];
    if !is_whole(stream.read_exact(&mut head))? || head == OVER {
        return Ok(None);
    }
    let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    if !head.starts_with(b"IDDT") || number(4) != PROTOCOL {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let n_before = u64::from(number(24)) | u64::from(number(28)) << 32;
    let mut text = |length: u32| {
        let mut bytes = vec![0; usize::try_from(length.min(1 << 20)).unwrap_or_default()];
        Ok::<_, io::Error>(is_whole(stream.read_exact(&mut bytes))?.then_some(bytes))
    };
    let forked_at = (number(8) == 1).then_some((number(20), n_before));
    let (pid, parent) = (number(12), number(16));
    let (program, words) = (text(number(32))?, text(number(36))?);
    Ok(program.zip(words).map(|(program, words)| TracedProcess { pid, parent, forked_at, program, words }))
}

/// Whether a message was read as a whole. The end of a killed process is no error.
fn is_whole(read: io::Result<()>) -> io::Result<bool> {
    match read {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(pid: u32, program: &[u8]) -> Vec<u8> {
        let mut bytes = b"IDDT".to_vec();
        for number in [PROTOCOL, 0, pid, 1, 0, 0, 0, u32::try_from(program.len()).unwrap(), 0] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(program);
        bytes
    }

    fn message(kind: ChunkKind, thread: u32, content: &[u8]) -> Vec<u8> {
        let mut bytes: Vec<u8> = [kind as u32, thread].iter().flat_map(|number| number.to_le_bytes()).collect();
        bytes.extend((content.len() as u64).to_le_bytes());
        bytes.extend(content);
        bytes
    }

    struct Patient;

    impl CommandWatch for Patient {
        fn started(&mut self, _: ProcessGroup) {}

        fn is_interrupted(&self) -> bool {
            false
        }
    }

    /// The traces of processes that send these bytes; the test ends before the last of them is killed.
    fn taken(sent: &[Vec<u8>]) -> Vec<TakenTrace> {
        let place = tempfile::tempdir().unwrap();
        let socket = place.path().join("socket");
        let listener = TraceListener::start(&socket, place.path(), 1 << 20, KeptPart::First).unwrap();
        let mut streams: Vec<UnixStream> = Vec::new();
        for bytes in sent {
            // All but the last one have ended by then.
            streams.clear();
            let mut stream = UnixStream::connect(&socket).unwrap();
            stream.write_all(bytes).unwrap();
            streams.push(stream);
        }
        listener.watched(&mut Patient).ended();
        drop(streams);
        listener.finish().into_iter().collect::<io::Result<_>>().unwrap()
    }

    #[test]
    fn who_is_killed_while_it_greets_takes_no_other_with_it() {
        let whole = hello(7, b"/bin/x");
        for length in 0..whole.len() {
            let taken =
                taken(&[[hello(6, b"/bin/y"), message(ChunkKind::End, 3, &[])].concat(), whole[..length].to_vec()]);
            let seen: Vec<_> = taken.iter().map(|taken| (taken.process.pid, taken.end, taken.is_left)).collect();
            assert_eq!(seen, [(6, Some(3), false)], "{length}");
        }
    }

    #[test]
    fn of_who_outlives_the_test_whole_messages_are_kept() {
        let (records, rest) = (message(ChunkKind::Records, 0, &[1; 24]), message(ChunkKind::Records, 0, &[2; 40]));
        let killed = [hello(5, b"/bin/x"), records.clone()].concat();
        let left = [hello(7, b"/bin/x"), records, rest[..rest.len() - 1].to_vec()].concat();
        let taken = taken(&[killed, left]);
        let seen: Vec<_> = taken.iter().map(|taken| (taken.process.pid, taken.n_bytes, taken.is_left)).collect();
        assert_eq!(seen, [(5, 24, false), (7, 24, true)]);
    }

    /// Bytes on disk of the traces of processes that send this number of records of this length at once, with a limit
    /// of 1 MiB.
    fn on_disk(n_processes: u32, n_chunks: usize, length: usize, keep: KeptPart) -> u64 {
        use std::os::unix::fs::MetadataExt as _;
        let place = tempfile::tempdir().unwrap();
        let socket = place.path().join("socket");
        let traces = place.path().join("traces");
        let listener = TraceListener::start(&socket, &traces, 1 << 20, keep).unwrap();
        thread::scope(|scope| {
            for pid in 1..=n_processes {
                let socket = &socket;
                scope.spawn(move || {
                    let mut stream = UnixStream::connect(socket).unwrap();
                    stream.write_all(&hello(pid, b"/bin/x")).unwrap();
                    let mut state = u64::from(pid);
                    let mut noise = || {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                        state.to_be_bytes()[3]
                    };
                    for _ in 0..n_chunks {
                        let content: Vec<u8> = (0..length).map(|_| noise()).collect();
                        stream.write_all(&message(ChunkKind::Records, 0, &content)).unwrap();
                    }
                });
            }
        });
        listener.watched(&mut Patient).ended();
        let taken: Vec<TakenTrace> = listener.finish().into_iter().collect::<io::Result<_>>().unwrap();
        assert_eq!(taken.len(), n_processes as usize);
        taken.iter().map(|taken| fs::metadata(traces.join(&taken.file)).unwrap().blocks() * 512).sum()
    }

    #[test]
    fn traces_keep_to_what_they_may_take_on_disk() {
        for keep in [KeptPart::Last, KeptPart::First] {
            for (n_processes, n_chunks, length) in [(1, 60, 60_000), (6, 40, 60_000), (1, 4000, 700), (3, 3000, 700)] {
                let found = on_disk(n_processes, n_chunks, length, keep);
                // A chunk for each process that writes, the size of its index, and its first and last blocks.
                let slack = u64::from(n_processes) * (length as u64 + 40 * n_chunks as u64 + 4 * BLOCK);
                assert!(found <= (1 << 20) + slack, "{n_processes} of {n_chunks} times {length}: {found}");
                assert!(found > 1 << 19, "{found}");
            }
        }
    }

    #[test]
    fn a_program_that_was_not_replaced_goes_on() {
        let records = message(ChunkKind::Records, 0, &[1; 24]);
        let replaced = [hello(5, b"/bin/x"), records.clone(), message(ChunkKind::End, REPLACED, &[])].concat();
        let failed = [&*replaced, &*records, &*message(ChunkKind::End, 2, &[])].concat();
        let taken = taken(&[replaced, failed]);
        let seen: Vec<_> = taken.iter().map(|taken| (taken.n_bytes, taken.end, taken.is_left)).collect();
        assert_eq!(seen, [(24, Some(REPLACED), false), (48, Some(2), false)]);
    }
}
