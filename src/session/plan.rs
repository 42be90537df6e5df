//! The plan: the order, resolved against the repository; the same for the whole hunt.

use crate::failure::chain;
use crate::hold::{inside, stored};
use crate::order::{Holding, HuntOrder, TestCommand};
use crate::precheck::CandidatePrecheck;
use crate::share::Flaky;
use crate::{Context, Failure, bisect, hold, identity, order, service, suite};
use idd_base::{CommitId, HuntStage, Sought, TreeId};
use idd_change::EntryMode;
use idd_change::reduce::Reducer;
use idd_hunt::own_tests::{Covered, RunnableFiles};
use idd_hunt::{Again, Artifacts, History, HuntWishes, Noisy};
use idd_world::cache::{CommandParts, ProbePlan};
use idd_world::files::{self, OnDisk};
use idd_world::place::surroundings::Surroundings;
use idd_world::place::untracked::UserPath;
use idd_world::process::{CommandWords, shell};
use idd_world::remote::Service;
use idd_world::repo::division::{DivisionError, Divisions};
use idd_world::repo::graph::Headless;
use idd_world::repo::{HeldFiles, Location, RepoError, Repository, TreeStore, fetch, graph, modules};
use idd_world::run::artifacts::Fetching;
use idd_world::run::sandbox::{Commands, Regeneration};
use idd_world::run::{artifacts, toolchain};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::Arc;

/// The changes of the plan during the hunt; see [`Again`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent adjustments, each made at most once")]
pub struct Adjustments {
    /// Test files that are held because a pass without them was empty.
    pub also_held: Vec<Vec<u8>>,
    /// What every revision has of what only the user's working tree has.
    pub environment: Vec<Arc<UserPath>>,
    /// Nothing is held.
    pub hold_nothing: bool,
    /// A pass that is newer than a first bad commit that was found.
    pub newer_pass: Option<CommitId>,
    /// The pattern of the failure line, whose other words vary.
    pub line: Option<String>,
    /// Only the exit code is the signature.
    pub signature_is_exit: bool,
    /// Every probe runs in a fresh worktree.
    pub is_clean: bool,
    /// One probe runs at a time.
    pub is_alone: bool,
    /// Runs of one tree disagree.
    pub is_noisy: bool,
    /// A culprit that touches only tests is accepted.
    pub believe_tests: bool,
}

impl Adjustments {
    /// Adds a change of the plan.
    pub fn adjust(&mut self, again: &Again) {
        match again {
            Again::Hold(paths) => self.also_held.extend(paths.iter().cloned()),
            Again::HoldNothing => self.hold_nothing = true,
            Again::NewerPass(revision) => self.newer_pass = Some(*revision),
            Again::LineVaries(pattern) => self.line = Some(pattern.clone()),
            Again::SignatureIsExit | Again::TestSkips => self.signature_is_exit = true,
            Again::Clean => self.is_clean = true,
            Again::Alone => self.is_alone = true,
            Again::Noisy => self.is_noisy = true,
        }
    }
}

/// Everything that is the same for the whole hunt.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The order of the user.
    pub order: HuntOrder,
    /// Whether only the difference of two revisions is reduced.
    pub is_minimize: bool,
    /// The revision where the test fails.
    pub bad: CommitId,
    /// Revisions that the user gave as good.
    pub goods: Vec<CommitId>,
    /// The revision that the fix is for.
    pub target: CommitId,
    /// Held paths, relative to the top, with their content in the working tree.
    pub held: BTreeMap<Vec<u8>, OnDisk>,
    /// Files that the test command names and that only the working tree has.
    pub missing: Vec<Vec<u8>>,
    /// The program that the test command starts directly, if it is in the working tree; relative to the top.
    pub program: Option<Vec<u8>>,
    /// The overlay.
    pub overlay: Option<Overlay>,
    /// The files of `--shim`.
    pub shim: BTreeMap<Vec<u8>, OnDisk>,
    /// The commands of every probe.
    pub commands: Commands,
    /// The precheck.
    pub precheck: Option<CandidatePrecheck>,
    /// Shell line with more tests: that of the user, or the test command without its selection.
    pub suite: Option<OsString>,
    /// Files outside the tree that the commands name, with their digests.
    pub outside_files: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The variables that a result depends on.
    pub listed_environment: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The user's rules for dividing files.
    pub divisions: Divisions,
    /// Whether the directories of submodules stay empty.
    pub has_empty_submodules: bool,
    /// The service that runs the probes; `None` for this machine.
    pub remote: Option<Service>,
}

