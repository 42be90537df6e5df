//! State outside of the checkout that decides in place of the revision: results that a test keeps in HOME or in a shared
//! temporary directory.

use crate::Failure;
use crate::hunt::Hunt;
use idd_base::CommitId;
use idd_change::trees::Trees as _;
use idd_hunt::finding::{Conclusion, Finding};
use idd_hunt::{Phase, Probe};
use idd_report::Untrusted;
use idd_world::repo::TreeStore;
use idd_world::run::classify::{PlainResult, reproduced};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Directories that all programs share.
const SHARED: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// A run has this number if what it uses is recorded.
const RECORDED_RUN: u32 = 1 << 14;

impl Hunt<'_> {
    /// In a hunt in which nothing passed, the note on state outside of the checkout on which the test depends: HOME if an
    /// old revision passes with an empty one, or else a file in a shared temporary directory.
    ///
    /// Cost: one run of the old revision; one more if it uses files in HOME; and one of the bad revision if that passes.
    pub(super) fn state_outside(&mut self, finding: &Finding, store: &TreeStore) -> Result<Option<Untrusted>, Failure> {
        let is_stuck = matches!(finding.conclusion, Conclusion::NeverPassed | Conclusion::GoodFails);
        let old = finding.last_good.or(finding.oldest_failing).filter(|_| is_stuck);
        let Some(old) = old.filter(|old| *old != self.plan.bad && self.plan.remote.is_none()) else { return Ok(None) };
        let probe = self.recorded_probe(old, store)?;
        self.runner.record_uses();
        let seen = self.runner.reproduce(probe, &[RECORDED_RUN])?;
        let used = self.runner.take_uses_outside();
        if seen.is_none() {
            return Ok(None);
        }
        let home = self.plan.commands.environment.iter().find(|(name, _)| name == "HOME").map(|(_, home)| home);
        let home = home.filter(|_| !self.plan.commands.is_home_isolated).map(PathBuf::from);
        // Everything is below a root directory, or below no directory.
        let home = home.filter(|home| home.is_absolute() && home.parent().is_some());
        if let Some(home) = &home
            && let Some(file) = newest(used.iter().filter(|path| path.starts_with(home)))
            && self.passes_without_home(probe)?
        {
            let file = file.strip_prefix(home).unwrap_or(file).display();
            let bad = self.recorded_probe(self.plan.bad, store)?;
            let decides = format!(
                "{} passes with an empty home directory: what the test uses in yours, such as `~/{file}`, decides",
                old.short()
            );
            return Ok(Some(Untrusted::from(if self.passes_without_home(bad)? {
                format!("{decides}, and no revision. The bad revision passes so, too.")
            } else {
                format!(
                    "{decides} there. Start the hunt again with `--isolate-home`, which gives every run an empty one."
                )
            })));
        }
        let is_kept = |path: &&PathBuf| SHARED.iter().any(|shared| path.starts_with(shared)) && is_own_data(path);
        Ok(newest(used.iter().filter(is_kept)).map(|file| {
            Untrusted::from(format!(
                "The test uses `{}`, which is the same file at every revision. If it keeps a result there, that decides in \
                 place of the revision: let it keep such files below `$TMPDIR`, which is empty in each run.",
                file.display()
            ))
        }))
    }

    /// The probe of a revision, which no earlier hunt answers.
    fn recorded_probe(&self, revision: CommitId, store: &TreeStore) -> Result<Probe, Failure> {
        let tree = store.view(self.history.tree(revision))?;
        Ok(Probe { run: Some(RECORDED_RUN), ..Probe::of(tree, revision, Phase::Reproduce) })
    }

    fn passes_without_home(&mut self, probe: Probe) -> Result<bool, Failure> {
        let seen = self.runner.observe_without_home(probe)?;
        Ok(seen.is_some_and(|seen| reproduced(&seen, &self.runner.judging.criteria) == PlainResult::Passes))
    }
}

/// Whether a file is the user's, and no program.
fn is_own_data(path: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    path.metadata().is_ok_and(|found| found.uid() == own && found.permissions().mode() & 0o111 == 0)
}

/// The file that was changed last.
fn newest<'p>(paths: impl Iterator<Item = &'p PathBuf>) -> Option<&'p PathBuf> {
    paths.max_by_key(|path| path.metadata().and_then(|found| found.modified()).ok())
}
