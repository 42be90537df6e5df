//! The last output of a command while it runs, in a file that others can read.

use crate::process::output::MAX_END_BYTES;
use crate::repo::files;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use std::io::Read as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

/// The name of the file, beside the checkout.
const NAME: &[u8] = b"output";

/// Writes the end of what the command of a checkout has printed so far.
///
/// The file is beside the checkout: a test may look at everything in it.
///
/// A failure is ignored: nothing depends on the file. A link that a test puts in its place is replaced.
pub fn write(checkout: &Path, tail: &[u8]) {
    let _ = beside(checkout).and_then(|directory| files::write_file(directory.as_fd(), NAME, tail, false));
}

/// Forgets what the last command has printed.
pub fn clear(checkout: &Path) {
    let _ = beside(checkout).and_then(|directory| files::remove(directory.as_fd(), NAME));
}

/// The end of what the command of a checkout has printed so far; `None` if it has printed nothing.
pub fn read(checkout: &Path) -> Option<Vec<u8>> {
    let (file, _) = files::open_file(beside(checkout).ok()?.as_fd(), NAME).ok()?;
    let mut tail = Vec::new();
    file.take(MAX_END_BYTES as u64).read_to_end(&mut tail).ok()?;
    Some(tail).filter(|tail| !tail.is_empty())
}

/// The last line that is not blank.
pub fn last_line(tail: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(tail);
    let mut lines = text.split(['\n', '\r']).rev().map(str::trim);
    lines.find(|line| !line.is_empty()).map(str::to_owned)
}

fn beside(checkout: &Path) -> Result<OwnedFd, Errno> {
    let directory = checkout.parent().ok_or(Errno::INVAL)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, directory, flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_is_written_is_read_until_it_is_forgotten_and_no_link_is_followed() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("sandbox");
        let checkout = directory.join("tree");
        write(&checkout, b"nobody has made it\n");
        assert_eq!(read(&checkout), None);
        fs::create_dir_all(&checkout).unwrap();
        fs::write(place.path().join("outside"), "kept").unwrap();
        symlink("../outside", directory.join("output")).unwrap();
        assert_eq!(read(&checkout), None);
        write(&checkout, b"one\n");
        write(&checkout, b"two\n");
        assert_eq!(read(&checkout).unwrap(), b"two\n");
        assert_eq!(fs::read(place.path().join("outside")).unwrap(), b"kept");
        clear(&checkout);
        assert_eq!(read(&checkout), None);
        assert_eq!(fs::read_dir(&checkout).unwrap().count(), 0);
    }

    #[test]
    fn the_last_line_is_what_a_person_sees_last() {
        let check = |tail: &[u8], expected: Option<&str>| assert_eq!(last_line(tail).as_deref(), expected);
        check(b"", None);
        check(b" \n\n", None);
        check(b"one\n  two \n\n", Some("two"));
        check(b"\r 10 %\r 20 %\r", Some("20 %"));
    }
}
