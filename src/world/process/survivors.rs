//! Finds and kills the processes that outlive a command.
//!
//! This process becomes a subreaper: a descendant whose parents have ended becomes its child, whatever its group or
//! session. So all remaining processes of a finished command are below this process. With several probes at once,
//! processes are assigned by (in this order) their session, the variable [`MARKER`] in their environment, and their
//! age; see [`Survivors::end_all`].

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use rustix::process::{Pid, Signal, WaitOptions};

use crate::system;
use crate::system::process::Process;

/// The environment variable that marks every process of a probe: `<pid of git-idd>-<number of the probe>`.
pub(super) const MARKER: &str = "IDD_PROBE";

/// The maximum time to wait for killed processes to end. It is reached only if the kernel or a privileged program
/// refuses.
const MAX_PATIENCE: Duration = Duration::from_secs(3);

/// A process, with the group and session that it leads if it is a probe's first one; stable across processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProcessGroup {
    /// Its number, which the system may give to another process later.
    pub pid: i32,
    /// Its start time, in clock ticks since the machine was started.
    pub start_time: u64,
}

/// The processes of one running probe; known to all other probes of this process until dropped.
#[derive(Debug)]
pub(super) struct Survivors {
    pub(super) group: ProcessGroup,
    marker: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct RunningProcesses {
    group: ProcessGroup,
    marker: String,
}

static RUNNING: Mutex<Vec<RunningProcesses>> = Mutex::new(Vec::new());

fn running() -> MutexGuard<'static, Vec<RunningProcesses>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Survivors {
    /// Starts a probe's first process with `spawn`, which receives the value of [`MARKER`].
    ///
    /// Only one at a time: so no other probe treats the new process as an orphan, and no newly written program is open
    /// for writing in a child of another thread before its `exec` ("text file busy").
    pub(super) fn start(spawn: impl FnOnce(&str) -> io::Result<Pid>) -> io::Result<(Pid, Self)> {
        static SUBREAPER: Once = Once::new();
        static N_PROBES: AtomicU64 = AtomicU64::new(0);
        SUBREAPER.call_once(|| {
            // Without it, processes that left their session cannot be found; all others are killed anyway.
            let _ = system::adopt_orphans();
        });

        let number = N_PROBES.fetch_add(1, Ordering::Relaxed);
        let marker = format!("{}-{number}", std::process::id());
        let mut running = running();
        let child = spawn(&marker)?;
        let pid = child.as_raw_pid();
        let start_time = system::read(pid).map_or(0, |process| process.start_time);
        let group = ProcessGroup { pid, start_time };
        running.push(RunningProcesses { group, marker: marker.clone() });
        Ok((child, Self { group, marker }))
    }

    /// Kills everything that this probe started and that is still alive, and reaps it.
    ///
    /// The first process must have ended; its starter reaps it. An orphan that cannot be assigned (it cleared its
    /// environment and created its own session) is killed with the last probe that is old enough to have started it.
    pub(super) fn end_all(&self) {
        let deadline = Instant::now() + MAX_PATIENCE;
        let mut pause = Duration::from_micros(200);
        let mut n_quiet = 0;
        // Twice, because a list of children can miss one if another ends while it is read.
        while n_quiet < 2 && Instant::now() < deadline {
            if self.sweep() == 0 {
                n_quiet += 1;
            } else {
                n_quiet = 0;
                thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(10));
            }
        }
    }

    /// Signals all living processes of this probe; returns their number.
    fn sweep(&self) -> usize {
        let running = running();
        let own = RunningProcesses { group: self.group, marker: self.marker.clone() };
        let mut found = Vec::new();
        for orphan in orphans(&running) {
            if orphan.is_zombie && reap(orphan.pid) {
                continue;
            }
            let tree = tree_of(orphan);
            let is_ours = match tree.iter().find_map(|process| claimant(process, &running)) {
                Some(claimant) => claimant == &own,
                None => is_nobody_elses(orphan.start_time, &own, &running),
            };
            if is_ours {
                found.extend(tree);
            }
        }
        end_groups(&found);
        found.len()
    }
}

