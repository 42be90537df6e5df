//! Checks of Python, by a script of ours: what the interpreter says only when a line is run.

use crate::world::run::complaints::append_present;
use crate::world::run::complaints::quoted;

/// What is run; its first lines say what it reports.
const CHECK: &str = include_str!("check.py");

/// Adds the check of `files` to a line.
pub(super) fn append(text: &mut Vec<u8>, files: &[Vec<u8>]) {
    if files.is_empty() {
        return;
    }
    append_present(text, files);
    text.extend(b"if test $# -gt 0; then echo '@idd in python .'\npython3 -I -c ");
    text.extend(quoted(CHECK.as_bytes()));
    text.extend(b" \"$@\" || echo '@idd failed python'\nfi\n");
}
