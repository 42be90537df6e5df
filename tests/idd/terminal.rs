//! A terminal of its own for the real binary.

use rustix::pty::{self, OpenptFlags};
use rustix::termios::Winsize;
use std::fs::File;
use std::io::Read as _;
use std::{fs, thread};

/// A terminal of so many columns and lines: what a person sees and types is at its host.
pub struct Terminal {
    /// The side of the person.
    pub host: File,
    name: String,
}

impl Terminal {
    /// A new terminal.
    pub fn new(columns: u16, lines: u16) -> Self {
        let host = pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        pty::grantpt(&host).unwrap();
        pty::unlockpt(&host).unwrap();
        let name = pty::ptsname(&host, Vec::new()).unwrap().into_string().unwrap();
        let host = File::from(host);
        resize(&host, columns, lines);
        Self { host, name }
    }

    /// The side of the program.
    pub fn open(&self) -> File {
        fs::OpenOptions::new().read(true).write(true).open(&self.name).unwrap()
    }
}

/// Gives a terminal another size.
pub fn resize(host: &File, columns: u16, lines: u16) {
    let size = Winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(host, size).unwrap();
}

/// Reads what is shown until the terminal is closed on the side of the program.
pub fn read_all(host: &File) -> thread::JoinHandle<Vec<u8>> {
    let mut host = host.try_clone().unwrap();
    thread::spawn(move || {
        let (mut shown, mut part) = (Vec::new(), [0; 4096]);
        while let Ok(n @ 1..) = host.read(&mut part) {
            shown.extend(&part[..n]);
        }
        shown
    })
}
