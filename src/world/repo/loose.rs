//! Reads loose objects, with a bounded reader of our own.
//!
//! libgit2 loops for ever on a cut object, and accepts a wrong object if its stream is complete. So objects that may be
//! damaged are read here first.

use crate::processors;
use crate::repo::ids::oid;
use crate::repo::refusal::WrittenTreeLimits;
use crate::repo::{Repository, private};
use git2::{ObjectType, Oid};
use idd_base::ObjectId;
use rayon::prelude::*;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use zlib_rs::{Inflate, InflateFlush, Status};

/// The maximum depth of alternates, as in git.
const MAX_DEPTH: usize = 5;

/// With fewer objects, a second thread does not pay.
const MANY: usize = 500;

/// Longest header of an object, as git reads it.
const MAX_HEADER_BYTES: usize = 32;

/// The size of a read.
const CHUNK_BYTES: usize = 16 * 1024;

/// The state of a loose object.
#[derive(Debug, PartialEq, Eq)]
pub enum LooseState {
    /// There is none: the object is in a pack, or missing.
    Nothing,
    /// The object.
    Object(ObjectType, Vec<u8>),
    /// There is a file, but not this object.
    Damaged {
        /// Whether it is in a private repository, whose objects can be made again.
        is_own: bool,
    },
}

/// The directories in which a repository has loose objects.
#[derive(Debug)]
pub struct Loose {
    directories: Vec<(PathBuf, bool)>,
}

impl Loose {
    /// The directories of `repository`, and of its alternates.
    pub fn of(repository: &Repository) -> Self {
        let own = repository.git().commondir().join("objects");
        let is_private = private::is_private(repository);
        let mut directories = vec![(own.clone(), is_private)];
        add_alternates(&own, MAX_DEPTH, &mut directories);
        Self { directories }
    }

    /// Reads an object; the first copy counts.
    pub fn read(&self, id: Oid) -> LooseState {
        let hex = id.to_string();
        for (directory, is_own) in &self.directories {
            let path = directory.join(&hex[..2]).join(&hex[2..]);
            let Ok(file) = open(&path) else { continue };
            return match object(file, id) {
                Some((kind, content)) => LooseState::Object(kind, content),
                None => LooseState::Damaged { is_own: *is_own },
            };
        }
        LooseState::Nothing
    }
}

fn add_alternates(objects: &Path, depth: usize, found: &mut Vec<(PathBuf, bool)>) {
    let Ok(text) = fs::read(objects.join("info/alternates")) else { return };
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && line[0] != b'#') {
        let directory = objects.join(OsStr::from_bytes(line));
        if found.iter().all(|(known, _)| *known != directory) && depth > 0 {
            found.push((directory.clone(), false));
            add_alternates(&directory, depth - 1, found);
        }
    }
}

/// The paths of damaged objects in an object directory, among those that changed since the last successful check.
///
/// - `stamp`: the file whose time is that of the last check.
///
/// Cost: reads the new objects; one stat for each of the others.
pub fn damaged(objects: &Path, stamp: &Path) -> Vec<PathBuf> {
    let fresh = stamp.with_extension("new");
    let changed = |path: &Path| path.symlink_metadata().map(|metadata| (metadata.ctime(), metadata.ctime_nsec()));
    let since = changed(stamp).ok();
    // Files that are written during this check, or in the same clock tick, are checked again.
    let _ = fs::remove_file(&fresh);
    let is_marked = fs::OpenOptions::new().write(true).create_new(true).open(&fresh).is_ok();
    let names = |directory: &Path| {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        entries.map(|entry| (entry.path(), entry.file_name().to_string_lossy().into_owned())).collect::<Vec<_>>()
    };
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut files: Vec<(PathBuf, Oid)> = Vec::new();
    for (directory, first) in names(objects).into_iter().filter(|(_, name)| name.len() == 2 && is_hex(name)) {
        let below = names(&directory)
            .into_iter()
            .filter_map(|(path, rest)| Some((path, format!("{first}{rest}").parse::<ObjectId>().ok()?)));
        files.extend(below.map(|(path, id)| (path, oid(id))));
    }
    files.retain(|(path, _)| since.is_none() || changed(path).is_ok_and(|changed| Some(changed) >= since));
    let is_damaged = |(path, id): &(PathBuf, Oid)| open(path).is_ok_and(|file| object(file, *id).is_none());
    let found: Vec<(PathBuf, Oid)> = match processors::pool().filter(|_| files.len() >= MANY) {
        Some(pool) => pool.install(|| files.into_par_iter().filter(is_damaged).collect()),
        None => files.into_iter().filter(is_damaged).collect(),
    };
    if is_marked && found.is_empty() {
        let _ = fs::rename(&fresh, stamp);
    }
    found.into_iter().map(|(path, _)| path).collect()
}

