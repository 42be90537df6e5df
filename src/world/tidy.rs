//! Checks the types of the files of a hunt in the git directory: anything other than a file or directory is set aside
//! before it is used.
//!
//! A symbolic link would lead writing elsewhere, a FIFO would make reading wait, and a file in the place of a directory
//! would stop every hunt.

use std::fs::FileType;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// An entry that was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// Its old path.
    pub path: PathBuf,
    /// Its kind, such as "a symbolic link".
    pub what: &'static str,
    /// Its new path.
    pub kept: PathBuf,
}

/// Why an entry could not be set aside.
#[derive(Debug, thiserror::Error)]
#[error("failed to set `{}` aside, which is {what}", path.display())]
pub struct TidyError {
    path: PathBuf,
    what: &'static str,
    source: io::Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IrregularKind {
    Directory,
    File,
    /// Either.
    Any,
    /// It belongs to others, and is not examined.
    Foreign,
}

/// Sets aside unusable entries below `idd_directory`, or in its place; does nothing if it does not exist.
///
/// Cost: lists all directories below it.
pub fn tidy(idd_directory: &Path) -> Result<Vec<SetAside>, TidyError> {
    let mut found = Vec::new();
    let Ok(metadata) = idd_directory.symlink_metadata() else { return Ok(found) };
    if is_usable(idd_directory, metadata.file_type(), IrregularKind::Directory, idd_directory, &mut found)? {
        below(idd_directory, &mut Vec::new(), idd_directory, &mut found)?;
    }
    Ok(found)
}

fn below(directory: &Path, names: &mut Vec<String>, top: &Path, found: &mut Vec<SetAside>) -> Result<(), TidyError> {
    // A directory that cannot be listed is reported by its user. An entry that is gone in the meantime was a temporary
    // file.
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let Ok(file_type) = entry.file_type() else { continue };
        names.push(entry.file_name().to_string_lossy().into_owned());
        let kind = expected(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let is_usable = kind == IrregularKind::Foreign || is_usable(&entry.path(), file_type, kind, top, found)?;
        if is_usable && kind != IrregularKind::Foreign && file_type.is_dir() {
            below(&entry.path(), names, top, found)?;
        }
        names.pop();
    }
    Ok(())
}

/// The allowed kind of entry at a place, by the names on the path to it.
fn expected(names: &[&str]) -> IrregularKind {
    match names {
        [name] if name.contains(".damaged-") => IrregularKind::Foreign,
        ["segments" | "objects.git" | "cache.sled" | "recordings"]
        | ["recordings", _]
        | ["objects.git", "objects" | "refs" | "worktrees"]
        | ["objects.git", "worktrees", _] => IrregularKind::Directory,
        // What is written at this moment stands beside the directories under a name of its own.
        ["objects.git", "objects", name] if name.len() == 2 || matches!(*name, "info" | "pack") => {
            IrregularKind::Directory
        }
        ["lock" | "cache.lock" | "session.json" | "recorder" | "fix.patch" | "report.html"]
        | ["segments", _]
        | ["objects.git", "HEAD" | "config" | "packed-refs"]
        | ["objects.git", "objects", _, _] => IrregularKind::File,
        _ => IrregularKind::Any,
    }
}

fn is_usable(
    path: &Path,
    file_type: FileType,
    kind: IrregularKind,
    top: &Path,
    found: &mut Vec<SetAside>,
) -> Result<bool, TidyError> {
    let what = match kind {
        IrregularKind::Directory if file_type.is_file() => "a file in the place of a directory",
        IrregularKind::File if file_type.is_dir() => "a directory in the place of a file",
        _ if file_type.is_file() || file_type.is_dir() => return Ok(true),
        _ if file_type.is_symlink() => "a symbolic link",
        _ => "neither a file nor a directory",
    };
    let failed = |source| TidyError { path: path.to_owned(), what, source };
    // The directory itself is moved beside its old place; other entries are moved into it, where `gc` finds them when
    // they are old.
    let place = if path == top { top.parent().unwrap_or(top) } else { top };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for n in 0_u32.. {
        let kept = place.join(format!("{name}.damaged-{n}"));
        if kept.symlink_metadata().is_ok() {
            continue;
        }
        match fs::rename(path, &kept) {
            Ok(()) => found.push(SetAside { path: path.to_owned(), what, kept }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        break;
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[track_caller]
    fn check(damage: impl FnOnce(&Path), expected: &[(&str, &str, &str)]) {
        let directory = tempfile::tempdir().unwrap();
        let idd = directory.path().join("idd");
        for path in ["segments", "objects.git/objects/ab", "objects.git/worktrees/w", "cache.sled"] {
            fs::create_dir_all(idd.join(path)).unwrap();
        }
        for path in [
            "lock",
            "segments/a.log",
            "objects.git/objects/ab/cdef",
            "objects.git/idd-sound",
            "objects.git/objects/tmp_object_git2_x",
            "other",
        ] {
            fs::write(idd.join(path), "x").unwrap();
        }
        damage(&idd);
        let found = tidy(&idd).unwrap();
        let name = |path: &Path| path.strip_prefix(directory.path()).unwrap().to_string_lossy().into_owned();
        let found: Vec<_> = found.iter().map(|it| (name(&it.path), it.what, name(&it.kept))).collect();
        let found: Vec<_> = found.iter().map(|(path, what, kept)| (path.as_str(), *what, kept.as_str())).collect();
        assert_eq!(found, expected);
        assert_eq!(tidy(&idd).unwrap(), []);
    }

    #[test]
    fn what_is_neither_file_nor_directory_is_set_aside() {
        check(|_| {}, &[]);
        let link = "a symbolic link";
        let relink = |path: &'static str| {
            move |idd: &Path| {
                fs::remove_file(idd.join(path)).unwrap();
                symlink("/dev/null", idd.join(path)).unwrap();
            }
        };
        check(relink("lock"), &[("idd/lock", link, "idd/lock.damaged-0")]);
        check(
            relink("objects.git/objects/ab/cdef"),
            &[("idd/objects.git/objects/ab/cdef", link, "idd/cdef.damaged-0")],
        );
        check(
            |idd| rustix::fs::mkfifoat(rustix::fs::CWD, idd.join("session.json"), 0o600.into()).unwrap(),
            &[("idd/session.json", "neither a file nor a directory", "idd/session.json.damaged-0")],
        );
    }

    #[test]
    fn a_file_in_the_place_of_a_directory_is_set_aside_and_the_other_way_round() {
        let file = "a file in the place of a directory";
        check(
            |idd| {
                fs::write(idd.join("cache.sled.damaged-0"), "older").unwrap();
                fs::remove_dir(idd.join("cache.sled")).unwrap();
                fs::write(idd.join("cache.sled"), "").unwrap();
            },
            &[("idd/cache.sled", file, "idd/cache.sled.damaged-1")],
        );
        check(
            |idd| fs::create_dir(idd.join("report.html")).unwrap(),
            &[("idd/report.html", "a directory in the place of a file", "idd/report.html.damaged-0")],
        );
        check(
            |idd| {
                fs::remove_dir_all(idd).unwrap();
                fs::write(idd, "").unwrap();
            },
            &[("idd", file, "idd.damaged-0")],
        );
    }
}
