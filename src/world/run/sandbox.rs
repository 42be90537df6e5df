//! A worker's sandbox: a worktree outside the user's tree in which one probe runs at a time.
//!
//! A sandbox is a directory with `tree` (the worktree), `tmp` (TMPDIR) and `home`. It is not a confinement: a test runs
//! with the user's rights. Its changes in the worktree are undone after each probe.

use crate::place::surroundings::{CHANGES, ShownPath, Surroundings};
use crate::process::{Command, CommandWatch, CommandWords, EndedCommand, RunError};
use crate::repo::division::Divisions;
use crate::repo::object::is_known;
use crate::repo::settle::{Settled, Since};
use crate::repo::{RepoError, Worktree, WriteError};
use crate::run::artifacts::{Artifact, ArtifactOrigin, Fetched, Fetching, NotPlaced};
use crate::run::classify::SKIP;
use crate::run::failure_line::failure_line;
use crate::run::java_check::JavaCheck;
use crate::run::product::{Product, product};
use crate::run::report_files::ReportFiles;
use crate::run::{printed, table};
use crate::{files, process, repo};
use idd_base::{CommitId, Ending, Observation, Reason, Stage, TimeLimits, TreeId};
use rustix::io::Errno;
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io, thread};

/// Clocks of file systems advance in ticks that are not much longer.
const TICK: Duration = Duration::from_millis(4);

/// The variable that keeps Gradle from using a daemon.
const GRADLE: (&str, &str) = ("GRADLE_OPTS", " -Dorg.gradle.daemon=false");

/// The part that is the same for every probe of a hunt.
#[derive(Debug, Clone)]
pub struct Commands {
    /// How artifacts of revisions are fetched; `None` if they are not.
    pub fetching: Option<Arc<Fetching>>,
    /// How generated files are written.
    pub regeneration: Option<Regeneration>,
    /// The `--build` command.
    pub build: Option<CommandWords>,
    /// The test command.
    pub test: CommandWords,
    /// The artifacts, relative to the top of the worktree; empty if unknown.
    pub artifacts: Vec<Vec<u8>>,
    /// The working directory, relative to the top of the worktree.
    pub directory: PathBuf,
    /// The environment, without variables that differ between sandboxes and without `GIT_*`.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether HOME is a directory of the sandbox.
    pub is_home_isolated: bool,
    /// Where commands see the checkout, and what else they see there.
    pub surroundings: Surroundings,
}

/// How the generated files of a tree are written.
#[derive(Debug, Clone)]
pub struct Regeneration {
    /// The command, which runs before the build.
    pub command: CommandWords,
    /// The files that it may change without a report.
    pub divisions: Divisions,
}

/// When a build that fails beside products of earlier builds is repeated in a fresh worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rebuild {
    /// Never.
    Never,
    /// If the build tool misses a file: an earlier build may have noted that it needs it.
    MissingFile,
    /// If it misses a file, or the failure is not one that a fresh worktree has shown.
    Failure,
}

/// What finds out before a build that it would fail.
#[derive(Debug, Clone)]
pub enum Precheck {
    /// A command, which fails then.
    Command(CommandWords),
    /// A compiler in memory.
    Java(Arc<JavaCheck>),
}

impl Precheck {
    fn step(&self) -> SandboxStep<'_> {
        match self {
            Self::Command(words) => SandboxStep::Command(words),
            Self::Java(check) => SandboxStep::Java(check),
        }
    }
}

