//! What a command used.

use std::time::Duration;

/// The resources of an ended process and of all descendants that were waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Their processor time, in user space and in the kernel.
    pub processor: Duration,
    /// The peak of the resident memory of the largest of them, in bytes.
    pub peak_bytes: u64,
}
