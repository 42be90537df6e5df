//! The check before the build: what is run for a candidate, whether it is any good, and under which plan refusals are kept.

use crate::hunt::probe::Ends;
use crate::revision::CommitId;
use crate::revision::TreeId;
use crate::session::context::Context;
use crate::session::order::HuntOrder;
use crate::session::plan::parts;
use crate::world::cache::ProbePlan;
use crate::world::files;
use crate::world::repo::Repository;
use crate::world::repo::graph;
use crate::world::repo::locate;
use crate::world::repo::locate::Location;
use crate::world::repo::touched::Touched;
use crate::world::run::compile_database::CompileDatabase;
use crate::world::run::compile_database::Grounds;
use crate::world::run::process::Words;
use crate::world::run::toolchain;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// Where a compile database is looked for, from the top: where clangd looks for one.
const PLACES: [&str; 2] = ["compile_commands.json", "build/compile_commands.json"];

/// How candidates are checked.
#[derive(Debug, Clone)]
pub enum Precheck {
    /// By the command of `--precheck`.
    Command(Words),
    /// By the compiler's look at the sources that a candidate touches, as the user's own build compiles them.
    Database(Arc<CompileDatabase>),
}

impl Precheck {
    /// What the user asked for, or else what a compile database that git does not track, neither now nor at `commits`, allows.
    pub fn new(
        order: &HuntOrder,
        location: &Location,
        (user, context): (&Repository, &Context),
        commits: &[CommitId],
    ) -> Option<Self> {
        if order.test.no_precheck {
            return None;
        }
        if let Some(line) = &order.test.precheck {
            return Some(Self::Command(Words::Shell(line.clone())));
        }
        let top = location.top.as_ref()?;
        let is_tracked = |path: &[u8]| {
            locate::is_tracked(location, path, &context.environment)
                || commits.iter().any(|commit| graph::has_path(user, *commit, path))
        };
        let path = context.variable("PATH").unwrap_or_default();
        let foreign = [top.clone(), location.git_directory.clone(), location.common_directory.clone()];
        let grounds = Grounds { top, foreign: &foreign, path: &path };
        PLACES.into_iter().find_map(|name| {
            // A link may lead to what is tracked.
            let real = files::real(&top.join(name))?;
            let inside = real.strip_prefix(top).ok().map(|path| path.as_os_str().as_bytes());
            let is_untracked = !is_tracked(name.as_bytes()) && !inside.is_some_and(is_tracked);
            is_untracked.then(|| CompileDatabase::read(&real, &grounds)).flatten().map(Arc::new).map(Self::Database)
        })
    }
}

/// The check before the build, during a hunt.
pub struct Checking {
    precheck: Precheck,
    /// For what it refuses, but for the check itself.
    plan: ProbePlan,
    touched: Touched,
    known: HashMap<(TreeId, TreeId), Option<Check>>,
    vetted: Vec<Ends>,
    /// Why it is not used any more: it refuses what can be built.
    pub useless: Option<&'static str>,
}

/// What is run for one candidate.
#[derive(Debug, Clone)]
pub struct Check {
    /// The command.
    pub words: Words,
    /// Of the plan under which it is kept that it refused.
    pub plan: [u8; 32],
}

impl Checking {
    /// A check that was not used yet; `plan` is that of a probe without it.
    pub fn new(precheck: Precheck, mut plan: ProbePlan) -> Self {
        if let Precheck::Database(database) = &precheck {
            let digest = |path| toolchain::file_digest(path).unwrap_or_default();
            let compilers = database.compilers().map(|path| (path.as_os_str().as_bytes().to_vec(), digest(path)));
            plan.outside_files.extend(compilers);
        }
        Self { precheck, plan, touched: Touched::default(), known: HashMap::new(), vetted: Vec::new(), useless: None }
    }

    /// The compile database, if there is one and it is of use.
    pub fn database(&self) -> Option<&Arc<CompileDatabase>> {
        match &self.precheck {
            Precheck::Database(database) if self.useless.is_none() => Some(database),
            _ => None,
        }
    }

    /// The command of the user, if there is one and it is of use.
    pub fn command(&self) -> Option<&Words> {
        match &self.precheck {
            Precheck::Command(words) if self.useless.is_none() => Some(words),
            _ => None,
        }
    }

    /// What is run for `tree`, a candidate of a change from `older`; `None` if nothing is known that could refuse it.
    pub fn check(&mut self, open: impl FnOnce() -> Option<Repository>, older: TreeId, tree: TreeId) -> Option<Check> {
        /// What was looked up is kept as long as it may be asked for soon.
        const MAX_KEPT: usize = 1000;
        if self.useless.is_some() {
            return None;
        }
        let (older, words) = match &self.precheck {
            // It does not ask what changed.
            Precheck::Command(words) => (tree, Some(words.clone())),
            Precheck::Database(_) => (older, None),
        };
        if let Some(known) = self.known.get(&(older, tree)) {
            return known.clone();
        }
        let words = words.or_else(|| self.line(&open()?, older, tree));
        let check = words.map(|words| {
            let plan = ProbePlan { precheck: Some(parts(&words)), ..self.plan.clone() }.digest();
            Check { words, plan }
        });
        if self.known.len() == MAX_KEPT {
            self.known.clear();
        }
        self.known.insert((older, tree), check.clone());
        check
    }

    fn line(&mut self, repository: &Repository, older: TreeId, tree: TreeId) -> Option<Words> {
        let Precheck::Database(database) = &self.precheck else { return None };
        let sources = self.touched.sources(repository, (older, tree), &|path| database.has(path));
        database.line(&sources).map(Words::Shell)
    }

    /// The trees that must be let pass before candidates between `ends` are refused, each with its check; told once.
    ///
    /// A user's command is tried at the bad revision instead, before the hunt. What is repaired cannot be built: there
    /// (`is_repair`) only the newer end counts.
    pub fn to_vet(
        &mut self,
        open: impl Fn() -> Option<Repository>,
        ends: Ends,
        is_repair: bool,
    ) -> Vec<(TreeId, Words)> {
        if self.vetted.contains(&ends) || matches!(self.precheck, Precheck::Command(_)) {
            return Vec::new();
        }
        self.vetted.push(ends);
        let Ends { older, newer } = ends;
        let sides = if is_repair { vec![(older, newer)] } else { vec![(older, newer), (newer, older)] };
        sides.into_iter().filter_map(|(from, tree)| Some((tree, self.check(&open, from, tree)?.words))).collect()
    }
}
