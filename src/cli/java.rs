//! `git idd java-instrument`: rewrites the classes of a Java virtual machine that is recorded. It is no command for users:
//! the agent in the virtual machine starts it.

use crate::world::record::java::serve::serve;
use std::ffi::OsString;
use std::io;
use std::path::Path;

/// The name of the command.
pub const NAME: &str = "java-instrument";

/// Answers the virtual machine until it ends; the words are its directory, and the bytes that it may record.
pub fn run(words: &[OsString]) -> u8 {
    let limit = |word: &OsString| word.to_str()?.parse().ok();
    let [directory, limit_word] = words else { return 2 };
    let Some(max_bytes) = limit(limit_word) else { return 2 };
    // Nobody hears of an error: the virtual machine goes on without it.
    u8::from(serve(Path::new(directory), max_bytes, (&mut io::stdin().lock(), &mut io::stdout().lock())).is_err())
}
