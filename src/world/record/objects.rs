//! Instrumented objects that are kept between builds, so that a source that did not change is instrumented once.
//!
//! ```text
//! <key>     an object with its map: see [`KeptObject`]; the key is the digest of everything that decides it
//! next      number of the next unit and of the next segment, in text; locked while it is changed
//! ```
//!
//! What decides an object is the IR that the compiler printed (with all headers, macros and names of files in it), the options for the code, the compiler, this program, and the length of
//! segments. The numbers that its segments were given stand in its code, so they are kept with it: all builds that use the directory take their numbers from one
//! sequence. A unit can be in a program only once, so a build takes it only for one source and output ([`BuildDirectory::claim`](super::build::BuildDirectory::claim)).
//!
//! The directory is the user's own, outside of the repository. Commands of the repository can write to it, as to all that the user can. An entry that is damaged is compiled again.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use rustix::fs::FlockOperation;
use sha2::{Digest as _, Sha256};

use crate::{files, system};
use idd_trace::instrument::{SegmentGrain, map};

/// Bytes of all entries; beyond that, the oldest ones are removed before a command uses the directory.
const MAX_BYTES: u64 = 1 << 30;

/// Numbers of segments that are given out; beyond that, everything is removed. A trace is read with a table of all numbers.
const MAX_SEGMENTS: u32 = 4 << 20;

const MAGIC: &[u8; 8] = b"IDDOBJ01";

/// The name of the file with the next numbers.
const NEXT: &str = "next";

/// The directory with the objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstrumentedObjects {
    path: PathBuf,
}

/// An instrumented object.
///
/// On disk: `IDDOBJ01`, the number of the unit (4 bytes), the length of its map (8 bytes), the map, the object, and the CRC-32 of all that (4 bytes);
/// numbers are little-endian.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptObject {
    /// The number of its unit.
    pub unit: u32,
    /// The map of its unit.
    pub map: Vec<u8>,
    /// The object.
    pub object: Vec<u8>,
}

impl KeptObject {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.unit.to_le_bytes());
        bytes.extend((self.map.len() as u64).to_le_bytes());
        bytes.extend(&self.map);
        bytes.extend(&self.object);
        let sum = crc32fast::hash(&bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (content, sum) = bytes.split_last_chunk::<4>()?;
        let (magic, rest) = content.split_first_chunk::<8>()?;
        if magic != MAGIC || crc32fast::hash(content) != u32::from_le_bytes(*sum) {
            return None;
        }
        let (unit, rest) = rest.split_first_chunk::<4>()?;
        let (length, rest) = rest.split_first_chunk::<8>()?;
        let (map, object) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        Some(Self { unit: u32::from_le_bytes(*unit), map: map.to_vec(), object: object.to_vec() })
    }
}

impl InstrumentedObjects {
    /// Makes the directory if it is not there, and removes what is too old or too much. No command may use it meanwhile.
    pub fn prepare(path: &Path) -> io::Result<Self> {
        files::make_own(path)?;
        let objects = Self { path: path.to_owned() };
        let next = fs::read_to_string(path.join(NEXT)).ok().and_then(|text| numbers(&text));
        if next.is_none_or(|(_, segment)| segment > MAX_SEGMENTS) {
            for name in files::names(path) {
                fs::remove_file(path.join(name))?;
            }
            fs::write(path.join(NEXT), "1 1\n")?;
        }
        objects.bound(MAX_BYTES)?;
        Ok(objects)
    }

