//! The hunt: it decides which tree to probe next, from the failing revision to a fix for the newest one.
//!
//! Pure engines: they ask for [`Probe`]s through an [`Asker`], and get [`Outcome`]s. Trees are computed by content id
//! ([`Trees`]), which is the same in every run. So a hunt that is started again with the same answers takes the same
//! path, and resuming means answering from the journal.
//!
//! Start reading at [`engine::hunt`]: [`walk`] finds the pair, [`verdict`] and [`repair`] find the verdict on a
//! revision, [`likely`] replaces the walk if the test is noisy, [`minimise`] reduces the culprit, [`forward`] ports the
//! fix, [`prove`] asks for the clean runs.

mod artifacts;
pub mod belief;
mod border;
pub mod culprit;
pub mod drive;
pub mod engine;
mod event;
pub mod finding;
mod fit;
pub mod fixes;
pub mod forward;
mod gaps;
mod history;
pub mod interaction;
mod known;
pub mod label;
pub mod likely;
pub mod linear;
pub mod minimise;
mod noise;
mod outlook;
pub mod own_tests;
pub mod pair;
mod probe;
pub mod prove;
pub mod repair;
pub mod stage;
pub mod test_paths;
pub mod verdict;
pub mod walk;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod testing;

pub use event::{Event, Phase};
pub use history::{History, RevisionSet};
pub use known::{Carried, TestedRevision};
pub use noise::{Noise, Weighing};
pub use probe::{Baseline, ChangeEnds, Probe, ProbeQuestion};

use crate::finding::{Conclusion, Finding};
use crate::known::{Outlook, WalkPosition};
use idd_base::{Asker, CommitId, HuntStage, Outcome, Reason, Sought, TreeId};
use idd_change::Level;
use idd_change::reduce::Reducer;
use idd_change::trees::{Trees, TreesError};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// How history is walked. Journals store the names of the variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum HistoryWalk {
    /// Gallop, then bisect; untestable revisions are repaired.
    #[default]
    Auto,
    /// One revision after the other, as in Artho's Figure 2.
    Linear,
}

/// Whether programs of revisions are fetched in place of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Artifacts {
    /// Every program is built.
    #[default]
    Unused,
    /// Nothing can be built: revisions without an artifact give no verdict.
    Only,
    /// Revisions with an artifact are searched first, then others are built.
    BeforeBuilds,
}

/// The wishes of the user.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent wishes of the user")]
pub struct HuntWishes {
    /// What is looked for.
    pub sought: Sought,
    /// The revision where the test fails.
    pub bad: CommitId,
    /// Whether programs of revisions are fetched.
    pub artifacts: Artifacts,
    /// Revisions that the user gave as good; each is verified.
    pub goods: Vec<CommitId>,
    /// The revision that the fix is for.
    pub target: CommitId,
    /// How history is walked.
    pub walk: HistoryWalk,
    /// Whether side branches are ignored.
    pub first_parent: bool,
    /// Whether the number of tests of repairs is limited by the cost of a search.
    pub bounds_repairs: bool,
    /// How the culprit is reduced.
    pub reducer: Reducer,
    /// The finest level of the reduction.
    pub level: Level,
    /// Whether the culprit is reduced from both ends, for the smaller result.
    pub is_retried: bool,
    /// Whether the trees are reported that a reduction rejected without a probe, see [`Event::Refused`].
    pub is_audited: bool,
    /// The stage at which the hunt ends.
    pub until: HuntStage,
    /// Whether the fix is carried to the target.
    pub port: bool,
    /// Whether a culprit that touches only tests counts as an empty pass, see [`Again::Hold`].
    pub check_vacuous: bool,
    /// Whether the held files may be released if nothing passes with them, see [`Again::HoldNothing`].
    pub may_release: bool,
    /// Whether the signature may be reduced to the exit code, see [`Again::TestSkips`].
    pub may_widen: bool,
    /// Whether every probe is made in a fresh worktree already.
    pub is_clean: bool,
    /// Whether a precheck may reject candidates of a reduction.
    pub has_precheck: bool,
    /// Whether hits are checked for new warnings of compiler or interpreter.
    pub asks_complaints: bool,
    /// Whether there is a suite.
    pub has_suite: bool,
    /// The tests that the test command executes beside the hunted one. A reversal that passes has passed them, too.
    pub covered: own_tests::Covered,
    /// The test files that the runner of the test command can run, too.
    pub runnable: own_tests::RunnableFiles,
    /// Whether the project seems to have a suite that was not given.
    pub could_ask_suite: bool,
    /// Commits that broke other tests, the likeliest first: the search begins with them, and one that is found is not
    /// reduced again.
    pub known: Vec<CommitId>,
    /// Whether runs of one tree disagree, and the parameters for that case.
    pub noisy: Option<Noisy>,
}

/// How a hunt continues if runs of one tree disagree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noisy {
    /// The share of runs that show the wrong outcome, if the user gives it.
    pub rate: Option<f64>,
    /// The search ends when one place has this probability.
    pub confidence: f64,
}

