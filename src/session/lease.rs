//! The lease of a hunt, so that two jobs do not make the same one; see [`crate::world::lease`].
//!
//! A job leaves its finding beside the leases. One that would make the same hunt later takes it from there.

use crate::report::Report;
use crate::report::Status;
use crate::report::Untrusted;
use crate::report::json;
use crate::session::failure::Failure;
use crate::session::plan::Plan;
use crate::session::plan::shell_line;
use crate::world::cache::Key;
use crate::world::files;
use crate::world::lease;
use crate::world::lease::Held;
use crate::world::lease::Lease;
use sha2::Digest as _;
use sha2::Sha256;
use std::ffi::OsStr;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::path::PathBuf;

/// The bytes of a finding, at most.
const MAX_BYTES: u64 = 64 << 20;

/// Who makes a hunt.
pub enum Maker {
    /// This job, as long as it has the lease.
    This(Lease),
    /// Another job, now.
    Other(Held),
    /// Another job has made it, with this finding.
    Before(Box<Report>),
}

/// Takes the lease of a hunt in this directory, or the finding of a job that had it.
///
/// - `place`: where a relative name begins.
///
/// Errors: the directory cannot be written.
pub fn take(plan: &Plan, name: &OsStr, place: &Path) -> Result<Maker, Failure> {
    if name.is_empty() {
        return Err(Failure::new(Status::Usage, "the directory of `--lease` is empty")
            .with_hint("it names a directory that all jobs can write"));
    }
    let directory = &place.join(name);
    let taken = lease::take(directory, &name_of(plan)).map_err(|error| {
        let message = format!("failed to take a lease in `{}`: {error}", directory.display());
        Failure::new(Status::Error, message).with_hint("`--lease` names a directory that all jobs can write")
    })?;
    Ok(match taken {
        Err(held) => Maker::Other(held),
        Ok(lease) => match earlier(plan, directory).filter(|_| !plan.order.effort.no_cache) {
            Some(report) => Maker::Before(Box::new(report)),
            None => Maker::This(lease),
        },
    })
}

/// Leaves a finding for other jobs; what is none is not left.
///
/// Errors: the directory cannot be written.
pub fn leave(plan: &Plan, name: &OsStr, place: &Path, report: &Report) -> io::Result<()> {
    if !matches!(report.status, Status::Found | Status::Unported) {
        return Ok(());
    }
    let mut bytes = Vec::new();
    json::write(report, &mut bytes)?;
    files::replace(&finding(plan, &place.join(name)), &bytes)
}

/// The finding of another job. It is not of a hunt of this worktree.
fn earlier(plan: &Plan, directory: &Path) -> Option<Report> {
    let file = finding(plan, directory);
    files::plain(&file).ok()??;
    let mut report = json::read(&files::bytes_up_to(&file, MAX_BYTES).ok()?).ok()?;
    (report.hunt, report.log) = (None, None);
    let note = "Another job made this hunt, and nothing was run here; `--no-cache` hunts here, too.";
    report.notes.push(Untrusted::from(note));
    Some(report)
}

/// The file of the finding of a hunt.
fn finding(plan: &Plan, directory: &Path) -> PathBuf {
    directory.join(format!("{}.{}.json", name_of(plan), plan.order.effort.until.word()))
}

/// The same for jobs that would search the same failure, whatever their machine is.
fn name_of(plan: &Plan) -> String {
    let order = &plan.order;
    let mut words = vec![plan.bad.to_string(), format!("{:?}", order.history.find)];
    words.extend(plan.goods.iter().map(ToString::to_string));
    let commands = [Some(&plan.commands.test), plan.commands.build.as_ref()];
    words.extend(commands.map(|words| words.map_or_else(OsString::new, shell_line).to_string_lossy().into_owned()));
    words.push(plan.commands.directory.to_string_lossy().into_owned());
    Key(Sha256::digest(words.join("\0")).into()).to_string()
}
