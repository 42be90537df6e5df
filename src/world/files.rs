//! Files of the user that a hunt reads: held files, overlays, patches; and the few files of its own.

use crate::cache::Key;
use crate::system;
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

/// A file or symbolic link on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnDisk {
    /// A regular file.
    File {
        /// Whether its owner may execute it.
        is_executable: bool,
        /// Its content.
        bytes: Vec<u8>,
    },
    /// A symbolic link.
    Link {
        /// Its target.
        target: Vec<u8>,
    },
}

impl OnDisk {
    /// Content, or target of the link.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::File { bytes, .. } => bytes,
            Self::Link { target } => target,
        }
    }
}

/// Reads the file or link at `path` (relative to `top`); `None` if there is neither.
pub fn read(top: &Path, path: &[u8]) -> Option<OnDisk> {
    let place = top.join(OsStr::from_bytes(path));
    let metadata = fs::symlink_metadata(&place).ok()?;
    if metadata.is_symlink() {
        let target = fs::read_link(&place).ok()?;
        return Some(OnDisk::Link { target: target.as_os_str().as_bytes().to_vec() });
    }
    metadata.is_file().then_some(())?;
    let is_executable = metadata.permissions().mode() & 0o100 != 0;
    Some(OnDisk::File { is_executable, bytes: fs::read(&place).ok()? })
}

/// Reads the file at `path`, or every file below it, without `.git`; paths of the result are relative to `top`.
pub fn read_all(top: &Path, path: &[u8]) -> BTreeMap<Vec<u8>, OnDisk> {
    let mut found = BTreeMap::new();
    let mut open = vec![path.to_vec()];
    while let Some(path) = open.pop() {
        if let Some(file) = read(top, &path) {
            found.insert(path, file);
            continue;
        }
        let Ok(entries) = fs::read_dir(top.join(OsStr::from_bytes(&path))) else { continue };
        for entry in entries.flatten().filter(|entry| entry.file_name() != ".git") {
            let mut below = path.clone();
            if !below.is_empty() {
                below.push(b'/');
            }
            below.extend_from_slice(entry.file_name().as_bytes());
            open.push(below);
        }
    }
    found
}

/// Creates the directory in which a file is to be, with those around it.
pub fn make_directory_of(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

/// Whether its owner may execute a file.
pub fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o100 != 0)
}

/// The file at the end of all links of a path; `None` if there is none.
pub fn real(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

/// The bytes of a file.
pub fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path)
}