/// A step before the test.
#[derive(Debug, Clone, Copy)]
enum SandboxStep<'j> {
    Command(&'j CommandWords),
    Java(&'j JavaCheck),
}

/// One probe.
#[derive(Debug, Clone)]
pub struct ProbeJob {
    /// The tree to test.
    pub tree: TreeId,
    /// The commit whose artifact replaces the build; `None` if the tree is built.
    pub artifact_of: Option<CommitId>,
    /// The tested revision: `HEAD` in the checkout, if the tree is its own; `None` for that of the hunt.
    pub revision: Option<CommitId>,
    /// The commit, if the test can read it.
    pub exposed_commit: Option<CommitId>,
    /// The precheck, which can make the build unnecessary.
    pub precheck: Option<Precheck>,
    /// Whether the worktree is written from nothing first.
    pub is_clean: bool,
    /// When a failing build is repeated in a fresh worktree.
    pub rebuild: Rebuild,
    /// The time limits of the commands.
    pub limits: TimeLimits,
    /// Whether a service may answer with the result of an earlier action.
    pub may_share: bool,
}

impl ProbeJob {
    /// A run in a freshly written worktree, with a build and without a precheck.
    pub fn fresh(tree: TreeId, limit: Duration) -> Self {
        Self {
            tree,
            artifact_of: None,
            revision: None,
            exposed_commit: None,
            precheck: None,
            is_clean: true,
            rebuild: Rebuild::Never,
            limits: TimeLimits::both(limit),
            may_share: false,
        }
    }
}

/// The result of a probe.
#[derive(Debug, Clone)]
pub struct Probed {
    /// The observation; that of an earlier test if [`is_same_product`](Self::is_same_product).
    pub observation: Observation,
    /// The artifact that was used.
    pub artifact: Option<Placed>,
    /// The tested product, if known.
    pub product: Option<Product>,
    /// Whether the test was not run, because another probe had the same product.
    pub is_same_product: bool,
    /// The failure line of a build that failed beside products of earlier builds, but not in a fresh worktree.
    pub stale: Option<String>,
    /// Untracked products of the build, relative to the top, that were removed because no rule of the tree ignores them.
    pub removed: Vec<Vec<u8>>,
}

/// An artifact in a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// Where it came from.
    pub origin: ArtifactOrigin,
    /// The first of its files that stayed as it was because the revision tracks it.
    pub tracked: Option<Vec<u8>>,
}

impl Probed {
    /// An observation without anything else.
    fn of(observation: Observation) -> Self {
        Self { observation, artifact: None, product: None, is_same_product: false, stale: None, removed: Vec::new() }
    }
}

/// The known test result of a product.
pub type KnownResult<'k> = &'k dyn Fn(&Product) -> Option<Observation>;

