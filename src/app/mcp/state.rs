//! What all requests share.

use crate::mcp::allowed::Allowed;
use crate::mcp::jobs::{JobEnd, JobKind, JobMessages, Jobs, RequestedJob};
use idd_session::mend::mend;
use idd_session::{Context, Failure};
use idd_world::repo::Location;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Calls that work at once; more calls wait for one of them to end.
const MAX_AT_WORK: usize = 8;

/// Calls that wait for a job at once; more calls are answered without waiting.
const MAX_WAITING: usize = 32;

/// The calls that work, and those that wait for a job, which is no work.
#[derive(Default)]
struct CallCounts {
    n_at_work: usize,
    n_waiting: usize,
}

/// What all requests share.
pub struct ServerState {
    /// The repository.
    pub location: Location,
    /// The context of the process.
    pub context: Context,
    /// What may run.
    pub allowed: Allowed,
    /// What runs.
    pub jobs: Arc<Jobs>,
    n_calls: AtomicUsize,
    calls: Mutex<CallCounts>,
    changed: Condvar,
}

impl ServerState {
    /// A state in which nothing runs.
    pub fn new(location: Location, context: Context, allowed: Allowed) -> Self {
        Self {
            location,
            context,
            allowed,
            jobs: Arc::default(),
            n_calls: AtomicUsize::new(0),
            calls: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Starts a job; `work` gets a context of its own, in which only the job's flag stops it.
    ///
    /// Errors: another one runs.
    pub fn start(
        &self,
        kind: JobKind,
        hunt: Option<String>,
        work: impl FnOnce(&Location, &Context, &mut JobMessages) -> Result<JobEnd, Failure> + Send + 'static,
    ) -> Result<u64, Failure> {
        let (location, context) = (self.location.clone(), self.context.clone());
        let mended = move |heard: &mut JobMessages, interrupt: Arc<AtomicBool>| {
            mend(&location, true, heard)?;
            work(&location, &Context { interrupt: Some(interrupt.into()), ..context }, heard)
        };
        self.jobs.start(kind, hunt, Box::new(mended))
    }

    fn calls(&self) -> MutexGuard<'_, CallCounts> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The calls, once there is a place for one more that works.
    fn with_place(&self) -> MutexGuard<'_, CallCounts> {
        let is_full = |calls: &mut CallCounts| calls.n_at_work >= MAX_AT_WORK;
        self.changed.wait_while(self.calls(), is_full).unwrap_or_else(PoisonError::into_inner)
    }

    /// Does the work of a call, when there is a place for it.
    pub fn work<T>(&self, work: impl FnOnce() -> T) -> T {
        /// A call that works.
        struct Working<'s>(&'s ServerState);
        impl Drop for Working<'_> {
            fn drop(&mut self) {
                self.0.calls().n_at_work -= 1;
                self.0.changed.notify_one();
            }
        }
        self.with_place().n_at_work += 1;
        let _working = Working(self);
        work()
    }

    /// Waits for a job, as [`Jobs::wait`] does. Only for the work of a call, which has no place in the meantime.
    pub fn wait(&self, number: u64, time: Duration, is_wanted: impl Fn(&RequestedJob) -> bool) -> Option<RequestedJob> {
        let mut calls = self.calls();
        if calls.n_waiting >= MAX_WAITING {
            drop(calls);
            return self.jobs.wait(number, Duration::ZERO, is_wanted);
        }
        calls.n_waiting += 1;
        calls.n_at_work -= 1;
        drop(calls);
        self.changed.notify_one();
        let job = self.jobs.wait(number, time, is_wanted);
        let mut calls = self.with_place();
        calls.n_at_work += 1;
        calls.n_waiting -= 1;
        job
    }

    /// The number of calls that are not answered yet.
    pub fn n_calls(&self) -> usize {
        self.n_calls.load(Ordering::SeqCst)
    }

    /// Counts a call until the result is dropped.
    pub fn called(self: &Arc<Self>) -> OpenCall {
        self.n_calls.fetch_add(1, Ordering::SeqCst);
        OpenCall(Arc::clone(self))
    }
}

/// A call that is not answered yet.
pub struct OpenCall(Arc<ServerState>);

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.0.n_calls.fetch_sub(1, Ordering::SeqCst);
    }
}