/// Reaps orphans that have ended, while probes go on: each would take a process number until their end.
pub(super) fn reap_orphans() {
    let running = running();
    for orphan in orphans(&running).into_iter().filter(|orphan| orphan.is_zombie) {
        reap(orphan.pid);
    }
}

impl Drop for Survivors {
    fn drop(&mut self) {
        running().retain(|probe| probe.marker != self.marker);
    }
}

/// The children of this process that it did not start itself: they have their own session and are no probe's first
/// process.
fn orphans(running: &[RunningProcesses]) -> Vec<Process> {
    let own_session = own_session();
    system::children(rustix::process::getpid().as_raw_pid())
        .into_iter()
        .filter_map(system::read)
        .filter(|process| process.session != own_session)
        // By number alone: the system reuses a number only after the starter of the probe has reaped its first process.
        .filter(|process| !running.iter().any(|probe| probe.group.pid == process.pid))
        .collect()
}

/// The session of this process: 0 if its leader is outside of the process namespace, as in many containers.
///
/// Read from the process table, since `getsid` cannot express 0 in rustix.
fn own_session() -> i32 {
    system::read(rustix::process::getpid().as_raw_pid()).map_or(0, |process| process.session)
}

/// `root` and everything below it.
fn tree_of(root: Process) -> Vec<Process> {
    let mut tree = vec![root];
    let mut n_visited = 0;
    while let Some(process) = tree.get(n_visited) {
        n_visited += 1;
        let children = system::children(process.pid);
        tree.extend(children.into_iter().filter_map(system::read));
    }
    tree
}

fn claimant<'a>(process: &Process, running: &'a [RunningProcesses]) -> Option<&'a RunningProcesses> {
    running.iter().find(|probe| probe.group.pid == process.session).or_else(|| {
        let marker = system::environment_value(process.pid, MARKER)?;
        running.iter().find(|probe| probe.marker == marker)
    })
}

/// Whether the orphan is not older than the probe, and every other running probe began after the orphan.
///
/// Older orphans are children of a process that became this one by `exec`: no probe started them.
fn is_nobody_elses(orphan_start_time: u64, own: &RunningProcesses, running: &[RunningProcesses]) -> bool {
    orphan_start_time >= own.group.start_time
        && running.iter().filter(|probe| *probe != own).all(|probe| orphan_start_time < probe.group.start_time)
}

fn identity(process: &Process) -> ProcessGroup {
    ProcessGroup { pid: process.pid, start_time: process.start_time }
}

fn reap(pid: i32) -> bool {
    Pid::from_raw(pid)
        .is_some_and(|pid| matches!(rustix::process::waitpid(Some(pid), WaitOptions::NOHANG), Ok(Some(_)) | Err(_)))
}

