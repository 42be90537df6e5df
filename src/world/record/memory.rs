//! The memory for the records of a program, shared with the recorder: records that a killed process had not sent are
//! still there.
//!
//! The recorder creates it, so no limit of the program applies. It has one slot for each thread; unused pages take no
//! space. See `runtime/trace.c`:
//!
//! ```text
//! slot: head, buffer of 1 MiB
//! head: 4 whether the slot is used, 2 if records are missing   4 number of the thread   8 bytes of records that it has sent   4 (in the first) 1 and how the process ended   .. up to 4096 bytes
//! ```

use std::fs::File;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::OwnedFd;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage};

use crate::system;

const HEAD: usize = 4096;

const BUFFER: usize = 1 << 20;

const N_SLOTS: u64 = 256;

/// The state of a slot whose thread later made records elsewhere.
const LOST: u32 = 2;

/// The maximum length of a record, including zeros.
const LONGEST: usize = 64 << 10;

/// The records that a thread had not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsentRecords {
    /// The thread, by its number.
    pub thread: u32,
    /// Bytes of its earlier records.
    pub offset: u64,
    /// Its records, followed by zeros.
    pub bytes: Vec<u8>,
    /// Bytes up to the last one that is not zero.
    pub length: usize,
}

/// The records that a process left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// By thread.
    pub tails: Vec<UnsentRecords>,
    /// Threads that used the memory, at once.
    pub n_slots: usize,
    /// Whether there was no room for some records: the connection had been closed, or there were too many threads.
    pub is_lost: bool,
    /// How it ended, if known.
    pub end: Option<u32>,
}

/// The memory of a process.
#[derive(Debug)]
pub struct ProcessMemory {
    file: File,
    process: Option<OwnedFd>,
}

impl ProcessMemory {
    /// Creates it, and sends it to the process at the other end.
    ///
    /// Errors: there is no memory; the process is informed.
    pub fn give(stream: &UnixStream) -> io::Result<Self> {
        let made = (|| {
            let file = system::shared_memory()?;
            file.set_len(N_SLOTS * (HEAD + BUFFER) as u64)?;
            let peer = system::peer_of(stream)?;
            // A process that has ended, or is not visible from here, is not waited for.
            let process = system::end_of(peer);
            Ok(Self { file, process })
        })();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let files = [made.as_ref().map_or(stream.as_fd(), |memory: &Self| memory.file.as_fd())];
        if made.is_ok() {
            control.push(SendAncillaryMessage::ScmRights(&files));
        }
        rustix::net::sendmsg(stream, &[IoSlice::new(&[0])], &mut control, system::NO_SIGNAL)?;
        made
    }

    /// Waits until the process has ended, or `is_awaited` is false.
    pub fn wait(&self, is_awaited: impl Fn() -> bool) {
        const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
        let Some(process) = &self.process else { return };
        let is_there = || {
            let mut ends = [PollFd::new(process, PollFlags::IN)];
            matches!(rustix::event::poll(&mut ends, Some(&PAUSE)), Ok(0) | Err(rustix::io::Errno::INTR))
        };
        while is_awaited() && is_there() {}
    }

    /// The unsent records of the threads; `sent` is the number of received bytes for each.
    pub fn left(&self, sent: &[u64]) -> Left {
        let slots = (0..N_SLOTS).map_while(|slot| {
            let place = slot * (HEAD + BUFFER) as u64;
            let mut head = [0; 16];
            self.file.read_exact_at(&mut head, place).ok()?;
            let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
            let n_sent = u64::from(number(8)) | u64::from(number(12)) << 32;
            (number(0) != 0).then_some((place, number(0), number(4), n_sent))
        });
        let slots: Vec<_> = slots.collect();
        let tail = |(place, _, thread, n_sent): &(u64, u32, u32, u64)| self.tail(*place, *thread, *n_sent, sent);
        let mut end = [0; 4];
        let is_told = self.file.read_exact_at(&mut end, 16).is_ok();
        Left {
            end: u32::from_le_bytes(end).checked_sub(1).filter(|_| is_told),
            tails: slots.iter().filter_map(tail).collect(),
            n_slots: slots.len(),
            is_lost: slots.iter().any(|(_, state, ..)| *state == LOST),
        }
    }

    fn tail(&self, place: u64, thread: u32, n_sent: u64, sent: &[u64]) -> Option<UnsentRecords> {
        let mut bytes = vec![0; BUFFER];
        self.file.read_exact_at(&mut bytes, place + HEAD as u64).ok()?;
        let offset = sent.get(thread as usize).copied().unwrap_or(0);
        // If a process was killed between sending and clearing, these were already sent.
        let n_come = usize::try_from(offset.checked_sub(n_sent)?).ok().filter(|n| *n <= BUFFER)?;
        bytes.drain(..n_come);
        let length = bytes.iter().rposition(|byte| *byte != 0)? + 1;
        bytes.truncate(length + LONGEST);
        Some(UnsentRecords { thread, offset, bytes, length })
    }
}
