//! `git idd java-instrument`: rewrites the classes of a Java virtual machine that is recorded. It is no command for users:
//! the agent in the virtual machine starts it.

use idd_session::interrupt;
use idd_world::record::java::serve::serve;
use std::ffi::OsString;
use std::io;
use std::path::Path;

/// The name of the command.
pub const NAME: &str = "java-instrument";

/// Answers the virtual machine until it ends; the word is its directory.
pub fn run(words: &[OsString]) -> u8 {
    let [directory] = words else { return 2 };
    // Nobody hears of an error: the virtual machine goes on without it.
    let served = interrupt::outlive_file_limits()
        .and_then(|()| serve(Path::new(directory), &mut io::stdin().lock(), &mut io::stdout().lock()));
    u8::from(served.is_err())
}
