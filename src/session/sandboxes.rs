//! The directory for the sandboxes of a command.

use crate::report::Status;
use crate::session::context::Context;
use crate::session::failure::Failure;
use crate::world::files;
use crate::world::repo::locate::Location;
use crate::world::repo::private;
use crate::world::run::sandbox;
use std::path::PathBuf;

/// Creates the directory for the sandboxes of a command, outside of the user's tree, and removes those of killed ones.
///
/// Only this worktree's hunts use names that begin with the digest of its git directory, and only one runs at a time.
pub fn sandboxes(context: &Context, location: &Location, id: &str) -> Result<PathBuf, Failure> {
    let absolute = |name: &str| context.variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let configured = context.configured("idd.worktreedir").last().map(PathBuf::from);
    let caches = [absolute("XDG_CACHE_HOME"), absolute("HOME").map(|home| home.join(".cache"))];
    let cache = || caches.into_iter().flatten().map(|cache| cache.join("git-idd")).find(|path| files::is_own(path));
    let place = configured.or_else(cache).map_or_else(
        || {
            let shared = absolute("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp"));
            // All users can write there: the name belongs to us only if the directory does.
            let own = shared.join(format!("git-idd-{}", files::user_number()));
            files::make_own(&own).map(|()| own.clone()).map_err(|error| (own, error))
        },
        Ok,
    );
    let failed = |(path, error): (PathBuf, std::io::Error)| {
        let message = format!("failed to prepare the sandbox directory `{}`: {error}", path.display());
        Failure::new(Status::Error, message).with_hint("`git config idd.worktreeDir <path>` names another place")
    };
    let place = place.map_err(failed)?;
    // A directory in memory is empty after each start of the machine.
    if !place.exists()
        && let Err(error) = files::make_own(&place)
    {
        return Err(failed((place, error)));
    }
    let prefix = format!("{}-", files::short_digest(&location.git_directory));
    let private = private::private_directory(&location.idd_directory());
    for stale in files::names(&place).iter().filter(|name| name.to_string_lossy().starts_with(&prefix)) {
        sandbox::remove(&place.join(stale), &private);
    }
    let root = place.join(format!("{prefix}{id}"));
    match files::make_private(&root) {
        Ok(()) => Ok(root),
        Err(error) => Err(failed((root, error))),
    }
}
