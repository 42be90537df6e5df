//! Rewrites the classes of a virtual machine, whose agent sends them.
//!
//! All numbers are little-endian. Each message and each answer is 4 bytes length and so many bytes. The first answer,
//! which is empty, comes without a message.
//!
//! - A class: the answer is the rewritten one, or empty if it is to stay as it is.
//! - In place of a length one of four requests, then 4 bytes, the number of a thread ([`ring::OBJECTS`] is the file of
//!   descriptions), and 8 bytes. The answer is empty, or a byte if it cannot be done.
//!   - [`FILE`]: its file is made, if it is not there, and gets zeros up to so many bytes. A test runs with a limit to the size
//!     of its files, which this program lifts for itself. And zeros have room on the disk, so that the virtual machine does not find
//!     it full when it writes there.
//!   - [`RING`]: its [ring] is made, whose contents follow so many bytes of its file.
//!   - [`FULL`]: the half of its ring that is written is full. The 8 bytes mean nothing.
//!   - [`LOST`]: it is not recorded, because of the limit if the 8 bytes are 1. Whoever makes the trace finds the file `lost` or
//!     `full`.
//!
//! If points are told, see [`replace`], they are inserted; nothing is recorded then,
//! unless that is told, too. For each rewritten class that records, the file `classes` gets 4 bytes first site, 4 bytes
//! number of sites, 4 bytes length, which says [how much](RecordedContent) is recorded, and the original class, before the answer
//! is given.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Write};
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::{fs, io, panic};

use rustix::process::{Resource, Rlimit};

use crate::process;
use crate::record::control::process_of;
use crate::record::java::ring::Ring;
use crate::record::java::{replace, ring};
use idd_trace::instrument::java::exits;
use idd_trace::instrument::java::replace::ReplacementPoint;
use idd_trace::instrument::java::rewrite::rewrite;
use idd_trace::instrument::java::sites::{FIRST_SITE, RecordedContent};
use idd_trace::{TracedProcess, instrument};

/// In place of the length of a class: make the file of a thread, or make it longer.
const FILE: u32 = u32::MAX;

/// In place of the length of a class: make the ring of a thread.
const RING: u32 = u32::MAX - 1;

/// In place of the length of a class: take what is in a ring.
const FULL: u32 = u32::MAX - 2;

/// In place of the length of a class: a thread is not recorded.
const LOST: u32 = u32::MAX - 3;

/// The files that say so.
pub(super) const LOST_MARK: &str = "lost";
pub(super) const FULL_MARK: &str = "full";

/// No class is so long; whoever says so is no agent.
const MAX_CLASS: u32 = 64 << 20;

/// Answers until the other side ends.
///
/// - `directory`: that of the virtual machine.
///
/// Errors: it sends no messages, or nothing can be written. It goes on without rewritten classes then.
pub fn serve(directory: &Path, input: &mut dyn Read, output: &mut dyn Write) -> io::Result<()> {
    let mut server = MachineServer::new(directory)?;
    answer(output, &[])?;
    let mut head = [0; 4];
    loop {
        match input.read_exact(&mut head) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        let said = match u32::from_le_bytes(head) {
            request @ (FILE | RING | FULL | LOST) => {
                let mut words = [0; 12];
                input.read_exact(&mut words)?;
                let number = |at: usize, n: usize| {
                    words[at..at + n].iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
                };
                let thread = u32::try_from(number(0, 4)).expect("4 bytes");
                let done = match request {
                    FILE => server.lengthen(thread, number(4, 8)),
                    RING => server.make_ring(thread, number(4, 8)),
                    LOST => server.lose(number(4, 8) == 1),
                    _ => server.take(thread),
                };
                if done.is_ok() { Vec::new() } else { vec![0] }
            }
            MAX_CLASS.. => return Err(io::ErrorKind::InvalidData.into()),
            length => {
                let mut class = vec![0; length as usize];
                input.read_exact(&mut class)?;
                server.rewritten(&class)?
            }
        };
        answer(output, &said)?;
    }
}

/// What is known of a virtual machine.
struct MachineServer<'s> {
    directory: &'s Path,
    /// The file of classes.
    classes: File,
    /// The number of the first site of the next class.
    next_site: u32,
    /// Where values are replaced, and whether anything is recorded.
    points: Vec<ReplacementPoint>,
    is_recorded: bool,
    content: RecordedContent,
    rings: HashMap<u32, Ring>,
}

impl<'s> MachineServer<'s> {
    fn new(directory: &'s Path) -> io::Result<Self> {
        let limit = rustix::process::getrlimit(Resource::Fsize);
        let lifted = Rlimit { current: limit.maximum, maximum: limit.maximum };
        // Without it, large files cannot be made, and recording ends early.
        let _ = rustix::process::setrlimit(Resource::Fsize, lifted);
        File::create_new(directory.join(ring::stream_name(ring::OBJECTS)))?;
        fs::write(directory.join("process"), machine().to_bytes())?;
        let classes = File::options().create(true).append(true).open(directory.join("classes"))?;
        let (points, is_recorded) = directory.parent().map_or((Vec::new(), true), replace::told);
        let content = directory.parent().map_or(RecordedContent::Values, super::content);
        Ok(Self { directory, classes, next_site: FIRST_SITE, points, is_recorded, content, rings: HashMap::new() })
    }

