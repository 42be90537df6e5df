//! Opens a file in the user's browser, as git does it.

use crate::report::Status;
use crate::session::context::Context;
use crate::session::failure::Failure;
use crate::world::process::relay;
use std::ffi::OsStr;
use std::ffi::OsString;
use std::path::Path;

/// Opens `file` with `git web--browse`, which reads `web.browser` and `browser.<tool>.cmd`, or else with `xdg-open`.
///
/// Only the configuration of the user and of the system counts, because a repository can come from others. Neither
/// program runs in the working tree, so no file there is executed as a program.
pub fn open(file: &Path, context: &Context) -> Result<(), Failure> {
    let mut environment = context.environment.clone();
    environment.retain(|(name, _)| name != "GIT_DIR");
    // No repository is used or searched.
    environment.push((OsString::from("GIT_DIR"), OsString::from("/dev/null")));
    let by = |program: &str, words: &[&OsStr]| {
        let words = [words, &[file.as_os_str()]].concat();
        matches!(relay(OsStr::new(program), &words, Path::new("/"), &environment), Ok(0))
    };
    if by("git", &[OsStr::new("web--browse")]) || by("xdg-open", &[]) {
        return Ok(());
    }
    let message = format!("failed to open `{}`: neither `git web--browse` nor `xdg-open` worked", file.display());
    Err(Failure::new(Status::Error, message).with_hint(
        "the report was written and can be opened by hand; `git config --global web.browser <program>` sets the \
         browser",
    ))
}
