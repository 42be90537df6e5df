//! The end of a budget: it stops the work as a signal of the user does, so that running probes are cut.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Sets the flag of an interruption when the time is over. When it is dropped, it withdraws what it has set.
#[derive(Debug)]
pub struct Deadline {
    /// The end.
    at: Instant,
    is_over: Arc<AtomicBool>,
    interrupt: Arc<AtomicBool>,
    /// The thread that waits, and the sender whose end ends it.
    waiting: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Deadline {
    /// A deadline after this time; `None` for one that is too far away to be stated.
    ///
    /// - `interrupt`: the flag that ends the work.
    pub fn after(budget: Duration, interrupt: &Arc<AtomicBool>) -> Option<Self> {
        let at = Instant::now().checked_add(budget)?;
        let (open, closed) = mpsc::channel();
        let is_over = Arc::new(AtomicBool::new(false));
        let (over, ends) = (Arc::clone(&is_over), Arc::clone(interrupt));
        let wait = move || {
            if closed.recv_timeout(budget) == Err(RecvTimeoutError::Timeout) {
                let was_interrupted = ends.swap(true, Ordering::Relaxed);
                over.store(!was_interrupted, Ordering::Relaxed);
            }
        };
        // Without a thread, the clock is read between probes.
        let waiting = thread::Builder::new().name("budget".to_owned()).spawn(wait).ok().map(|thread| (open, thread));
        Some(Self { at, is_over, interrupt: Arc::clone(interrupt), waiting })
    }

    /// Whether the time is over.
    pub fn is_over(&self) -> bool {
        self.has_interrupted() || Instant::now() >= self.at
    }

    /// Whether this deadline, and no signal, has set the flag.
    pub fn has_interrupted(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// The time that is left.
    pub fn left(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        if let Some((open, thread)) = self.waiting.take() {
            drop(open);
            // It does not panic.
            let _ = thread.join();
        }
        if self.has_interrupted() {
            self.interrupt.store(false, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_budget_interrupts_until_the_work_has_stopped() {
        let interrupt = Arc::new(AtomicBool::new(false));
        let deadline = Deadline::after(Duration::ZERO, &interrupt).unwrap();
        while !deadline.has_interrupted() {
            thread::yield_now();
        }
        assert!(deadline.is_over() && interrupt.load(Ordering::Relaxed) && deadline.left().is_zero());
        drop(deadline);
        assert!(!interrupt.load(Ordering::Relaxed));
    }

    #[test]
    fn a_signal_before_the_end_stays() {
        let interrupt = Arc::new(AtomicBool::new(true));
        for budget in [Duration::ZERO, Duration::from_secs(1000)] {
            let deadline = Deadline::after(budget, &interrupt).unwrap();
            assert!(!deadline.has_interrupted());
            drop(deadline);
        }
        assert!(interrupt.load(Ordering::Relaxed));
        assert!(Deadline::after(Duration::MAX, &interrupt).is_none());
    }
}
