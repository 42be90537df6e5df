//! What all requests share.

use crate::cli::mcp::allowed::Allowed;
use crate::cli::mcp::jobs::Jobs;
use crate::session::context::Context;
use crate::world::repo::locate::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What all requests share.
pub struct State {
    /// The repository.
    pub location: Location,
    /// The context of the process.
    pub context: Context,
    /// What may run.
    pub allowed: Allowed,
    /// What runs.
    pub jobs: Arc<Jobs>,
    n_calls: AtomicUsize,
}

impl State {
    /// A state in which nothing runs.
    pub fn new(location: Location, context: Context, allowed: Allowed) -> Self {
        Self { location, context, allowed, jobs: Arc::default(), n_calls: AtomicUsize::new(0) }
    }

    /// The number of calls that are not answered yet.
    pub fn n_calls(&self) -> usize {
        self.n_calls.load(Ordering::SeqCst)
    }

    /// Counts a call until the result is dropped.
    pub fn called(self: &Arc<Self>) -> Call {
        self.n_calls.fetch_add(1, Ordering::SeqCst);
        Call(Arc::clone(self))
    }
}

/// A call that is not answered yet.
pub struct Call(Arc<State>);

impl Drop for Call {
    fn drop(&mut self) {
        self.0.n_calls.fetch_sub(1, Ordering::SeqCst);
    }
}
