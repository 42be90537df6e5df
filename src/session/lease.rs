//! The lease of a hunt, so that two jobs do not make the same one; see [`idd_world::lease`].
//!
//! A job leaves its finding beside the leases. One that would make the same hunt later takes it from there.

use crate::plan::Plan;
use crate::{Failure, saved};
use idd_report::{Report, Status, Untrusted, json};
use idd_world::lease::{Lease, LeaseHolder};
use idd_world::{files, lease};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The bytes of a finding, at most.
const MAX_BYTES: u64 = 16 << 20;

/// Who makes a hunt.
pub enum HuntMaker {
    /// This job, as long as it has the lease.
    This(Lease),
    /// Another job, now.
    Other(LeaseHolder),
    /// Another job has made it, with this finding.
    Before(Box<Report>),
}

/// Takes the lease of a hunt in this directory, or the finding of a job that had it.
///
/// - `place`: where a relative name begins.
///
/// Errors: the directory cannot be written.
pub fn take(plan: &Plan, name: &OsStr, place: &Path) -> Result<HuntMaker, Failure> {
    if name.is_empty() {
        return Err(Failure::usage("the directory of `--lease` is empty")
            .with_hint("it names a directory that all jobs can write"));
    }
    let directory = &place.join(name);
    let digest = saved::digest(plan)?;
    let taken = lease::take(directory, &digest).map_err(|error| {
        let message = format!("failed to take a lease in `{}`: {error}", directory.display());
        Failure::error(message).with_hint("`--lease` names a directory that all jobs can write")
    })?;
    Ok(match taken {
        Err(held) => HuntMaker::Other(held),
        Ok(lease) => match earlier(plan, &finding(plan, directory, &digest)).filter(|_| !plan.order.effort.no_cache) {
            Some(report) => HuntMaker::Before(Box::new(report)),
            None => HuntMaker::This(lease),
        },
    })
}

/// Leaves a finding for other jobs; what is none is not left.
///
/// Errors: the directory cannot be written.
pub fn leave(plan: &Plan, name: &OsStr, place: &Path, report: &Report) -> Result<(), Failure> {
    if !is_finding(report) {
        return Ok(());
    }
    let mut bytes = Vec::new();
    json::write(report, &mut bytes)?;
    let file = finding(plan, &place.join(name), &saved::digest(plan)?);
    Ok(files::replace(&file, &bytes)?)
}

fn is_finding(report: &Report) -> bool {
    matches!(report.status, Status::Found | Status::Unfixed) && report.first_bad.is_some()
}

/// The finding of another job, if it is one of this hunt. It is not of a hunt of this worktree.
fn earlier(plan: &Plan, file: &Path) -> Option<Report> {
    let mut report = json::read(&files::plain_up_to(file, MAX_BYTES).ok()??).ok()?;
    let is_of_plan = report.find == plan.order.history.find
        && report.bad.as_ref().is_some_and(|bad| bad.commit == plan.bad)
        && is_finding(&report);
    if !is_of_plan {
        return None;
    }
    (report.hunt, report.log) = (None, None);
    let note = "Another job made this hunt, and nothing was run here; `--no-cache` hunts here, too.";
    report.notes.push(Untrusted::from(note));
    Some(report)
}

/// The file of the finding of a hunt.
fn finding(plan: &Plan, directory: &Path, digest: &str) -> PathBuf {
    directory.join(format!("{digest}.{}.json", plan.order.effort.until.word()))
}
