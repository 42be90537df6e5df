//! The width of a terminal.

use std::os::fd::AsFd;

/// The columns of a terminal that does not say how many it has.
const DEFAULT: usize = 80;

/// The columns of a terminal.
pub fn of(terminal: impl AsFd) -> usize {
    let columns = rustix::termios::tcgetwinsize(terminal).map_or(0, |size| usize::from(size.ws_col));
    if columns == 0 { DEFAULT } else { columns }
}
