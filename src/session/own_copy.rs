//! Files that git ignores today, and that an older revision has itself.

use crate::Failure;
use crate::hints::files::build_argument;
use crate::plan::Plan;
use idd_base::CommitId;
use idd_report::{Terminal, Untrusted};
use idd_world::place::untracked::UserPath;
use idd_world::process::shell;
use idd_world::repo::{Location, Repository, graph};
use std::sync::Arc;

/// The failure of a hunt whose good revision has its own copy of a file that git ignores today, while the bad one was tested
/// with that of the user: the difference between the two says nothing of what the commits changed.
pub fn failure_at(
    needed: &[Arc<UserPath>],
    [good, bad]: [CommitId; 2],
    plan: &Plan,
    location: &Location,
    repository: &Repository,
) -> Option<Failure> {
    let has = |revision, path: &[u8]| graph::has_path(repository, revision, path);
    let is_own = |path: &&Arc<UserPath>| path.is_ignored() && has(good, &path.path) && !has(bad, &path.path);
    let path = &needed.iter().filter(|_| plan.commands.build.is_none()).find(is_own)?.path;
    let (name, good, bad) = (String::from_utf8_lossy(path), good.short(), bad.short());
    let message = format!(
        "the test passes at {good} with `{name}` of that revision, and fails since {bad}, which does not have it and is tested \
         with yours, which git ignores"
    );
    let hint = format!(
        "`--build {}` makes it for each revision; `--hold {}` tests all of them with yours",
        build_argument(plan, location, repository, path),
        shell::quoted_text(path)
    );
    Some(Failure::error(Terminal.line(&Untrusted::from(message))).with_hint(Terminal.line(&Untrusted::from(hint))))
}