    /// Opens a directory that was prepared.
    pub fn open(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the entries that were not used for the longest time, until the others have at most so many bytes.
    fn bound(&self, max_bytes: u64) -> io::Result<()> {
        let entry = |name| {
            let path = self.path.join(name);
            let metadata = fs::metadata(&path).ok()?;
            Some((metadata.modified().ok()?, metadata.len(), path))
        };
        let is_entry = |name: &std::ffi::OsString| name != NEXT;
        let mut entries: Vec<(SystemTime, u64, PathBuf)> =
            files::names(&self.path).into_iter().filter(is_entry).filter_map(entry).collect();
        entries.sort_unstable();
        let mut n_bytes: u64 = entries.iter().map(|(_, length, _)| length).sum();
        for (_, length, path) in entries {
            if n_bytes <= max_bytes {
                break;
            }
            fs::remove_file(path)?;
            n_bytes -= length;
        }
        Ok(())
    }

    /// Allocates the number of a unit, and the first of `n_segments` numbers for its segments.
    pub fn number(&self, n_segments: u32) -> io::Result<(u32, u32)> {
        number(&self.path.join(NEXT), n_segments)
    }

    /// The entry with this key, if there is one that is whole. It counts as used now.
    pub fn find(&self, key: &str) -> Option<KeptObject> {
        let path = self.path.join(key);
        let found = KeptObject::read(&fs::read(&path).ok()?);
        // That its time or the damaged entry stays as it is does no harm.
        let _ = match &found {
            Some(_) => File::options().append(true).open(path).and_then(|file| file.set_modified(SystemTime::now())),
            None => fs::remove_file(path),
        };
        found
    }

    /// Keeps an entry. That it cannot be kept is no failure: it is compiled again.
    pub fn keep(&self, key: &str, kept: &KeptObject) {
        let part = self.path.join(format!("{key}.{}.part", std::process::id()));
        if fs::write(&part, kept.to_bytes()).and_then(|()| fs::rename(&part, self.path.join(key))).is_err() {
            let _ = fs::remove_file(part);
        }
    }
}

/// Allocates numbers from a file: of a unit, and the first of its segments.
pub(super) fn number(path: &Path, n_segments: u32) -> io::Result<(u32, u32)> {
    let mut file = File::options().read(true).write(true).open(path)?;
    rustix::fs::flock(&file, FlockOperation::LockExclusive)?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the file `next` is damaged");
    let (unit, first) = numbers(&text).ok_or_else(damaged)?;
    let behind = first.checked_add(n_segments).ok_or(io::ErrorKind::OutOfMemory)?;
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(format!("{} {behind}\n", unit + 1).as_bytes())?;
    Ok((unit, first))
}

fn numbers(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split_whitespace().map(str::parse::<u32>);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// The digest of everything that decides an object.
///
/// - `clang`: the compiler; `words`: its options; `text`: what it compiles.
pub fn key<'w>(clang: &Path, grain: SegmentGrain, words: impl IntoIterator<Item = &'w OsStr>, text: &[u8]) -> String {
    let mut digest = Sha256::new();
    let mut add = |part: &[u8]| {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    };
    add(&map::VERSION.to_le_bytes());
    add(&(grain as u32).to_le_bytes());
    for program in [clang, &*system::own_program()] {
        add(program.as_os_str().as_bytes());
        add(fs::metadata(program).map(|metadata| state(&metadata)).unwrap_or_default().as_bytes());
    }
    words.into_iter().for_each(|word| add(word.as_bytes()));
    add(text);
    files::hex(&digest.finalize())
}

/// What changes if a program is installed anew.
fn state(metadata: &Metadata) -> String {
    format!("{} {} {}", metadata.len(), metadata.mtime(), metadata.mtime_nsec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn kept(unit: u32) -> KeptObject {
        KeptObject { unit, map: b"map".to_vec(), object: vec![7; 1000] }
    }

    fn place() -> (tempfile::TempDir, InstrumentedObjects) {
        let place = tempfile::tempdir().unwrap();
        let objects = InstrumentedObjects::prepare(&place.path().join("objects")).unwrap();
        (place, objects)
    }

    #[test]
    fn what_is_kept_is_found_by_its_key_and_what_is_damaged_is_not() {
        let (_place, objects) = place();
        assert_eq!(objects.find("a"), None);
        objects.keep("a", &kept(3));
        assert_eq!(objects.find("a"), Some(kept(3)));
        assert_eq!(objects.find("b"), None);
        let path = objects.path().join("a");
        let bytes = fs::read(&path).unwrap();
        for length in [0, 3, 8, 20, bytes.len() - 1] {
            fs::write(&path, &bytes[..length]).unwrap();
            assert_eq!(objects.find("a"), None, "{length} bytes");
            assert!(!path.exists(), "a damaged entry is removed");
        }
        let mut flipped = bytes;
        flipped[30] ^= 1;
        fs::write(&path, flipped).unwrap();
        assert_eq!(objects.find("a"), None);
    }

    #[test]
    fn everything_that_decides_an_object_changes_its_key() {
        let words = |words: &'static [&str]| words.iter().map(OsStr::new);
        let clang = Path::new("/bin/sh");
        let base = key(clang, SegmentGrain::Statement, words(&["-O1", "-fPIC"]), b"text");
        assert_eq!(base, key(clang, SegmentGrain::Statement, words(&["-O1", "-fPIC"]), b"text"));
        let others = [
            key(Path::new("/bin/true"), SegmentGrain::Statement, words(&["-O1", "-fPIC"]), b"text"),
            key(clang, SegmentGrain::Straight, words(&["-O1", "-fPIC"]), b"text"),
            key(clang, SegmentGrain::Statement, words(&["-O1"]), b"text"),
            key(clang, SegmentGrain::Statement, words(&["-O1-fPIC"]), b"text"),
            key(clang, SegmentGrain::Statement, words(&["-O1", "-fPIC"]), b"text2"),
        ];
        assert!(others.iter().all(|other| *other != base));
    }

    #[test]
    fn numbers_go_on_and_begin_again_when_there_are_too_many() {
        let (place, objects) = place();
        let path = place.path().join("objects");
        assert_eq!((objects.number(10).unwrap(), objects.number(0).unwrap()), ((1, 1), (2, 11)));
        objects.keep("a", &kept(1));
        let objects = InstrumentedObjects::prepare(&path).unwrap();
        assert_eq!(objects.number(MAX_SEGMENTS).unwrap(), (3, 11));
        assert_eq!(objects.find("a"), Some(kept(1)));
        let objects = InstrumentedObjects::prepare(&path).unwrap();
        assert_eq!((objects.number(1).unwrap(), objects.find("a")), ((1, 1), None));
        fs::write(path.join(NEXT), "x").unwrap();
        assert!(objects.number(1).is_err());
        assert_eq!(InstrumentedObjects::prepare(&path).unwrap().number(1).unwrap(), (1, 1));
    }

    #[test]
    fn the_entries_that_were_not_used_for_the_longest_time_are_removed() {
        let (_place, objects) = place();
        for (name, age) in [("a", 30), ("b", 20), ("c", 10)] {
            objects.keep(name, &kept(1));
            let file = File::options().append(true).open(objects.path().join(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        }
        assert!(objects.find("a").is_some(), "it is used now");
        objects.bound(2500).unwrap();
        assert!(objects.find("a").is_some() && objects.find("b").is_none() && objects.find("c").is_some());
    }
}
