//! Running out of memory: prints an error and exits instead of aborting.
//!
//! Nothing can be allocated then, so the message is prepared before.

use crate::console::Console;
use crate::failure::write;
use idd_report::Status;
use idd_session::failure::Failure;
use std::alloc::{GlobalAlloc, Layout, System};
use std::os::fd::BorrowedFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The message for stdout and for stderr.
static LAST_WORDS: OnceLock<(Vec<u8>, Vec<u8>)> = OnceLock::new();

/// Prepares the message.
pub fn prepare(console: Console) {
    let failure = Failure::error("there is not enough memory")
        .with_hint("what was learned is kept; the same command with `-j1` goes on with one worker, which takes less");
    let (mut out, mut err) = (Vec::new(), Vec::new());
    // A write to a vector does not fail.
    let _ = write(&failure, console.err_style, &mut err);
    if console.is_json {
        let _ = idd_report::json::write(&failure.report(), &mut out);
    }
    let _ = LAST_WORDS.set((out, err));
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
        end();
    }
    place
}

/// Prints the prepared message, and ends the program with the exit code of an error.
#[expect(unsafe_code, reason = "an ordinary exit may allocate")]
fn end() -> ! {
    static IS_ENDING: AtomicBool = AtomicBool::new(false);
    while IS_ENDING.swap(true, Ordering::Relaxed) {
        // Another thread ends the program.
        thread::sleep(Duration::from_secs(1));
    }
    if let Some((out, err)) = LAST_WORDS.get() {
        for (number, words) in [(2, err), (1, out)] {
            // SAFETY: standard streams stay open as long as the program runs.
            let stream = unsafe { BorrowedFd::borrow_raw(number) };
            let mut rest = words.as_slice();
            while let Ok(n_written @ 1..) = rustix::io::write(stream, rest) {
                rest = &rest[n_written..];
            }
        }
    }
    // SAFETY: it only ends the process.
    unsafe { libc::_exit(i32::from(Status::Error.code())) }
}
