//! The crew: workers that each own a sandbox and observe one tree at a time.
//!
//! Every worker is a thread that lives as long as the crew, because a command dies with the thread that started it.

use crate::outcome::Observation;
use crate::revision::CommitId;
use crate::revision::TreeId;
use crate::world::process::Watch;
use crate::world::repo::Notice;
use crate::world::run::product::Product;
use crate::world::run::sandbox::Commands;
use crate::world::run::sandbox::Job;
use crate::world::run::sandbox::Probed;
use crate::world::run::sandbox::Sandbox;
use crate::world::run::sandbox::SandboxError;
use std::collections::BTreeSet;
use std::mem;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::Sender;
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;

/// The interval of checks whether the workers are still alive.
const LOOK_AFTER: Duration = Duration::from_secs(5);

/// The known test results of products.
pub type KnownProducts = Box<dyn Fn(&Product) -> Option<Observation> + Send>;

/// The task of a worker.
pub struct Errand {
    /// The probe.
    pub job: Job,
    /// The commands.
    pub commands: Arc<Commands>,
    /// Watches the commands, and can end them.
    pub watch: Box<dyn Watch + Send>,
    /// The known results of products.
    pub known: KnownProducts,
}

/// The result of a worker.
pub struct Done {
    /// The worker, by its number.
    pub worker: usize,
    /// The observation; `None` if it was interrupted.
    pub result: Result<Option<Probed>, SandboxError>,
}

struct Worker {
    errands: Sender<Errand>,
    thread: JoinHandle<()>,
    directory: PathBuf,
    /// The tree of its last task.
    tree: Option<TreeId>,
    is_idle: bool,
    /// Whether the content of its worktree must not be used.
    is_spoiled: bool,
}

/// The message of a worker's thread: its result, and all notices about its trees so far.
type Message = (Done, BTreeSet<Notice>);

/// The workers, numbered from 0 in the order in which they were added.
pub struct Crew {
    workers: Vec<Worker>,
    sender: Sender<Message>,
    messages: Receiver<Message>,
    notices: BTreeSet<Notice>,
}

impl Default for Crew {
    fn default() -> Self {
        let (sender, messages) = mpsc::channel();
        Self { workers: Vec::new(), sender, messages, notices: BTreeSet::new() }
    }
}

impl Crew {
    /// How many there are.
    pub fn size(&self) -> usize {
        self.workers.len()
    }

    /// Adds a worker with a new sandbox below `root`; see [`Sandbox::create`].
    pub fn hire(&mut self, root: &Path, private: &Path, head: CommitId) -> Result<(), SandboxError> {
        let number = self.workers.len();
        let sandbox = Sandbox::create(root, &format!("w{number}"), private, head)?;
        let directory = sandbox.tree_directory();
        let (errands, received) = mpsc::channel();
        let sender = self.sender.clone();
        let hired = thread::Builder::new().spawn(move || work(number, sandbox, &received, &sender));
        let thread = hired.map_err(|source| SandboxError::Worker { source })?;
        self.workers.push(Worker { errands, thread, directory, tree: None, is_idle: true, is_spoiled: false });
        Ok(())
    }

    /// The idle workers.
    pub fn idle(&self) -> Vec<usize> {
        (0..self.workers.len()).filter(|worker| self.workers[*worker].is_idle).collect()
    }

    /// The tree of a worker's files; `None` if it has none yet.
    pub fn tree(&self, worker: usize) -> Option<TreeId> {
        self.workers[worker].tree
    }

    /// The directory in which a worker's commands run.
    pub fn directory(&self, worker: usize) -> &Path {
        &self.workers[worker].directory
    }

    /// Marks all worktrees as unusable: the next probe of each worker writes its own from nothing.
    pub fn spoil(&mut self) {
        self.workers.iter_mut().for_each(|worker| worker.is_spoiled = true);
    }

    /// Gives a task to an idle worker; [`wait`](Self::wait) returns the result.
    pub fn send(&mut self, worker: usize, mut errand: Errand) {
        let worker = &mut self.workers[worker];
        worker.is_idle = false;
        errand.job.is_clean |= mem::take(&mut worker.is_spoiled);
        worker.tree = Some(errand.job.tree);
        worker.errands.send(errand).expect("a worker waits for errands as long as there is a crew");
    }

    /// Waits until a worker has finished; at least one must be working.
    pub fn wait(&mut self) -> Done {
        let (done, notices) = loop {
            match self.messages.recv_timeout(LOOK_AFTER) {
                Ok(message) => break message,
                Err(_) => assert!(
                    self.workers.iter().all(|worker| !worker.thread.is_finished()),
                    "a worker ends only when it is sent home"
                ),
            }
        };
        self.workers[done.worker].is_idle = true;
        self.notices.extend(notices);
        done
    }

    /// The notices about the trees so far (unsupported filters, LFS pointers).
    pub fn notices(&self) -> &BTreeSet<Notice> {
        &self.notices
    }

    /// Ends all workers. Running commands must have been told to end, or this waits for them.
    pub fn dismiss(&mut self) {
        for worker in self.workers.drain(..) {
            drop(worker.errands);
            worker.thread.join().expect("a worker does not panic");
        }
    }
}

fn work(worker: usize, mut sandbox: Sandbox, errands: &Receiver<Errand>, sender: &Sender<Message>) {
    for Errand { job, commands, mut watch, known } in errands {
        let result = sandbox.probe(&job, &commands, &mut *watch, &known);
        if sender.send((Done { worker, result }, sandbox.notices().clone())).is_err() {
            return;
        }
    }
}
