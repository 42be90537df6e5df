//! The directory for the sandboxes of a command.

use crate::{Context, Failure};
use idd_base::CommitId;
use idd_world::files;
#[cfg(feature = "explain")]
use idd_world::record::objects::InstrumentedObjects;
use idd_world::repo::{Location, private};
use idd_world::run::kept_executor::KeptExecutor;
use idd_world::run::sandbox;
use std::path::{Path, PathBuf};

/// Creates the directory for the sandboxes of a command, outside of the user's tree, and removes those of killed ones.
///
/// Only this worktree's hunts use names that begin with the digest of its git directory, and only one runs at a time.
pub fn sandboxes(context: &Context, location: &Location, id: &str) -> Result<PathBuf, Failure> {
    let private = private::private_directory(&location.idd_directory());
    for stale in left(context, location)? {
        sandbox::remove(&stale, &private);
    }
    let root = place(context)?.join(format!("{}-{id}", files::short_digest(&location.git_directory)));
    files::make_private(&root).map_err(|error| failed(&root, &error))?;
    Ok(root)
}

/// The directories for sandboxes of commands in this worktree that were killed.
pub fn left(context: &Context, location: &Location) -> Result<Vec<PathBuf>, Failure> {
    let place = place(context)?;
    let prefix = format!("{}-", files::short_digest(&location.git_directory));
    let kept = context.kept_executor.as_ref().map(KeptExecutor::root);
    let names = files::names(&place).into_iter().filter(|name| name.to_string_lossy().starts_with(&prefix));
    Ok(names.map(|name| place.join(name)).filter(|left| kept != Some(&**left)).collect())
}

/// Creates a directory beside those of hunts, for a trial; no hunt that runs meanwhile is disturbed.
pub fn trial(context: &Context) -> Result<PathBuf, Failure> {
    let root = place(context)?.join(format!("trial-{}", std::process::id()));
    files::make_private(&root).map_err(|error| failed(&root, &error))?;
    Ok(root)
}

/// An executor for several hunts, one after the other.
///
/// - `head`: the commit that `HEAD` names in its checkouts.
///
/// Errors: there is no place for its sandboxes.
pub fn kept_executor(context: &Context, location: &Location, head: CommitId) -> Result<KeptExecutor, Failure> {
    // As the name of a hunt: if this is killed, the next hunt removes it.
    let root = place(context)?.join(format!("{}-each", files::short_digest(&location.git_directory)));
    Ok(KeptExecutor::new(root, private::private_directory(&location.idd_directory()), head))
}

/// The directory for the checkout of a hunt by hand, which stays while a person looks at it.
pub fn by_hand(context: &Context, location: &Location) -> Result<PathBuf, Failure> {
    Ok(place(context)?.join(format!("hand-{}", files::short_digest(&location.git_directory))))
}

/// The failure of a directory for sandboxes.
pub fn failed(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("failed to prepare the sandbox directory `{}`: {error}", path.display());
    Failure::error(message).with_hint("`git config idd.worktreeDir <path>` names another place")
}

/// Whether this user has no directory of caches yet; `false` if another place is configured, or there is no home directory.
pub fn is_first_use(context: &Context) -> bool {
    let caches = caches(context);
    let is_usual = context.configured("idd.worktreedir").last().is_none() && !caches.is_empty();
    is_usual && caches.iter().all(|cache| !cache.exists())
}

/// The directories for the caches of this program, the preferred one first.
fn caches(context: &Context) -> Vec<PathBuf> {
    let absolute = |name: &str| context.variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = [absolute("XDG_CACHE_HOME"), absolute("HOME").map(|home| home.join(".cache"))];
    caches.into_iter().flatten().map(|cache| cache.join("git-idd")).collect()
}

