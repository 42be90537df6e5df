//! Takes the records of running programs to disk.
//!
//! Programs connect to a socket, one connection for each process; each connection becomes one file. A process begins with a
//! greeting (see `runtime/trace.c`) and sends messages: kind, thread, length, bytes.

use std::fs;
use std::fs::File;
use std::io;
use std::io::BufWriter;
use std::io::Read;
use std::io::Write as _;
use std::os::unix::net::UnixListener;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::thread;
use std::thread::JoinHandle;

use crate::trace::container::Kind;
use crate::trace::container::MAX_CHUNK;
use crate::trace::container::Process;
use crate::trace::container::Writer;
use crate::world::record::RecordError;

/// The variable that names the socket to instrumented programs.
pub const VARIABLE: &str = "IDD_TRACE";

const PROTOCOL: u32 = 1;

/// Listens until it is told that the programs have ended.
pub struct Listener {
    socket: PathBuf,
    is_closing: Arc<AtomicBool>,
    thread: JoinHandle<Vec<io::Result<Taken>>>,
}

/// What one process left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The trace, relative to the directory.
    pub file: String,
    /// Who ran.
    pub process: Process,
    /// Bytes of its records.
    pub n_bytes: u64,
    /// How it ended, see [`container`](crate::trace::container); `None` if it was killed.
    pub end: Option<u32>,
    /// Whether records were left out because of the limit.
    pub is_cut: bool,
}

impl Listener {
    /// Begins to listen at `socket`; traces go to `directory`, and have at most `max_bytes` together.
    pub fn start(socket: &Path, directory: &Path, max_bytes: u64) -> Result<Self, RecordError> {
        let failed = |source| RecordError::Keep { path: directory.to_owned(), source };
        fs::create_dir_all(directory).map_err(failed)?;
        let listener = UnixListener::bind(socket).map_err(failed)?;
        let is_closing = Arc::new(AtomicBool::new(false));
        let (closing, directory) = (Arc::clone(&is_closing), directory.to_owned());
        let room = Arc::new(AtomicU64::new(max_bytes));
        let thread = thread::spawn(move || {
            let mut takers: Vec<JoinHandle<io::Result<Option<Taken>>>> = Vec::new();
            while let Ok((stream, _)) = listener.accept() {
                let file = format!("{}.trace", takers.len());
                let (directory, room) = (directory.clone(), Arc::clone(&room));
                takers.push(thread::spawn(move || take(&stream, &directory, file, &room)));
                // Programs that ended just now may still stand in the queue.
                if closing.load(Ordering::SeqCst) && listener.set_nonblocking(true).is_err() {
                    break;
                }
            }
            let join = |taker: JoinHandle<_>| taker.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
            takers.into_iter().filter_map(|taker| join(taker).transpose()).collect()
        });
        Ok(Self { socket: socket.to_owned(), is_closing, thread })
    }

    /// Waits for what is still being sent, and returns what was taken in the order of connection; all programs must have ended.
    pub fn finish(self) -> Vec<io::Result<Taken>> {
        self.is_closing.store(true, Ordering::SeqCst);
        drop(UnixStream::connect(&self.socket));
        let taken = self.thread.join().unwrap_or_default();
        let _ = fs::remove_file(&self.socket);
        taken
    }
}

/// Takes what one process sends; `None` if it sends nothing, as our own connection does.
fn take(mut stream: &UnixStream, directory: &Path, file: String, room: &AtomicU64) -> io::Result<Option<Taken>> {
    // What is accepted from a listener that does not wait may not wait either.
    stream.set_nonblocking(false)?;
    let Some(process) = greeting(&mut stream)? else { return Ok(None) };
    let out = BufWriter::with_capacity(1 << 20, File::create(directory.join(&file))?);
    let mut writer = Writer::new(out)?;
    writer.add(Kind::Process, 0, 0, &process.to_bytes())?;
    let mut taken = Taken { file, process, n_bytes: 0, end: None, is_cut: false };
    let mut offsets: Vec<u64> = Vec::new();
    let mut content = Vec::new();
    let mut head = [0; 16];
    // A process that was killed leaves off anywhere; what is whole is kept.
    while stream.read_exact(&mut head).is_ok() {
        let [kind, thread] = [0, 4].map(|at| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]));
        let length = u64::from_le_bytes(*head.last_chunk().expect("16 bytes have a last 8"));
        let known = Kind::from_number(kind).filter(|_| length <= u64::from(MAX_CHUNK));
        let kind = known.ok_or(io::ErrorKind::InvalidData)?;
        content.resize(usize::try_from(length).map_err(|_| io::ErrorKind::InvalidData)?, 0);
        if stream.read_exact(&mut content).is_err() {
            break;
        }
        let mut offset = 0;
        match kind {
            Kind::Records => {
                let index = thread as usize;
                if index > 1 << 20 {
                    return Err(io::ErrorKind::InvalidData.into());
                }
                if offsets.len() <= index {
                    offsets.resize(index + 1, 0);
                }
                offset = offsets[index];
                offsets[index] += length;
                taken.n_bytes += length;
            }
            Kind::End => taken.end = Some(thread),
            Kind::Process | Kind::Globals => {}
        }
        if kind == Kind::Records && (taken.is_cut || room.load(Ordering::Relaxed) == 0) {
            taken.is_cut = true;
            continue;
        }
        let before = writer.size();
        writer.add(kind, thread, offset, &content)?;
        let n_written = writer.size() - before;
        let _ = room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| Some(room.saturating_sub(n_written)));
    }
    writer.finish()?.flush()?;
    Ok(Some(taken))
}

fn greeting(stream: &mut &UnixStream) -> io::Result<Option<Process>> {
    let mut head = [0; 40];
    match stream.read_exact(&mut head) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        result => result?,
    }
    let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    if !head.starts_with(b"IDDT") || number(4) != PROTOCOL {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let n_before = u64::from(number(24)) | u64::from(number(28)) << 32;
    let mut text = |length: u32| {
        let mut bytes = vec![0; usize::try_from(length.min(1 << 20)).unwrap_or_default()];
        stream.read_exact(&mut bytes).map(|()| bytes)
    };
    let forked_at = (number(8) == 1).then_some((number(20), n_before));
    let (pid, parent) = (number(12), number(16));
    Ok(Some(Process { pid, parent, forked_at, program: text(number(32))?, words: text(number(36))? }))
}
