//! A small repository, and journals with the results of a test, for tests of the drivers: nothing is run.
#![expect(clippy::unwrap_used, reason = "only tests call this")]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use crate::criteria::{FIRST_LIMIT, criteria};
use crate::hunt::{Task, run};
use crate::order::{HuntOrder, TestCommand};
use crate::plan::Plan;
use crate::runner::{Runner, RunnerStart};
use crate::saved::{self, Saved};
use crate::spent::Spent;
use crate::tally::HuntLimits;
use crate::{Context, Embedding, Talk};
use idd_base::{CommitId, Ending, Observation, Outcome, Stage, TimeLimits, TreeId};
use idd_hunt::drive::RunnerReply;
use idd_hunt::{Phase, Probe};
use idd_report::{Report, Untrusted};
use idd_world::cache::{Key, KeyParts, Observations};
use idd_world::journal::Record;
use idd_world::repo::test_repository::WrittenRepository;
use idd_world::repo::{HeldFiles, Location, Repository, TreeStore, graph, private};
use idd_world::run::local_executor::LocalExecutor;

/// The sentences that were said.
#[derive(Debug, Default)]
pub struct Said(pub Vec<String>);

impl Talk for Said {
    fn say(&mut self, sentence: &str) {
        self.0.push(sentence.to_owned());
    }
}

/// A run of the test that exits with this code.
pub fn observation(code: i32, output: &str) -> Observation {
    Observation {
        stage: Stage::Test,
        ending: Ending::Exit(code),
        duration: Duration::from_millis(7),
        limit: Duration::from_secs(600),
        output: output.to_owned(),
        reported: String::new(),
        is_clean: true,
        is_tampered: false,
        place: None,
    }
}

/// The order of `git idd ./test.sh` in which no test is started: known results have to be enough.
pub fn order() -> HuntOrder {
    let mut order = HuntOrder::new(TestCommand::Shell("./test.sh".into()));
    order.effort.max_probes = Some(0);
    order.effort.jobs = Some(2);
    order
}

/// A repository, its commits and their trees.
pub struct World {
    written: WrittenRepository,
    /// The revisions, the oldest first.
    pub commits: Vec<CommitId>,
    /// The tree of each revision.
    pub trees: Vec<TreeId>,
    /// The process that hunts.
    pub context: Context,
}

impl World {
    /// A line of commits with these text files, the oldest first.
    pub fn new(commits: &[&[(&str, &str)]]) -> Self {
        let written = WrittenRepository::create();
        let location = written.location();
        let directory = location.top.clone().unwrap();
        let environment = vec![("HOME".into(), directory.join(".git/home").into()), ("PATH".into(), "/nowhere".into())];
        let configuration = vec![("idd.worktreedir".to_owned(), directory.join(".git/work").display().to_string())];
        let context = Context {
            directory,
            environment,
            configuration,
            interrupt: None,
            kept_executor: None,
            embedding: Embedding::default(),
        };
        let mut world = Self { written, commits: Vec::new(), trees: Vec::new(), context };
        for files in commits {
            let tree = world.tree(files);
            let parents: Vec<CommitId> = world.commits.last().copied().into_iter().collect();
            let day = u8::try_from(world.commits.len()).unwrap();
            world.commits.push(world.written.commit(&parents, tree, day));
        }
        let head = *world.commits.last().unwrap();
        saved::make_private(world.location(), &world.user(), head).unwrap();
        world
    }

    /// Four commits; the third one adds a bad line to `a`, and others change `b`.
    pub fn with_culprit() -> Self {
        let commits: [&[(&str, &str)]; 4] = [
            &[("a", "good\n"), ("b", "0\n")],
            &[("a", "good\n"), ("b", "1\n")],
            &[("a", "good\nbad\n"), ("b", "1\n")],
            &[("a", "good\nbad\n"), ("b", "2\n")],
        ];
        Self::new(&commits)
    }

