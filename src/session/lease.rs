//! The lease of a hunt, so that two jobs do not make the same one at once; see [`crate::world::lease`].

use crate::report::Status;
use crate::session::failure::Failure;
use crate::session::plan::Plan;
use crate::session::plan::shell_line;
use crate::world::cache::Key;
use crate::world::lease;
use crate::world::lease::Held;
use crate::world::lease::Lease;
use sha2::Digest as _;
use sha2::Sha256;
use std::ffi::OsStr;
use std::ffi::OsString;
use std::path::Path;

/// Takes the lease of a hunt in this directory.
///
/// - `place`: where a relative name begins.
///
/// Errors: the directory cannot be written.
pub fn take(plan: &Plan, name: &OsStr, place: &Path) -> Result<Result<Lease, Held>, Failure> {
    if name.is_empty() {
        return Err(Failure::new(Status::Usage, "the directory of `--lease` is empty")
            .with_hint("it names a directory that all jobs can write"));
    }
    let directory = &place.join(name);
    lease::take(directory, &name_of(plan)).map_err(|error| {
        let message = format!("failed to take a lease in `{}`: {error}", directory.display());
        Failure::new(Status::Error, message).with_hint("`--lease` names a directory that all jobs can write")
    })
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
