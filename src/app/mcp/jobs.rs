//! What runs in the background: a hunt, an explanation or a recording, one at a time.

use idd_base::CommitId;
use idd_report::{Report, Status, Terminal, Untrusted};
use idd_session::{Failure, Talk};
use serde_json::Value;
use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{panic, thread};

/// Sentences that are kept.
const MAX_SAID: usize = 20;

/// Bytes of a sentence that are kept.
const MAX_SENTENCE: usize = 300;

/// How long a new job waits for the end of one that was asked to stop.
const ENDING: Duration = Duration::from_secs(10);

/// The kind of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    /// It hunts.
    Hunt,
    /// It explains the finding of a hunt.
    Explanation,
    /// It records a test.
    Recording,
    /// It judges a fix.
    Trial,
    /// It shows the next revision that is to be judged.
    Judging,
}

impl JobKind {
    /// With its article.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hunt => "a hunt",
            Self::Explanation => "an explanation",
            Self::Recording => "a recording",
            Self::Trial => "the trial of a fix",
            Self::Judging => "a hunt by hand",
        }
    }
}

/// The result of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobEnd {
    /// For the client, escaped.
    pub text: String,
    /// The same as JSON, where the tool has such results.
    pub object: Option<Value>,
}

impl From<String> for JobEnd {
    fn from(text: String) -> Self {
        Self { text, object: None }
    }
}

/// A job, as a request sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedJob {
    /// Its number, from 1.
    pub number: u64,
    /// Its kind.
    pub kind: JobKind,
    /// The hunt that it is about, once that is known.
    pub hunt: Option<String>,
    /// What it said last, one sentence each, escaped.
    pub said: VecDeque<String>,
    /// How many commits it proved.
    pub n_proved: u64,
    /// Its result; `None` while it runs.
    pub ended: Option<Result<JobEnd, Failure>>,
}

impl RequestedJob {
    /// Whether it runs.
    pub fn is_running(&self) -> bool {
        self.ended.is_none()
    }

    /// What it does, for a sentence: `a hunt (mws678wi)`.
    pub fn name(&self) -> String {
        let hunt = self.hunt.as_ref().map(|hunt| format!(" ({hunt})")).unwrap_or_default();
        format!("{}{hunt}", self.kind.name())
    }
}

#[derive(Default)]
struct JobBoard {
    last: Option<RequestedJob>,
    interrupt: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// Whether nothing new starts, and nobody waits any longer.
    is_over: bool,
}

/// The job that runs, or ran last.
#[derive(Default)]
pub struct Jobs {
    board: Mutex<JobBoard>,
    changed: Condvar,
}

/// What a job does.
pub type JobWork = Box<dyn FnOnce(&mut JobMessages, Arc<AtomicBool>) -> Result<JobEnd, Failure> + Send>;

impl Jobs {
    fn board(&self) -> MutexGuard<'_, JobBoard> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The job that runs, or ran last.
    pub fn last(&self) -> Option<RequestedJob> {
        self.board().last.clone()
    }

    /// Starts a job; returns its number.
    ///
    /// - `work`: what it does; it stops if the flag is set.
    ///
    /// Errors: another one runs. The end of one that was asked to stop is waited for.
    pub fn start(self: &Arc<Self>, kind: JobKind, hunt: Option<String>, work: JobWork) -> Result<u64, Failure> {
        let board = self.board();
        let is_stopping = |board: &mut JobBoard| {
            let is_asked = board.interrupt.load(Ordering::SeqCst) && !board.is_over;
            is_asked && board.last.as_ref().is_some_and(RequestedJob::is_running)
        };
        let ended = self.changed.wait_timeout_while(board, ENDING, is_stopping);
        let mut board = ended.unwrap_or_else(PoisonError::into_inner).0;
        if let Some(job) = board.last.as_ref().filter(|job| job.is_running()) {
            return Err(Failure::error(format!("{} runs already; one thing runs at a time", job.name()))
                .with_hint("`hunt_status` waits for it, `hunt_cancel` stops it"));
        }
        if board.is_over {
            return Err(Failure::new(Status::Interrupted, "the server ends"));
        }
        let number = board.last.as_ref().map_or(0, |job| job.number) + 1;
        let interrupt = Arc::new(AtomicBool::new(false));
        let mut heard = JobMessages(Arc::clone(self));
        let flag = Arc::clone(&interrupt);
        let run = move || {
            let done = panic::catch_unwind(AssertUnwindSafe(|| work(&mut heard, flag)));
            let done = done.unwrap_or_else(|_| {
                Err(Failure::error("the job cannot go on; the server has printed the reason to stderr"))
            });
            heard.0.change(|job| job.ended = Some(done));
        };
        let thread = thread::Builder::new().name(format!("job {number}")).spawn(run);
        board.thread = Some(thread.map_err(|error| Failure::from_error(&error))?);
        let said = VecDeque::new();
        board.last = Some(RequestedJob { number, kind, hunt, said, n_proved: 0, ended: None });
        board.interrupt = interrupt;
        Ok(number)
    }

