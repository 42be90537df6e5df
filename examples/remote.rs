//! Probes on a remote service, without a hunt: the entry of `scripts/bench remote`.
//!
//! `remote <git directory> <address> <width> <command>` reads the ids of trees from standard input, runs the command in each, and
//! prints one JSON object: the seconds, the processor time of this process, the calls, the bytes of blobs that were sent, the
//! actions and the shared results, and how the probes ended. Then it runs all probes again and prints the same for this pass, whose
//! results the service has. The first tree is sent before the measurement: a hunt sends the whole project only once.

use idd_base::{Ending, TimeLimits, TreeId};
use idd_world::place::surroundings::Surroundings;
use idd_world::process::{CommandWatch, CommandWords, ProcessGroup};
use idd_world::remote::client::Client;
use idd_world::remote::remote_executor::RemoteExecutor;
use idd_world::remote::{Address, Service};
use idd_world::run::executor::{Executor, PlacedJob, Wish};
use idd_world::run::sandbox::{Commands, ProbeJob, Rebuild};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use std::{env, io};

/// Never interrupts anything.
struct Patient;

impl CommandWatch for Patient {
    fn started(&mut self, _: ProcessGroup) {}

    fn is_interrupted(&self) -> bool {
        false
    }
}

fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Runs the command in all these trees.
fn pass(
    fleet: &mut RemoteExecutor,
    trees: &[TreeId],
    commands: &Arc<Commands>,
    width: usize,
) -> Result<Value, Box<dyn Error>> {
    let counts = |fleet: &RemoteExecutor| {
        let counts = fleet.counts();
        [&counts.n_calls, &counts.n_bytes, &counts.n_executed, &counts.n_shared]
            .map(|count| count.load(Ordering::Relaxed))
    };
    let (begin, begin_cpu, before) = (Instant::now(), cpu(), counts(fleet));
    let mut endings: BTreeMap<String, usize> = BTreeMap::new();
    let mut open = trees.iter();
    let mut n_running = 0;
    loop {
        while n_running < width
            && let Some(tree) = open.next()
        {
            let place = fleet
                .reserve(Wish { tree: *tree, is_reference: false, is_far: true, width })?
                .ok_or("no place is free")?;
            let job = ProbeJob {
                tree: *tree,
                artifact_of: None,
                revision: None,
                exposed_commit: None,
                precheck: None,
                is_clean: false,
                rebuild: Rebuild::Never,
                limits: TimeLimits::both(Duration::from_secs(60)),
                may_share: true,
            };
            let (commands, watch) = (Arc::clone(commands), Box::new(Patient));
            fleet.start(place, PlacedJob { job, commands, watch, known: Box::new(|_| None) });
            n_running += 1;
        }
        if n_running == 0 {
            break;
        }
        let seen = fleet.wait().result?.map(|probed| probed.observation.ending);
        *endings.entry(seen.as_ref().map_or_else(|| "interrupted".to_owned(), Ending::to_string)).or_default() += 1;
        n_running -= 1;
    }
    let after = counts(fleet);
    let [calls, bytes, executed, shared] = [0, 1, 2, 3].map(|index| after[index] - before[index]);
    Ok(serde_json::json!({
        "seconds": begin.elapsed().as_secs_f64(), "cpu_seconds": cpu().saturating_sub(begin_cpu).as_secs_f64(),
        "calls": calls, "bytes": bytes, "executed": executed, "shared": shared, "endings": endings,
    }))
}

fn main() -> Result<(), Box<dyn Error>> {
    const USAGE: &str = "usage: remote <git directory> <address> <width> <command>";
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [directory, address, width, command] = &arguments[..] else { return Err(USAGE.into()) };
    let service = Service {
        address: Address::parse(address)?,
        token_file: None,
        authorities: None,
        identity: None,
        platform: BTreeMap::new(),
        environment: BTreeMap::new(),
    };
    let lines: Vec<String> = io::stdin().lines().collect::<Result<_, _>>()?;
    let trees: Vec<TreeId> = lines.iter().map(|line| line.parse()).collect::<Result<_, _>>()?;
    let commands = Arc::new(Commands {
        fetching: None,
        regeneration: None,
        build: None,
        test: CommandWords::Shell(command.into()),
        artifacts: Vec::new(),
        directory: PathBuf::new(),
        environment: Vec::new(),
        is_home_isolated: false,
        surroundings: Surroundings::default(),
    });
    let map = tempfile::tempdir()?;
    let client = Client::connect(&service, Arc::default())?;
    let mut fleet = RemoteExecutor::new(client, service, [0; 32], directory.into(), map.path());
    let (first, rest) = trees.split_first().ok_or("no tree was given")?;
    let whole = pass(&mut fleet, &[*first], &commands, 1)?;
    let width = width.parse()?;
    let fresh = pass(&mut fleet, rest, &commands, width)?;
    let again = pass(&mut fleet, rest, &commands, width)?;
    fleet.dismiss();
    writeln!(io::stdout().lock(), "{}", serde_json::json!({ "whole": whole, "fresh": fresh, "again": again }))?;
    Ok(())
}
