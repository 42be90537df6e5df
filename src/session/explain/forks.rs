//! Forks of the failing program: a tree of parked processes, and the socket that they call.

use crate::{Failure, Interrupt};
use idd_explain::failure::RunEnding;
use idd_explain::native::causality::{ForkOrder, ForkRun, Forks};
use idd_world::process::CommandWatch as _;
use idd_world::record::control::{ForkTest, ParkControl, Parked, TestEnding};
use std::io;
use std::time::{Duration, Instant};

/// Processes that are kept parked besides the first.
const N_PARKED: usize = 6;

/// A process that does not come to its place in this time never does.
const PARKING_LIMIT: Duration = Duration::from_secs(120);

/// Time for one fork; what runs longer does not end.
pub const FORK_LIMIT: Duration = Duration::from_secs(20);

/// What is said of a process that does not come to its place.
const LOST: &str = "in a fork, the program does not get as far as before: its runs differ, it waits for something, or \
                    it closes the connection that controls it";

/// What is said of a process that is gone.
const GONE: &str = "the failing program was killed while it was stopped: by a time limit in the test, perhaps, or because \
                    there is no memory left";

/// The failing program, parked before its first segment, and copies of it parked later.
pub struct ForkServer {
    control: ParkControl,
    start: Parked,
    /// The program that the test started, if `start` is a copy of it: it waits as long as its connection is open.
    original: Option<Parked>,
    later: Vec<(u64, Parked)>,
    stop: ForkStop,
}

/// When no further fork is run.
#[derive(Debug, Clone)]
struct ForkStop {
    interrupt: Interrupt,
    deadline: Option<Instant>,
}

impl ForkStop {
    fn has_come(&self) -> bool {
        self.interrupt.is_interrupted() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

impl ForkServer {
    /// Takes a program that is parked at its beginning.
    ///
    /// What the test started may be watched: `timeout` and test runners kill a program that takes long. So a copy of it in a
    /// session of its own is asked, if there can be one; the program itself waits, or is killed.
    pub fn new(control: ParkControl, start: Parked, interrupt: Interrupt) -> Self {
        let mut server =
            Self { control, start, original: None, later: Vec::new(), stop: ForkStop { interrupt, deadline: None } };
        let copied = server.start.spawn(1, &server.control, PARKING_LIMIT, &|| server.stop.has_come());
        if let Ok(Some(copy)) = copied
            && !copy.is_bound
        {
            server.original = Some(std::mem::replace(&mut server.start, copy));
        }
        server
    }

    /// From now on, forks are run for so long.
    pub fn limit(&mut self, budget: Option<Duration>) {
        // What cannot be counted is no limit.
        self.stop.deadline = budget.and_then(|budget| Instant::now().checked_add(budget));
    }

    /// The program at its beginning.
    pub fn start(&mut self) -> &mut Parked {
        &mut self.start
    }

    /// A process that is parked where so many records were written.
    fn parked(&mut self, n_records: u64) -> io::Result<&mut Parked> {
        if let Some(index) = self.later.iter().position(|(at, _)| *at == n_records) {
            let found = self.later.remove(index);
            self.later.push(found);
        } else {
            let is_before = |(at, parked): &&mut (u64, Parked)| *at < n_records && !parked.is_bound;
            let nearest = self.later.iter_mut().filter(is_before).max_by_key(|(at, _)| *at);
            let from = nearest.map_or(&mut self.start, |(_, parked)| parked);
            // The segment that begins next is counted from 1.
            let spawned = from.spawn(n_records + 1, &self.control, PARKING_LIMIT, &|| self.stop.has_come());
            let parked = match spawned {
                Ok(Some(parked)) => parked,
                Ok(None) => return Err(io::Error::other(LOST)),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(io::Error::other(LOST)),
                Err(error) => return Err(error),
            };
            if self.later.len() == N_PARKED {
                self.later.remove(0);
            }
            self.later.push((n_records, parked));
        }
        let (_, parked) = self.later.last_mut().ok_or(io::ErrorKind::NotFound)?;
        Ok(parked)
    }
}

/// What is said where the program cannot be asked.
pub fn failure(error: &(dyn std::error::Error + 'static)) -> Failure {
    let source = error.downcast_ref::<io::Error>().map(io::Error::kind);
    let is_gone = source.is_some_and(|kind| {
        matches!(kind, io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof)
    });
    let failure = if is_gone { Failure::error(GONE) } else { Failure::from_error(error) };
    failure.with_hint("`git idd record` and `git idd trace` show what it does up to that point")
}

/// A test that changes nothing, and tells its records.
pub fn whole(budget: u64, limit: Duration) -> ForkTest {
    ForkTest {
        patches: Vec::new(),
        stop: None,
        switch: None,
        dumps: Vec::new(),
        is_traced: true,
        from: 0,
        budget,
        limit,
    }
}

/// How a test ended, as an ending of the program; `None` if it could not run.
pub fn ending(ended: TestEnding) -> Option<RunEnding> {
    match ended {
        TestEnding::Exit(code) => Some(RunEnding::Exit(code)),
        TestEnding::Signal(signal) => Some(RunEnding::Signal(signal)),
        TestEnding::Reached | TestEnding::Budget | TestEnding::Time => Some(RunEnding::Endless),
        TestEnding::Refused => None,
    }
}

impl Forks for ForkServer {
    type Error = io::Error;

    fn run(&mut self, order: &ForkOrder) -> io::Result<ForkRun> {
        if self.stop.has_come() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let stop = self.stop.clone();
        let parked = self.parked(order.n_records)?;
        let mut test = ForkTest { patches: order.patches.clone(), ..whole(order.budget, FORK_LIMIT) };
        let reply = if parked.is_bound {
            test.from = order.n_records + 1;
            self.start.test_until(&test, &|| stop.has_come())?
        } else {
            parked.test_until(&test, &|| stop.has_come())?
        };
        Ok(ForkRun { ending: ending(reply.ended), records: reply.records })
    }

    fn is_stopped(&self) -> bool {
        self.stop.has_come()
    }
}