/// The bytes of a file that others may have made; an error if it has more than `limit`.
pub fn bytes_up_to(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    // Memory is reserved for the size that a file claims to have.
    if file.metadata()?.len() <= limit {
        file.take(limit + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 <= limit {
            return Ok(bytes);
        }
    }
    Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {} MiB", limit >> 20)))
}

/// The bytes of a file that is no link, and that others may have made; `None` if nothing has this name.
///
/// Errors: it cannot be read, it has more than `limit`, or something else has this name.
pub fn plain_up_to(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => bytes_up_to(path, limit).map(Some),
        Ok(_) => Err(io::Error::other("it is no file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The bytes of a file that is no link; `None` if nothing has this name.
///
/// Errors: it cannot be read, or something else has this name.
pub fn plain(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => fs::read(path).map(Some),
        Ok(_) => Err(io::Error::new(io::ErrorKind::AlreadyExists, "it is no file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// What stands between the name of a file and the number of the process that writes it, until it is whole.
const UNFINISHED: &str = ".new-";

/// Removes what killed processes left of the files that [`replace`] writes in `directory`.
pub fn remove_unfinished(directory: &Path) {
    for name in names(directory) {
        let Some(writer) = name.to_str().and_then(|name| name.rsplit_once(UNFINISHED)?.1.parse::<u32>().ok()) else {
            continue;
        };
        if !system::is_there(writer) {
            // What cannot be removed is in nobody's way.
            let _ = remove(&directory.join(name));
        }
    }
}

/// Writes a file as a whole or not at all.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!("{UNFINISHED}{}", std::process::id()));
    let temporary = path.with_file_name(name);
    let mut file = create_new(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&temporary, path)
}

/// Writes a file that does not exist.
///
/// Errors: something has this name, also a link that leads nowhere.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Sets the time of change of a file to now; returns whether the file exists.
pub fn touch(path: &Path) -> bool {
    let file = own(fs::OpenOptions::new().write(true)).open(path);
    file.is_ok_and(|file| file.set_modified(SystemTime::now()).is_ok())
}

/// Creates a file in place of any existing entry, without following a link or waiting for a FIFO.
pub fn create_new(path: &Path) -> io::Result<File> {
    let make = || fs::OpenOptions::new().write(true).create_new(true).open(path);
    match make() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            remove(path)?;
            make()
        }
        result => result,
    }
}

/// Adds options for a file of ours: a link or FIFO in its place is neither followed nor waited for.
pub fn own(options: &mut fs::OpenOptions) -> &mut fs::OpenOptions {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    options.custom_flags(flags.bits().cast_signed())
}

/// Appends to a file, and creates it if needed.
pub fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::OpenOptions::new().create(true).append(true).open(path)?.write_all(bytes)
}

/// Removes a file, or a directory with its content; a missing one is no error.
pub fn remove(path: &Path) -> io::Result<()> {
    let result = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Removes a directory if it is empty; returns whether it did.
pub fn remove_empty(directory: &Path) -> bool {
    fs::remove_dir(directory).is_ok()
}

/// Creates an empty directory that only this user can enter; an existing entry of that name is removed.
///
/// Fails if another process creates it at the same time.
pub fn make_private(path: &Path) -> io::Result<()> {
    remove(path)?;
    fs::DirBuilder::new().mode(0o700).create(path)
}

/// Makes sure that `path` is a directory that belongs to this user and that nobody else can enter, so names in it can
/// be trusted.
///
/// Errors: `PermissionDenied` if it belongs to another user, or is no directory (for example a symbolic link).
pub fn make_own(path: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        result => return result,
    }
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_dir() || metadata.uid() != user_number() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to somebody else"));
    }
    let rights_of_others = metadata.permissions().mode() & 0o077;
    if rights_of_others == 0 {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

/// Whether `path` is a directory of this user, or can become one, in which directories can be created.
pub fn is_own(path: &Path) -> bool {
    path.parent().is_some_and(|parent| fs::create_dir_all(parent).is_ok())
        && make_own(path).is_ok()
        && can_create_in(path)
}

/// Whether `path` is a directory, or can become one, in which directories can be created.
pub fn can_create_in(path: &Path) -> bool {
    let probe = path.join(format!(".git-idd-{}", std::process::id()));
    fs::create_dir_all(path).is_ok() && fs::create_dir(&probe).and_then(|()| fs::remove_dir(&probe)).is_ok()
}

/// Whether this user can make files in a directory, or can create it; nothing is changed.
pub fn can_write_in(directory: &Path) -> bool {
    let rights = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    let nearest = directory.ancestors().find(|directory| directory.exists());
    nearest.is_some_and(|nearest| nearest.is_dir() && rustix::fs::access(nearest, rights).is_ok())
}

/// The file of the running program.
pub fn this_program() -> io::Result<PathBuf> {
    system::this_program()
}

/// The number of the user of this process.
pub fn user_number() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The names in a directory, sorted; none if it does not exist.
pub fn names(directory: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let mut names: Vec<OsString> = entries.filter_map(|entry| Some(entry.ok()?.file_name())).collect();
    names.sort();
    names
}

/// Bytes of a file, or of all files below a directory; 0 if it does not exist.
pub fn size(path: &Path) -> u64 {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            fs::read_dir(path).into_iter().flatten().flatten().map(|entry| size(&entry.path())).sum()
        }
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    }
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// The bytes that hexadecimal digits stand for; `None` if others are among them, or one is missing.
pub fn unhex(digits: &str) -> Option<Vec<u8>> {
    HEXLOWER_PERMISSIVE.decode(digits.as_bytes()).ok()
}

/// A short digest of a path.
pub fn short_digest(path: &Path) -> String {
    let digest = Sha256::digest(path.as_os_str().as_bytes());
    let mut text = Key(digest.into()).to_string();
    text.truncate(12);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_unfinished_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        // The system gives no process such a number.
        let (left, own) = ("plan.new-4294967295", format!("plan.new-{}", std::process::id()));
        for name in [left, &own, "plan", "a.new-b"] {
            fs::write(directory.path().join(name), "x").unwrap();
        }
        remove_unfinished(directory.path());
        assert_eq!(names(directory.path()), ["a.new-b", "plan", &own]);
    }

    #[test]
    fn a_directory_of_ours_is_closed_to_others_and_a_link_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
        let own = place.path().join("own");
        make_own(&own).unwrap();
        assert_eq!(mode(&own), 0o700);
        fs::set_permissions(&own, fs::Permissions::from_mode(0o777)).unwrap();
        make_own(&own).unwrap();
        assert_eq!(mode(&own), 0o700);
        let link = place.path().join("link");
        std::os::unix::fs::symlink(&own, &link).unwrap();
        assert_eq!(make_own(&link).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        make_private(&link).unwrap();
        assert!(!fs::symlink_metadata(&link).unwrap().is_symlink() && own.is_dir());
        assert_eq!(mode(&link), 0o700);
    }

    #[test]
    fn a_place_is_usable_only_if_a_directory_can_be_made_there() {
        let place = tempfile::tempdir().unwrap();
        assert!(can_create_in(&place.path().join("new/deep")));
        assert_eq!(names(&place.path().join("new/deep")), Vec::<OsString>::new());
        fs::write(place.path().join("file"), "").unwrap();
        assert!(!can_create_in(&place.path().join("file")));
    }
}
