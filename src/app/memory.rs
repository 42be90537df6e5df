//! Running out of memory or of threads: prints an error and exits instead of aborting, or of going on without a part.
//!
//! Nothing can be allocated then, so the messages are prepared before.

use crate::console::Console;
use crate::failure::write;
use idd_report::Status;
use idd_session::Failure;
use std::alloc::{GlobalAlloc, Layout, System};
use std::any::Any;
use std::os::fd::BorrowedFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{io, panic, thread};

/// A message for stdout and for stderr.
#[derive(Default)]
struct LastWords {
    out: Vec<u8>,
    err: Vec<u8>,
}

impl LastWords {
    fn of(failure: &Failure, console: Console) -> Self {
        let mut words = Self::default();
        // A write to a vector does not fail.
        let _ = write(failure, console.err_style, &mut words.err);
        if console.is_json {
            let _ = idd_report::json::write(&failure.report(), &mut words.out);
        }
        words
    }
}

/// What is printed if nothing can be allocated.
static LAST_WORDS: OnceLock<LastWords> = OnceLock::new();

/// Prepares the messages.
pub fn prepare(console: Console) {
    let failure = Failure::error("there is not enough memory")
        .with_hint("what was learned is kept; the same command with `-j1` goes on with one worker, which takes less");
    let _ = LAST_WORDS.set(LastWords::of(&failure, console));
    let failure = Failure::error(format!("failed to start a thread: {}", io::Error::from_raw_os_error(libc::EAGAIN)))
        .with_hint("memory or the number of processes is limited (`ulimit -a`); what was learned is kept, and the same command goes on");
    let words = LastWords::of(&failure, console);
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if is_without_thread(info.payload()) {
            end(&words);
        }
        usual(info);
    }));
}

/// Whether a panic says that the system starts no thread (`EAGAIN`), or that a new one has no memory for its signal
/// handlers. The standard library, rayon and tokio end so, each in words of its own; the thread that panics is joined by
/// another one, which would go on without its result.
fn is_without_thread(payload: &(dyn Any + Send)) -> bool {
    let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref().copied());
    text.is_some_and(|text: &str| {
        let is_refused = text.contains("code: 11,") || text.contains("os error 11");
        text.contains("thread") && is_refused || text.contains("alternative stack")
    })
}

/// The allocator of the system; ends the program if there is no more memory.
struct Bounded;

#[global_allocator]
static ALLOCATOR: Bounded = Bounded;

#[expect(unsafe_code, reason = "an allocator has no safe interface")]
// SAFETY: the allocator of the system does all work, and no call returns after a failure.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises the same.
        present(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        present(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, n_bytes: usize) -> *mut u8 {
        // SAFETY: as above.
        present(unsafe { System.realloc(place, layout, n_bytes) })
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
}

fn present(place: *mut u8) -> *mut u8 {
    if place.is_null() {
        end(LAST_WORDS.get().unwrap_or(&LastWords { out: Vec::new(), err: Vec::new() }));
    }
    place
}

/// Prints a prepared message, and ends the program with the exit code of an error.
#[expect(unsafe_code, reason = "an ordinary exit may allocate")]
fn end(LastWords { out, err }: &LastWords) -> ! {
    static IS_ENDING: AtomicBool = AtomicBool::new(false);
    while IS_ENDING.swap(true, Ordering::Relaxed) {
        // Another thread ends the program.
        thread::sleep(Duration::from_secs(1));
    }
    for (number, words) in [(2, err), (1, out)] {
        // SAFETY: standard streams stay open as long as the program runs.
        let stream = unsafe { BorrowedFd::borrow_raw(number) };
        let mut rest = words.as_slice();
        while let Ok(n_written @ 1..) = rustix::io::write(stream, rest) {
            rest = &rest[n_written..];
        }
    }
    // SAFETY: it only ends the process.
    unsafe { libc::_exit(i32::from(Status::Error.code())) }
}