/// The reason why an engine ends before its last line.
#[derive(Debug, thiserror::Error)]
pub enum Halt {
    /// The hunt is over; the state has the results.
    #[error("the hunt is over")]
    Concluded(Conclusion),
    /// The same hunt must start again with a changed plan; the cache answers known probes.
    #[error("the hunt starts again")]
    Again(Again),
    /// The object store failed.
    #[error(transparent)]
    Trees(#[from] TreesError),
}

/// The change of the plan before a hunt starts again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Again {
    /// These test files are held too. Older revisions passed only because they lack the tests, so their pass was empty.
    Hold(Vec<Vec<u8>>),
    /// Nothing is held, because no revision passes with the held files.
    HoldNothing,
    /// This revision, newer than the first bad one that was found, passes: another commit broke the test since.
    NewerPass(CommitId),
    /// Only this pattern of the failure line counts, because its other words vary from revision to revision. The driver
    /// decides this, not the engines.
    LineVaries(String),
    /// Only the exit code is the signature, because the failure line varies from revision to revision. The driver decides
    /// this, not the engines.
    SignatureIsExit,
    /// The same, because the test asked to be skipped: it distinguishes three outcomes by its exit code, so the exit
    /// code is enough.
    TestSkips,
    /// Every probe runs in a fresh worktree, because a clean run disagreed with an incremental one, see
    /// [`EngineState::doubt`].
    Clean,
    /// One probe runs at a time, because simultaneous ones disturbed each other. The driver decides this, not the
    /// engines.
    Alone,
    /// A single run is no longer a verdict, because two clean runs of one tree disagreed.
    Noisy,
}

/// The state that engines write; the driver reads it between probes.
#[derive(Debug)]
pub struct EngineState {
    /// The results so far.
    pub finding: Finding,
    /// The events since the driver last took them.
    pub events: Vec<Event>,
    /// Candidates that were rejected without a probe: they fit into no tree, or do not compile according to their
    /// syntax.
    pub n_refused: usize,
    /// Candidates of repairs that were asked for, including cached ones.
    n_asked_for_repairs: usize,
    /// Whether the time for reductions is used up: then no further candidate is probed.
    pub is_effort_spent: bool,
    /// Whether runs that back claims take so long that they are not repeated.
    pub has_slow_claim: bool,
    /// The ends between which the necessary change was reduced, if commits interact: those of the sufficient one are others.
    necessary_ends: Option<ChangeEnds>,
    tested: HashMap<CommitId, TestedRevision>,
    /// Revisions whose artifact gave no verdict, so that they are built.
    unfetched: HashSet<CommitId>,
    /// Whether all further programs are built, because changes are reduced.
    is_building: bool,
    /// The state of the walk, for speculation.
    outlook: Option<Outlook>,
    /// The clean run that contradicted an earlier one of the same tree, if the hunt starts again for this reason.
    pub doubt: Option<Probe>,
    /// Reasons for which a revision could not be tested in a fresh worktree either.
    confirmed: HashSet<Reason>,
    carried: Option<Rc<Carried>>,
    /// Revisions that cannot be tested with it, either.
    irreparable: HashSet<CommitId>,
    port_target: Option<CommitId>,
    /// The tests of the culprit that the suite has because they were announced.
    announced_tests: Vec<Vec<u8>>,
}

impl EngineState {
    /// The revisions that were tested.
    pub fn tested(&self) -> impl Iterator<Item = (CommitId, Outcome)> {
        self.tested.values().map(|tested| (tested.revision, tested.outcome))
    }

    /// Whether revisions are tested with a repair that was found.
    pub fn has_repair(&self) -> bool {
        self.carried.is_some()
    }

    /// An empty state for a hunt from `bad`.
    pub fn new(bad: CommitId) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self {
            finding: Finding::new(bad),
            events: Vec::new(),
            n_refused: 0,
            n_asked_for_repairs: 0,
            is_effort_spent: false,
            has_slow_claim: false,
            necessary_ends: None,
            tested: HashMap::new(),
            unfetched: HashSet::new(),
            is_building: false,
            outlook: None,
            doubt: None,
            confirmed: HashSet::new(),
            carried: None,
            irreparable: HashSet::new(),
            announced_tests: Vec::new(),
            port_target: None,
        }))
    }
}

/// The context of every engine of the hunt; cheap to clone.
#[derive(Clone)]
pub struct Hunter<'a> {
    asker: Asker<Probe, Outcome>,
    trees: &'a dyn Trees,
    history: &'a History,
    order: &'a HuntWishes,
    state: Rc<RefCell<EngineState>>,
}

impl<'a> Hunter<'a> {
    /// A context for a hunt.
    pub fn new(
        asker: Asker<Probe, Outcome>,
        trees: &'a dyn Trees,
        history: &'a History,
        order: &'a HuntWishes,
        state: Rc<RefCell<EngineState>>,
    ) -> Self {
        Self { asker, trees, history, order, state }
    }

    fn tell(&self, event: Event) {
        self.state.borrow_mut().events.push(event);
    }

    fn note(&self, text: String) {
        let mut state = self.state.borrow_mut();
        if !state.finding.notes.contains(&text) {
            state.events.push(Event::Remark(text.clone()));
            state.finding.notes.push(text);
        }
    }

    /// The tested form of a revision's tree.
    fn view(&self, revision: CommitId) -> Result<TreeId, Halt> {
        Ok(self.trees.view(self.history.tree(revision))?)
    }

    /// Probes one tree. Cost: one probe.
    async fn probe(&self, tree: TreeId, revision: CommitId, phase: Phase) -> Outcome {
        self.asker.one(Probe::of(tree, revision, phase)).await
    }
}
