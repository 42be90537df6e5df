//! Memory that is shared with another program through a socket.

use std::fs::File;
use std::io;
use std::os::unix::net::UnixStream;

use rustix::fs::MemfdFlags;
use rustix::net::SendFlags;
use rustix::process::Pid;

/// Sends without a signal if the other end is closed.
pub const NO_SIGNAL: SendFlags = SendFlags::NOSIGNAL;

/// Empty memory that another program can map when it has received the file.
pub fn shared_memory() -> io::Result<File> {
    Ok(File::from(rustix::fs::memfd_create("idd", MemfdFlags::CLOEXEC)?))
}

/// The process at the other end of a socket.
pub fn peer_of(stream: &UnixStream) -> io::Result<Pid> {
    Ok(rustix::net::sockopt::socket_peercred(stream)?.pid)
}