    /// Makes the file of a thread, if it is not there, and writes zeros at its end up to a length.
    fn lengthen(&self, thread: u32, length: u64) -> io::Result<()> {
        let path = self.directory.join(ring::stream_name(thread));
        let file = File::options().create(true).append(true).open(path)?;
        let more = length.saturating_sub(file.metadata()?.len());
        io::copy(&mut io::repeat(0).take(more), &mut &file)?;
        Ok(())
    }

    fn make_ring(&mut self, thread: u32, length: u64) -> io::Result<()> {
        if self.rings.get(&thread).is_some_and(Ring::is_used) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.rings.insert(thread, Ring::make(self.directory, thread, length)?);
        Ok(())
    }

    fn lose(&self, is_full: bool) -> io::Result<()> {
        fs::write(self.directory.join(if is_full { FULL_MARK } else { LOST_MARK }), [])
    }

    fn take(&mut self, thread: u32) -> io::Result<()> {
        self.rings.get_mut(&thread).ok_or(io::ErrorKind::NotFound)?.take()
    }

    /// A class with what is inserted into it; empty if it is to stay as it is.
    fn rewritten(&mut self, class: &[u8]) -> io::Result<Vec<u8>> {
        if !self.is_recorded {
            let replace = || match exits::guard(class) {
                Ok(None) => instrument::java::replace::replace(class, &self.points),
                guarded => guarded,
            };
            let replaced = panic::catch_unwind(AssertUnwindSafe(replace));
            return Ok(replaced.ok().and_then(Result::ok).flatten().unwrap_or_default());
        }
        let rewrite = || rewrite(class, self.next_site, self.content, &self.points);
        let rewritten = panic::catch_unwind(AssertUnwindSafe(rewrite));
        let rewritten =
            rewritten.ok().and_then(Result::ok).filter(|rewritten| rewritten.n_sites + rewritten.n_skipped > 0);
        let behind = rewritten.as_ref().and_then(|rewritten| self.next_site.checked_add(rewritten.n_sites));
        let (Some(rewritten), Some(behind)) = (rewritten, behind) else { return Ok(Vec::new()) };
        let length = u32::try_from(class.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let numbers = [self.next_site, rewritten.n_sites, self.content.mark(length)].map(u32::to_le_bytes).concat();
        self.classes.write_all(&[&numbers, class].concat())?;
        self.next_site = behind;
        // If all of its methods are left as they are, it is stored so that this is known.
        Ok(if rewritten.n_sites > 0 { rewritten.bytes } else { Vec::new() })
    }
}

fn answer(output: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    output.write_all(&[&length.to_le_bytes(), bytes].concat())?;
    output.flush()
}

/// The virtual machine: it started this process.
fn machine() -> TracedProcess {
    let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_pid().unsigned_abs());
    TracedProcess { parent: process::parent_of(parent).unwrap_or_default(), ..process_of(parent) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::java::ring::OBJECTS;

    #[test]
    fn what_is_no_class_stays_as_it_is_and_files_are_made_on_request() {
        let place = tempfile::tempdir().unwrap();
        let ask = |request: u32, thread: u32, more: u32| [request, thread, more, 0].map(u32::to_le_bytes).concat();
        let file = [ask(FILE, 5, 8192), ask(FILE, 6, 10), ask(FILE, 5, 20000), ask(FILE, OBJECTS, 64)].concat();
        let ring = [ask(RING, 5, 7), ask(RING, 7, 7), ask(FULL, 5, 0), ask(FULL, 6, 0)].concat();
        let lost = [ask(LOST, 8, 1), ask(LOST, 9, 0)].concat();
        let input = [&3_u32.to_le_bytes()[..], b"xyz", &file, &ring, &lost, &[9, 0]].concat();
        let mut output = Vec::new();
        serve(place.path(), &mut &*input, &mut output).unwrap();
        // There is no file for the second ring; one that is there is not full; and one is not there.
        let no = [1, 0, 0, 0, 0];
        assert_eq!(output, [&[0; 28][..], &no, &no, &no, &[0; 8]].concat());
        for (name, expected) in [("objects", 64), ("thread-5", 20000), ("thread-6", 10)] {
            assert_eq!(fs::read(place.path().join(name)).unwrap(), vec![0; expected], "{name}");
        }
        for name in ["classes", "lost", "full"] {
            assert!(fs::read(place.path().join(name)).unwrap().is_empty(), "{name}");
        }
        let process = TracedProcess::from_bytes(&fs::read(place.path().join("process")).unwrap()).unwrap();
        assert_eq!(Some(process.pid.cast_signed()), rustix::process::getppid().map(rustix::process::Pid::as_raw_pid));
    }

    #[test]
    fn who_sends_no_length_is_no_agent() {
        let place = tempfile::tempdir().unwrap();
        let input = (MAX_CLASS + 1).to_le_bytes();
        assert!(serve(place.path(), &mut &input[..], &mut Vec::new()).is_err());
    }
}
