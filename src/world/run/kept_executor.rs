//! An executor that several hunts use, one after the other: a hunt finds the checkouts as the last one has left them, so what is
//! built already is not built again.

use crate::files;
use crate::repo::ConversionNotice;
use crate::run::executor::{Executor, PlaceResult, PlacedJob, Wish};
use crate::run::local_executor::LocalExecutor;
use crate::run::sandbox::{self, SandboxError};
use idd_base::CommitId;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fmt, io};

/// An executor between two hunts. Its clones are the same executor.
#[derive(Clone)]
pub struct KeptExecutor {
    root: PathBuf,
    private: PathBuf,
    head: CommitId,
    home: Arc<Mutex<Option<LocalExecutor>>>,
}

impl fmt::Debug for KeptExecutor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("KeptCrew").field("root", &self.root).finish_non_exhaustive()
    }
}

impl KeptExecutor {
    /// An empty executor; see [`LocalExecutor::new`].
    pub fn new(root: PathBuf, private: PathBuf, head: CommitId) -> Self {
        Self { root, private, head, home: Arc::default() }
    }

    /// The directory of the sandboxes.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Lends the executor to a hunt, until [`dismiss`](Executor::dismiss) gives it back. The hunt must be the only one of its
    /// worktree.
    ///
    /// Errors: the directory of the sandboxes cannot be created.
    pub fn lend(&self) -> io::Result<LentExecutor> {
        // Another command of this worktree can have removed the sandboxes in between.
        let executor = self.home().take().filter(|_| self.root.is_dir());
        let executor = if let Some(executor) = executor {
            executor
        } else {
            files::make_private(&self.root)?;
            LocalExecutor::new(self.root.clone(), self.private.clone(), self.head)
        };
        Ok(LentExecutor { executor: Some(executor), home: self.clone() })
    }

    /// Ends the work, and removes the sandboxes.
    pub fn close(&self) {
        // Without an executor, the sandboxes there are of another process.
        if let Some(mut executor) = self.home().take() {
            executor.dismiss();
            sandbox::remove(&self.root, &self.private);
        }
    }

    fn home(&self) -> MutexGuard<'_, Option<LocalExecutor>> {
        self.home.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An executor in a hunt.
pub struct LentExecutor {
    /// `None` when it was given back.
    executor: Option<LocalExecutor>,
    home: KeptExecutor,
}

impl LentExecutor {
    fn executor(&self) -> &LocalExecutor {
        self.executor.as_ref().expect("a dismissed executor is not used")
    }

    fn executor_mut(&mut self) -> &mut LocalExecutor {
        self.executor.as_mut().expect("a dismissed executor is not used")
    }
}

impl Executor for LentExecutor {
    fn usual_width(&self) -> usize {
        self.executor().usual_width()
    }

    fn reserve(&mut self, wish: Wish) -> Result<Option<usize>, SandboxError> {
        self.executor_mut().reserve(wish)
    }

    fn directory(&self, place: usize) -> Option<&Path> {
        self.executor().directory(place)
    }

    fn start(&mut self, place: usize, placed_job: PlacedJob) {
        self.executor_mut().start(place, placed_job);
    }

    fn poll(&mut self, at_most: Duration) -> Option<PlaceResult> {
        self.executor_mut().poll(at_most)
    }

    fn directories(&self) -> Vec<PathBuf> {
        self.executor().directories()
    }

    fn notices(&self) -> BTreeSet<ConversionNotice> {
        self.executor().notices()
    }

    fn spoil(&mut self) {
        self.executor_mut().spoil();
    }

    fn dismiss(&mut self) -> bool {
        if let Some(mut executor) = self.executor.take() {
            executor.settle();
            *self.home.home() = Some(executor);
        }
        false
    }
}
