//! The precheck: its command for a candidate, whether it is useful, and the key of its rejections.

pub mod java;

use crate::Context;
use crate::order::HuntOrder;
use crate::plan::{parts, shell_line};
use crate::precheck::java::{CandidateCheck, JavaChecks, OfJava, sides};
use idd_base::{CommitId, TreeId};
use idd_hunt::ChangeEnds;
use idd_world::cache::ProbePlan;
use idd_world::files;
use idd_world::process::CommandWords;
use idd_world::repo::touched::TouchedIncludes;
use idd_world::repo::{Location, Repository, graph, locate};
use idd_world::run::compile_database::{CompileDatabase, DatabaseRoots};
use idd_world::run::java_check::JavaCheck;
use idd_world::run::sandbox::Commands;
use idd_world::run::{sandbox, toolchain};
use std::collections::{HashMap, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// The paths of a compile database from the top, as in clangd.
const PLACES: [&str; 2] = ["compile_commands.json", "build/compile_commands.json"];

/// How candidates are checked.
#[derive(Debug, Clone)]
pub enum CandidatePrecheck {
    /// By the command of `--precheck`.
    Command(CommandWords),
    /// The compiler checks the syntax of the sources that a candidate touches, with the commands of the user's build.
    Database(Arc<CompileDatabase>),
    /// A compiler of Java in memory reads the sources of the change.
    Java(Arc<OfJava>),
}

impl CandidatePrecheck {
    /// The user's command; or else the compile database, if git does not track it, neither now nor at `commits`.
    ///
    /// Without both, and with a Java development kit, the sources of the last of `commits` decide whether Java is
    /// compiled in memory.
    pub fn new(
        order: &HuntOrder,
        location: &Location,
        commands: &Commands,
        user: &Repository,
        context: &Context,
        commits: &[CommitId],
    ) -> Option<Self> {
        if order.test.no_precheck {
            return None;
        }
        if let Some(line) = &order.test.precheck {
            return Some(Self::Command(CommandWords::Shell(line.clone())));
        }
        let top = location.top.as_ref()?;
        let is_tracked = |path: &[u8]| {
            locate::is_tracked(location, path, &context.environment)
                || commits.iter().any(|commit| graph::has_path(user, *commit, path))
        };
        let path = context.variable("PATH").unwrap_or_default();
        let foreign = [top.clone(), location.git_directory.clone(), location.common_directory.clone()];
        let grounds = DatabaseRoots { top, foreign: &foreign, path: &path };
        let database = PLACES.into_iter().find_map(|name| {
            // A link can lead to a tracked file.
            let real = files::real(&top.join(name))?;
            let inside = real.strip_prefix(top).ok().map(|path| path.as_os_str().as_bytes());
            let is_untracked = !is_tracked(name.as_bytes()) && !inside.is_some_and(is_tracked);
            is_untracked.then(|| CompileDatabase::read(&real, &grounds)).flatten().map(Arc::new).map(Self::Database)
        });
        let line = shell_line(commands.build.as_ref().unwrap_or(&commands.test));
        let of_java =
            || OfJava::new(commands, &line, location, user, context, *commits.last()?).map(Arc::new).map(Self::Java);
        database.or_else(of_java)
    }
}

/// The command for a candidate, and the digest of the plan for its rejections.
type ByWords = (CommandWords, [u8; 32]);

/// The precheck during a hunt.
pub struct Checking {
    precheck: CandidatePrecheck,
    /// The plan for rejections, without the check itself.
    plan: ProbePlan,
    touched: TouchedIncludes,
    known: HashMap<(TreeId, TreeId), Option<ByWords>>,
    vetted: Vec<ChangeEnds>,
    /// The checks of Java, if they are the precheck.
    pub java: Option<JavaChecks>,
    /// The rejected trees.
    pub refused: HashSet<TreeId>,
    /// Why it is no longer used: it rejects a tree that can be built.
    pub useless: Option<&'static str>,
}

impl Checking {
    /// A check that has not run yet; `plan` is that of a probe without it, `cache` a directory for programs.
    pub fn new(precheck: CandidatePrecheck, mut plan: ProbePlan, cache: &Path) -> Self {
        let java = match &precheck {
            CandidatePrecheck::Java(facts) => Some(JavaChecks::new(facts, cache)),
            _ => None,
        };
        if let CandidatePrecheck::Database(database) = &precheck {
            let digest = |path| toolchain::file_digest(path).unwrap_or_default();
            let compilers = database.compilers().map(|path| (path.as_os_str().as_bytes().to_vec(), digest(path)));
            plan.outside_files.extend(compilers);
        }
        Self {
            precheck,
            plan,
            touched: TouchedIncludes::default(),
            known: HashMap::new(),
            vetted: Vec::new(),
            java,
            refused: HashSet::new(),
            useless: None,
        }
    }

    /// Checks are run from now on where probes of this plan are.
    pub fn stand(&mut self, plan: &ProbePlan) {
        self.plan.is_in_place = plan.is_in_place;
        self.plan.shown.clone_from(&plan.shown);
        self.known.clear();
    }

    /// The compile database, if there is one and it is useful.
    pub fn database(&self) -> Option<&Arc<CompileDatabase>> {
        match &self.precheck {
            CandidatePrecheck::Database(database) if self.useless.is_none() => Some(database),
            _ => None,
        }
    }

    /// The command of the user, if there is one and it is useful.
    pub fn command(&self) -> Option<&CommandWords> {
        match &self.precheck {
            CandidatePrecheck::Command(words) if self.useless.is_none() => Some(words),
            _ => None,
        }
    }

    /// The check of `tree`, a candidate of the change between `ends`; `None` if no check is possible.
    pub fn check(
        &mut self,
        open: impl FnOnce() -> Option<Repository>,
        ends: ChangeEnds,
        tree: TreeId,
    ) -> Option<CandidateCheck> {
        if self.useless.is_some() {
            return None;
        }
        match &self.java {
            Some(java) => java.of(ends).cloned(),
            None => self
                .check_by_words(open, ends.older, tree)
                .map(|(words, plan)| CandidateCheck { run: sandbox::Precheck::Command(words), plan }),
        }
    }

    fn check_by_words(
        &mut self,
        open: impl FnOnce() -> Option<Repository>,
        older: TreeId,
        tree: TreeId,
    ) -> Option<ByWords> {
        /// Results are stored as long as they may be needed soon.
        const MAX_KEPT: usize = 1000;
        let (older, words) = match &self.precheck {
            // It does not depend on the change.
            CandidatePrecheck::Command(words) => (tree, Some(words.clone())),
            CandidatePrecheck::Database(_) | CandidatePrecheck::Java(_) => (older, None),
        };
        if let Some(known) = self.known.get(&(older, tree)) {
            return known.clone();
        }
        let words = words.or_else(|| self.line(&open()?, older, tree));
        let check = words.map(|words| (words.clone(), self.plan_with(&words)));
        if self.known.len() == MAX_KEPT {
            self.known.clear();
        }
        self.known.insert((older, tree), check.clone());
        check
    }

    fn plan_with(&self, words: &CommandWords) -> [u8; 32] {
        ProbePlan { precheck: Some(parts(words)), ..self.plan.clone() }.digest()
    }

    fn line(&mut self, repository: &Repository, older: TreeId, tree: TreeId) -> Option<CommandWords> {
        let CandidatePrecheck::Database(database) = &self.precheck else { return None };
        let sources = self.touched.sources(repository, older, tree, &|path| database.has(path));
        database.line(&sources).map(CommandWords::Shell)
    }

    /// The trees that the command of a database must accept before it may reject candidates between `ends`, each with
    /// it; returned once.
    ///
    /// A user's command is run at the bad revision instead, before the hunt. A revision that needs a repair cannot be
    /// built, so for a repair (`is_repair`) only the newer end counts.
    pub fn to_vet(
        &mut self,
        open: impl Fn() -> Option<Repository>,
        ends: ChangeEnds,
        is_repair: bool,
    ) -> Vec<(TreeId, CommandWords)> {
        if self.useless.is_some()
            || self.vetted.contains(&ends)
            || !matches!(self.precheck, CandidatePrecheck::Database(_))
        {
            return Vec::new();
        }
        self.vetted.push(ends);
        let sides = sides(ends, is_repair);
        sides
            .iter()
            .filter_map(|ChangeEnds { older, newer }| Some((*newer, self.check_by_words(&open, *older, *newer)?.0)))
            .collect()
    }

    /// Uses a check of Java from now on for the candidates of a change.
    pub fn use_java(&mut self, ends: ChangeEnds, check: JavaCheck) {
        let check = JavaCheck { is_vetting: false, ..check };
        let plan = self.plan_with(&java::words(&check));
        let is_of_use = !check.sources.is_empty();
        let check = CandidateCheck { run: sandbox::Precheck::Java(Arc::new(check)), plan };
        self.java.iter_mut().for_each(|java| java.know(ends, is_of_use.then(|| check.clone())));
    }
}