/// Whether the directories of submodules stay empty: as the user says, or else as they are in the working tree.
fn has_empty_submodules(user: &Repository, context: &Context) -> bool {
    match context.configured("idd.submodules").last() {
        Some(choice) => choice == "empty",
        None => modules::are_absent(user),
    }
}

/// The files or the patch over every revision.
#[derive(Debug, Clone)]
pub enum Overlay {
    /// These files.
    Files(BTreeMap<Vec<u8>, OnDisk>),
    /// This patch, made for the bad revision.
    Patch(Vec<u8>),
}

/// Why `HEAD` is no commit.
fn headless(user: &Repository) -> Failure {
    const ELSEWHERE: &str =
        "`git fsck` lists what is missing, `git reflog` where `HEAD` was; `--bad <revision>` hunts from another commit";
    let (message, hint) = match graph::headless(user) {
        Headless::Empty => ("the repository has no commits yet".to_owned(), "there is no history to search"),
        Headless::Unborn { branch } => (
            format!("the branch `{branch}` that `HEAD` names has no commits yet"),
            "`git switch <branch>` goes to one that has, and `--bad <revision>` hunts from there",
        ),
        Headless::Missing { id } => {
            (format!("`HEAD` names the commit {id}, which the repository does not have"), ELSEWHERE)
        }
        Headless::Damaged { id } => (format!("`HEAD` names the commit {id}, which is damaged"), ELSEWHERE),
    };
    Failure::error(message).with_hint(hint)
}

