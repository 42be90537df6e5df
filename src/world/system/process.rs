//! One line of the process table.

/// A process, as it was when the system was asked: it is identified by its number *and* its start time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: i32,
    /// The number of its parent.
    pub parent: i32,
    /// The number of its process group.
    pub group: i32,
    /// The number of its session.
    pub session: i32,
    /// In clock ticks since the machine was started.
    pub start_time: u64,
    /// Whether it has ended and only waits to be reaped (or only its first thread has ended).
    pub is_zombie: bool,
}