    /// The same, but the third commit also adds `c`; with the trees that a whole hunt needs: both changes alone, the
    /// newest revision with the fix and with the revert, and the oldest with the bad line.
    pub fn with_all() -> Self {
        let mut world = Self::new(&[
            &[("a", "good\n"), ("b", "0\n")],
            &[("a", "good\n"), ("b", "1\n")],
            &[("a", "good\nbad\n"), ("b", "1\n"), ("c", "c\n")],
            &[("a", "good\nbad\n"), ("b", "2\n"), ("c", "c\n")],
        ]);
        world.tree(&[("a", "good\nbad\n"), ("b", "1\n")]);
        world.tree(&[("a", "good\n"), ("b", "1\n"), ("c", "c\n")]);
        world.tree(&[("a", "good\n"), ("b", "2\n"), ("c", "c\n")]);
        world.tree(&[("a", "good\n"), ("b", "2\n")]);
        world.tree(&[("a", "good\nbad\n"), ("b", "0\n")]);
        world
    }

    /// Adds a tree.
    pub fn tree(&mut self, files: &[(&str, &str)]) -> TreeId {
        let tree = self.written.tree(files);
        self.trees.push(tree);
        tree
    }

    /// Where the repository is.
    pub fn location(&self) -> &Location {
        self.written.location()
    }

    /// The user's repository.
    pub fn user(&self) -> Repository {
        self.written.repository()
    }

    /// A store of trees in it.
    pub fn store(&self) -> TreeStore {
        let private = private::private_directory(&self.location().idd_directory());
        TreeStore::new(private::open(&private).unwrap(), HeldFiles::default(), Vec::new()).unwrap()
    }

    /// The plan of an order.
    pub fn plan(&self, order: HuntOrder) -> Plan {
        Plan::new(order, None, self.location(), &self.user(), &self.context).unwrap()
    }

    /// The content of the file `a` in a tree.
    pub fn a(&self, tree: TreeId) -> String {
        let (_, bytes) = self.store().file(tree, b"a").unwrap().unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// The journal of a new hunt that was killed when it had these results.
    pub fn saved(&self, plan: &Plan, results: &[(Key, u32, Observation)]) -> Saved {
        let mut saved = saved::open(plan, self.location(), None, false).unwrap();
        for (sequence, (key, nth, observation)) in (0..).zip(results) {
            let (key, worktree) = (key.to_string(), "/w".into());
            saved
                .segment
                .append(&Record::Intent { sequence, key: key.clone(), worktree, clean: true, about: None })
                .unwrap();
            let observation = observation.clone();
            let observed = Record::Observed { sequence, key, nth: *nth, product: None, toolset: None, observation };
            saved.segment.append(&observed).unwrap();
        }
        let id = saved.id.clone();
        drop(saved);
        let saved = saved::open(plan, self.location(), None, false).unwrap();
        assert_eq!(saved.id, id);
        saved
    }

    /// The same for every tree: the results of the first runs, and of those that prove claims.
    pub fn tested(&self, plan: &Plan, test: impl Fn(&str, u32) -> Observation) -> Saved {
        const PROOF: u32 = 1 << 16;
        let runs = |tree: &TreeId| {
            let (key, a) = (key(plan, *tree), self.a(*tree));
            let nths = (0..6).chain(PROOF..PROOF + 4);
            nths.map(|nth| (key, nth, test(&a, nth))).collect::<Vec<_>>()
        };
        self.saved(plan, &self.trees.iter().flat_map(runs).collect::<Vec<_>>())
    }

    /// The input of a runner.
    pub fn start<'p>(&self, plan: &'p Plan, saved: Saved, talk: &'p mut dyn Talk) -> RunnerStart<'p> {
        let root = self.location().git_directory.join("work");
        RunnerStart {
            plan,
            location: self.location().clone(),
            segment: saved.segment,
            replay: saved.replay,
            observations: Observations::open(&self.location().idd_directory()).unwrap().0,
            executor: Box::new(LocalExecutor::new(root.clone(), self.location().idd_directory(), plan.bad)),
            root,
            interrupt: Arc::new(AtomicBool::new(false)),
            reader: thread::current(),
            talk,
            audit: None,
            limits: HuntLimits { max_probes: plan.order.effort.max_probes, ..HuntLimits::default() },
            before: (Duration::ZERO, Spent::default()),
        }
    }

    /// A runner that starts nothing, and knows these results.
    pub fn runner<'p>(
        &self,
        plan: &'p Plan,
        results: &[(Key, u32, Observation)],
        talk: &'p mut dyn Talk,
    ) -> Runner<'p> {
        let start = self.start(plan, self.saved(plan, results), talk);
        Runner::new(start, criteria(plan, None).unwrap(), TimeLimits::both(FIRST_LIMIT))
    }

    /// The tree of a commit, by its place in the line.
    pub fn tree_of(&self, index: usize) -> TreeId {
        graph::tree_of(&self.user(), self.commits[index]).unwrap()
    }
}

