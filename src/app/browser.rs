//! Opens a file in the user's browser, as git does it.

use idd_session::Context;
use idd_world::process::relay;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Opens `file` with `git web--browse`, which reads `web.browser` and `browser.<tool>.cmd`, or else with `xdg-open`.
/// Returns whether one of them worked; what they print is not shown if not.
///
/// Only the configuration of the user and of the system counts, because a repository can come from others. Neither
/// program runs in the working tree, so no file there is executed as a program.
pub fn open(file: &Path, context: &Context) -> bool {
    let mut environment = context.environment.clone();
    environment.retain(|(name, _)| name != "GIT_DIR");
    // No repository is used or searched.
    environment.push((OsString::from("GIT_DIR"), OsString::from("/dev/null")));
    let by = |program: &str, words: &[&OsStr]| {
        let words = [words, &[file.as_os_str()]].concat();
        matches!(relay(OsStr::new(program), &words, Path::new("/"), &environment, true), Ok(0))
    };
    by("git", &[OsStr::new("web--browse")]) || by("xdg-open", &[])
}