impl Plan {
    /// Resolves an order.
    pub fn new(
        order: HuntOrder,
        pair: Option<(&str, &str)>,
        location: &Location,
        user: &Repository,
        context: &Context,
    ) -> Result<Self, Failure> {
        let order = bisect::resolved(order, location)?;
        let suite = suite::line(&order);
        let resolve = |expression: &str| {
            graph::resolve(user, expression).map_err(|error| {
                let hint = if fetch::borders(location).is_empty() {
                    "`git log --oneline` lists revisions"
                } else {
                    "this clone is shallow: `git fetch --unshallow` gets the rest of its history, or `git idd --fetch`"
                };
                Failure::usage(chain(&error)).with_hint(hint)
            })
        };
        let (bad, goods) = if let Some((good, bad)) = pair {
            (resolve(bad)?, vec![resolve(good)?])
        } else {
            let goods = order.history.good.iter().map(|good| resolve(good)).collect::<Result<Vec<_>, _>>()?;
            let bad = match resolve(&order.history.bad) {
                Ok(bad) => bad,
                Err(_) if order.history.bad == "HEAD" => return Err(headless(user)),
                Err(failure) => return Err(failure),
            };
            (bad, goods)
        };
        let is_target = pair.is_some() || order.history.bad == "HEAD";
        let target = if is_target { bad } else { resolve("HEAD").unwrap_or(bad) };
        let program = hold::program(&order.command, location);
        let holding = Holding { hold: order.test.hold.clone(), no_hold: order.test.no_hold };
        let mut held = hold::held(&order.command, &holding, bad, location, user, context)?;
        // Since when a value is so, or a command is slow, can be a matter of the script itself.
        if order.perf.is_some() || order.history.find == Sought::Change {
            hold::release_measured(&mut held, &holding, bad, location, user);
        }
        let missing = match order.test.remote.as_deref() {
            Some(address) if address != service::HERE => {
                hold::missing(&order.command, &held, bad, location, user, context)
            }
            // The environment is found.
            _ => Vec::new(),
        };
        let overlay = overlay(&order, context)?;
        let shim = shim(&order, context)?;
        let words = match &order.command {
            TestCommand::Shell(line) => CommandWords::Shell(line.clone()),
            TestCommand::Argv(words) => CommandWords::Argv(words.clone()),
        };
        let mut divisions = divisions(context)?;
        divisions.is_plain = reducer(&order).is_plain();
        let regenerate = context.configured("idd.regenerate").last().filter(|command| !command.is_empty());
        let regeneration = regenerate
            .map(|command| Regeneration { command: CommandWords::Shell(command.into()), divisions: divisions.clone() });
        let fetching = fetching(&order, pair.is_some(), location)?;
        let remote = order.test.remote.as_deref().filter(|address| *address != service::HERE);
        let remote = remote.map(|address| service::named(address, context)).transpose()?;
        let (environment, is_home_isolated) = surroundings(&order, remote.as_ref(), context);
        let commands = Commands {
            fetching: fetching.map(Arc::new),
            regeneration,
            build: order.test.build.clone().map(CommandWords::Shell),
            test: words,
            artifacts: products(&order, location)?,
            directory: location.prefix.clone(),
            environment,
            is_home_isolated,
            surroundings: Surroundings::default(),
        };
        let more: Vec<String> = context.configured("idd.env").map(str::to_owned).collect();
        let listed_environment = toolchain::listed(&context.environment, &more);
        let of_args = [&order.test.build, &order.test.precheck].into_iter().filter_map(Option::as_deref);
        let more_lines = of_args.chain(regenerate.map(OsStr::new));
        let outside_files = outside_files(&order, more_lines, location);
        let is_minimize = pair.is_some();
        let commits = [&goods[..], &[bad, target]].concat();
        if remote.is_some() && (!order.test.artifact.is_empty() || order.test.from_artifacts.is_some()) {
            let message = "products of builds and fetched programs are not known on a remote service";
            return Err(Failure::usage(message).with_hint(
                "leave out `--artifact` and `--from-artifacts`, or run the probes here with `--remote none`",
            ));
        }
        // The reduction of the linear walk uses no precheck.
        let precheck =
            CandidatePrecheck::new(&order, location, &commands, user, context, &commits).filter(|precheck| {
                matches!(precheck, CandidatePrecheck::Command(_)) || !divisions.is_plain && remote.is_none()
            });
        Ok(Self {
            order,
            is_minimize,
            bad,
            goods,
            target,
            held,
            missing,
            program,
            overlay,
            shim,
            commands,
            precheck,
            suite,
            outside_files,
            listed_environment,
            divisions,
            has_empty_submodules: has_empty_submodules(user, context),
            remote,
        })
    }

    /// The bad revision as the user named it, with its id.
    pub fn bad_in_words(&self) -> String {
        let id = self.bad.short();
        match &self.order.history.bad {
            name if self.is_minimize || id.starts_with(name.as_str()) => id.clone(),
            name => format!("{name} ({id})"),
        }
    }

    /// The order for the engines.
    pub fn engine_order(&self, adjustments: &Adjustments, history: &History) -> HuntWishes {
        let effort = &self.order.effort;
        // The fix is for HEAD if HEAD has the bad revision in its past; else for the bad revision.
        let is_above = history.path(self.target, self.bad).is_some();
        let sought = self.order.history.find;
        HuntWishes {
            sought,
            bad: self.bad,
            goods: adjustments.newer_pass.map_or_else(|| self.goods.clone(), |pass| vec![pass]),
            target: if is_above { self.target } else { self.bad },
            walk: self.order.history.walk,
            first_parent: self.order.history.first_parent,
            bounds_repairs: !effort.repair,
            reducer: reducer(&self.order),
            level: effort.level,
            is_retried: effort.retry,
            is_audited: false,
            artifacts: self.artifacts(),
            until: match effort.until {
                _ if self.is_minimize => HuntStage::Fix,
                // Nothing can be built.
                _ if self.artifacts() == Artifacts::Only => HuntStage::Commit,
                // There is nothing to take back.
                HuntStage::Fix if !sought.is_failure() => HuntStage::Change,
                until => until,
            },
            port: !effort.no_port && !self.is_minimize && sought.is_failure(),
            check_vacuous: sought.is_failure()
                && !adjustments.believe_tests
                && adjustments.also_held.is_empty()
                && !self.is_minimize,
            may_widen: sought.is_failure()
                && self.order.test.signature == order::SignatureMode::Auto
                && !adjustments.signature_is_exit,
            may_release: !adjustments.hold_nothing && adjustments.also_held.is_empty(),
            is_clean: effort.clean || adjustments.is_clean,
            has_precheck: self.precheck.is_some(),
            asks_complaints: !reducer(&self.order).is_plain(),
            has_suite: self.suite.is_some(),
            covered: Covered::Unknown,
            runnable: RunnableFiles::default(),
            could_ask_suite: false,
            known: self.order.known.iter().filter_map(|id| id.parse().ok()).collect(),
            noisy: self.noisy(adjustments),
        }
    }

