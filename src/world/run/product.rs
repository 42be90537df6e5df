//! The product of a build: the files that `--artifact` names, as one digest.

use crate::repo::files;
use rustix::fs::FileType;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};

/// If a directory in a product is deeper, the product is unknown.
const MAX_DEPTH: usize = 64;

/// The size of a read.
const CHUNK_BYTES: usize = 64 << 10;

/// The digest of a product: names, contents and executable bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Product(pub [u8; 32]);

/// The product of `paths`; `None` if it is not known byte for byte.
///
/// - `worktree`: the directory to which the paths are relative.
/// - `paths`: files, or directories with all their content. The order counts.
/// - Result: `None` if a path is missing or unreadable, or if bytes could come from elsewhere: a path through a link or
///   onto another mount, a link out of a named directory, a pipe or device.
///
/// Times and owners do not count. Cost: reads all the bytes, and stores none of them.
pub fn product(worktree: BorrowedFd<'_>, paths: &[Vec<u8>]) -> Option<Product> {
    let mut sha256 = Sha256::new();
    for path in paths {
        let mut parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
        let name = parts.pop()?;
        let mut parent = worktree.try_clone_to_owned().ok()?;
        for part in parts {
            parent = files::open_directory(parent.as_fd(), part).ok()?;
        }
        let file_type = files::look(parent.as_fd(), name).ok()??.file_type;
        // The target of a named link is not part of the name's own bytes.
        if file_type == FileType::Symlink {
            return None;
        }
        field(&mut sha256, path);
        add(&mut sha256, (parent.as_fd(), name), file_type, 0)?;
    }
    Some(Product(sha256.finalize().into()))
}

fn add(sha256: &mut Sha256, place: (BorrowedFd<'_>, &[u8]), file_type: FileType, depth: usize) -> Option<()> {
    let (parent, name) = place;
    match file_type {
        FileType::RegularFile => {
            let (mut file, is_executable) = files::open_file(parent, name).ok()?;
            let mut content = Sha256::new();
            let mut chunk = vec![0; CHUNK_BYTES];
            loop {
                match file.read(&mut chunk).ok()? {
                    0 => break,
                    n_read => content.update(&chunk[..n_read]),
                }
            }
            sha256.update([b'f', u8::from(is_executable)]);
            sha256.update(content.finalize());
        }
        FileType::Symlink => {
            let target = files::read_link(parent, name).ok()?;
            let is_outside = target.starts_with(b"/") || target.split(|byte| *byte == b'/').any(|part| part == b"..");
            if is_outside {
                return None;
            }
            sha256.update(b"l");
            field(sha256, &target);
        }
        FileType::Directory if depth < MAX_DEPTH => {
            let directory = files::open_directory(parent, name).ok()?;
            let mut entries = files::list(directory.as_fd()).ok()?;
            entries.sort_unstable_by(|one, other| one.0.cmp(&other.0));
            sha256.update(b"d");
            sha256.update((entries.len() as u64).to_le_bytes());
            for (name, file_type) in entries {
                field(sha256, &name);
                add(sha256, (directory.as_fd(), &name), file_type, depth + 1)?;
            }
        }
        _ => return None,
    }
    Some(())
}

/// Bytes after their length, so that different lists of fields have different digests.
fn field(sha256: &mut Sha256, bytes: &[u8]) {
    sha256.update((bytes.len() as u64).to_le_bytes());
    sha256.update(bytes);
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::fs::File;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// The product of these paths after `change` was applied to a directory that is always the same before.
    fn product_after(paths: &[&str], change: impl Fn(&std::path::Path)) -> Option<Product> {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path();
        fs::create_dir_all(top.join("bin/lib")).unwrap();
        for (name, content) in [("bin/a", "one"), ("bin/lib/b", "two"), ("source", "three")] {
            fs::write(top.join(name), content).unwrap();
        }
        symlink("b", top.join("bin/lib/b.1")).unwrap();
        change(top);
        let paths: Vec<Vec<u8>> = paths.iter().map(|path| path.as_bytes().to_vec()).collect();
        product(File::open(top).unwrap().as_fd(), &paths)
    }

    #[test]
    fn names_bytes_and_executable_bits_make_the_product_and_times_do_not() {
        let same = product_after(&["bin"], |_| {});
        assert!(same.is_some());
        let touched = product_after(&["bin"], |top| {
            let file = File::options().append(true).open(top.join("bin/a")).unwrap();
            file.set_modified(std::time::UNIX_EPOCH).unwrap();
            fs::write(top.join("source"), "other").unwrap();
        });
        assert_eq!(touched, same);
        let others = [
            product_after(&["bin"], |top| fs::write(top.join("bin/a"), "One").unwrap()),
            product_after(&["bin"], |top| fs::write(top.join("bin/lib/c"), "").unwrap()),
            product_after(&["bin"], |top| fs::rename(top.join("bin/a"), top.join("bin/A")).unwrap()),
            product_after(&["bin"], |top| {
                fs::set_permissions(top.join("bin/a"), PermissionsExt::from_mode(0o755)).unwrap();
            }),
            product_after(&["bin"], |top| {
                fs::remove_file(top.join("bin/lib/b.1")).unwrap();
                symlink("c", top.join("bin/lib/b.1")).unwrap();
            }),
            product_after(&["bin/a", "bin/lib"], |_| {}),
        ];
        for (index, other) in others.iter().enumerate() {
            assert!(other.is_some() && *other != same, "{index}");
        }
    }

    #[test]
    fn what_is_not_there_or_may_lie_elsewhere_is_not_known() {
        assert_eq!(product_after(&["bin/a", "bin/none"], |_| {}), None);
        assert_eq!(product_after(&["none/a"], |_| {}), None);
        assert_eq!(product_after(&["bin/lib/b.1"], |_| {}), None);
        for target in ["/etc/hostname", "../../source", "lib/../../source"] {
            assert_eq!(product_after(&["bin"], |top| symlink(target, top.join("bin/out")).unwrap()), None, "{target}");
        }
        let through_a_link = |top: &std::path::Path| symlink("bin", top.join("link")).unwrap();
        assert_eq!(product_after(&["link/a"], through_a_link), None);
        let with_a_pipe = |top: &std::path::Path| {
            rustix::fs::mknodat(
                rustix::fs::CWD,
                top.join("bin/pipe"),
                FileType::Fifo,
                rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
                0,
            )
            .unwrap();
        };
        assert_eq!(product_after(&["bin"], with_a_pipe), None);
    }
}
