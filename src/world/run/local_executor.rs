//! The executor of this machine: workers that each own a sandbox and observe one tree at a time.
//!
//! A probe gets the idle worker with the nearest files, because it has the least to write and to build. Every worker is a thread that lives as long as the executor, because a command dies with the thread that started it.

use crate::repo::distance::distance;
use crate::repo::{ConversionNotice, private};
use crate::run::executor::{Executor, PlaceResult, PlacedJob, Wish};
use crate::run::sandbox::{Sandbox, SandboxError};
use idd_base::{CommitId, TreeId};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::Duration;
use std::{mem, thread};

/// More workers are added only if the user says so: each has its own build products, and more speculation in history
/// saves little (a search with 8 workers takes a third of the time, one with 16 a quarter).
const MAX_USUAL_WIDTH: usize = 8;

struct Worker {
    jobs: Sender<PlacedJob>,
    thread: JoinHandle<()>,
    directory: PathBuf,
    /// The tree of its last task.
    tree: Option<TreeId>,
    is_idle: bool,
    /// Whether it observes references only.
    is_of_reference: bool,
    /// Whether the content of its worktree must not be used.
    is_spoiled: bool,
}

/// The message of a worker's thread: its result, and all notices about its trees so far.
type Message = (PlaceResult, BTreeSet<ConversionNotice>);

/// The workers, numbered from 0 in the order in which they were added.
pub struct LocalExecutor {
    /// The directory of the sandboxes.
    root: PathBuf,
    /// The private repository.
    private: PathBuf,
    head: CommitId,
    workers: Vec<Worker>,
    sender: Sender<Message>,
    messages: Receiver<Message>,
    notices: BTreeSet<ConversionNotice>,
}

impl LocalExecutor {
    /// An empty executor; workers are added when they are needed, see [`Sandbox::create`].
    pub fn new(root: PathBuf, private: PathBuf, head: CommitId) -> Self {
        let (sender, messages) = mpsc::channel();
        Self { root, private, head, workers: Vec::new(), sender, messages, notices: BTreeSet::new() }
    }

    /// Adds a worker with a new sandbox.
    fn spawn_worker(&mut self, is_of_reference: bool) -> Result<usize, SandboxError> {
        let number = self.workers.len();
        let sandbox = Sandbox::create(&self.root, &format!("w{number}"), &self.private, self.head)?;
        let directory = sandbox.tree_directory();
        let (jobs, received) = mpsc::channel();
        let sender = self.sender.clone();
        let hired = thread::Builder::new().spawn(move || work(number, sandbox, &received, &sender));
        let thread = hired.map_err(|source| SandboxError::Worker { source })?;
        self.workers.push(Worker {
            jobs,
            thread,
            directory,
            tree: None,
            is_idle: true,
            is_of_reference,
            is_spoiled: false,
        });
        Ok(number)
    }

    /// Waits until every worker is idle.
    pub fn settle(&mut self) {
        while self.workers.iter().any(|worker| !worker.is_idle) {
            // The hunt that asked is over.
            let _ = self.wait();
        }
    }

    /// The number of files that a worker would have to write (and so to build again); a new sandbox is the farthest.
    fn distance(&self, worker: usize, tree: TreeId) -> usize {
        match (private::open(&self.private), self.workers[worker].tree) {
            (Ok(repository), Some(present)) => distance(&repository, present, tree),
            _ => usize::MAX,
        }
    }
}

impl Executor for LocalExecutor {
    fn usual_width(&self) -> usize {
        thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MAX_USUAL_WIDTH)
    }

    /// The idle worker with the nearest files; a new worker while there are fewer than probes may run. References have
    /// workers of their own, up to as many again.
    fn reserve(&mut self, wish: Wish) -> Result<Option<usize>, SandboxError> {
        let n_busy = self.workers.iter().filter(|worker| !worker.is_idle).count();
        // There are more workers than may run for a reference, or if the test cannot run twice at once.
        if n_busy >= wish.width {
            return Ok(None);
        }
        let alike: Vec<usize> = (0..self.workers.len())
            .filter(|worker| self.workers[*worker].is_of_reference == wish.is_reference)
            .collect();
        let idle: Vec<usize> = alike.iter().copied().filter(|worker| self.workers[*worker].is_idle).collect();
        if idle.is_empty() && alike.len() < wish.width {
            return self.spawn_worker(wish.is_reference).map(Some);
        }
        Ok(match idle[..] {
            [only] => Some(only),
            _ => idle.into_iter().min_by_key(|worker| self.distance(*worker, wish.tree)),
        })
    }

    fn directory(&self, place: usize) -> Option<&Path> {
        Some(&self.workers[place].directory)
    }

    fn start(&mut self, place: usize, mut placed_job: PlacedJob) {
        let worker = &mut self.workers[place];
        worker.is_idle = false;
        placed_job.job.is_clean |= mem::take(&mut worker.is_spoiled);
        worker.tree = Some(placed_job.job.tree);
        worker.jobs.send(placed_job).expect("a worker waits for jobs as long as there is an executor");
    }

    fn poll(&mut self, at_most: Duration) -> Option<PlaceResult> {
        let Ok((done, notices)) = self.messages.recv_timeout(at_most) else {
            let is_complete = self.workers.iter().all(|worker| !worker.thread.is_finished());
            assert!(is_complete, "a worker ends only when it is sent home");
            return None;
        };
        self.workers[done.place].is_idle = true;
        self.notices.extend(notices);
        Some(done)
    }

    fn directories(&self) -> Vec<PathBuf> {
        self.workers.iter().map(|worker| worker.directory.clone()).collect()
    }

    fn notices(&self) -> BTreeSet<ConversionNotice> {
        self.notices.clone()
    }

    fn spoil(&mut self) {
        self.workers.iter_mut().for_each(|worker| worker.is_spoiled = true);
    }

    fn dismiss(&mut self) -> bool {
        for worker in self.workers.drain(..) {
            drop(worker.jobs);
            worker.thread.join().expect("a worker does not panic");
        }
        true
    }
}

fn work(worker: usize, mut sandbox: Sandbox, jobs: &Receiver<PlacedJob>, sender: &Sender<Message>) {
    for PlacedJob { job, commands, mut watch, known } in jobs {
        let result = sandbox.probe(&job, &commands, &mut *watch, &known);
        if sender.send((PlaceResult { place: worker, result }, sandbox.notices().clone())).is_err() {
            return;
        }
    }
}