    /// Whether a suite is derived from the test command, and not one that the user named.
    pub fn is_suite_derived(&self) -> bool {
        self.order.test.suite.is_none()
    }

    /// The parameters for a noisy test: `None` if no runs disagree and the user expects no noise.
    pub fn noisy(&self, adjustments: &Adjustments) -> Option<Noisy> {
        let test = &self.order.test;
        let rate = match test.flaky {
            Some(Flaky::Rate(rate)) => Some(rate.value()),
            Some(Flaky::Measured) | None => None,
        };
        (test.flaky.is_some() || adjustments.is_noisy).then(|| Noisy { rate, confidence: test.confidence.value() })
    }

    /// The held files under these adjustments.
    pub fn held(&self, adjustments: &Adjustments, store: &TreeStore) -> Result<HeldFiles, Failure> {
        let mut held = HeldFiles::default();
        if !adjustments.hold_nothing {
            held.files.extend(self.held.iter().map(|(path, file)| (path.clone(), Some(stored(file)))));
        }
        let environment = adjustments.environment.iter().flat_map(|candidate| candidate.held());
        held.files.extend(environment.map(|(path, file)| (path.clone(), Some(stored(file)))));
        match &self.overlay {
            None => {}
            Some(Overlay::Files(files)) => {
                held.files.extend(files.iter().map(|(path, file)| (path.clone(), Some(stored(file)))));
            }
            Some(Overlay::Patch(patch)) => {
                let bad = graph::tree_of(store.repository(), self.bad)?;
                held.overlay = Some((bad, self.overlaid(bad, patch, store)?));
            }
        }
        held.files.extend(self.shim.iter().map(|(path, file)| (path.clone(), Some(stored(file)))));
        let bad = graph::tree_of(store.repository(), self.bad)?;
        for path in &adjustments.also_held {
            let file = store.file(bad, path)?;
            held.files.insert(path.clone(), file);
        }
        Ok(held)
    }

    /// The bad revision with the patch of `--overlay`.
    fn overlaid(&self, bad: TreeId, patch: &[u8], store: &TreeStore) -> Result<TreeId, Failure> {
        let name = self.order.test.overlay.as_ref().map(|name| name.to_string_lossy()).unwrap_or_default();
        store.apply(bad, patch).map_err(|error| match error {
            RepoError::Patch { said, .. } => Failure::usage(format!("the overlay `{name}` {said}"))
                .with_hint("`--overlay` takes a patch for the bad revision, as `git diff --binary` and `git format-patch` print it"),
            other => Failure::from_error(&other),
        })
    }

    /// The plan for the key of a product; `None` if products are not compared.
    ///
    /// - `held`: the held files, which are beside every product.
    pub fn product_plan(&self, held: &HeldFiles) -> Option<ProbePlan> {
        if self.commands.artifacts.is_empty() {
            return None;
        }
        let file = |file: &Option<(EntryMode, Vec<u8>)>| match file {
            Some((mode, bytes)) => identity::of_stored(*mode, bytes),
            None => Vec::new(),
        };
        let mut overlay: BTreeMap<Vec<u8>, Vec<u8>> =
            held.files.iter().map(|(path, held)| (path.clone(), file(held))).collect();
        // No path is empty.
        overlay.extend(held.overlay.map(|(base, patched)| (Vec::new(), format!("{base} {patched}").into_bytes())));
        Some(ProbePlan { artifacts: self.commands.artifacts.clone(), overlay, ..self.probe_plan() })
    }

