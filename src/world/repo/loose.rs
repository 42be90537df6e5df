//! Loose objects, through a bounded reader of our own.
//!
//! libgit2 waits for ever for the rest of one that was cut, and takes one for another if only its stream is whole. So
//! whatever may be damaged is read here first.

use crate::world::processors;
use crate::world::repo::private;
use git2::ObjectType;
use git2::Oid;
use git2::Repository;
use rayon::prelude::*;
use std::ffi::OsStr;
use std::fs;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;
use zlib_rs::Inflate;
use zlib_rs::InflateFlush;
use zlib_rs::Status;

/// Alternates of alternates are followed as deep as git does.
const MAX_DEPTH: usize = 5;

/// Fewer objects are not worth a second thread.
const MANY: usize = 500;

/// What stands where a loose object would.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing: the object is in a pack, or missing.
    Nothing,
    /// The object.
    Object(ObjectType, Vec<u8>),
    /// Something that is not this object.
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
    /// Those of `repository`, and of whatever it borrows from.
    pub fn of(repository: &Repository) -> Self {
        let own = repository.commondir().join("objects");
        let is_private = private::is_private(repository);
        let mut directories = vec![(own.clone(), is_private)];
        add_alternates(&own, MAX_DEPTH, &mut directories);
        Self { directories }
    }

    /// Looks for an object, of which the first copy decides.
    pub fn read(&self, id: Oid) -> Found {
        let hex = id.to_string();
        for (directory, is_own) in &self.directories {
            let path = directory.join(&hex[..2]).join(&hex[2..]);
            let Ok(file) = open(&path) else { continue };
            return match object(file, id) {
                Some((kind, content)) => Found::Object(kind, content),
                None => Found::Damaged { is_own: *is_own },
            };
        }
        Found::Nothing
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

/// The paths of what is no sound object in an object directory, as far as it was changed since nothing was found the last time.
///
/// - `stamp`: the file whose time says when that was.
///
/// Cost: reads the objects that are new; one stat for each of the others.
pub fn damaged(objects: &Path, stamp: &Path) -> Vec<PathBuf> {
    let fresh = stamp.with_extension("new");
    let changed = |path: &Path| path.symlink_metadata().map(|metadata| (metadata.ctime(), metadata.ctime_nsec()));
    let since = changed(stamp).ok();
    // What is written while this looks, or in the same tick of the clock, is looked at again.
    let _ = fs::remove_file(&fresh);
    let is_marked = fs::OpenOptions::new().write(true).create_new(true).open(&fresh).is_ok();
    let names = |directory: &Path| {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        entries.map(|entry| (entry.path(), entry.file_name().to_string_lossy().into_owned())).collect::<Vec<_>>()
    };
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut files: Vec<(PathBuf, Oid)> = Vec::new();
    for (directory, first) in names(objects).into_iter().filter(|(_, name)| name.len() == 2 && is_hex(name)) {
        let below = names(&directory).into_iter().filter(|(_, rest)| rest.len() == 38 && is_hex(rest));
        files.extend(below.filter_map(|(path, rest)| Some((path, Oid::from_str(&format!("{first}{rest}")).ok()?))));
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

/// Opens what stands there without waiting for it; the caller sees whether it is a file.
fn open(path: &Path) -> std::io::Result<File> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    fs::OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Reads an object; `None` if it is not the one of this id.
fn object(mut file: File, id: Oid) -> Option<(ObjectType, Vec<u8>)> {
    let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
    let mut compressed = Vec::new();
    compressed.try_reserve_exact(usize::try_from(metadata.len()).ok()?).ok()?;
    file.read_to_end(&mut compressed).ok()?;
    let raw = inflate(&compressed)?;
    let (kind, n_header, n_bytes) = header(&raw)?;
    let content = raw.get(n_header..).filter(|content| content.len() as u64 == n_bytes)?;
    (Oid::hash_object(kind, content).ok()? == id).then(|| (kind, content.to_vec()))
}

/// `kind SP size NUL` at the beginning of an object: kind, bytes of the header, and bytes behind it.
fn header(raw: &[u8]) -> Option<(ObjectType, usize, u64)> {
    let end = raw.iter().take(32).position(|byte| *byte == 0)?;
    let (kind, size) = str::from_utf8(&raw[..end]).ok()?.split_once(' ')?;
    let kind = [ObjectType::Blob, ObjectType::Tree, ObjectType::Commit, ObjectType::Tag]
        .into_iter()
        .find(|known| known.str() == kind)?;
    Some((kind, end + 1, size.parse().ok()?))
}

/// The whole of a stream; `None` if it is cut, has more bytes than its header says, or has something behind it.
fn inflate(compressed: &[u8]) -> Option<Vec<u8>> {
    let mut inflate = Inflate::new(true, 15);
    let mut raw = Vec::new();
    let mut scratch = vec![0; 16 * 1024];
    loop {
        let (n_in, n_out) = (usize::try_from(inflate.total_in()).ok()?, usize::try_from(inflate.total_out()).ok()?);
        let status = inflate.decompress(compressed.get(n_in..)?, &mut scratch, InflateFlush::NoFlush).ok()?;
        let (now_in, now_out) = (inflate.total_in(), inflate.total_out());
        let n_new = usize::try_from(now_out).ok()?.checked_sub(n_out)?;
        raw.try_reserve(n_new).ok()?;
        raw.extend_from_slice(scratch.get(..n_new)?);
        if let Some((_, n_header, n_bytes)) = header(&raw)
            && (raw.len() - n_header) as u64 > n_bytes
        {
            return None;
        }
        if status == Status::StreamEnd {
            return (now_in == compressed.len() as u64).then_some(raw);
        }
        if (now_in, now_out) == (n_in as u64, n_out as u64) {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with one loose blob, and where it lies.
    fn with_blob(check: impl FnOnce(&Repository, Oid, &Path)) {
        let directory = tempfile::tempdir().unwrap();
        let repository = Repository::init_bare(directory.path()).unwrap();
        let text: Vec<u8> = (0..20_000_u32).flat_map(u32::to_le_bytes).collect();
        let id = repository.blob(&text).unwrap();
        let path = directory.path().join("objects").join(&id.to_string()[..2]).join(&id.to_string()[2..]);
        assert_eq!(Loose::of(&repository).read(id), Found::Object(ObjectType::Blob, text));
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
                assert_eq!(loose.read(id), Found::Damaged { is_own: false }, "{n_bytes}");
            }
            for at in (0..whole.len()).step_by(whole.len() / 20) {
                let mut changed = whole.clone();
                changed[at] ^= 16;
                put(path, &changed);
                assert_eq!(loose.read(id), Found::Damaged { is_own: false }, "{at}");
            }
            put(path, &[&whole[..], b"more"].concat());
            assert_eq!(loose.read(id), Found::Damaged { is_own: false });
        });
    }

    #[test]
    fn another_object_of_the_same_form_is_damage_and_a_missing_one_is_none() {
        with_blob(|repository, id, path| {
            let other = repository.blob(b"other").unwrap();
            let objects = path.parent().unwrap().parent().unwrap();
            let other = objects.join(&other.to_string()[..2]).join(&other.to_string()[2..]);
            fs::remove_file(path).unwrap();
            fs::copy(other, path).unwrap();
            assert_eq!(Loose::of(repository).read(id), Found::Damaged { is_own: false });
            fs::remove_file(path).unwrap();
            assert_eq!(Loose::of(repository).read(id), Found::Nothing);
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
