//! The precheck: its command for a candidate, whether it is useful, and the key of its rejections.

use crate::hunt::probe::Ends;
use crate::revision::CommitId;
use crate::revision::TreeId;
use crate::session::context::Context;
use crate::session::order::HuntOrder;
use crate::session::plan::parts;
use crate::world::cache::ProbePlan;
use crate::world::files;
use crate::world::process::Words;
use crate::world::repo::Repository;
use crate::world::repo::graph;
use crate::world::repo::locate;
use crate::world::repo::locate::Location;
use crate::world::repo::touched::Touched;
use crate::world::run::compile_database::CompileDatabase;
use crate::world::run::compile_database::Grounds;
use crate::world::run::toolchain;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// The paths of a compile database from the top, as in clangd.
const PLACES: [&str; 2] = ["compile_commands.json", "build/compile_commands.json"];

/// How candidates are checked.
#[derive(Debug, Clone)]
pub enum Precheck {
    /// By the command of `--precheck`.
    Command(Words),
    /// The compiler checks the syntax of the sources that a candidate touches, with the commands of the user's build.
    Database(Arc<CompileDatabase>),
}

impl Precheck {
    /// The user's command; or else the compile database, if git does not track it, neither now nor at `commits`.
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
            // A link can lead to a tracked file.
            let real = files::real(&top.join(name))?;
            let inside = real.strip_prefix(top).ok().map(|path| path.as_os_str().as_bytes());
            let is_untracked = !is_tracked(name.as_bytes()) && !inside.is_some_and(is_tracked);
            is_untracked.then(|| CompileDatabase::read(&real, &grounds)).flatten().map(Arc::new).map(Self::Database)
        })
    }
}

/// The precheck during a hunt.
pub struct Checking {
    precheck: Precheck,
    /// The plan for rejections, without the check itself.
    plan: ProbePlan,
    touched: Touched,
    known: HashMap<(TreeId, TreeId), Option<Check>>,
    vetted: Vec<Ends>,
    /// Why it is no longer used: it rejects a tree that can be built.
    pub useless: Option<&'static str>,
}

/// The check of one candidate.
#[derive(Debug, Clone)]
pub struct Check {
    /// The command.
    pub words: Words,
    /// The digest of the plan for its rejections.
    pub plan: [u8; 32],
}

impl Checking {
    /// A check that has not run yet; `plan` is that of a probe without it.
    pub fn new(precheck: Precheck, mut plan: ProbePlan) -> Self {
        if let Precheck::Database(database) = &precheck {
            let digest = |path| toolchain::file_digest(path).unwrap_or_default();
            let compilers = database.compilers().map(|path| (path.as_os_str().as_bytes().to_vec(), digest(path)));
            plan.outside_files.extend(compilers);
        }
        Self { precheck, plan, touched: Touched::default(), known: HashMap::new(), vetted: Vec::new(), useless: None }
    }

    /// The compile database, if there is one and it is useful.
    pub fn database(&self) -> Option<&Arc<CompileDatabase>> {
        match &self.precheck {
            Precheck::Database(database) if self.useless.is_none() => Some(database),
            _ => None,
        }
    }

    /// The command of the user, if there is one and it is useful.
    pub fn command(&self) -> Option<&Words> {
        match &self.precheck {
            Precheck::Command(words) if self.useless.is_none() => Some(words),
            _ => None,
        }
    }

    /// The check of `tree`, a candidate of a change from `older`; `None` if no check is possible.
    pub fn check(&mut self, open: impl FnOnce() -> Option<Repository>, older: TreeId, tree: TreeId) -> Option<Check> {
        /// Results are stored as long as they may be needed soon.
        const MAX_KEPT: usize = 1000;
        if self.useless.is_some() {
            return None;
        }
        let (older, words) = match &self.precheck {
            // It does not depend on the change.
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

    /// The trees that the check must accept before it may reject candidates between `ends`, each with its check;
    /// returned once.
    ///
    /// A user's command is run at the bad revision instead, before the hunt. A revision that needs a repair cannot be
    /// built, so for a repair (`is_repair`) only the newer end counts.
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