/// Opens an entry without waiting for it; the caller checks whether it is a file.
fn open(path: &Path) -> std::io::Result<File> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    fs::OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Reads an object; `None` if it does not have this id.
fn object(mut file: File, id: Oid) -> Option<(ObjectType, Vec<u8>)> {
    file.metadata().ok().filter(fs::Metadata::is_file)?;
    let (kind, n_header, mut raw) = inflate(&mut file)?;
    raw.drain(..n_header);
    (Oid::hash_object_ext(kind, &raw, id.object_format()).ok()? == id).then_some((kind, raw))
}

/// `kind SP size NUL` at the beginning of an object: kind, length of the header, and length of the rest.
fn header(raw: &[u8]) -> Option<(ObjectType, usize, u64)> {
    let end = raw.iter().take(MAX_HEADER_BYTES).position(|byte| *byte == 0)?;
    let (kind, size) = str::from_utf8(&raw[..end]).ok()?.split_once(' ')?;
    let kind = [ObjectType::Blob, ObjectType::Tree, ObjectType::Commit, ObjectType::Tag]
        .into_iter()
        .find(|known| known.str() == kind)?;
    Some((kind, end + 1, size.parse().ok()?))
}

/// A whole stream, with kind and length of its header.
///
/// `None` if it is cut, if its size differs from the header or exceeds the limit, or if more data follows. Memory is
/// taken only for actual data, whatever the header says.
pub(super) fn inflate(file: &mut impl Read) -> Option<(ObjectType, usize, Vec<u8>)> {
    let mut inflate = Inflate::new(true, 15);
    let mut raw = Vec::new();
    let (mut input, mut scratch) = (vec![0; CHUNK_BYTES], vec![0; CHUNK_BYTES]);
    let mut unread = 0..0;
    let mut known = None;
    loop {
        if unread.is_empty() {
            unread = 0..read(file, &mut input)?;
        }
        let (n_in, n_out) = (inflate.total_in(), inflate.total_out());
        let status = inflate.decompress(&input[unread.clone()], &mut scratch, InflateFlush::NoFlush).ok()?;
        let n_read = usize::try_from(inflate.total_in().checked_sub(n_in)?).ok()?;
        let n_new = usize::try_from(inflate.total_out().checked_sub(n_out)?).ok()?;
        unread.start += n_read;
        raw.extend_from_slice(scratch.get(..n_new)?);
        if known.is_none() {
            known = header(&raw);
            if known.map_or(raw.len() >= MAX_HEADER_BYTES, |(kind, _, n_bytes)| n_bytes > max_bytes(kind)) {
                return None;
            }
        }
        let expected = known.map(|(_, n_header, n_bytes)| n_header as u64 + n_bytes);
        let n_raw = raw.len() as u64;
        let is_stuck = (n_read, n_new) == (0, 0) || expected.is_some_and(|expected| n_raw > expected);
        if status == Status::StreamEnd || is_stuck {
            let is_whole = !is_stuck && expected == Some(n_raw) && unread.is_empty() && read(file, &mut input)? == 0;
            return known.filter(|_| is_whole).map(|(kind, n_header, _)| (kind, n_header, raw));
        }
    }
}

/// Reads the next bytes into the buffer; 0 at the end.
fn read(file: &mut impl Read, buffer: &mut [u8]) -> Option<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            result => return result.ok(),
        }
    }
}

