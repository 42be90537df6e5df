//! A parked process, and what it is asked to try.
//!
//! A program that was built by the instrumenting compiler is run with [`Order::variables`]; where it comes to the instance of the segment, it connects to
//! [`Control`] and waits. Every [`Parked::test`] forks it there: the child takes patches in, runs on to another point, and tells what
//! memory holds there. See `runtime/control.c` for what a child may touch: nothing.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::io::Read;
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

/// The n-th instance of a segment, n from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// The number of the segment.
    pub segment: u32,
    /// Which instance.
    pub n: u64,
}

/// Bytes of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Where.
    pub address: u64,
    /// How many.
    pub length: u64,
}

/// What a test tries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// What is written before it goes on.
    pub patches: Vec<(u64, Vec<u8>)>,
    /// Where it ends, counted from where it is parked; it may also run to its end.
    pub stop: Option<Point>,
    /// A branch that goes the other way, counted from where it is parked.
    pub switch: Option<Point>,
    /// What is told of memory at the end.
    pub dumps: Vec<Range>,
    /// Segments that it may run.
    pub budget: u64,
    /// Time that it may take; of the whole millisecond.
    pub limit: Duration,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It came to its point.
    Reached,
    /// The program exited with this code.
    Exit(u32),
    /// It was killed by this signal.
    Signal(u32),
    /// It ran as many segments as it may.
    Budget,
    /// Its time was up.
    Time,
    /// It could not be confined, or a patch could not be written.
    Refused,
}

/// What a test came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// How it ended.
    pub ended: Ended,
    /// Segments that it ran.
    pub n_segments: u64,
    /// Standard output and error since it was forked, at most 1 MiB.
    pub output: Vec<u8>,
    /// The dumps, in order, if it came to its point; else empty.
    pub dumps: Vec<Vec<u8>>,
}

/// Waits for a program to park.
#[derive(Debug)]
pub struct Control {
    listener: UnixListener,
    socket: PathBuf,
}

impl Control {
    /// Listens at `socket`.
    pub fn new(socket: &Path) -> io::Result<Self> {
        Ok(Self { listener: UnixListener::bind(socket)?, socket: socket.to_owned() })
    }

    /// The variables that make a program park at `stop`; only below `scratch` its tests may write.
    pub fn variables(&self, stop: Point, scratch: &Path) -> Vec<(OsString, OsString)> {
        vec![
            ("IDD_CONTROL".into(), self.socket.clone().into()),
            ("IDD_STOP".into(), format!("{}:{}", stop.segment, stop.n).into()),
            ("IDD_SCRATCH".into(), scratch.into()),
        ]
    }

    /// Waits until a program has parked.
    pub fn wait(&self) -> io::Result<Parked> {
        let (stream, _) = self.listener.accept()?;
        let mut parked = Parked { stream, pid: 0, n_threads: 0 };
        parked.pid = parked.number()?;
        parked.n_threads = parked.number()?;
        Ok(parked)
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.socket);
    }
}

/// A parked process.
#[derive(Debug)]
pub struct Parked {
    stream: UnixStream,
    /// Its number.
    pub pid: u32,
    /// Its threads that ran something; with more than one, tests are not to be trusted.
    pub n_threads: u32,
}

const READ: u32 = 1;
const TEST: u32 = 2;
const GO: u32 = 3;

/// Patches of one test together are not longer.
const MAX_PATCHES: usize = 1 << 20;

/// Dumps of one test are not more.
const MAX_DUMPS: usize = 4096;

impl Parked {
    /// Reads its memory; what cannot be read is zeros.
    pub fn read(&mut self, ranges: &[Range]) -> io::Result<Vec<Vec<u8>>> {
        if ranges.len() > MAX_DUMPS {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut message = READ.to_ne_bytes().to_vec();
        message.extend(length_of(ranges)?.to_ne_bytes());
        put_ranges(ranges, &mut message);
        self.stream.write_all(&message)?;
        self.ranges(ranges)
    }

    /// Forks it, and tries something in the child.
    ///
    /// Errors: more than 1 MiB of patches or 4,096 dumps; the process is gone.
    pub fn test(&mut self, test: &Test) -> io::Result<Reply> {
        let mut patches = Vec::new();
        for (address, bytes) in &test.patches {
            patches.extend(address.to_ne_bytes());
            patches.extend((bytes.len() as u64).to_ne_bytes());
            patches.extend(bytes);
        }
        if patches.len() > MAX_PATCHES || test.dumps.len() > MAX_DUMPS {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let never = Point { segment: 0, n: 0 };
        let (stop, switch) = (test.stop.unwrap_or(never), test.switch.unwrap_or(never));
        let milliseconds = u32::try_from(test.limit.as_millis()).unwrap_or(u32::MAX >> 1);
        let mut message = TEST.to_ne_bytes().to_vec();
        message.extend(stop.segment.to_ne_bytes());
        message.extend(length_of(&test.patches)?.to_ne_bytes());
        message.extend(stop.n.to_ne_bytes());
        message.extend(test.budget.to_ne_bytes());
        message.extend(milliseconds.to_ne_bytes());
        message.extend(length_of(&test.dumps)?.to_ne_bytes());
        message.extend(switch.segment.to_ne_bytes());
        message.extend(0_u32.to_ne_bytes());
        message.extend(switch.n.to_ne_bytes());
        message.extend((patches.len() as u64).to_ne_bytes());
        message.extend(patches);
        put_ranges(&test.dumps, &mut message);
        self.stream.write_all(&message)?;
        let (kind, code) = (self.number()?, self.number()?);
        let (n_segments, n_output, n_dumped) = (self.long()?, self.long()?, self.long()?);
        let mut output = vec![0; usize::try_from(n_output).map_err(|_| io::ErrorKind::InvalidData)?.min(MAX_PATCHES)];
        self.stream.read_exact(&mut output)?;
        let dumps = if n_dumped > 0 { self.ranges(&test.dumps)? } else { Vec::new() };
        let ended = match kind {
            1 => Ended::Reached,
            2 => Ended::Exit(code),
            3 => Ended::Signal(code),
            4 => Ended::Budget,
            5 => Ended::Time,
            _ => Ended::Refused,
        };
        Ok(Reply { ended, n_segments, output, dumps })
    }

    /// Lets it run on as if nothing had been.
    pub fn go(mut self) -> io::Result<()> {
        self.stream.write_all(&GO.to_ne_bytes())
    }

    fn number(&mut self) -> io::Result<u32> {
        let mut bytes = [0; 4];
        self.stream.read_exact(&mut bytes)?;
        Ok(u32::from_ne_bytes(bytes))
    }

    fn long(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.stream.read_exact(&mut bytes)?;
        Ok(u64::from_ne_bytes(bytes))
    }

    fn ranges(&mut self, ranges: &[Range]) -> io::Result<Vec<Vec<u8>>> {
        let mut all = Vec::new();
        for range in ranges {
            let mut bytes = vec![0; usize::try_from(range.length).map_err(|_| io::ErrorKind::InvalidInput)?];
            self.stream.read_exact(&mut bytes)?;
            all.push(bytes);
        }
        Ok(all)
    }
}

fn length_of<T>(list: &[T]) -> io::Result<u32> {
    u32::try_from(list.len()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn put_ranges(ranges: &[Range], message: &mut Vec<u8>) {
    for range in ranges {
        message.extend(range.address.to_ne_bytes());
        message.extend(range.length.to_ne_bytes());
    }
}
