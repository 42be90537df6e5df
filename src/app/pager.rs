//! Long answers on a terminal are shown by the user's pager, as in git.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use idd_session::{Context, Interrupt};
use idd_world::process::{self, OutputDestination};
use idd_world::repo::locate;

/// Shows `text` with the pager that git would use (`GIT_PAGER`, `core.pager`, `PAGER`, else `less`).
///
/// `false`, and nothing was shown, if there is no pager, it is `cat`, git already runs one, or it cannot be run. `less`
/// gets git's defaults, so it ends by itself if the text fits on the screen.
pub fn page(text: &[u8], context: &Context) -> bool {
    if is_in_use(context) || context.configured("pager.idd").last().is_some_and(is_off) {
        return false;
    }
    let Some(pager) = locate::pager(&context.directory, &context.environment) else { return false };
    if pager.is_empty() || pager == b"cat" {
        return false;
    }
    let mut environment = context.environment.clone();
    for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
        if context.variable(name).is_none() {
            environment.push((name.into(), value.into()));
        }
    }
    environment.push((IN_USE.into(), OsString::from("true")));
    // An interrupt is for the pager, which restores the terminal.
    let _interrupt = Interrupt::register();
    let words = [OsStr::new("-c"), OsStr::from_bytes(&pager)];
    let shown = process::feed(
        OsStr::new("sh"),
        &words,
        &context.directory,
        &environment,
        text.to_vec(),
        OutputDestination::Here,
        None,
    );
    !matches!(shown, Err(_) | Ok(Some(126 | 127)))
}

/// Whether git already runs a pager, as after `git -p idd`, so that standard output ends on a terminal.
pub fn is_in_use(context: &Context) -> bool {
    context.variable(IN_USE).is_some_and(|value| !value.to_str().is_some_and(is_off))
}

/// Set by git, or by us, if output goes to a pager.
const IN_USE: &str = "GIT_PAGER_IN_USE";

fn is_off(value: &str) -> bool {
    ["false", "no", "off", "0", ""].iter().any(|no| value.eq_ignore_ascii_case(no))
}