/// The directory for the sandboxes of all repositories.
fn place(context: &Context) -> Result<PathBuf, Failure> {
    let configured = context.configured("idd.worktreedir").last().map(PathBuf::from);
    let cache = || caches(context).into_iter().find(|path| files::is_own(path));
    let place = configured.or_else(cache).map_or_else(
        || {
            let temporary = context.variable("TMPDIR").map(PathBuf::from).filter(|path| path.is_absolute());
            let shared = temporary.unwrap_or_else(|| PathBuf::from("/tmp"));
            // All users can write there: the name belongs to us only if the directory does.
            let own = shared.join(format!("git-idd-{}", files::user_number()));
            files::make_own(&own).map(|()| own.clone()).map_err(|error| (own, error))
        },
        Ok,
    );
    let place = place.map_err(|(path, error)| failed(&path, &error))?;
    // A directory in memory is empty after each start of the machine.
    if !place.exists()
        && let Err(error) = files::make_own(&place)
    {
        return Err(failed(&place, &error));
    }
    Ok(place)
}

/// The directory for what is compiled once for all repositories of the user: it holds the directory `root` of a command.
pub fn cache(root: &Path) -> &Path {
    root.parent().unwrap_or(root)
}

/// The directory for the instrumented objects of this worktree, beside that of its sandboxes; `None` if there can be none, which only costs time.
///
/// - `root`: the directory of a command that alone uses it.
#[cfg(feature = "explain")]
pub fn objects(root: &Path, location: &Location) -> Option<InstrumentedObjects> {
    let name = format!("objects-{}", files::short_digest(&location.git_directory));
    InstrumentedObjects::prepare(&cache(root).join(name)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Embedding;
    use crate::testing::{World, text};
    use std::io;

    /// The directory of the sandboxes with this environment and configuration.
    fn place(world: &World, variables: &[(&str, &str)], configured: Option<&str>) -> Result<PathBuf, Failure> {
        let top = world.location().git_directory.join("home");
        let value = |value: &str| top.join(value).into_os_string();
        let context = Context {
            directory: "/".into(),
            environment: variables
                .iter()
                .map(|(name, path)| ((*name).into(), if path.starts_with("./") { (*path).into() } else { value(path) }))
                .collect(),
            configuration: configured
                .iter()
                .map(|path| ("idd.worktreeDir".to_owned(), top.join(path).display().to_string()))
                .collect(),
            interrupt: None,
            kept_executor: None,
            embedding: Embedding::default(),
        };
        let root = sandboxes(&context, world.location(), "a")?;
        assert!(root.is_dir());
        Ok(root.parent().unwrap().strip_prefix(top).unwrap().to_owned())
    }

    #[test]
    fn sandboxes_are_where_the_user_says_else_in_a_cache_of_the_user() {
        let world = World::with_culprit();
        std::fs::create_dir_all(world.location().git_directory.join("home")).unwrap();
        let (home, cache) = (("HOME", "h"), ("XDG_CACHE_HOME", "x"));
        let found = |variables: &[(&str, &str)], configured| place(&world, variables, configured).unwrap();
        assert_eq!(found(&[home, cache], Some("c")), Path::new("c"));
        assert_eq!(found(&[home, cache], None), Path::new("x/git-idd"));
        // A relative cache is none.
        assert_eq!(found(&[home, ("XDG_CACHE_HOME", "./x")], None), Path::new("h/.cache/git-idd"));
    }

    #[test]
    fn the_sandboxes_of_a_killed_hunt_of_this_worktree_are_removed_and_no_others() {
        let world = World::with_culprit();
        let place = sandboxes(&world.context, world.location(), "killed").unwrap();
        let foreign = place.parent().unwrap().join("0123-foreign");
        std::fs::create_dir(&foreign).unwrap();
        let next = sandboxes(&world.context, world.location(), "next").unwrap();
        assert!(next.is_dir() && foreign.is_dir() && !place.exists());
    }

    #[test]
    fn a_place_that_is_a_file_is_an_error_with_a_hint() {
        let world = World::with_culprit();
        let file = world.location().git_directory.join("file");
        std::fs::write(&file, "").unwrap();
        let configuration = vec![("idd.worktreedir".to_owned(), file.join("below").display().to_string())];
        let context = Context { configuration, ..world.context.clone() };
        let failure = sandboxes(&context, world.location(), "a").unwrap_err();
        let reason = io::Error::from_raw_os_error(20);
        let message = format!("failed to prepare the sandbox directory `{}/below`: {reason}", file.display());
        assert_eq!(text(&failure.message), message);
        assert_eq!(text(&failure.hint.unwrap()), "`git config idd.worktreeDir <path>` names another place");
    }
}
