//! The ring through which a long stream of records comes from a virtual machine.
//!
//! The virtual machine maps the file of the ring, and writes one half of it while this program appends the other half to
//! the file of the stream. So few pages are touched, again and again: the first touch of a page of a file costs a process more
//! than the records that fill it. If the virtual machine is killed, its last records are still in the ring.
//!
//! All numbers are little-endian. The file `ring-<number>` begins with a page, of which this program writes 16 bytes: 8 bytes,
//! how many bytes of the stream's file count, and 8, how many halves it has taken. Then come the two halves, which are
//! used in turn. Each begins with 4 bytes, its number (counted from 1), and 4, how many of its bytes are used: 0 as long
//! as it is written.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes before the halves: a page, so that the virtual machine can map them alone.
const FRONT: u64 = 4 << 10;

/// Bytes of a half.
const HALF: u64 = 1 << 20;

/// Bytes of a half before its records.
const HEAD: u64 = 8;

/// In place of the number of a thread: descriptions of objects.
pub const OBJECTS: u32 = u32::MAX;

/// The name of the file of a stream.
pub fn stream_name(number: u32) -> String {
    if number == OBJECTS { "objects".to_owned() } else { format!("thread-{number}") }
}

/// The name of the file of a stream's ring.
fn name(number: u32) -> String {
    // As the virtual machine, which has signed numbers, writes it.
    format!("ring-{}", number.cast_signed())
}

/// The side of the program that takes what is full.
#[derive(Debug)]
pub struct Ring {
    shared: File,
    stream: File,
    /// Bytes of the stream's file that count.
    length: u64,
    /// The number of halves that were taken.
    n_taken: u64,
}

impl Ring {
    /// Makes the ring of a stream, whose contents are put into its file from `length` on.
    ///
    /// Errors: there is no room. Its pages have room on the disk afterwards, so that the virtual machine does
    /// not find the disk full when it writes one.
    pub fn make(directory: &Path, number: u32, length: u64) -> io::Result<Self> {
        let open = |name: String| File::options().read(true).write(true).open(directory.join(name));
        let stream = open(stream_name(number))?;
        // If the virtual machine could not map it, it asks once more.
        File::create(directory.join(name(number)))?;
        let shared = open(name(number))?;
        shared.write_all_at(&vec![0; as_index(FRONT + 2 * HALF)], 0)?;
        let made = Self { shared, stream, length, n_taken: 0 };
        made.tell()?;
        Ok(made)
    }

    /// Whether something was taken from it.
    pub fn is_used(&self) -> bool {
        self.n_taken > 0
    }

    /// Appends the half that is full to the stream's file, and empties it.
    ///
    /// Errors: it is not full, or there is no room. It stays as it is then.
    pub fn take(&mut self) -> io::Result<()> {
        let half = Half::read(&self.shared, self.n_taken)?;
        let records = half.records.filter(|_| half.is_full).ok_or(io::ErrorKind::InvalidData)?;
        self.stream.write_all_at(&records, self.length)?;
        self.length += records.len() as u64;
        self.n_taken += 1;
        self.tell()?;
        self.shared.write_all_at(&vec![0; records.len() + as_index(HEAD)], half.begin)
    }

    fn tell(&self) -> io::Result<()> {
        self.shared.write_all_at(&[self.length, self.n_taken].map(u64::to_le_bytes).concat(), 0)
    }
}

/// A half, as it is in the file.
struct Half {
    /// Where it begins.
    begin: u64,
    /// Its records; zeros follow if it is not full. `None` if the half has not been begun.
    records: Option<Vec<u8>>,
    is_full: bool,
}

impl Half {
    /// The half with the number after this one.
    fn read(ring: &File, before: u64) -> io::Result<Self> {
        let begin = FRONT + before % 2 * HALF;
        let mut bytes = vec![0; as_index(HALF)];
        ring.read_exact_at(&mut bytes, begin)?;
        let number =
            |at: usize| u64::from(u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]));
        let (is_begun, used) = (number(0) == before.wrapping_add(1) & u64::from(u32::MAX), number(4));
        let is_full = used > HEAD && used <= HALF;
        if is_full {
            bytes.truncate(as_index(used));
        }
        bytes.drain(..as_index(HEAD));
        Ok(Self { begin, records: is_begun.then_some(bytes), is_full })
    }
}

