//! What is said to people goes to stderr.

use idd_session::Talk;
use std::io;
use std::io::Write as _;

/// Passes on what is said to people.
pub struct ToStderr;

impl Talk for ToStderr {
    fn say(&mut self, sentence: &str) {
        to_stderr(sentence);
    }
}

/// One line, without what a terminal would obey; that nobody reads it is no error.
pub fn to_stderr(line: &str) {
    drop(writeln!(io::stderr(), "{}", line.escape_debug()));
}
