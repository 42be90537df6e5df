//! The seam between a hunt and the places where its probes run.
//!
//! A hunt reserves a place for a tree, starts a probe there, and waits for whichever probe is done first. What a place is,
//! only the executor knows: a worktree of this machine ([`LocalExecutor`](crate::run::local_executor::LocalExecutor)), or a worker of a remote
//! service, or [`both`](crate::run::executor_pair). Trouble of a place is a [`SandboxError`]; it is never an outcome of the
//! test.

use crate::process::CommandWatch;
use crate::repo::ConversionNotice;
use crate::run::product::Product;
use crate::run::sandbox::{Commands, ProbeJob, Probed, SandboxError};
use idd_base::{Observation, TreeId};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The interval of checks whether the places are still alive.
pub const LOOK_AFTER: Duration = Duration::from_secs(5);

/// The known test results of products.
pub type KnownProducts = Box<dyn Fn(&Product) -> Option<Observation> + Send>;

/// A probe for a place.
pub struct PlacedJob {
    /// The probe.
    pub job: ProbeJob,
    /// The commands.
    pub commands: Arc<Commands>,
    /// Watches the commands, and can end them.
    pub watch: Box<dyn CommandWatch + Send>,
    /// The known results of products.
    pub known: KnownProducts,
}

/// The result of a place.
pub struct PlaceResult {
    /// The place.
    pub place: usize,
    /// The observation; `None` if it was interrupted.
    pub result: Result<Option<Probed>, SandboxError>,
}

/// The kind of place that a probe needs.
#[derive(Debug, Clone, Copy)]
pub struct Wish {
    /// Its tree: a place with similar files has less to write and to build.
    pub tree: TreeId,
    /// Whether the probe is of a reference, whose build products would be in the way of those of candidates.
    pub is_reference: bool,
    /// Whether it is to run far away, if there is such a place; see [`both`](crate::run::executor_pair).
    pub is_far: bool,
    /// The number of probes that may run at once.
    pub width: usize,
}

/// Puts the executor of a hunt into another one, which sees the probes, or answers them itself.
pub trait Around: fmt::Debug + Send + Sync {
    /// The executor that the hunt uses in place of `executor`.
    fn around(&self, executor: Box<dyn Executor>) -> Box<dyn Executor>;
}

/// Runs probes.
pub trait Executor {
    /// What results depend on besides the plan: the same for the same programs. `None` on this machine, whose programs are
    /// [examined](crate::tools) for each result.
    fn programs(&self) -> Option<[u8; 32]> {
        None
    }

    /// The number of probes that run at once if the user names none.
    fn usual_width(&self) -> usize;

    /// Takes a free place, until [`wait`](Self::wait) returns it; `None` if there is none now.
    fn reserve(&mut self, wish: Wish) -> Result<Option<usize>, SandboxError>;

    /// The directory of this machine in which the commands of a place run; `None` if they run elsewhere.
    fn directory(&self, place: usize) -> Option<&Path>;

    /// Starts a probe in a reserved place. It ends early if its watch says so.
    fn start(&mut self, place: usize, placed_job: PlacedJob);

    /// Waits until a probe is done, at most for some time; at least one must be running.
    fn poll(&mut self, at_most: Duration) -> Option<PlaceResult>;

    /// Waits until a probe is done; at least one must be running.
    fn wait(&mut self) -> PlaceResult {
        loop {
            if let Some(done) = self.poll(LOOK_AFTER) {
                return done;
            }
        }
    }

    /// All directories of this machine in which commands may run.
    fn directories(&self) -> Vec<PathBuf>;

    /// The notices about the trees so far (unsupported filters, LFS pointers).
    fn notices(&self) -> BTreeSet<ConversionNotice>;

    /// Marks all products of builds as unusable: the next probe of each place begins from nothing.
    fn spoil(&mut self);

    /// Ends the work of a hunt. Running probes must have been told to end, or this waits for them.
    ///
    /// Returns whether the directories are used no more.
    fn dismiss(&mut self) -> bool;
}