/// A larger object is not read.
fn max_bytes(kind: ObjectType) -> u64 {
    match kind {
        ObjectType::Blob => WrittenTreeLimits::default().max_bytes,
        // A tree with the maximum number of entries, and names of usual length.
        _ => 1 << 30,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with one loose blob, and its path.
    fn with_blob(check: impl FnOnce(&Repository, Oid, &Path)) {
        let directory = tempfile::tempdir().unwrap();
        let repository = Repository::from(git2::Repository::init_bare(directory.path()).unwrap());
        let text: Vec<u8> = (0..20_000_u32).flat_map(u32::to_le_bytes).collect();
        let id = repository.git().blob(&text).unwrap();
        let path = directory.path().join("objects").join(&id.to_string()[..2]).join(&id.to_string()[2..]);
        assert_eq!(Loose::of(&repository).read(id), LooseState::Object(ObjectType::Blob, text));
        check(&repository, id, &path);
    }

    fn put(path: &Path, bytes: &[u8]) {
        fs::remove_file(path).unwrap();
        fs::write(path, bytes).unwrap();
    }

    #[test]
    fn an_object_that_was_cut_or_changed_anywhere_is_damaged() {
        with_blob(|repository, id, path| {
            let whole = fs::read(path).unwrap();
            let loose = Loose::of(repository);
            for n_bytes in [0, 1, 2, 10, whole.len() / 2, whole.len() - 1] {
                put(path, &whole[..n_bytes]);
                assert_eq!(loose.read(id), LooseState::Damaged { is_own: false }, "{n_bytes}");
            }
            for at in (0..whole.len()).step_by(whole.len() / 20) {
                let mut changed = whole.clone();
                changed[at] ^= 16;
                put(path, &changed);
                assert_eq!(loose.read(id), LooseState::Damaged { is_own: false }, "{at}");
            }
            put(path, &[&whole[..], b"more"].concat());
            assert_eq!(loose.read(id), LooseState::Damaged { is_own: false });
        });
    }

    #[test]
    fn an_object_that_says_it_is_larger_than_can_be_is_damaged_and_takes_no_memory() {
        with_blob(|repository, id, path| {
            let whole = fs::read(path).unwrap();
            let loose = Loose::of(repository);
            // Complete up to its end, followed by a terabyte of zeros.
            put(path, &whole);
            fs::OpenOptions::new().write(true).open(path).unwrap().set_len(1 << 40).unwrap();
            assert_eq!(loose.read(id), LooseState::Damaged { is_own: false });
            for n_bytes in [u64::MAX, 1 << 40, 80_001] {
                put(path, &stored(format!("blob {n_bytes}\0text").as_bytes()));
                fs::OpenOptions::new().write(true).open(path).unwrap().set_len(1 << 40).unwrap();
                assert_eq!(loose.read(id), LooseState::Damaged { is_own: false }, "{n_bytes}");
            }
            put(path, &whole);
            assert!(matches!(loose.read(id), LooseState::Object(..)));
        });
    }

    /// A zlib stream without compression and without its end.
    fn stored(raw: &[u8]) -> Vec<u8> {
        let n_bytes = u16::try_from(raw.len()).unwrap();
        [&[0x78, 1, 0][..], &n_bytes.to_le_bytes(), &(!n_bytes).to_le_bytes(), raw].concat()
    }

    #[test]
    fn another_object_of_the_same_form_is_damage_and_a_missing_one_is_none() {
        with_blob(|repository, id, path| {
            let other = repository.git().blob(b"other").unwrap();
            let objects = path.parent().unwrap().parent().unwrap();
            let other = objects.join(&other.to_string()[..2]).join(&other.to_string()[2..]);
            fs::remove_file(path).unwrap();
            fs::copy(other, path).unwrap();
            assert_eq!(Loose::of(repository).read(id), LooseState::Damaged { is_own: false });
            fs::remove_file(path).unwrap();
            assert_eq!(Loose::of(repository).read(id), LooseState::Nothing);
        });
    }

    #[test]
    fn what_is_damaged_is_found_once_it_was_changed() {
        with_blob(|_, _, path| {
            let objects = path.parent().unwrap().parent().unwrap();
            assert!(damaged(objects, &objects.join("stamp")).is_empty());
            let whole = fs::read(path).unwrap();
            put(path, &whole[..9]);
            assert_eq!(damaged(objects, &objects.join("stamp")), [path]);
            assert_eq!(damaged(objects, &objects.join("stamp")), [path]);
            fs::remove_file(path).unwrap();
            assert!(damaged(objects, &objects.join("stamp")).is_empty());
        });
    }
}