    /// A relative path out of the working tree that the test names, and that exists: a checkout elsewhere has other neighbours.
    pub fn path_outside(&self, location: &Location) -> Option<OsString> {
        let directory = location.top.as_ref()?.join(&self.commands.directory);
        let words = match &self.commands.test {
            CommandWords::Shell(line) => split(line),
            CommandWords::Argv(words) => words.clone(),
        };
        let is_outside = |word: &OsString| {
            word.as_bytes().starts_with(b"..") && inside(word, location).is_none() && directory.join(word).exists()
        };
        words.into_iter().find(is_outside)
    }

    /// Names of the programs that count as executed if executions cannot be seen.
    pub fn audited(&self) -> Vec<String> {
        let of = |words: &CommandWords| match words {
            CommandWords::Shell(line) => split(line),
            CommandWords::Argv(words) => words.clone(),
        };
        let regenerate = self.commands.regeneration.as_ref().map(|regeneration| &regeneration.command);
        let commands = [Some(&self.commands.test), self.commands.build.as_ref(), regenerate];
        let words: Vec<OsString> = commands.into_iter().flatten().flat_map(of).collect();
        toolchain::audited(words.iter().map(OsString::as_os_str))
    }

    /// Whether programs of revisions are fetched in place of a build.
    pub fn artifacts(&self) -> Artifacts {
        match (&self.commands.fetching, &self.commands.build) {
            (None, _) => Artifacts::Unused,
            (Some(_), None) => Artifacts::Only,
            (Some(_), Some(_)) => Artifacts::BeforeBuilds,
        }
    }

    /// The plan for the cache key of a program that is fetched; `None` if none is.
    pub fn fetch_plan(&self) -> Option<ProbePlan> {
        let line = self.commands.fetching.as_ref()?.line.as_bytes().to_vec();
        let fetch = Some(CommandParts::Shell(line));
        Some(ProbePlan { fetch, build: None, regenerate: None, ..self.probe_plan() })
    }

    /// The plan for the cache key.
    pub fn probe_plan(&self) -> ProbePlan {
        ProbePlan {
            regenerate: self.commands.regeneration.as_ref().map(|regeneration| parts(&regeneration.command)),
            precheck: None,
            fetch: None,
            artifacts: Vec::new(),
            build: self.commands.build.as_ref().map(parts),
            test: parts(&self.commands.test),
            directory: self.commands.directory.as_os_str().as_bytes().to_vec(),
            // Held and overlaid files are part of the probed tree, and so of the key.
            overlay: BTreeMap::new(),
            is_in_place: self.commands.surroundings.place.is_some(),
            shown: self
                .commands
                .surroundings
                .shown
                .iter()
                .map(|shown| (bytes_of(&shown.path), shown.digest.to_vec()))
                .collect(),
            outside_files: self.outside_files.clone(),
            environment: match &self.remote {
                None => self.listed_environment.clone(),
                Some(service) => bytes(&service.environment),
            },
            // Their commits are part of the tree; whether they are written is not.
            submodules: BTreeMap::from([(Vec::new(), vec![u8::from(!self.has_empty_submodules)])]),
            // The programs of a service are examined when it is used.
            platform: if self.remote.is_some() { b"remote".to_vec() } else { toolchain::platform() },
            is_home_isolated: match &self.remote {
                None => self.commands.is_home_isolated,
                Some(_) => self.order.test.isolate_home,
            },
        }
    }
}

/// The environment of commands on this machine, and whether HOME is a directory of the sandbox.
///
/// Beside a service, it is the environment that the service's commands have.
fn surroundings(order: &HuntOrder, remote: Option<&Service>, context: &Context) -> (Vec<(OsString, OsString)>, bool) {
    let Some(service) = remote.filter(|_| order.effort.local_jobs > Some(0)) else {
        let is_ours = |name: &OsStr| name.as_bytes().starts_with(b"GIT_") || name.as_bytes().starts_with(b"IDD_");
        let environment = context.environment.iter().filter(|(name, _)| !is_ours(name)).cloned().collect();
        return (environment, order.test.isolate_home);
    };
    let shared = service.commands_environment();
    let is_home_isolated = !shared.contains_key("HOME");
    (shared.into_iter().map(|(name, value)| (name.into(), value.into())).collect(), is_home_isolated)
}