/// The key of the results of a tree.
pub fn key(plan: &Plan, tree: TreeId) -> Key {
    KeyParts { tree, exposed_commit: None, plan: plan.probe_plan().digest() }.digest()
}

/// Looks at a runner that knows these results of [`World::with_culprit`]: index of the tree, number of the run, run.
///
/// Returns what was said.
pub fn with_runner(
    order: HuntOrder,
    results: &[(usize, u32, Observation)],
    look: impl FnOnce(&mut Runner<'_>, &World),
) -> Vec<String> {
    let world = World::with_culprit();
    let plan = world.plan(order);
    let results: Vec<_> =
        results.iter().map(|(index, nth, seen)| (key(&plan, world.trees[*index]), *nth, seen.clone())).collect();
    let mut said = Said::default();
    look(&mut world.runner(&plan, &results, &mut said), &world);
    said.0
}

/// A probe of a commit, by its index.
pub fn probe(world: &World, index: usize, phase: Phase) -> Probe {
    Probe::of(world.trees[index], world.commits[index], phase)
}

/// An answer in a few words.
pub fn words(reply: RunnerReply) -> String {
    let joined = |outcomes: Vec<Outcome>| outcomes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    match reply {
        RunnerReply::Outcomes(outcomes) => joined(outcomes),
        RunnerReply::Overheard(overheard) => {
            format!("overheard {}", joined(overheard.iter().map(|(_, seen)| *seen).collect()))
        }
        RunnerReply::Again(_) => "disagree".to_owned(),
        RunnerReply::Spent => "spent".to_owned(),
        RunnerReply::Stop(why) => format!("{why:?}"),
    }
}

/// A run that passes.
pub fn pass() -> Observation {
    observation(0, "")
}

/// A run that fails.
pub fn fail() -> Observation {
    observation(1, "FAIL: x\n")
}

/// The test of what `a` contains.
pub fn test(a: &str, _: u32) -> Observation {
    if a.contains("bad") { observation(1, "FAIL: a is bad\n") } else { observation(0, "") }
}

/// The report of a hunt that knows the results of every tree, and what it said.
pub fn hunted(world: &World, plan: &Plan, test: impl Fn(&str, u32) -> Observation) -> (Report, Vec<String>) {
    hunted_after(world, plan, world.tested(plan, test))
}

/// The same of a hunt that knows only what is saved, and runs the test for the rest.
pub fn hunted_after(world: &World, plan: &Plan, saved: Saved) -> (Report, Vec<String>) {
    let mut said = Said::default();
    let interrupt = Arc::new(AtomicBool::new(false));
    let (location, context) = (world.location(), &world.context);
    let task = Task { plan, location, context, saved, interrupt, talk: &mut said };
    let report = run(task, &world.user()).unwrap();
    (report, said.0)
}

/// A text as it is.
pub fn text(text: &Untrusted) -> String {
    String::from_utf8(text.as_bytes().to_vec()).unwrap()
}
