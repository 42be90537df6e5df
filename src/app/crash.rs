//! `git idd locate-crash`: runs a test and prints the instructions at which its processes crash. It is no command for
//! users: shrinking runs it in place of a test that crashes without a message.

use idd_world::process::crash_place;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};

/// The name of the command.
pub use idd_session::shrink::LOCATE_CRASH as NAME;

/// Runs a program as it would run by itself; the result is its exit code. Of a signal, this process dies, too.
pub fn run(words: &[OsString]) -> u8 {
    let words: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
    let Some((program, arguments)) = words.split_first() else { return 2 };
    match crash_place::locate(program, arguments) {
        Ok((status, crashes)) => {
            let lines: Vec<String> = crashes.iter().map(|crash| format!("\n{crash}\n")).collect();
            // Nobody reads it if it cannot be written.
            let _ = io::stdout().write_all(lines.concat().as_bytes()).and_then(|()| io::stdout().flush());
            u8::try_from(crash_place::end_as(status)).unwrap_or(1)
        }
        Err(error) => {
            let line = format!("git-idd: cannot trace `{}`: {error}\n", program.to_string_lossy());
            let _ = io::stderr().write_all(line.as_bytes());
            if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 }
        }
    }
}