/// Names and values as bytes.
fn bytes(variables: &BTreeMap<String, String>) -> BTreeMap<Vec<u8>, Vec<u8>> {
    variables.iter().map(|(name, value)| (name.clone().into_bytes(), value.clone().into_bytes())).collect()
}

fn bytes_of(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// A command in a plan.
pub fn parts(words: &CommandWords) -> CommandParts {
    match words {
        CommandWords::Shell(line) => CommandParts::Shell(line.as_bytes().to_vec()),
        CommandWords::Argv(words) => CommandParts::Argv(words.iter().map(|word| word.as_bytes().to_vec()).collect()),
    }
}

/// A command as a line for the shell.
pub fn shell_line(words: &CommandWords) -> OsString {
    match parts(words) {
        CommandParts::Shell(line) => OsString::from_vec(line),
        CommandParts::Argv(words) => OsString::from_vec(shell::line(words.iter().map(Vec::as_slice))),
    }
}

/// How artifacts are fetched; `None` if they are not.
///
/// A reduction of the difference of two revisions, and a hunt by hand, have no use for them.
fn fetching(order: &HuntOrder, is_minimize: bool, location: &Location) -> Result<Option<Fetching>, Failure> {
    let is_used = !is_minimize && !order.by_hand;
    let Some(line) = order.test.from_artifacts.as_ref().filter(|_| is_used) else { return Ok(None) };
    let fails = |message: &str, hint: &str| Err(Failure::usage(message).with_hint(hint));
    if line.to_string_lossy().trim().is_empty() {
        return fails(
            "`--from-artifacts` has no command",
            "`--from-artifacts 'fetch.sh {commit}'` runs it for a commit",
        );
    }
    if !artifacts::names_commit(line) {
        return fails(
            "the command of `--from-artifacts` names no commit",
            "`{commit}` in it stands for the id of the revision, `{short}` for the short one, and `$IDD_COMMIT` is set",
        );
    }
    if order.history.walk == order::HistoryWalk::Linear {
        return fails("`--from-artifacts` cannot be used with `--walk linear`", "`--walk auto` is the default");
    }
    Ok(Some(Fetching {
        line: line.clone(),
        root: location.idd_directory().join("artifacts"),
        max_bytes: order.test.artifacts_size,
        limit: order.test.timeout.unwrap_or(artifacts::LIMIT),
    }))
}

/// The paths of `--artifact`, relative to the top.
fn products(order: &HuntOrder, location: &Location) -> Result<Vec<Vec<u8>>, Failure> {
    if order.test.build.is_none() && !order.test.artifact.is_empty() {
        return Err(Failure::usage("`--artifact` needs `--build`")
            .with_hint("what was built is compared between the build and the test"));
    }
    let inside = |name: &OsString| {
        inside(name, location).filter(|path| !path.is_empty()).ok_or_else(|| {
            let name = name.to_string_lossy();
            Failure::usage(format!("`{name}` is no path in the working tree"))
                .with_hint("`--artifact` takes a file or directory that the build makes there")
        })
    };
    order.test.artifact.iter().map(inside).collect()
}

/// How the culprit is reduced.
fn reducer(order: &HuntOrder) -> Reducer {
    match order.history.walk {
        _ if order.effort.fast => Reducer::Fast,
        // The linear walk is the paper's, and so is its reduction.
        order::HistoryWalk::Linear => Reducer::Artho,
        order::HistoryWalk::Auto => Reducer::Hierarchical,
    }
}

/// The configuration for dividing files: `idd.grammar.*`, `idd.generated`, `idd.regenerate`.
fn divisions(context: &Context) -> Result<Divisions, Failure> {
    const GRAMMAR: &str = "idd.grammar.";
    let grammar = |(key, name): &(String, String)| {
        let glob = key.get(GRAMMAR.len()..).filter(|_| key[..GRAMMAR.len()].eq_ignore_ascii_case(GRAMMAR))?;
        // A key of git ends with a plain word: this suffix is for patterns that do not.
        let glob = glob.strip_suffix(".language").unwrap_or(glob);
        Some((glob.to_owned(), name.clone()))
    };
    let grammars: Vec<_> = context.configuration.iter().filter_map(grammar).collect();
    let mut generated: Vec<&str> = Vec::new();
    for value in context.configured("idd.generated") {
        if value.is_empty() { generated.clear() } else { generated.push(value) }
    }
    let grammars = grammars.iter().map(|(glob, name)| (&glob[..], &name[..]));
    let mut divisions = Divisions::new(grammars, generated.into_iter()).map_err(|error| {
        let hint = match error {
            DivisionError::UnknownLanguage { .. } => "`none` divides files into lines",
            DivisionError::Pattern { .. } => "patterns are those of .gitignore",
            DivisionError::Source { .. } => "sources are paths from the top of the tree or from the file",
        };
        Failure::usage(error.to_string()).with_hint(hint)
    })?;
    divisions.is_regenerated = context.configured("idd.regenerate").last().is_some_and(|command| !command.is_empty());
    Ok(divisions)
}

fn overlay(order: &HuntOrder, context: &Context) -> Result<Option<Overlay>, Failure> {
    let Some(name) = &order.test.overlay else { return Ok(None) };
    let path = context.directory.join(name);
    if path.is_dir() {
        return Ok(Some(Overlay::Files(files::read_all(&path, b""))));
    }
    match files::bytes(&path) {
        Ok(bytes) => Ok(Some(Overlay::Patch(bytes))),
        Err(error) => {
            let name = name.to_string_lossy();
            let message = format!("failed to read the overlay `{name}`: {error}");
            Err(Failure::usage(message).with_hint("`--overlay` takes a patch file or a directory"))
        }
    }
}

/// The files of the directories of `--shim`, relative to each.
fn shim(order: &HuntOrder, context: &Context) -> Result<BTreeMap<Vec<u8>, OnDisk>, Failure> {
    let mut shim = BTreeMap::new();
    for name in &order.test.shim {
        let path = context.directory.join(name);
        if !path.is_dir() {
            let message = format!("the shim `{}` is no directory", name.to_string_lossy());
            return Err(Failure::usage(message)
                .with_hint("`--shim` takes a directory with files that are put over every revision"));
        }
        shim.extend(files::read_all(&path, b""));
    }
    Ok(shim)
}

/// Files outside the working tree that the commands name by an absolute path.
fn outside_files<'a>(
    order: &HuntOrder,
    commands: impl Iterator<Item = &'a OsStr>,
    location: &Location,
) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut words: Vec<OsString> = match &order.command {
        TestCommand::Argv(words) => words.clone(),
        TestCommand::Shell(line) => split(line),
    };
    words.extend(commands.flat_map(split));
    words
        .into_iter()
        .filter(|word| Path::new(word).is_absolute() && inside(word, location).is_none())
        .filter_map(|word| Some((word.as_bytes().to_vec(), toolchain::file_digest(Path::new(&word))?)))
        .collect()
}

/// The words of a shell line without the targets of redirections: they are no input.
fn split(line: &OsStr) -> Vec<OsString> {
    let mut words = Vec::new();
    for (index, part) in line.as_bytes().split(|byte| *byte == b'>').enumerate() {
        let found = part.split(|byte| b" \t\n;&|<\"'=()".contains(byte)).filter(|word| !word.is_empty());
        // `>>` leaves an empty part, whose target is in the next one.
        words.extend(found.skip(usize::from(index > 0)).map(|word| OsStr::from_bytes(word).to_owned()));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_written_to_is_no_input() {
        let words = split(OsStr::new("a < /in >> /out; b '/x' 2>&1 >/dev/null c"));
        assert_eq!(words, ["a", "/in", "b", "/x", "2", "c"]);
    }
}
