//! The tools of a test: the programs outside of the tree that its commands execute, and whether they have changed.
//!
//! Every observation names the set of programs ([`Toolset`]) that the hunt had executed by then. It answers another
//! hunt only while each of these programs is found at the same place, is the same file, and finds the same modules. So
//! a set is never asked for before it is known; a program that a hunt executes late (in a revision that passes, for
//! example) counts for later observations. `PATH` itself does not count, only the programs that are found in it.
//!
//! Not seen: programs that run in another root directory, libraries and headers that are no module of an
//! [interpreter](modules), and data files. A program that the hunt itself makes outside of its checkouts is no tool:
//! see [`HuntTools::take_in`].
//!
//! Source: the manifests of ccache and the checked dependencies of tup. Deviation: there every result has a list of its
//! own. Here it is the list of the hunt so far, because in a checkout that keeps its products a result depends on
//! earlier builds.

pub mod modules;
mod program;
mod toolset;

pub use program::{Program, ProgramChange};
pub use toolset::Toolset;

use crate::files;
use crate::process::executions::ExecutedPrograms;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The context of a hunt.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// The directory of all sets of the repository.
    pub directory: PathBuf,
    /// The environment of the commands.
    pub environment: Vec<(OsString, OsString)>,
    /// The directory of the checkouts: programs there are no tools.
    pub root: PathBuf,
    /// The path at which commands see their checkout, if it is not below `root`: the same holds for programs there.
    pub place: Option<PathBuf>,
    /// When the hunt started.
    pub started: SystemTime,
    /// Names of programs that count as executed if executions cannot be seen.
    pub audited: Vec<String>,
    /// If the hunt is resumed, the set that it had when it was stopped.
    pub earlier: Option<String>,
}

/// The tools of one hunt.
#[derive(Debug)]
pub struct HuntTools {
    setting: ToolContext,
    executions: Arc<ExecutedPrograms>,
    /// Paths that were already examined.
    known: BTreeSet<PathBuf>,
    toolset: Toolset,
    /// It replaces compilers, but results do not depend on it.
    this_program: Option<PathBuf>,
    /// The name of the present set, once it is stored.
    id: Option<String>,
    judged: HashMap<String, SetComparison>,
}

/// The result of comparing a set.
#[derive(Debug)]
struct SetComparison {
    toolset: Toolset,
    /// A difference from the start of the hunt.
    change: Option<ProgramChange>,
    /// A program that this hunt executes instead, and the number of executed programs at the time of this comparison.
    replaced: (usize, Option<ProgramChange>),
}

impl HuntTools {
    /// Without any tool.
    pub fn new(setting: ToolContext) -> Self {
        let root = fs::canonicalize(&setting.root).unwrap_or_else(|_| setting.root.clone());
        let earlier = setting.earlier.as_ref().and_then(|id| Toolset::read(&setting.directory, id));
        let this_program = files::this_program().ok();
        Self {
            setting: ToolContext { root, ..setting },
            executions: Arc::default(),
            known: BTreeSet::new(),
            toolset: earlier.unwrap_or_default(),
            this_program,
            id: None,
            judged: HashMap::new(),
        }
    }

    /// The record of executed programs.
    pub fn executions(&self) -> Arc<ExecutedPrograms> {
        Arc::clone(&self.executions)
    }

    /// Whether git was executed, or may have been.
    pub fn has_git(&self) -> bool {
        self.executions.has_gaps() || self.executed(&["git"]).is_some()
    }

    /// The first of these names that is that of an executed program.
    pub fn executed(&self, names: &[&'static str]) -> Option<&'static str> {
        let programs = self.executions.programs();
        let places = programs.iter().map(PathBuf::as_path).chain(self.toolset.programs.iter().map(Program::place));
        let places: Vec<&Path> = places.collect();
        names.iter().copied().find(|name| places.iter().any(|place| place.ends_with(name)))
    }

    /// The name of the set of all tools so far, which is stored; `None` if it cannot be stored.
    pub fn current(&mut self) -> Option<String> {
        for place in self.executions.programs() {
            if self.known.insert(place.clone()) {
                self.take_in(&place);
            }
        }
        if self.executions.has_gaps() && !self.toolset.is_guessed {
            self.toolset.is_guessed = true;
            self.id = None;
            let environment = &self.setting.environment;
            let guessed = self.setting.audited.iter().filter_map(|name| Program::named(name, environment));
            self.toolset.programs.extend(guessed);
        }
        if self.id.is_none() {
            self.id = self.toolset.keep(&self.setting.directory).ok();
        }
        self.id.clone()
    }

    /// Adds an executed program, if it is a tool: not one of a checkout, and not one that was made since the hunt
    /// started.
    fn take_in(&mut self, place: &Path) {
        let Ok(file) = fs::canonicalize(place) else { return };
        let Ok(metadata) = fs::metadata(&file) else { return };
        let started = self.setting.started.duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = |seconds: i64| u64::try_from(seconds).unwrap_or_default();
        let changed =
            Duration::new(seconds(metadata.ctime()), u32::try_from(metadata.ctime_nsec()).unwrap_or_default());
        let is_in_checkout = |path: &Path| {
            [Some(&self.setting.root), self.setting.place.as_ref()]
                .into_iter()
                .flatten()
                .any(|top| path.starts_with(top))
        };
        let is_ours = is_in_checkout(&file) || self.this_program.as_ref() == Some(&file);
        if is_ours || changed >= started {
            return;
        }
        // Our links lead to programs elsewhere.
        let place = if is_in_checkout(place) { &file } else { place };
        let program = Program::executed(place, &self.setting.environment);
        if program.is_some_and(|program| self.toolset.programs.insert(program)) {
            self.id = None;
        }
    }

    /// Why observations with the set of this name do not count now; `None` if they count.
    ///
    /// They do not count if a program of the set has changed, or if this hunt executes another program in its place (a
    /// wrapper that chooses a version, for example).
    pub fn change(&mut self, id: &str) -> Option<ProgramChange> {
        let ToolContext { directory, environment, .. } = &self.setting;
        let judged = self.judged.entry(id.to_owned()).or_insert_with(|| {
            let toolset = Toolset::read(directory, id);
            let change =
                toolset.as_ref().map_or_else(|| Some(ProgramChange::unknown()), |toolset| toolset.change(environment));
            SetComparison { toolset: toolset.unwrap_or_default(), change, replaced: (0, None) }
        });
        let n_programs = self.toolset.programs.len();
        if judged.replaced.0 != n_programs {
            judged.replaced = (n_programs, judged.toolset.replaced_in(&self.toolset));
        }
        judged.change.clone().or_else(|| judged.replaced.1.clone())
    }
}

/// The directory of the sets of a repository.
pub fn directory(idd_directory: &Path) -> PathBuf {
    idd_directory.join("toolsets")
}

/// Why observations with this set do not count now; `None` if they count. See [`HuntTools::change`].
///
/// - `directory`: see [`ToolContext::directory`].
pub fn change(directory: &Path, id: &str, environment: &[(OsString, OsString)]) -> Option<ProgramChange> {
    match Toolset::read(directory, id) {
        Some(toolset) => toolset.change(environment),
        None => Some(ProgramChange::unknown()),
    }
}

#[cfg(test)]
mod tests;
