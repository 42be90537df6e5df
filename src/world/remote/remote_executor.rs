//! The executor of a remote service: a place is a running action.
//!
//! Each probe has a thread, which encodes its tree, sends what the service lacks, and waits for the action. Trouble that can pass
//! is tried again, a bounded number of times; then it is reported by name, and the hunt stops and can be resumed. No trouble is
//! ever an outcome of the test.

use crate::process::CommandWatch;
use crate::remote::action::{Parts, ReturnedAction};
use crate::remote::address::Service;
use crate::remote::client::{Client, Counts, Executed};
use crate::remote::digest::Digest;
use crate::remote::map::DigestMap;
use crate::remote::merkle::{BlobContent, Encoder, WantedBlob};
use crate::remote::transfer::{self, Present, TransferError};
use crate::remote::trouble::{Cure, Trouble};
use crate::repo::object::ObjectReader;
use crate::repo::refusal::{Refusal, split};
use crate::repo::{ConversionNotice, Repository, private};
use crate::run::executor::{Executor, PlaceResult, PlacedJob, Wish};
use crate::run::sandbox::{ProbeJob, Probed, SandboxError};
use idd_base::{Ending, Observation, Stage};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// No call of the protocol tells how many workers there are; a service queues what it cannot run at once.
const USUAL_WIDTH: usize = 8;

/// Runs of one probe, at most, if each ends in trouble that can pass.
const ATTEMPTS: u32 = 4;

/// The parts that all probes share.
struct Shared {
    client: Client,
    service: Service,
    /// The private repository.
    private: PathBuf,
    known: Mutex<KnownObjects>,
}

/// What is known of objects and of the service.
struct KnownObjects {
    map: DigestMap,
    present: Present,
    notices: BTreeSet<ConversionNotice>,
}

struct RemoteProbe {
    /// `None` while the place is free.
    thread: Option<JoinHandle<()>>,
    is_reserved: bool,
}

/// The executor.
pub struct RemoteExecutor {
    shared: Arc<Shared>,
    programs: [u8; 32],
    remote_probes: Vec<RemoteProbe>,
    sender: Sender<PlaceResult>,
    done: Receiver<PlaceResult>,
}

impl RemoteExecutor {
    /// - `client`: a connection to `service`, whose workers have these programs.
    /// - `private`: the private repository.
    /// - `map`: the directory of the stored digests.
    pub fn new(client: Client, service: Service, programs: [u8; 32], private: PathBuf, map: &Path) -> Self {
        let (sender, done) = mpsc::channel();
        let known = KnownObjects { map: DigestMap::open(map), present: Present::default(), notices: BTreeSet::new() };
        let shared = Shared { client, service, private, known: Mutex::new(known) };
        Self { shared: Arc::new(shared), programs, remote_probes: Vec::new(), sender, done }
    }

    /// What was sent and executed so far.
    pub fn counts(&self) -> &Counts {
        &self.shared.client.counts
    }
}

impl Executor for RemoteExecutor {
    fn programs(&self) -> Option<[u8; 32]> {
        Some(self.programs)
    }

    fn usual_width(&self) -> usize {
        USUAL_WIDTH
    }

    fn reserve(&mut self, wish: Wish) -> Result<Option<usize>, SandboxError> {
        let is_free = |remote_probe: &RemoteProbe| remote_probe.thread.is_none() && !remote_probe.is_reserved;
        let n_busy = self.remote_probes.iter().filter(|remote_probe| !is_free(remote_probe)).count();
        if n_busy >= wish.width {
            return Ok(None);
        }
        let place = self.remote_probes.iter().position(is_free).unwrap_or_else(|| {
            self.remote_probes.push(RemoteProbe { thread: None, is_reserved: false });
            self.remote_probes.len() - 1
        });
        self.remote_probes[place].is_reserved = true;
        Ok(Some(place))
    }

    fn directory(&self, _: usize) -> Option<&Path> {
        None
    }

    fn start(&mut self, place: usize, placed_job: PlacedJob) {
        let (shared, sender) = (Arc::clone(&self.shared), self.sender.clone());
        self.remote_probes[place].is_reserved = false;
        self.remote_probes[place].thread = Some(thread::spawn(move || {
            let PlacedJob { job, commands, mut watch, .. } = placed_job;
            watch.starting();
            let parts = Parts { job: &job, commands: &commands, service: &shared.service };
            let result = shared.probe(parts, &*watch);
            // Nobody waits any more if the hunt has ended.
            let _ = sender.send(PlaceResult { place, result });
        }));
    }

    fn poll(&mut self, at_most: Duration) -> Option<PlaceResult> {
        let is_lost = |remote_probe: &RemoteProbe| remote_probe.thread.as_ref().is_some_and(JoinHandle::is_finished);
        let has_lost = self.remote_probes.iter().any(is_lost);
        let Ok(done) = self.done.recv_timeout(if has_lost { Duration::ZERO } else { at_most }) else {
            assert!(!has_lost, "a probe sends its result before it ends");
            return None;
        };
        if let Some(thread) = self.remote_probes[done.place].thread.take() {
            thread.join().expect("a probe does not panic");
        }
        Some(done)
    }