/// The bytes of a stream: those of its file that count, and those that are in its ring. If there is no ring, the whole file.
///
/// Errors: a file is not there, or damaged.
pub fn stream(directory: &Path, number: u32) -> io::Result<Box<dyn Read>> {
    let file = File::open(directory.join(stream_name(number)))?;
    let Ok(ring) = File::open(directory.join(name(number))) else { return Ok(Box::new(file)) };
    let mut front = [0; 16];
    if ring.read_exact_at(&mut front, 0).is_err() {
        return Ok(Box::new(file));
    }
    let number = |at: usize| front[at..at + 8].iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte));
    let (length, n_taken) = (number(0), number(8));
    // A ring in which nothing was begun is being made, or could not be mapped: the file says how the stream ends.
    if n_taken == 0 && !Half::read(&ring, 0).is_ok_and(|half| half.records.is_some()) {
        return Ok(Box::new(file));
    }
    let mut rest = Vec::new();
    for before in [n_taken, n_taken.saturating_add(1)] {
        let Ok(half) = Half::read(&ring, before) else { break };
        rest.extend(half.records.unwrap_or_default());
        if !half.is_full {
            break;
        }
    }
    Ok(Box::new(file.take(length).chain(io::Cursor::new(rest))))
}

fn as_index(n: u64) -> usize {
    usize::try_from(n).expect("a few MiB")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const STREAM: u32 = 3;

    /// A stream whose file has `file`, and more room behind it.
    fn begun(file: &[u8]) -> (tempfile::TempDir, Ring) {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(stream_name(STREAM));
        fs::write(&path, [file, &[0; 100]].concat()).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(8 << 20).unwrap();
        let ring = Ring::make(place.path(), STREAM, file.len() as u64).unwrap();
        (place, ring)
    }

    /// Writes a half as the virtual machine does.
    fn write(ring: &Ring, number: u32, is_full: bool, records: &[u8]) {
        let begin = FRONT + u64::from(number - 1) % 2 * HALF;
        let used = if is_full { u32::try_from(records.len()).unwrap() + 8 } else { 0 };
        ring.shared.write_all_at(&[&number.to_le_bytes(), &used.to_le_bytes(), records].concat(), begin).unwrap();
    }

    /// The stream up to its zeros.
    #[track_caller]
    fn check(place: &tempfile::TempDir, expected: &str) {
        let mut bytes = Vec::new();
        stream(place.path(), STREAM).unwrap().read_to_end(&mut bytes).unwrap();
        let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        assert_eq!(String::from_utf8_lossy(&bytes[..length]), expected);
    }

    #[test]
    fn halves_follow_the_file_whether_they_were_taken_or_not() {
        let (place, mut ring) = begun(b"file ");
        check(&place, "file ");
        write(&ring, 1, false, b"one ");
        check(&place, "file one ");
        write(&ring, 1, true, b"one ");
        write(&ring, 2, false, b"tw");
        check(&place, "file one tw");
        ring.take().unwrap();
        check(&place, "file one tw");
        write(&ring, 2, true, b"two ");
        write(&ring, 3, false, b"three");
        check(&place, "file one two three");
        ring.take().unwrap();
        write(&ring, 3, true, b"three ");
        write(&ring, 4, true, b"four ");
        check(&place, "file one two three four ");
        ring.take().unwrap();
        ring.take().unwrap();
        check(&place, "file one two three four ");
    }

    #[test]
    fn a_half_that_was_taken_and_not_emptied_is_not_read_again() {
        let (place, mut ring) = begun(b"file ");
        write(&ring, 1, true, b"one ");
        ring.take().unwrap();
        // As if the process had been killed before it emptied the half.
        write(&ring, 1, true, b"one ");
        write(&ring, 2, true, b"two ");
        check(&place, "file one two ");
    }

    #[test]
    fn what_is_not_full_is_not_taken_and_what_is_damaged_is_not_read() {
        let (place, mut ring) = begun(b"file ");
        write(&ring, 1, false, b"one");
        assert!(ring.take().is_err());
        check(&place, "file one");
        ring.shared.write_all_at(&u32::MAX.to_le_bytes(), FRONT + 4).unwrap();
        assert!(ring.take().is_err());
        check(&place, "file one");
        write(&ring, 5, true, b"five");
        assert!(ring.take().is_err());
        check(&place, "file ");
        // The virtual machine could not map the ring, and wrote the last record where it was.
        let path = place.path().join(stream_name(STREAM));
        File::options().write(true).open(path).unwrap().write_all_at(b"end", 5).unwrap();
        check(&place, "file end");
        ring.n_taken = 1;
        ring.tell().unwrap();
        check(&place, "file ");
        ring.shared.write_all_at(&[255; 16], 0).unwrap();
        check(&place, "file end");
        ring.shared.set_len(5000).unwrap();
        ring.tell().unwrap();
        check(&place, "file ");
        assert!(Ring::make(place.path(), 4, 5).is_err());
    }
}
