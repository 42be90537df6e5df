//! What a service can do, found out with a few small actions.

use crate::remote::action;
use crate::remote::address::Service;
use crate::remote::client::{Capabilities, Client};
use crate::remote::toolchain::Toolchain;
use crate::remote::trouble::Trouble;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The time limit of a small action.
const LIMIT: Duration = Duration::from_secs(60);

/// The time limit of an action that takes longer.
const SHORT: Duration = Duration::from_secs(1);

/// How late the end of an action may be that has reached its limit.
const GRACE: Duration = Duration::from_secs(20);

/// When a running action is cancelled.
const CANCEL_AFTER: Duration = Duration::from_millis(500);

/// The results.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceCheck {
    /// What the service says of itself.
    pub capabilities: Capabilities,
    /// The time of the connection and of the first answer.
    pub connected: Duration,
    /// The time of one action, without the cache.
    pub action: Duration,
    /// The time of the same action again; `None` if its result was not in the cache.
    pub cached: Option<Duration>,
    /// After which time an action with a limit of 1 s ended; `None` if the limit did not end it.
    pub limited: Option<Duration>,
    /// Whether the service took the order to stop a running action.
    pub cancels: bool,
    /// The programs of a worker.
    pub toolchain: Toolchain,
}

/// Checks a service.
///
/// Cost: six actions, and about three seconds. Errors: it cannot be reached, or cannot run an action.
pub fn check(service: &Service, interrupt: Arc<AtomicBool>) -> Result<ServiceCheck, Trouble> {
    let begin = Instant::now();
    let client = Client::connect(service, interrupt)?;
    let connected = begin.elapsed();
    let run = |script: &str, limit, is_fresh| action::run_script(&client, service, script, limit, is_fresh);
    let begin = Instant::now();
    let greeting = run("echo ready", LIMIT, true)?;
    let action = begin.elapsed();
    if greeting.output != b"ready\n" {
        return Err(Trouble::lasting("a worker ran `echo ready`, and printed something else"));
    }
    let script = format!("echo {}", client.invocation());
    run(&script, LIMIT, false)?;
    let n_shared = client.n_shared();
    let begin = Instant::now();
    run(&script, LIMIT, false)?;
    let cached = (client.n_shared() > n_shared).then(|| begin.elapsed());
    let begin = Instant::now();
    let late = action::start_script(&client, service, "sleep 60", SHORT, &|| begin.elapsed() > GRACE)?;
    let limited = late.filter(|late| late.is_late).map(|_| begin.elapsed());
    let begin = Instant::now();
    action::start_script(&client, service, "sleep 30", LIMIT, &|| begin.elapsed() > CANCEL_AFTER)?;
    Ok(ServiceCheck {
        capabilities: client.capabilities.clone(),
        connected,
        action,
        cached,
        limited,
        cancels: client.cancels() == Some(true),
        toolchain: Toolchain::ask(&client, service)?,
    })
}