    fn directories(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn notices(&self) -> BTreeSet<ConversionNotice> {
        self.shared.known().notices.clone()
    }

    /// Each action begins from nothing.
    fn spoil(&mut self) {}

    fn dismiss(&mut self) -> bool {
        for remote_probe in self.remote_probes.drain(..) {
            if let Some(thread) = remote_probe.thread {
                thread.join().expect("a probe does not panic");
            }
        }
        true
    }
}

impl Shared {
    fn known(&self) -> MutexGuard<'_, KnownObjects> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn probe(&self, parts: Parts<'_>, watch: &dyn CommandWatch) -> Result<Option<Probed>, SandboxError> {
        let repository = private::open(&self.private)?;
        let mut attempt = 1;
        loop {
            match self.attempt(parts, &repository, watch) {
                Ok(probed) => return Ok(probed),
                Err(TransferError::Repository(error)) => return Err(error.into()),
                Err(TransferError::Service(trouble)) => {
                    if trouble.cure == Cure::None || attempt == ATTEMPTS {
                        let place = self.service.address.to_string();
                        return Err(SandboxError::Remote { place, what: trouble.what });
                    }
                    // What it had may be gone, whatever the trouble.
                    self.known().present = Present::default();
                    attempt += 1;
                }
            }
            if watch.is_interrupted() {
                return Ok(None);
            }
        }
    }

    fn attempt(
        &self,
        parts: Parts<'_>,
        repository: &Repository,
        watch: &dyn CommandWatch,
    ) -> Result<Option<Probed>, TransferError> {
        let begin = Instant::now();
        let job = parts.job;
        let objects = ObjectReader::open(repository)?;
        let (root, mut wanted) = {
            let mut known = self.known();
            let KnownObjects { map, present, notices } = &mut *known;
            present.age();
            let encoded = Encoder::new(&objects, map, &present.digests).root(job.tree);
            match split(encoded)? {
                Err(refusal) => return Ok(Some(probed(self.not_run(job, &refusal)))),
                Ok((root, wanted, new)) => {
                    notices.extend(new);
                    (root, wanted)
                }
            }
        };
        let action = parts.action(root)?;
        let (digest, _) = action.action;
        for (digest, bytes) in [action.action, action.command] {
            if !self.known().present.digests.contains(&digest) {
                wanted.push(WantedBlob { digest, content: BlobContent::Bytes(bytes) });
            }
        }
        let asked: Vec<Digest> = wanted.iter().map(|wanted| wanted.digest).collect();
        let missing = transfer::missing(&self.client, wanted)?;
        let mut is_fresh = !job.may_share;
        // A service that does not have the action has hardly executed it; if it did, it finds the result itself.
        if job.may_share
            && missing.iter().all(|missing| missing.digest != digest)
            && let Some(earlier) = self.client.earlier(digest)?
        {
            match self.observation(earlier, job, begin) {
                Ok(observation) => return Ok(Some(probed(observation))),
                // The same lookup would give the same result without a report, here and below.
                Err(_) => is_fresh = true,
            }
        }
        transfer::send(&self.client, &objects, &missing)?;
        self.known().present.digests.extend(asked);
        loop {
            match self.client.execute(digest, is_fresh, &|| watch.is_interrupted())? {
                Executed::Cancelled => return Ok(None),
                Executed::Returned(returned, is_shared) => match self.observation(returned, job, begin) {
                    Err(_) if is_shared && !is_fresh => is_fresh = true,
                    observed => return Ok(Some(probed(observed?))),
                },
            }
        }
    }

    /// The observation of an action that was begun at this time, which counts if the service does not say how long it took.
    fn observation(
        &self,
        mut returned: ReturnedAction,
        job: &ProbeJob,
        begin: Instant,
    ) -> Result<Observation, Trouble> {
        if returned.duration.is_zero() {
            returned.duration = begin.elapsed();
        }
        Ok(Observation { place: Some(self.service.address.to_string()), ..returned.observation(job)? })
    }

    fn not_run(&self, job: &ProbeJob, refusal: &Refusal) -> Observation {
        Observation {
            stage: Stage::Test,
            ending: Ending::NotRun(refusal.reason()),
            duration: Duration::ZERO,
            limit: job.limits.test,
            output: format!("git-idd: {refusal}\n"),
            reported: String::new(),
            is_clean: true,
            is_tampered: false,
            place: Some(self.service.address.to_string()),
        }
    }
}

fn probed(observation: Observation) -> Probed {
    Probed { observation, product: None, is_same_product: false, stale: None, removed: Vec::new(), artifact: None }
}
