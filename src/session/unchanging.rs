//! What does not follow the revision: installed copies of the sources, products of builds, tests of the user.

use crate::Failure;
use crate::hints::files::same_product;
use crate::hunt::Hunt;
use crate::python::{CompiledModule, InstalledCopy, installed_copy};
use crate::runner::stand::RecordedUses;
use idd_base::Observation;
use idd_hunt::test_paths::{is_setup_path, is_test_path};
use idd_report::{Terminal, Untrusted};
use idd_world::place::untracked::{Tracking, UserPath};
use idd_world::process::executions::PathUse;
use idd_world::repo::{graph, private};
use idd_world::run::classify::{PlainResult, reproduced};
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files in the directory of a build that was configured: by `CMake`, Meson and autotools.
const CONFIGURED: [&str; 3] = ["CMakeCache.txt", "build.ninja", "config.status"];

impl Hunt<'_> {
    /// Whether a run fails. If it does, finds out whether it reads the sources or only an installed copy of them.
    pub(super) fn judge_uses(
        &mut self,
        seen: &Observation,
        recorded: &RecordedUses,
        all: &[Arc<UserPath>],
    ) -> Result<bool, Failure> {
        let is_failing = reproduced(seen, &self.runner.judging.criteria) == PlainResult::Fails;
        let read = recorded.read_inside();
        self.environment.reads_no_source = is_failing && !read.is_empty() && !self.reads_source(all, &read)?;
        if is_failing {
            self.look_for_installed(recorded, all)?;
        }
        Ok(is_failing)
    }

    /// Whether some of these paths are tracked files other than tests and their setup. A run that reads none of them shows the
    /// same at every revision, unless it reads what is built of the sources.
    pub(super) fn reads_source(&self, all: &[Arc<UserPath>], read: &BTreeSet<PathBuf>) -> Result<bool, Failure> {
        let Some(top) = &self.location.top else { return Ok(false) };
        let user = private::open(&self.location.git_directory)?;
        let is_beside =
            |path: &Path| path.ancestors().any(|above| all.iter().any(|one| one.path == above.as_os_str().as_bytes()));
        let is_source = |path: &PathBuf| {
            let name = path.as_os_str().as_bytes();
            let is_of_test = is_test_path(name) || is_setup_path(name) || self.plan.held.contains_key(name);
            let is_hidden = path.iter().any(|part| part.as_bytes().starts_with(b"."));
            !is_of_test
                && !is_hidden
                && !is_beside(path)
                && top.join(path).is_file()
                && graph::has_path(&user, self.plan.bad, name)
        };
        Ok(read.iter().any(is_source))
    }

    /// Whether the bad revision is a project of Python, which can be installed.
    pub(super) fn is_python(&self) -> Result<bool, Failure> {
        const MARKS: [&str; 3] = ["pyproject.toml", "setup.py", "setup.cfg"];
        let user = private::open(&self.location.git_directory)?;
        let has = |name: &str| {
            let below = self.plan.commands.directory.join(name);
            [Path::new(name), &below]
                .iter()
                .any(|path| graph::has_path(&user, self.plan.bad, path.as_os_str().as_bytes()))
        };
        Ok(MARKS.into_iter().any(has))
    }

    /// Says that a run reads an installed copy of a source. If it uses no source of the checkout, all revisions would show
    /// the same: ends the hunt.
    pub(super) fn look_for_installed(&mut self, recorded: &RecordedUses, all: &[Arc<UserPath>]) -> Result<(), Failure> {
        let user = private::open(&self.location.git_directory)?;
        let is_tracked = |path: &Path| graph::has_path(&user, self.plan.bad, path.as_os_str().as_bytes());
        let (inside, outside) = (recorded.read_inside(), recorded.read_outside());
        let Some(InstalledCopy { copy, source }) = installed_copy(&inside, &outside, &is_tracked) else {
            return Ok(());
        };
        // Runners look at all files of a directory.
        let is_used = |path: &Path, seen: PathUse| seen.is_opened() || path.extension().is_some_and(|end| end == "py");
        let sources = recorded.inside.iter().filter(|(path, seen)| seen.is_read() && is_used(path, **seen));
        let reads_source = self.reads_source(all, &sources.map(|(path, _)| path.clone()).collect())?;
        let revision = self.plan.order.history.find.newer_revision();
        let (copy, source) = (copy.display(), source.display());
        let seen = format!("the test reads `{copy}`, which is installed, and not `{source}` of the checkout");
        let advice = "`pip install -e .` lets the test read the checkout";
        if !reads_source {
            self.is_hopeless = true;
            let said = format!("{seen}, so it would test the same sources at all revisions");
            return Err(Failure::usage(Terminal.line(&Untrusted::from(said))).with_hint(advice));
        }
        self.say_unchanging(format!("At {revision}, {seen}. {advice}."));
        Ok(())
    }

    /// The compiled modules among the files of the user that each revision has; none if a build may make them.
    pub(super) fn compiled_modules(&self) -> Result<Vec<CompiledModule>, Failure> {
        if self.plan.commands.build.is_some() {
            return Ok(Vec::new());
        }
        let user = private::open(&self.location.git_directory)?;
        let needed = self.environment.needed.iter();
        Ok(needed.filter_map(|needed| CompiledModule::of(needed, &user, self.plan.bad)).collect())
    }

    /// Says that all revisions are tested with the same product of a build, if no command was seen to build and the test uses
    /// one that can be old.
    pub(super) fn say_if_old(&mut self) -> Result<(), Failure> {
        self.environment.compiled = self.compiled_modules()?;
        let has_products = self.has_configured_build() || !self.environment.compiled.is_empty();
        let is_old = self.environment.reads_no_source || has_products && self.runner.has_built() == Some(false);
        if self.plan.commands.build.is_none()
            && is_old
            && let Some(said) = self.with_scene(&[], same_product).flatten()
        {
            self.say_unchanging(said);
        }
        Ok(())
    }

    /// Says that all revisions are tested with the same copy of something; also a note of the report.
    pub(super) fn say_unchanging(&mut self, said: String) {
        if !self.runner.noticed.unchanging.contains(&said) {
            self.runner.talk.say(&Terminal.line(&Untrusted::from(said.as_str())));
            self.runner.noticed.unchanging.push(said);
        }
    }

    /// Whether tests of the user that the bad revision does not have are run in each revision.
    pub(super) fn runs_tests_of_user(&self) -> Result<bool, Failure> {
        let user = private::open(&self.location.git_directory)?;
        let is_new = |path: &[u8]| is_test_path(path) && !graph::has_path(&user, self.plan.bad, path);
        let needed = self.environment.needed.iter().filter(|needed| needed.tracking == Tracking::Untracked);
        let mut paths = self.plan.held.keys().chain(needed.map(|needed| &needed.path));
        Ok(paths.any(|path| is_new(path)))
    }

    /// Whether the environment has the directory of a build that was configured.
    fn has_configured_build(&self) -> bool {
        let ignored = self.environment.needed.iter().filter(|path| path.is_ignored());
        let mut directories = ignored.filter_map(|path| path.shown()).map(|shown| &shown.source);
        directories.any(|directory| CONFIGURED.iter().any(|name| directory.join(name).is_file()))
    }
}
