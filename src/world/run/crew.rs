//! The crew: workers that each own a sandbox and observe one tree at a time.
//!
//! Every worker is a thread that lives as long as the crew, because a command dies with the thread that started it.

use crate::outcome::Observation;
use crate::revision::CommitId;
use crate::revision::TreeId;
use crate::world::repo::Notice;
use crate::world::run::process::Watch;
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

/// How often to see whether the workers are still there.
const LOOK_AFTER: Duration = Duration::from_secs(5);

/// What the tests so far showed of products.
pub type KnownProducts = Box<dyn Fn(&Product) -> Option<Observation> + Send>;

/// What a worker is given to do.
pub struct Errand {
    /// What to observe.
    pub job: Job,
    /// With which commands.
    pub commands: Arc<Commands>,
    /// Who follows the commands, and may end them.
    pub watch: Box<dyn Watch + Send>,
    /// What is known of products.
    pub known: KnownProducts,
}

/// What a worker brings back.
pub struct Done {
    /// Which worker, by its number.
    pub worker: usize,
    /// What was seen; `None` if it was interrupted.
    pub result: Result<Option<Probed>, SandboxError>,
}

struct Worker {
    errands: Sender<Errand>,
    thread: JoinHandle<()>,
    directory: PathBuf,
    /// The tree that it was sent to last.
    tree: Option<TreeId>,
    is_idle: bool,
    /// Whether nothing that is in its worktree is believed.
    is_spoiled: bool,
}

/// What a worker's thread sends: its answer, and all that was noticed about its trees so far.
type Message = (Done, BTreeSet<Notice>);

/// The workers, numbered from 0 in the order they were hired.
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

    /// The workers that have nothing to do.
    pub fn idle(&self) -> Vec<usize> {
        (0..self.workers.len()).filter(|worker| self.workers[*worker].is_idle).collect()
    }

    /// The tree that a worker's files are near to; `None` if it has none yet.
    pub fn tree(&self, worker: usize) -> Option<TreeId> {
        self.workers[worker].tree
    }

    /// Where a worker's commands run.
    pub fn directory(&self, worker: usize) -> &Path {
        &self.workers[worker].directory
    }

    /// Believes nothing that is in any worktree: the next probe of each worker writes its own from nothing.
    pub fn spoil(&mut self) {
        self.workers.iter_mut().for_each(|worker| worker.is_spoiled = true);
    }

    /// Sends an idle worker; [`wait`](Self::wait) tells when it is back.
    pub fn send(&mut self, worker: usize, mut errand: Errand) {
        let worker = &mut self.workers[worker];
        worker.is_idle = false;
        errand.job.is_clean |= mem::take(&mut worker.is_spoiled);
        worker.tree = Some(errand.job.tree);
        worker.errands.send(errand).expect("a worker waits for errands as long as there is a crew");
    }

    /// Waits until a worker is back; at least one must be under way.
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

    /// What was noticed about the trees so far (filters that do not run, LFS pointers).
    pub fn notices(&self) -> &BTreeSet<Notice> {
        &self.notices
    }

    /// Sends everybody home. Those under way must have been told to end, or this waits for them.
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
