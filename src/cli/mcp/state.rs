//! What all requests share.

use crate::cli::mcp::allowed::Allowed;
use crate::cli::mcp::jobs::Jobs;
use crate::session::context::Context;
use crate::world::repo::locate::Location;
use std::sync::Arc;

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
}

impl State {
    /// A state in which nothing runs.
    pub fn new(location: Location, context: Context, allowed: Allowed) -> Self {
        Self { location, context, allowed, jobs: Arc::default() }
    }
}