    /// Waits until a job is as wanted, has ended, or the time is over; returns it as it is then.
    ///
    /// - `number`: the job. If another one has begun, `None` is returned.
    pub fn wait(&self, number: u64, time: Duration, is_wanted: impl Fn(&RequestedJob) -> bool) -> Option<RequestedJob> {
        let until = Instant::now() + time;
        let mut board = self.board();
        loop {
            let job = board.last.as_ref().filter(|job| job.number == number)?;
            let left = until.saturating_duration_since(Instant::now());
            if !job.is_running() || is_wanted(job) || left.is_zero() || board.is_over {
                return Some(job.clone());
            }
            board = self.changed.wait_timeout(board, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Asks what runs to stop; returns it, or `None` if nothing runs.
    pub fn cancel(&self) -> Option<RequestedJob> {
        let board = self.board();
        let job = board.last.clone().filter(RequestedJob::is_running)?;
        board.interrupt.store(true, Ordering::SeqCst);
        Some(job)
    }

    /// Nothing new starts, nobody waits any longer, and what runs is asked to stop.
    pub fn leave(&self) {
        let mut board = self.board();
        board.is_over = true;
        board.interrupt.store(true, Ordering::SeqCst);
        drop(board);
        self.changed.notify_all();
    }

    /// The same, and waits until nothing runs.
    pub fn end(&self) {
        self.leave();
        let thread = self.board().thread.take();
        if let Some(thread) = thread {
            // Its panics were caught.
            let _ = thread.join();
        }
    }

    fn change(&self, change: impl FnOnce(&mut RequestedJob)) {
        if let Some(job) = self.board().last.as_mut() {
            change(job);
        }
        self.changed.notify_all();
    }
}

/// Keeps what a job says.
pub struct JobMessages(Arc<Jobs>);

impl JobMessages {
    /// The hunt of the job is known now.
    pub fn is_hunt(&self, id: &str) {
        self.0.change(|job| job.hunt = Some(id.to_owned()));
    }
}

impl Talk for JobMessages {
    fn say(&mut self, sentence: &str) {
        let sentence = Terminal.line(&Untrusted::from(sentence).cut(MAX_SENTENCE));
        self.0.change(|job| {
            job.said.push_back(sentence);
            if job.said.len() > MAX_SAID {
                job.said.pop_front();
            }
        });
    }

    fn proved(&mut self, _report: &Report, _commit: CommitId) {
        self.0.change(|job| job.n_proved += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    /// A job that runs until it is stopped.
    #[expect(clippy::needless_pass_by_value, clippy::unnecessary_wraps, reason = "the form of each job")]
    fn endless(heard: &mut JobMessages, interrupt: Arc<AtomicBool>) -> Result<JobEnd, Failure> {
        heard.say("It runs.");
        while !interrupt.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        Ok("stopped".to_owned().into())
    }

    #[test]
    fn one_job_runs_at_a_time_and_can_be_stopped() {
        let jobs = Arc::new(Jobs::default());
        let first = jobs.start(JobKind::Hunt, Some("a".to_owned()), Box::new(endless)).unwrap();
        let job = jobs.wait(first, LONG, |job| !job.said.is_empty()).unwrap();
        assert_eq!((job.name(), job.is_running()), ("a hunt (a)".to_owned(), true));
        let failure = jobs.start(JobKind::Recording, None, Box::new(endless)).unwrap_err();
        assert_eq!(failure.message, "a hunt (a) runs already; one thing runs at a time".into());
        assert!(jobs.wait(first, Duration::ZERO, |_| false).unwrap().is_running());
        assert_eq!(jobs.cancel().unwrap().number, first);
        assert_eq!(jobs.wait(first, LONG, |_| false).unwrap().ended, Some(Ok("stopped".to_owned().into())));
        assert_eq!(jobs.cancel(), None);
        let second = jobs.start(JobKind::Recording, None, Box::new(|_, _| panic!("a test"))).unwrap();
        assert!(matches!(jobs.wait(second, LONG, |_| false).unwrap().ended, Some(Err(_))));
        assert_eq!(jobs.wait(first, LONG, |_| false), None);
    }

    #[test]
    fn at_the_end_nothing_runs_and_nothing_starts() {
        let jobs = Arc::new(Jobs::default());
        jobs.start(JobKind::Explanation, None, Box::new(endless)).unwrap();
        jobs.end();
        assert!(!jobs.last().unwrap().is_running());
        assert_eq!(jobs.start(JobKind::Hunt, None, Box::new(endless)).unwrap_err().status, Status::Interrupted);
    }
}
