//! A crew that several hunts use, one after the other: a hunt finds the checkouts as the last one has left them, so what is
//! built already is not built again.

use crate::files;
use crate::repo::ConversionNotice;
use crate::run::executor::{Executor, PlaceResult, PlacedJob, Wish};
use crate::run::local_executor::LocalExecutor;
use crate::run::sandbox;
use crate::run::sandbox::SandboxError;
use idd_base::revision::CommitId;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fmt, io};

/// A crew between two hunts. Its clones are the same crew.
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
    /// An empty crew; see [`LocalExecutor::new`].
    pub fn new(root: PathBuf, private: PathBuf, head: CommitId) -> Self {
        Self { root, private, head, home: Arc::default() }
    }

    /// The directory of the sandboxes.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Lends the crew to a hunt, until [`dismiss`](Executor::dismiss) gives it back. The hunt must be the only one of its
    /// worktree.
    ///
    /// Errors: the directory of the sandboxes cannot be created.
    pub fn lend(&self) -> io::Result<LentExecutor> {
        // Another command of this worktree can have removed the sandboxes in between.
        let crew = self.home().take().filter(|_| self.root.is_dir());
        let crew = if let Some(crew) = crew {
            crew
        } else {
            files::make_private(&self.root)?;
            LocalExecutor::new(self.root.clone(), self.private.clone(), self.head)
        };
        Ok(LentExecutor { crew: Some(crew), home: self.clone() })
    }

    /// Ends the work, and removes the sandboxes.
    pub fn close(&self) {
        // Without a crew, the sandboxes there are of another process.
        if let Some(mut crew) = self.home().take() {
            crew.dismiss();
            sandbox::remove(&self.root, &self.private);
        }
    }

    fn home(&self) -> MutexGuard<'_, Option<LocalExecutor>> {
        self.home.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A crew in a hunt.
pub struct LentExecutor {
    /// `None` when it was given back.
    crew: Option<LocalExecutor>,
    home: KeptExecutor,
}

impl LentExecutor {
    fn crew(&self) -> &LocalExecutor {
        self.crew.as_ref().expect("a dismissed crew is not used")
    }

    fn crew_mut(&mut self) -> &mut LocalExecutor {
        self.crew.as_mut().expect("a dismissed crew is not used")
    }
}

impl Executor for LentExecutor {
    fn usual_width(&self) -> usize {
        self.crew().usual_width()
    }

    fn reserve(&mut self, wish: Wish) -> Result<Option<usize>, SandboxError> {
        self.crew_mut().reserve(wish)
    }

    fn directory(&self, place: usize) -> Option<&Path> {
        self.crew().directory(place)
    }

    fn start(&mut self, place: usize, errand: PlacedJob) {
        self.crew_mut().start(place, errand);
    }

    fn poll(&mut self, at_most: Duration) -> Option<PlaceResult> {
        self.crew_mut().poll(at_most)
    }

    fn directories(&self) -> Vec<PathBuf> {
        self.crew().directories()
    }

    fn notices(&self) -> BTreeSet<ConversionNotice> {
        self.crew().notices()
    }

    fn spoil(&mut self) {
        self.crew_mut().spoil();
    }

    fn dismiss(&mut self) -> bool {
        if let Some(mut crew) = self.crew.take() {
            crew.settle();
            *self.home.home() = Some(crew);
        }
        false
    }
}
