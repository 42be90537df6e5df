//! Rewrites the classes of a virtual machine, whose agent sends them.
//!
//! All numbers are little-endian. Each message and each answer is 4 bytes length and so many bytes. The first answer,
//! which is empty, comes without a message.
//!
//! - A class: the answer is the rewritten one, or empty if it is to stay as it is.
//! - Length [`FILE`], then 4 bytes thread: its file is made, the answer is empty. If it is there, it becomes as long as it may
//!   become. A test runs with a limit to the size of its files, which this program lifts for itself; a file of zeros that is
//!   large enough needs no more room as long as nothing is written to it. But the system reads zeros ahead, some MiB, so a
//!   file is short at first.
//!
//! If points are told, see [`replace`], they are inserted; nothing is recorded then,
//! unless that is told, too. For each rewritten class that records, the file `classes` gets 4 bytes first site, 4 bytes number of sites, 4 bytes length, and the
//! original class, before the answer is given.

use std::fs;
use std::fs::File;
use std::io;
use std::io::Read;
use std::io::Write;
use std::panic;
use std::panic::AssertUnwindSafe;
use std::path::Path;

use rustix::process::Resource;
use rustix::process::Rlimit;

use crate::instrument;
use crate::instrument::java::exits;
use crate::instrument::java::rewrite::rewrite;
use crate::instrument::java::sites::FIRST_SITE;
use crate::trace::container::Process;
use crate::world::process;
use crate::world::record::java::replace;
use crate::world::system;

/// In place of the length of a class: make the file of a thread.
const FILE: u32 = u32::MAX;

/// Bytes of the file of a thread at first: as many as the recorder maps.
const FIRST_OF_THREAD: u64 = 8 << 10;

/// No class is longer; whoever says so is no agent.
const MAX_CLASS: u32 = 64 << 20;

/// What a process may map beyond its limit.
const SLACK: u64 = 8 << 20;

/// Answers until the other side ends.
///
/// - `directory`: that of the virtual machine.
/// - `max_bytes`: what it may record.
///
/// Errors: it sends no messages, or nothing can be written. It goes on without rewritten classes then.
pub fn serve(directory: &Path, max_bytes: u64, (input, output): (&mut dyn Read, &mut dyn Write)) -> io::Result<()> {
    let limit = rustix::process::getrlimit(Resource::Fsize);
    let lifted = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // Without it, large files cannot be made, and recording ends early.
    let _ = rustix::process::setrlimit(Resource::Fsize, lifted);
    let size = max_bytes.saturating_add(SLACK).min(i64::MAX.unsigned_abs());
    let make = |name: &str, size: u64| File::create_new(directory.join(name))?.set_len(size);
    make("objects", size)?;
    fs::write(directory.join("process"), machine().to_bytes())?;
    let mut classes = File::options().create(true).append(true).open(directory.join("classes"))?;
    let (points, is_recorded) = directory.parent().map_or((Vec::new(), true), replace::told);
    let mut next_site = FIRST_SITE;
    answer(output, &[])?;
    let mut head = [0; 4];
    loop {
        match input.read_exact(&mut head) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        let length = u32::from_le_bytes(head);
        if length == FILE {
            input.read_exact(&mut head)?;
            let name = format!("thread-{}", u32::from_le_bytes(head));
            // If it cannot be made, the recorder takes what it finds.
            if make(&name, FIRST_OF_THREAD.min(size)).is_err() {
                let _ = File::options().write(true).open(directory.join(&name)).and_then(|file| file.set_len(size));
            }
            answer(output, &[])?;
            continue;
        }
        if length > MAX_CLASS {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut class = vec![0; length as usize];
        input.read_exact(&mut class)?;
        if !is_recorded {
            let replace = || match exits::guard(&class) {
                Ok(None) => instrument::java::replace::replace(&class, &points),
                guarded => guarded,
            };
            let replaced = panic::catch_unwind(AssertUnwindSafe(replace));
            answer(output, &replaced.ok().and_then(Result::ok).flatten().unwrap_or_default())?;
            continue;
        }
        let rewritten = panic::catch_unwind(AssertUnwindSafe(|| rewrite(&class, next_site, &points)));
        let rewritten = rewritten.ok().and_then(Result::ok).filter(|rewritten| rewritten.n_sites > 0);
        let behind = rewritten.as_ref().and_then(|rewritten| next_site.checked_add(rewritten.n_sites));
        let (Some(rewritten), Some(behind)) = (rewritten, behind) else {
            answer(output, &[])?;
            continue;
        };
        let numbers = [next_site, rewritten.n_sites, length].map(u32::to_le_bytes).concat();
        classes.write_all(&[&numbers, &*class].concat())?;
        next_site = behind;
        answer(output, &rewritten.bytes)?;
    }
}

fn answer(output: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    output.write_all(&[&length.to_le_bytes(), bytes].concat())?;
    output.flush()
}

/// The virtual machine: it started this process.
fn machine() -> Process {
    let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_pid().unsigned_abs());
    let program = system::program_of(parent).unwrap_or_default();
    Process {
        pid: parent,
        parent: process::parent_of(parent).unwrap_or_default(),
        forked_at: None,
        program: program.into_os_string().into_encoded_bytes(),
        words: system::words_of(parent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_class_stays_as_it_is_and_files_are_made_on_request() {
        let place = tempfile::tempdir().unwrap();
        let file = |thread: u32| [FILE, thread].map(u32::to_le_bytes).concat();
        let input = [&3_u32.to_le_bytes()[..], b"xyz", &file(5), &file(6), &file(5), &[9, 0]].concat();
        let mut output = Vec::new();
        serve(place.path(), 1 << 20, (&mut &*input, &mut output)).unwrap();
        assert_eq!(output, [0; 20]);
        let whole = (1 << 20) + SLACK;
        for (name, expected) in [("objects", whole), ("thread-5", whole), ("thread-6", FIRST_OF_THREAD)] {
            assert_eq!(fs::metadata(place.path().join(name)).unwrap().len(), expected);
        }
        assert!(fs::read(place.path().join("classes")).unwrap().is_empty());
        let process = Process::from_bytes(&fs::read(place.path().join("process")).unwrap()).unwrap();
        assert_eq!(Some(process.pid.cast_signed()), rustix::process::getppid().map(rustix::process::Pid::as_raw_pid));
    }

    #[test]
    fn who_sends_no_length_is_no_agent() {
        let place = tempfile::tempdir().unwrap();
        let input = (MAX_CLASS + 1).to_le_bytes();
        assert!(serve(place.path(), 0, (&mut &input[..], &mut Vec::new())).is_err());
    }
}