/// Kills by group, which includes members that are being forked at this moment.
fn end_groups(processes: &[Process]) {
    let mut groups: Vec<i32> = processes.iter().map(|process| process.group).collect();
    groups.sort_unstable();
    groups.dedup();
    // For the system, "group 1" means every process.
    for group in groups.into_iter().filter(|group| *group > 1).filter_map(Pid::from_raw) {
        // Processes that have ended or are privileged are left.
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
}

/// This process, to be recorded for [`kill_leftovers_of`].
pub fn this_process() -> ProcessGroup {
    let pid = rustix::process::getpid().as_raw_pid();
    ProcessGroup { pid, start_time: system::read(pid).map_or(0, |process| process.start_time) }
}

/// Whether the first process of a group runs.
pub fn is_alive(group: ProcessGroup) -> bool {
    system::read(group.pid).is_some_and(|process| identity(&process) == group && !process.is_zombie)
}

/// Kills the rest of a probe whose `git-idd` was killed; returns whether there was anything.
///
/// - `group`: the argument of [`CommandWatch::started`](crate::process::command::CommandWatch::started). If its number now belongs to another
///   process (the start time differs), nothing is done.
/// - The first process dies together with its `git-idd`. The rest of its session is recognised by number and marker,
///   processes outside of the session by the same marker.
///
/// Returns when they have ended, after at most 3 s.
pub fn kill_leftover(group: ProcessGroup) -> bool {
    let processes = system::all();
    let leader = processes.iter().find(|process| process.pid == group.pid);
    if leader.is_some_and(|leader| leader.start_time != group.start_time) {
        return false;
    }
    let in_session: Vec<&Process> = processes
        .iter()
        .filter(|process| process.session == group.pid && process.start_time >= group.start_time)
        .filter(|process| leader.is_some() || system::environment_value(process.pid, MARKER).is_some())
        .collect();
    let markers: Vec<String> =
        in_session.iter().filter_map(|process| system::environment_value(process.pid, MARKER)).collect();
    end_and_wait(|process| {
        in_session.iter().any(|known| identity(known) == identity(process))
            || system::environment_value(process.pid, MARKER).is_some_and(|marker| markers.contains(&marker))
    })
}

/// Kills everything that any probe of a killed `git-idd` left, including daemons that left their session.
///
/// - `owner`: the value of [`this_process`] there. If it is still running, nothing is done.
///
/// Returns whether there was anything, when it has ended, after at most 3 s.
pub fn kill_leftovers_of(owner: ProcessGroup) -> bool {
    let is_owner_alive = is_alive(owner);
    let prefix = format!("{}-", owner.pid);
    !is_owner_alive
        && end_and_wait(|process| {
            process.start_time >= owner.start_time
                && system::environment_value(process.pid, MARKER).is_some_and(|marker| marker.starts_with(&prefix))
        })
}

fn end_and_wait(is_leftover: impl Fn(&Process) -> bool) -> bool {
    let own_session = own_session();
    let deadline = Instant::now() + MAX_PATIENCE;
    let mut has_found = false;
    loop {
        let mut leftovers = system::all();
        leftovers.retain(|process| !process.is_zombie && process.session != own_session && is_leftover(process));
        if leftovers.is_empty() || Instant::now() > deadline {
            return has_found;
        }
        has_found = true;
        end_groups(&leftovers);
        thread::sleep(Duration::from_millis(2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(number: i32, start_time: u64) -> RunningProcesses {
        RunningProcesses { group: ProcessGroup { pid: number, start_time }, marker: format!("1-{number}") }
    }

    #[test]
    fn an_unclaimed_orphan_belongs_to_the_last_probe_that_is_older_than_it() {
        let running = [probe(10, 100), probe(11, 200), probe(12, 300)];
        assert!(is_nobody_elses(150, &running[0], &running));
        assert!(!is_nobody_elses(250, &running[0], &running));
        assert!(!is_nobody_elses(200, &running[0], &running), "ticks are coarse: equal is not older");
        assert!(is_nobody_elses(999, &running[0], &running[..1]));
    }

    #[test]
    fn a_session_or_nothing_claims_a_process() {
        let running = [probe(10, 100), probe(11, 200)];
        let process = |session| Process { pid: 0, parent: 1, group: 5, session, start_time: 0, is_zombie: false };
        assert_eq!(claimant(&process(11), &running), Some(&running[1]));
        assert_eq!(claimant(&process(12), &running), None);
    }

    #[test]
    fn kill_leftover_with_a_wrong_start_time_does_nothing() {
        let own = this_process();
        assert!(!kill_leftover(ProcessGroup { start_time: own.start_time + 1, ..own }));
        assert!(!kill_leftover(ProcessGroup { pid: i32::MAX, start_time: 0 }));
    }

    #[test]
    fn kill_leftovers_of_a_living_owner_does_nothing() {
        assert!(!kill_leftovers_of(this_process()));
    }
}
