//! Detects that the program was started without a standard output.
//!
//! Before `main`, the runtime opens `/dev/null` in its place, and all output would be lost silently.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether stdout was closed when the program started.
pub fn is_closed() -> bool {
    IS_CLOSED.load(Ordering::Relaxed)
}

/// Runs before the runtime opens anything.
#[used]
#[expect(unsafe_code, reason = "nothing else runs before `main`")]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static LOOK: extern "C" fn() = look;

#[expect(unsafe_code, reason = "a descriptor that may be closed has no safe type")]
extern "C" fn look() {
    // SAFETY: asking for the flags of any number changes nothing.
    let is_open = unsafe { libc::fcntl(1, libc::F_GETFD) } >= 0;
    IS_CLOSED.store(!is_open, Ordering::Relaxed);
}
