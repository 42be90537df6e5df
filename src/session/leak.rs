//! A test that reads tracked files of the user's working tree in place of the tested checkout.
//!
//! An editable install, a link or an absolute path leads there. Where probes see their checkout at the path of the working
//! tree, it leads to the checkout. Elsewhere every revision would be tested with the files of the user, so such a test is
//! not hunted.

use crate::Failure;
use idd_report::{Status, Terminal, Untrusted};
use idd_world::files::{self, OnDisk};
use idd_world::process::executions::ExecutedPrograms;
use idd_world::repo::{Location, locate};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The largest file of an installation that is looked at, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The failure of a test that has opened tracked files below the watched directories, or was about to change anything
/// there; `None` if it has done neither.
///
/// - `root`: the directory of the checkouts, which can be below a watched one.
/// - `held`: files that every revision has as they are now.
pub fn leak(
    executions: &ExecutedPrograms,
    root: &Path,
    held: &BTreeMap<Vec<u8>, OnDisk>,
    location: &Location,
    environment: &[(OsString, OsString)],
) -> Option<Failure> {
    let opened: Vec<PathBuf> = executions.opened().into_iter().filter(|path| !path.starts_with(root)).collect();
    if opened.is_empty() {
        return None;
    }
    let tracked: BTreeSet<Vec<u8>> = locate::tracked(location, environment).into_iter().collect();
    let is_read = |file: &Path| {
        let bytes = file.as_os_str().as_bytes();
        tracked.contains(bytes) && !held.contains_key(bytes)
    };
    let tops = executions.watched();
    let written = executions.written();
    let read = opened.iter().filter(|path| Some(*path) != written.as_ref()).find_map(|path| {
        let top = tops.iter().filter(|top| path.starts_with(top)).max_by_key(|top| top.as_os_str().len())?;
        let file = source(path.strip_prefix(top).ok()?);
        is_read(&file).then_some((top, file))
    });
    let Some((top, file)) = read else {
        let message = format!("the test was about to change `{}` in your working tree", written?.display());
        return Some(stopped(&message, IN_CHECKOUT));
    };
    let install = executions.asked().into_iter().find(|path| leads_to(path, top));
    let through = install.as_ref().map(|path| format!(", through `{}`", path.display())).unwrap_or_default();
    let message = format!(
        "the test reads `{}` of the working tree `{}`, not of the tested checkout{through}",
        file.display(),
        top.display()
    );
    Some(stopped(&message, if install.is_some() { OF_INSTALL } else { IN_CHECKOUT }))
}

/// What to do about an installation that leads to the working tree.
const OF_INSTALL: &str =
    "let the test find the checkout first, for example with `PYTHONPATH=src`, or install it with `--build`";

/// What to do about another path that leads there.
const IN_CHECKOUT: &str = "name files by their path in the checkout, or below `$IDD_WORKTREE`";

fn stopped(message: &str, remedy: &str) -> Failure {
    let hint = format!(
        "every revision would be tested with the files that you have now: {remedy}; `git idd doctor` shows how this system \
         can let probes see their checkout at the path of your working tree, where nothing has to be changed"
    );
    Failure::new(Status::NothingTestable, Terminal.line(&Untrusted::from(message))).with_hint(hint)
}

/// The source of a compiled Python module; any other path as it is.
fn source(path: &Path) -> PathBuf {
    let is_compiled = path.extension() == Some(OsStr::new("pyc"));
    let directory = path.parent().filter(|parent| is_compiled && parent.ends_with("__pycache__"));
    let name = path.file_name().and_then(OsStr::to_str).and_then(|name| name.split('.').next());
    match (directory.and_then(Path::parent), name) {
        (Some(directory), Some(name)) => directory.join(format!("{name}.py")),
        _ => path.to_owned(),
    }
}

/// Whether a file belongs to an installation that leads to a directory.
fn leads_to(path: &Path, directory: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_install = name.starts_with("__editable__") || name.ends_with(".pth") || name.ends_with(".egg-link");
    let bytes = is_install.then(|| files::bytes_up_to(path, MAX_BYTES).ok()).flatten().unwrap_or_default();
    let directory = directory.as_os_str().as_bytes();
    bytes.windows(directory.len()).any(|part| part == directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiled_module_stands_for_its_source() {
        assert_eq!(source(Path::new("a/__pycache__/m.cpython-313.pyc")), Path::new("a/m.py"));
        assert_eq!(source(Path::new("a/m.pyc")), Path::new("a/m.pyc"));
    }
}