/// An error that ends the work.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The sandbox directory cannot be created or emptied.
    #[error("failed to prepare the sandbox `{}`", path.display())]
    Prepare {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A thread cannot be started.
    #[error("failed to start a worker")]
    Worker {
        /// Why it failed.
        source: io::Error,
    },
    /// The worktree cannot be written (disk full, repository broken).
    #[error("failed to write the worktree of a probe")]
    Write(#[from] WriteError),
    /// A command cannot be started at all.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A remote service has trouble that did not pass.
    #[error("`{place}` failed: {what}")]
    Remote {
        /// Its address.
        place: String,
        /// What went wrong.
        what: String,
    },
    /// The private repository cannot be used.
    #[error(transparent)]
    Repo(#[from] RepoError),
    /// An artifact cannot be kept or copied (disk full).
    #[error("failed to keep the artifact of {} in `{}`", commit.short(), directory.display())]
    Artifact {
        /// The revision.
        commit: CommitId,
        /// The directory of all artifacts.
        directory: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A worker's directory.
pub struct Sandbox {
    directory: PathBuf,
    /// The directory above, opened before any test ran.
    root: File,
    repository: repo::Repository,
    worktree: Worktree,
    is_fresh: bool,
    /// Whether an artifact was put into the worktree.
    has_artifact: bool,
    keeps_products: bool,
    /// The failure lines of builds in fresh worktrees.
    believed: HashSet<String>,
    /// The refs of the private repository.
    refs: Vec<u8>,
    /// Its name among the worktrees of the private repository.
    link: String,
    /// The revision of probes that have none.
    head: CommitId,
    /// Its directory in the private repository.
    git_directory: PathBuf,
    /// HEAD of the last probe.
    probed_head: CommitId,
    /// What the last probe saw of the user's working tree, and which of its tracked files were as the user edited them.
    shown: (Vec<ShownPath>, BTreeSet<Vec<u8>>),
}

impl Sandbox {
    /// Creates an empty sandbox `name` below `root`, linked to the private repository.
    pub fn create(root: &Path, name: &str, private: &Path, head: CommitId) -> Result<Self, SandboxError> {
        let directory = root.join(name);
        let prepared = |path: &Path| {
            let path = path.to_owned();
            move |source| SandboxError::Prepare { path, source }
        };
        for part in ["tree", "tmp", "home"] {
            let path = directory.join(part);
            fs::create_dir_all(&path).map_err(prepared(&path))?;
        }
        let directory = fs::canonicalize(&directory).map_err(prepared(&directory))?;
        let mut worktree = Worktree::create(&directory.join("tree"))?;
        let link = link_name(root, name);
        let git_directory = repo::private::link_worktree(private, &link, &directory.join("tree"), head)?;
        worktree.set_git_file(&repo::private::git_file(&git_directory))?;
        let repository = repo::private::open(private)?;
        let refs = repo::private::packed_refs(&repository);
        let above = directory.parent().unwrap_or(root).to_owned();
        let root = File::open(&above).map_err(prepared(&above))?;
        Ok(Self {
            directory,
            root,
            repository,
            worktree,
            is_fresh: true,
            has_artifact: false,
            keeps_products: false,
            believed: HashSet::new(),
            link,
            head,
            git_directory,
            probed_head: head,
            shown: (Vec::new(), BTreeSet::new()),
            refs,
        })
    }

    /// The directory of its worktree.
    pub fn tree_directory(&self) -> PathBuf {
        self.directory.join("tree")
    }

    /// The notices about the trees written so far, for one message to the user.
    pub fn notices(&self) -> &BTreeSet<repo::ConversionNotice> {
        self.worktree.notices()
    }

    /// As [`probe`](Self::probe), without known products.
    pub fn observe(
        &mut self,
        job: &ProbeJob,
        commands: &Commands,
        watch: &mut dyn CommandWatch,
    ) -> Result<Option<Observation>, SandboxError> {
        Ok(self.probe(job, commands, watch, &|_| None)?.map(|probed| probed.observation))
    }

    /// Keeps all files that commands make from now on: later commands without a build find its products.
    ///
    /// Only for trees that differ in files that no command changes.
    pub fn keep_products(&mut self) {
        self.keeps_products = true;
    }

    /// Writes the tree, runs the regeneration, the precheck, the build and the test, and undoes their changes. `None`
    /// if it was interrupted.
    ///
    /// - `known`: called between build and test if the product is known; a result replaces the test. In a fresh
    ///   worktree the test always runs.
    ///
    /// Cost: a second build, in a fresh worktree, if [`ProbeJob::rebuild`] asks for it.
    pub fn probe(
        &mut self,
        job: &ProbeJob,
        commands: &Commands,
        watch: &mut dyn CommandWatch,
        known: KnownResult<'_>,
    ) -> Result<Option<Probed>, SandboxError> {
        let artifact = match job.artifact_of.map(|commit| self.fetch(commit, job, commands, watch)).transpose()? {
            None => None,
            Some(Fetched::There(artifact)) => Some(artifact),
            Some(Fetched::Absent(ran)) if ran.cancelled => return Ok(None),
            Some(Fetched::Absent(ran)) => {
                let seen =
                    observation(job, Stage::Fetch, ran.ending, self.readable(&ran.output, &commands.surroundings));
                return Ok(Some(Probed::of(Observation { is_clean: true, ..seen })));
            }
        };
        // Files of an artifact, and products of a build, stay in the worktree if the tree ignores them. Neither may be
        // beside the other, or beside those of another revision.
        let is_clean = job.is_clean || self.has_artifact || artifact.is_some();
        self.has_artifact = artifact.is_some();
        let job = &ProbeJob { is_clean, ..job.clone() };
        if let Some(artifact) = artifact {
            return self.attempt(job, Some(artifact), commands, watch, known);
        }
        let is_fresh = self.is_fresh || job.is_clean;
        let probed = self.attempt(job, None, commands, watch, known)?;
        let Some(line) = probed.as_ref().and_then(|probed| build_failure(&probed.observation)) else {
            return Ok(probed);
        };
        if is_fresh {
            self.believed.insert(line);
            return Ok(probed);
        }
        let output = probed.as_ref().map_or("", |probed| &probed.observation.output);
        let is_doubtful = match job.rebuild {
            Rebuild::Never => false,
            Rebuild::MissingFile => table::misses_a_file(output),
            Rebuild::Failure => true,
        };
        if !is_doubtful || self.believed.contains(&line) {
            return Ok(probed);
        }
        let again = self.attempt(&ProbeJob { is_clean: true, ..job.clone() }, None, commands, watch, known)?;
        let Some(again) = again else { return Ok(None) };
        Ok(Some(match build_failure(&again.observation) {
            Some(line) => {
                self.believed.insert(line);
                again
            }
            None => Probed { stale: Some(line), ..again },
        }))
    }

    /// Runs a command in the worktree as the last probe left it, with the products of its build. `None` if it was interrupted.
    ///
    /// The worktree is not restored: what the command writes stays for the next run.
    pub fn run_again(
        &mut self,
        words: &CommandWords,
        job: &ProbeJob,
        commands: &Commands,
        watch: &mut dyn CommandWatch,
    ) -> Result<Option<EndedCommand>, SandboxError> {
        self.restore()?;
        let ran = self.run(words, Stage::Test, job, commands, watch)?;
        Ok((!ran.cancelled).then_some(ran))
    }

    /// Makes the worktree as after a first checkout if the job needs it; returns whether it did.
    fn refresh(&mut self, job: &ProbeJob, surroundings: &Surroundings) -> Result<bool, SandboxError> {
        let shown = surroundings.seen_of_user();
        // At the revision of the user, what the user has built serves better than what was built for another one.
        let is_of_user = !job.is_clean && job.revision.is_none_or(|revision| revision == self.head);
        let is_hidden = || is_of_user && surroundings.hides_caches(&self.tree_directory());
        let is_needed = !self.is_fresh && (job.is_clean || self.shown != shown || is_hidden());
        if is_needed {
            self.worktree.refresh(&self.repository)?;
            self.drop_changes()?;
        }
        self.shown = shown;
        Ok(is_needed)
    }

    fn attempt(
        &mut self,
        job: &ProbeJob,
        artifact: Option<Artifact>,
        commands: &Commands,
        watch: &mut dyn CommandWatch,
        known: KnownResult<'_>,
    ) -> Result<Option<Probed>, SandboxError> {
        self.restore()?;
        let is_refreshed = self.refresh(job, &commands.surroundings)?;
        self.is_fresh = false;
        let was_empty = self.worktree.tree_id().is_none();
        if let Err(refusal) = self.worktree.move_to(&self.repository, job.tree)? {
            let ending = Ending::NotRun(refusal.reason());
            let observation = observation(job, Stage::Test, ending, format!("git-idd: {refusal}\n"));
            return Ok(Some(Probed::of(observation)));
        }
        if was_empty || is_refreshed {
            // A claim builds everything that was compiled.
            let times = commands.surroundings.times.clone();
            let times = times.filter(|_| !(job.is_clean && commands.surroundings.has_objects)).unwrap_or_default();
            self.worktree.date(&times, !was_empty);
        }
        let git_directory = match &commands.surroundings.place {
            Some(place) => place.seen(&self.directory, &self.git_directory),
            None => self.git_directory.clone(),
        };
        self.worktree.set_git_file(&repo::private::git_file(&git_directory))?;
        let begin_ns = self.clock_ns()?;
        let written = self.worktree.written();
        let head = job.revision.unwrap_or(self.head);
        self.probed_head = repo::private::set_head(
            &self.repository,
            &self.link,
            head,
            job.tree,
            written,
            &commands.surroundings.held,
        )?;
        self.copy_shown(&commands.surroundings)?;
        let is_built = artifact.is_none();
        let artifact = match self.place(artifact, job, commands, watch)? {
            Ok(placed) => placed,
            Err(NotPlaced::Interrupted) => return Ok(None),
            Err(NotPlaced::Refused(why)) => {
                let seen = observation(job, Stage::Fetch, Ending::NotRun(Reason::Path), format!("git-idd: {why}\n"));
                return Ok(Some(Probed::of(seen)));
            }
        };
        let (stage, mut duration, ran) =
            if is_built { self.build(job, commands, watch)? } else { (Stage::Test, Duration::ZERO, None) };
        let is_apart = is_built && commands.build.is_some() && !ran.as_ref().is_some_and(is_cut);
        let built_ns = if is_apart { Some(self.next_clock_ns()?) } else { None };
        let product = if is_built { self.product(&commands.artifacts).filter(|_| ran.is_none()) } else { None };
        let earlier = product.as_ref().filter(|_| !job.is_clean).and_then(known);
        let tested_ns = built_ns.map_or_else(|| self.clock_ns(), Ok)?;
        let ran = if let Some(ran) = ran {
            Ok(ran)
        } else if let Some(earlier) = earlier {
            Err(earlier)
        } else {
            let tested = self.run(&commands.test, Stage::Test, job, commands, watch)?;
            duration += tested.duration;
            Ok(tested)
        };
        self.restore()?;
        let reported = match &ran {
            Ok(EndedCommand { ending: Ending::Exit(1..), cancelled: false, .. }) if stage == Stage::Test => {
                let is_known = |content: &[u8]| is_known(&self.repository, content);
                let changes = self.directory.join(CHANGES);
                ReportFiles::new(tested_ns, &is_known).read(&[&self.tree_directory(), &changes])
            }
            _ => String::new(),
        };
        let is_cut = ran.as_ref().is_ok_and(is_cut);
        if is_cut {
            self.drop_changes()?;
        }
        let settled = if self.keeps_products {
            Settled::default()
        } else {
            let since = Since { cut_ns: is_cut.then_some(begin_ns), built_ns, fresh: None };
            self.worktree.settle(&self.repository, since)?
        };
        repo::private::restore_refs(self.repository.path(), &self.refs)?;
        let is_same_product = ran.is_err();
        let mut seen = match ran {
            Ok(ran) if ran.cancelled => return Ok(None),
            Ok(ran) => {
                let output = self.readable(&ran.output, &commands.surroundings);
                let reported = self.readable(reported.as_bytes(), &commands.surroundings);
                Observation { duration, reported, ..observation(job, stage, ran.ending, output) }
            }
            // With the duration of that test, for queries with another limit.
            Err(earlier) => Observation { is_clean: false, ..earlier },
        };
        let is_expected = |path: &Vec<u8>| {
            let divisions = commands.regeneration.as_ref().map(|regeneration| &regeneration.divisions);
            divisions.is_some_and(|divisions| divisions.is_generated(&self.repository, job.tree, path))
        };
        seen.is_tampered = !settled.tampered.iter().all(is_expected);
        // What an artifact leaves is no product of the build.
        let mut removed = if is_built { settled.products } else { Vec::new() };
        removed.retain(|path| !commands.surroundings.has_copied(path));
        Ok(Some(Probed { observation: seen, artifact, product, is_same_product, stale: None, removed }))
    }

    /// Copies what the user's working tree has into the worktree; again, if only a part of a copy was left.
    fn copy_shown(&mut self, surroundings: &Surroundings) -> Result<(), SandboxError> {
        self.worktree.remove_thinned(surroundings.copied().map(|shown| shown.path.as_path()))?;
        let path = self.tree_directory();
        surroundings.copy(&path).map_err(|source| SandboxError::Prepare { path, source })
    }

    /// Gets the artifact of a commit; the worktree is not needed.
    fn fetch(
        &self,
        commit: CommitId,
        job: &ProbeJob,
        commands: &Commands,
        watch: &mut dyn CommandWatch,
    ) -> Result<Fetched, SandboxError> {
        let fetching = commands.fetching.as_ref().expect("a job asks for an artifact only if a command fetches it");
        let job = ProbeJob { exposed_commit: Some(commit), limits: TimeLimits::both(fetching.limit), ..job.clone() };
        let words = CommandWords::Shell(fetching.line_for(commit));
        let run = |directory: &Path| self.run_in(directory.to_owned(), &words, Stage::Fetch, &job, commands, watch);
        let directory = fetching.root.clone();
        fetching.fetch(commit, run)?.map_err(|source| SandboxError::Artifact { commit, directory, source })
    }

    /// Puts an artifact into the worktree, which has only the files of its tree.
    fn place(
        &self,
        artifact: Option<Artifact>,
        job: &ProbeJob,
        commands: &Commands,
        watch: &dyn CommandWatch,
    ) -> Result<Result<Option<Placed>, NotPlaced>, SandboxError> {
        let Some(artifact) = artifact else { return Ok(Ok(None)) };
        let fetching = commands.fetching.as_ref().expect("a job asks for an artifact only if a command fetches it");
        let commit = job.artifact_of.expect("an artifact is that of a commit");
        let origin = artifact.origin;
        let placed = fetching.place(artifact, &self.tree_directory(), &|| watch.is_interrupted());
        let directory = fetching.root.clone();
        let placed = placed.map_err(|source| SandboxError::Artifact { commit, directory, source })?;
        Ok(placed.map(|tracked| Some(Placed { origin, tracked })))
    }

    /// Runs the regeneration, the precheck and the build; returns the stage that ended the probe, the time, and how it
    /// ended before the test.
    fn build(
        &self,
        job: &ProbeJob,
        commands: &Commands,
        watch: &mut dyn CommandWatch,
    ) -> Result<(Stage, Duration, Option<EndedCommand>), SandboxError> {
        let mut duration = Duration::ZERO;
        let regenerate = commands.regeneration.as_ref().map(|regeneration| &regeneration.command);
        let steps = [
            (Stage::Build, regenerate.map(SandboxStep::Command)),
            (Stage::Precheck, job.precheck.as_ref().map(Precheck::step)),
            (Stage::Build, commands.build.as_ref().map(SandboxStep::Command)),
        ];
        for (stage, step) in steps.into_iter().filter_map(|(stage, step)| Some((stage, step?))) {
            let mut built = match step {
                SandboxStep::Command(words) => self.run(words, stage, job, commands, watch)?,
                SandboxStep::Java(check) => check.run(&self.tree_directory(), job.limits.build, watch),
            };
            duration += built.duration;
            if built.cancelled || built.ending != Ending::Exit(0) {
                if matches!(step, SandboxStep::Command(words) if Some(words) == regenerate) {
                    built.output.extend(format!("git-idd: `idd.regenerate` ended with {}\n", built.ending).bytes());
                }
                return Ok((stage, duration, Some(built)));
            }
        }
        Ok((Stage::Test, duration, None))
    }

    fn product(&self, artifacts: &[Vec<u8>]) -> Option<Product> {
        if artifacts.is_empty() {
            return None;
        }
        product(File::open(self.tree_directory()).ok()?.as_fd(), artifacts)
    }

    fn run(
        &self,
        words: &CommandWords,
        stage: Stage,
        job: &ProbeJob,
        commands: &Commands,
        watch: &mut dyn CommandWatch,
    ) -> Result<EndedCommand, SandboxError> {
        self.run_in(within(&self.tree_directory(), &commands.directory), words, stage, job, commands, watch)
    }

    fn run_in(
        &self,
        directory: PathBuf,
        words: &CommandWords,
        stage: Stage,
        job: &ProbeJob,
        commands: &Commands,
        watch: &mut dyn CommandWatch,
    ) -> Result<EndedCommand, SandboxError> {
        let tree = self.tree_directory();
        let below = directory.strip_prefix(&tree).ok().filter(|_| directory.is_dir()).map(Path::to_owned);
        let seen = commands.surroundings.seen(&tree);
        let view = match below {
            Some(_) => commands.surroundings.view(&self.directory, &tree, !job.is_clean),
            None => Ok(None),
        };
        let view = view.map_err(|source| SandboxError::Prepare { path: self.directory.clone(), source })?;
        let directory = below.filter(|_| view.is_some()).map_or(directory, |below| within(seen, &below));
        let (is_in_place, is_in_tree) = (view.is_some(), view.is_some() || directory.starts_with(&tree));
        let mut environment = commands.environment.clone();
        let mut set = |name: &str, value: OsString| {
            environment.retain(|(present, _)| present != name);
            environment.push((name.into(), value));
        };
        if is_in_tree {
            set("IDD_WORKTREE", seen.into());
            set("IDD_TREE", job.tree.to_string().into());
        }
        if let Some(commit) = job.exposed_commit {
            set("IDD_COMMIT", commit.to_string().into());
        }
        if is_in_place {
            // A daemon of the user's does not see the place.
            let present =
                commands.environment.iter().find(|(name, _)| name == GRADLE.0).map(|(_, value)| value.clone());
            let mut options = present.unwrap_or_default();
            options.push(GRADLE.1);
            set(GRADLE.0, options);
        }
        set("TMPDIR", self.directory.join("tmp").into());
        if commands.is_home_isolated {
            set("HOME", self.directory.join("home").into());
        }
        set("PWD", directory.clone().into());
        let limit = job.limits.of(stage);
        Ok(process::run(&Command { words: words.clone(), directory, view, environment, limit }, watch)?)
    }

    /// Removes what commands have changed in directories of the user, as they saw them.
    fn drop_changes(&self) -> Result<(), SandboxError> {
        let failed = |source| SandboxError::Prepare { path: self.directory.join(CHANGES), source };
        let directory = File::open(&self.directory).map_err(failed)?;
        match repo::files::remove(directory.as_fd(), CHANGES.as_bytes()) {
            Ok(_) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(failed(errno.into())),
        }
    }

    /// Restores the directories of the sandbox, and empties TMPDIR and HOME. A test may have replaced them by links; the targets
    /// of these links are not changed.
    fn restore(&self) -> Result<(), SandboxError> {
        let failed = |source: io::Error| SandboxError::Prepare { path: self.directory.clone(), source };
        let (Some(above), Some(name)) = (self.directory.parent(), self.directory.file_name()) else {
            return Err(failed(io::ErrorKind::InvalidInput.into()));
        };
        let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        let held = self.root.metadata().map(identity).map_err(failed)?;
        if fs::symlink_metadata(above).map(identity).map_err(failed)? != held {
            return Err(failed(io::Error::other("something else stands in the place of its parent")));
        }
        let failed = |errno: Errno| failed(errno.into());
        let directory = repo::files::make_directory(self.root.as_fd(), name.as_bytes()).map_err(failed)?;
        repo::files::make_directory(directory.as_fd(), b"tree").map_err(failed)?;
        for part in ["home", "tmp"] {
            let emptied = repo::files::make_directory(directory.as_fd(), part.as_bytes()).map_err(failed)?;
            for (name, _) in repo::files::list(emptied.as_fd()).map_err(failed)? {
                // A file of another user (of a test that runs as root, for example) may stay.
                let _ = repo::files::remove(emptied.as_fd(), &name);
            }
        }
        Ok(())
    }

    /// The present time of the file system's clock. It can differ from the machine's clock, and advances in ticks.
    fn clock_ns(&self) -> Result<i128, SandboxError> {
        let path = self.directory.join("tmp");
        let failed = |source: io::Error| SandboxError::Prepare { path: path.clone(), source };
        let temporary = repo::files::open_directory(File::open(&self.directory).map_err(failed)?.as_fd(), b"tmp");
        let temporary = temporary.map_err(|errno| failed(errno.into()))?;
        let written = repo::files::write_file(temporary.as_fd(), b"clock", b"", false);
        let stat = written.map_err(|errno| failed(errno.into()))?;
        repo::files::remove(temporary.as_fd(), b"clock").map_err(|errno| failed(errno.into()))?;
        Ok(stat.ctime_ns)
    }

    /// The next tick of that clock: what was written before has an earlier time.
    fn next_clock_ns(&self) -> Result<i128, SandboxError> {
        let begin_ns = self.clock_ns()?;
        loop {
            let now_ns = self.clock_ns()?;
            if now_ns > begin_ns {
                return Ok(now_ns);
            }
            thread::sleep(TICK / 4);
        }
    }

    /// Output as text, the same in every sandbox.
    fn readable(&self, output: &[u8], surroundings: &Surroundings) -> String {
        let text = printed::without_place(&String::from_utf8_lossy(output), &self.directory);
        let text = printed::without_id(text, self.probed_head);
        match &surroundings.place {
            Some(place) => place.without_top(&text, "<worktree>"),
            None => text,
        }
    }
}

/// The normalised failure line of a build, also of one inside the test; `None` if no build failed. A test that asks to be
/// skipped may have built without a word.
fn build_failure(observation: &Observation) -> Option<String> {
    let Observation { stage, ending, output, .. } = observation;
    let is_failing = matches!(ending, Ending::Exit(1..) | Ending::Signal(_));
    let is_build = match stage {
        Stage::Fetch | Stage::Precheck => false,
        Stage::Build => true,
        Stage::Test => table::failed_builder(output).is_some(),
    };
    let line = || failure_line(output).unwrap_or_else(|| ending.to_string());
    if is_failing && is_build {
        Some(line())
    } else {
        (*stage == Stage::Test && *ending == Ending::Exit(SKIP)).then(|| ending.to_string())
    }
}

/// A directory below another one, without a slash at the end: a test may print it.
fn within(directory: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { directory.to_owned() } else { directory.join(below) }
}

/// Whether a command was killed, so that what it made can be half-written.
fn is_cut(ran: &EndedCommand) -> bool {
    ran.cancelled || ran.ending == Ending::Timeout
}

fn observation(job: &ProbeJob, stage: Stage, ending: Ending, output: String) -> Observation {
    Observation {
        stage,
        ending,
        duration: Duration::ZERO,
        limit: job.limits.of(stage),
        output,
        reported: String::new(),
        is_clean: job.is_clean,
        is_tampered: false,
        place: None,
    }
}

/// The name of a sandbox among the worktrees of the private repository, which other hunts use at the same time.
fn link_name(root: &Path, name: &str) -> String {
    format!("{}-{name}", root.file_name().unwrap_or_default().to_string_lossy())
}

/// Removes a directory of sandboxes and their links in the private repository; entries that cannot be removed stay.
pub fn remove(root: &Path, private: &Path) {
    // Not `remove_dir_all`, which enters mounts of a test.
    if let (Some(above), Some(name)) = (root.parent(), root.file_name())
        && let Ok(above) = File::open(above)
    {
        let _ = repo::files::remove(above.as_fd(), name.as_bytes());
    }
    let links = private.join("worktrees");
    let prefix = link_name(root, "");
    for name in files::names(&links).iter().filter(|name| name.to_string_lossy().starts_with(&prefix)) {
        let _ = fs::remove_dir_all(links.join(name));
    }
}
