//! Modules of Python that are the same at each revision: installed copies of the package under test, and modules that were
//! compiled in the working tree.

use crate::Failure;
use crate::hints::files::build_argument;
use crate::plan::Plan;
use idd_base::CommitId;
use idd_report::{Terminal, Untrusted};
use idd_world::place::untracked::UserPath;
use idd_world::process::shell;
use idd_world::repo::{Location, Repository, graph};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// Directories of installed packages.
const PACKAGES: [&str; 2] = ["site-packages", "dist-packages"];

/// Directories of a checkout that can have the sources of packages.
const SOURCES: [&str; 4] = ["", "src", "lib", "python"];

/// Extensions of sources that are compiled to a module.
const COMPILED_SOURCES: [&str; 5] = ["c", "cc", "cpp", "cxx", "pyx"];

/// A file that the test reads, and its source, which the test does not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct InstalledCopy {
    /// The installed file, as it was used.
    pub(super) copy: PathBuf,
    /// Its source, relative to the top.
    pub(super) source: PathBuf,
}

/// The first module (not a directory's `__init__.py`, if there is another one) of which a run has read an installed copy and
/// not the source. If it has read the source of any installed module, it has probably installed the package itself: `None`.
///
/// - `inside`, `outside`: what the run has read in the checkout (relative to the top) and elsewhere.
/// - `is_tracked`: whether the tested revision has a path.
pub(super) fn installed_copy(
    inside: &BTreeSet<PathBuf>,
    outside: &BTreeSet<PathBuf>,
    is_tracked: &dyn Fn(&Path) -> bool,
) -> Option<InstalledCopy> {
    let copies = inside.iter().chain(outside).filter_map(|copy| copy_of_source(copy, is_tracked));
    let copies: Vec<InstalledCopy> = copies.collect();
    if copies.iter().any(|copy| inside.contains(&copy.source)) {
        return None;
    }
    let is_package = |copy: &InstalledCopy| copy.source.ends_with("__init__.py");
    copies.into_iter().min_by_key(is_package)
}

/// The source of a module that is installed.
fn copy_of_source(copy: &Path, is_tracked: &dyn Fn(&Path) -> bool) -> Option<InstalledCopy> {
    let is_module = copy.extension().is_some_and(|extension| extension == "py");
    let is_packages = |part: &&Path| PACKAGES.iter().any(|name| part.ends_with(name));
    let packages = copy.ancestors().filter(|_| is_module).find(is_packages)?;
    let module = copy.strip_prefix(packages).ok()?;
    let source = SOURCES.iter().map(|directory| Path::new(directory).join(module)).find(|path| is_tracked(path))?;
    Some(InstalledCopy { copy: copy.to_owned(), source })
}

/// A module that was compiled in the working tree.
#[derive(Debug, PartialEq, Eq)]
pub struct CompiledModule {
    /// Its file, relative to the top.
    module: Vec<u8>,
    /// The tracked source of which it was compiled.
    source: Vec<u8>,
}

impl CompiledModule {
    /// The module at this path, if it is ignored and lies beside its source.
    pub fn of(candidate: &UserPath, repository: &Repository, revision: CommitId) -> Option<Self> {
        let path = Path::new(OsStr::from_bytes(&candidate.path));
        let name = path.file_name()?.as_bytes();
        let is_module = candidate.is_ignored() && [&b".so"[..], b".pyd"].iter().any(|end| name.ends_with(end));
        let stem = name.split(|byte| *byte == b'.').next().filter(|_| is_module)?;
        let beside = |extension: &str| path.with_file_name(OsStr::from_bytes(stem)).with_extension(extension);
        let sources = COMPILED_SOURCES.iter().map(|extension| beside(extension).into_os_string().into_vec());
        let source = sources.into_iter().find(|source| graph::has_path(repository, revision, source))?;
        Some(Self { module: candidate.path.clone(), source })
    }
}

/// The failure of a hunt that was to compare a good revision with the bad one, if both are tested with one compiled module
/// although its source differs.
pub fn same_module(
    compiled: &[CompiledModule],
    good: CommitId,
    plan: &Plan,
    location: &Location,
    repository: &Repository,
) -> Option<Failure> {
    let has_changed = |module: &&CompiledModule| {
        let [old, new] = [good, plan.bad].map(|revision| graph::object_at(repository, revision, &module.source));
        old != new
    };
    let CompiledModule { module, source } = compiled.iter().find(has_changed)?;
    let (module_shown, source) = (String::from_utf8_lossy(module), String::from_utf8_lossy(source));
    let message = format!(
        "all revisions are tested with your `{module_shown}`, but `{source}` is another one at {}, where the test passes",
        good.short()
    );
    let hint = format!(
        "`--build {}` builds it for each revision; `--hold {}` goes on with yours",
        build_argument(plan, location, repository, module),
        shell::quoted_text(module)
    );
    Some(Failure::error(Terminal.line(&Untrusted::from(message))).with_hint(Terminal.line(&Untrusted::from(hint))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(paths: &[&str], expected: Option<(&str, &str)>) {
        let (inside, outside) = paths.iter().map(PathBuf::from).partition(|path| path.is_relative());
        let is_tracked = |path: &Path| path.starts_with("src/human") || path.starts_with("tests");
        let found = installed_copy(&inside, &outside, &is_tracked);
        let expected = expected.map(|(copy, source)| InstalledCopy { copy: copy.into(), source: source.into() });
        assert_eq!(found, expected, "{paths:?}");
    }

    const COPY: &str = "/v/lib/python3.12/site-packages/human/number.py";

    #[test]
    fn a_module_is_a_copy_if_the_checkout_has_it_and_it_is_not_read_there() {
        check(&[COPY, "tests/test_number.py"], Some((COPY, "src/human/number.py")));
        let package = "/v/lib/python3.12/site-packages/human/__init__.py";
        check(&[package, COPY], Some((COPY, "src/human/number.py")));
        check(&[package], Some((package, "src/human/__init__.py")));
        let own = ".venv/lib/python3.12/site-packages/human/number.py";
        check(&[own], Some((own, "src/human/number.py")));
        check(&["/v/lib/python3.12/site-packages/pluggy/number.py"], None);
        check(&["/v/lib/python3.12/human/number.py"], None);
        check(&["/v/lib/python3.12/site-packages/human/data.json"], None);
    }

    #[test]
    fn a_run_that_reads_the_sources_installs_them() {
        check(&[COPY, "src/human/number.py"], None);
        check(&[COPY, "/v/lib/site-packages/human/time.py", "src/human/time.py"], None);
    }
}
