//! Where the probes of a hunt run: in worktrees of this machine, or on a remote service.

use crate::plan::Plan;
use crate::sandboxes::failed;
use crate::{Failure, Talk};
#[cfg(feature = "remote")]
use idd_report::Status;
use idd_world::remote::Service;
use idd_world::repo::{Location, private};
use idd_world::run::executor::Executor;
use idd_world::run::kept_executor::KeptExecutor;
use idd_world::run::local_executor::LocalExecutor;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
#[cfg(feature = "remote")]
use std::sync::atomic::Ordering;

/// The executor of a hunt.
///
/// - `root`: the directory of its sandboxes.
/// - `kept_executor`: the workers of this machine, if they are kept from hunt to hunt.
pub fn executor(
    plan: &Plan,
    root: &Path,
    kept_executor: Option<&KeptExecutor>,
    location: &Location,
    interrupt: &Arc<AtomicBool>,
    talk: &mut dyn Talk,
) -> Result<Box<dyn Executor>, Failure> {
    let private = private::private_directory(&location.idd_directory());
    if plan.order.test.remote.is_none() && plan.order.effort.local_jobs > Some(0) {
        talk.say("`--local-jobs` has no effect: no remote service is named (`--remote`).");
    }
    match (&plan.remote, kept_executor) {
        (None, Some(kept_executor)) => Ok(Box::new(kept_executor.lend().map_err(|error| failed(root, &error))?)),
        (None, None) => Ok(Box::new(LocalExecutor::new(root.to_owned(), private, plan.bad))),
        (Some(service), _) => {
            let effort = &plan.order.effort;
            let near = effort.local_jobs.map(|n_near| n_near.min(effort.jobs.unwrap_or(n_near)));
            let near = near.filter(|n_near| *n_near > 0);
            let near =
                near.map(|n_near| (LocalExecutor::new(root.to_owned(), private.clone(), plan.bad), n_near as usize));
            remote(service, near, private, location, interrupt, talk)
        }
    }
}

/// The workers of this machine, and how many of them may be at work beside a service.
type Near = Option<(LocalExecutor, usize)>;

/// - `near`: used only if this machine has the programs of the service's workers.
#[cfg(feature = "remote")]
fn remote(
    service: &Service,
    near: Near,
    private: PathBuf,
    location: &Location,
    interrupt: &Arc<AtomicBool>,
    talk: &mut dyn Talk,
) -> Result<Box<dyn Executor>, Failure> {
    use crate::Interrupt;
    use idd_base::count;
    use idd_report::{Terminal, Untrusted};
    use idd_world::remote::client::Client;
    use idd_world::remote::remote_executor::RemoteExecutor;
    use idd_world::remote::toolchain::Toolchain;
    use idd_world::run::executor_pair::ExecutorPair;
    use sha2::{Digest as _, Sha256};

    let failed = |trouble| {
        if interrupt.load(Ordering::Relaxed) {
            return Failure::new(Status::Interrupted, "interrupted before the first test");
        }
        failure(service, &trouble)
    };
    talk.say(&format!("Connecting to `{}`.", service.address));
    let client = Client::connect(service, Arc::clone(interrupt)).map_err(failed)?;
    let toolchain = Toolchain::ask(&client, service).map_err(failed)?;
    let known = count(toolchain.names().len(), "known program");
    talk.say(&format!("The probes run on `{}`, whose workers have {known}.", service.address));
    let of_service = format!("{:?} {:?}", service.address, service.platform);
    let programs = Sha256::digest([of_service.as_bytes(), &toolchain.digest[..]].concat()).into();
    let map = location.idd_directory().join("digests");
    let remote_executor = Box::new(RemoteExecutor::new(client, service.clone(), programs, private, &map));
    let Some((local_executor, n_near)) = near else { return Ok(remote_executor) };
    let here = Toolchain::here(service, &mut Interrupt::from(Arc::clone(interrupt)));
    let here = here.map_err(|error| Failure::from_error(&error))?;
    if interrupt.load(Ordering::Relaxed) {
        return Err(Failure::new(Status::Interrupted, "interrupted before the first test"));
    }
    let differences = toolchain.differences(&here);
    if differences.is_empty() {
        let n_probes = count(n_near, "probe");
        talk.say(&format!("This machine has the same programs, and runs up to {n_probes} at once."));
        return Ok(Box::new(ExecutorPair::new(Box::new(local_executor), n_near, remote_executor)));
    }
    let differences = Terminal.line(&Untrusted::from(differences.join(", ")));
    talk.say(&format!(
        "No probe runs on this machine, because these programs differ from those of the service: {differences}."
    ));
    Ok(remote_executor)
}

/// A failure of a service, with advice.
#[cfg(feature = "remote")]
pub fn failure(service: &Service, trouble: &idd_world::remote::trouble::Trouble) -> Failure {
    let failure = Failure::error(format!("the remote service `{}` failed: {trouble}", service.address));
    // Such a service says nothing before it closes the connection.
    let may_want_certificate = service.address.is_secure && service.identity.is_none();
    failure.with_hint(if may_want_certificate && trouble.what.contains("transport error") {
        "perhaps the service asks for your certificate: `git config idd.remoteCertificate <file>` and `idd.remoteKey`"
    } else {
        "`git idd remote check` tests a service; `--remote none` runs the probes on this machine"
    })
}

#[cfg(not(feature = "remote"))]
fn remote(
    _: &Service,
    _: Near,
    _: PathBuf,
    _: &Location,
    _: &Arc<AtomicBool>,
    _: &mut dyn Talk,
) -> Result<Box<dyn Executor>, Failure> {
    Err(absent())
}

/// The failure of a program that was built without this.
#[cfg(not(feature = "remote"))]
pub fn absent() -> Failure {
    Failure::usage("this program was built without remote services")
        .with_hint("`cargo install git-idd --features remote` builds it with them")
}
