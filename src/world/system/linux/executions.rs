//! Watches the programs that one command executes. See [`exec_filter`](crate::system::linux::exec_filter) for the
//! method.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::{fs, thread};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use crate::system::linux::exec_filter::{AskedPath, ExecFilter, ExecListener, ExecRequest, NoListener, WatchedCall};
use crate::system::observer::{Observer, ProgramStart, WatchedCalls};

/// The data with which the first process of a command starts to be watched.
pub struct WatchSetup {
    pub(super) filter: ExecFilter,
    /// The socket for the listener.
    pub(super) socket: OwnedFd,
}

/// Watches one command until it is dropped. It must not be dropped before all processes of the command have ended.
pub struct ExecutionWatch {
    /// Closed to end the thread.
    stop: Option<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

/// Prepares to watch a command; `None` if that is not possible.
///
/// - `watched`: what is watched beside the programs that it executes.
pub fn follow<O: Observer>(observer: &Arc<O>, watched: WatchedCalls) -> Option<(ExecutionWatch, WatchSetup)> {
    let filter = ExecFilter::new(watched)?;
    let (ours, socket) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).ok()?;
    let (stopped, stop) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).ok()?;
    let observer = Arc::clone(observer);
    let thread = thread::Builder::new().name("executions".to_owned());
    let thread = thread.spawn(move || serve(&ours, &stopped, &*observer)).ok()?;
    Some((ExecutionWatch { stop: Some(stop), thread: Some(thread) }, WatchSetup { filter, socket }))
}

impl Drop for ExecutionWatch {
    fn drop(&mut self) {
        drop(self.stop.take());
        // It cannot panic, and if it did, nothing could be done about it.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Records every program of a command, and permits it to start.
fn serve(socket: &OwnedFd, stopped: &OwnedFd, observer: &impl Observer) {
    let listener = match ExecListener::receive(socket.as_fd()) {
        Ok(listener) => listener,
        Err(why) => {
            match why {
                NoListener::Harmed => observer.harms(),
                NoListener::Refused => observer.misses(),
            }
            return;
        }
    };
    let mut is_started = false;
    loop {
        let mut events = [PollFd::new(listener.fd(), PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        let polled = rustix::io::retry_on_intr(|| poll(&mut events, None));
        let [asked, stop] = events.map(|event| event.revents());
        if asked.contains(PollFlags::IN) {
            let Some(request) = listener.next() else { continue };
            for asked in &request.asks {
                match (path(&listener, &request, asked), asked.what) {
                    (_, WatchedCall::Listen) => observer.harms(),
                    (Some(program), WatchedCall::Execute) => observer.executes(ProgramStart {
                        program,
                        takes_privileges: listener.takes_privileges,
                        process: PathBuf::from(format!("/proc/{}", request.pid)),
                        words: &|| listener.words(&request),
                    }),
                    (Some(path), WatchedCall::Use(access)) => observer.uses(path, access),
                    (None, WatchedCall::Execute) => observer.misses(),
                    (None, WatchedCall::Use(_)) => {}
                }
            }
            // A program that would run without its rights, or that would write to a file of the user, waits until it is killed.
            // Nobody can kill the command itself before it is started.
            if !is_started || !observer.is_harmful() && !observer.is_leaking() {
                listener.let_pass(&request);
            }
            is_started = true;
        } else if polled.is_err() || !stop.is_empty() || asked.contains(PollFlags::HUP) {
            return;
        }
    }
}

/// The absolute path that a process wants to execute; `None` if unknown, or below another root directory.
fn path(listener: &ExecListener, request: &ExecRequest, asked: &AskedPath) -> Option<PathBuf> {
    let path = PathBuf::from(listener.path(request, asked)?);
    let of_process = PathBuf::from(format!("/proc/{}", request.pid));
    if fs::read_link(of_process.join("root")).ok()? != Path::new("/") {
        return None;
    }
    if path.is_absolute() {
        return Some(path);
    }
    let base = asked.at.map_or_else(|| of_process.join("cwd"), |at| of_process.join(format!("fd/{at}")));
    let base = fs::read_link(base).ok()?;
    // An empty path means the descriptor itself.
    Some(if path.as_os_str().is_empty() { base } else { base.join(path) })
}
