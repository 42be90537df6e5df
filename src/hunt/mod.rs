//! The hunt: which tree to probe next, from the failing revision to a fix for the newest one.
//!
//! Pure engines: they ask for [`Probe`]s through an [`Asker`] and are told [`Outcome`]s. Trees are computed by content
//! id ([`Trees`]), which is the same in every run; hence a hunt that is started again with the same answers takes
//! the same way, and resuming is nothing but answering from the journal.
//!
//! Start reading at [`engine::hunt`]: [`walk`] finds the pair, [`verdict`] and [`repair`] say what a revision shows,
//! [`likely`] takes the place of the walk where the test is noisy,
//! [`minimise`] reduces the culprit, [`forward`] ports the fix, [`prove`] asks for the clean runs.

pub mod belief;
mod border;
pub mod culprit;
pub mod drive;
pub mod engine;
pub mod event;
pub mod finding;
pub mod fixes;
pub mod forward;
pub mod history;
pub mod interaction;
pub mod label;
pub mod likely;
pub mod linear;
pub mod minimise;
pub mod noise;
mod outlook;
mod own_tests;
pub mod pair;
pub mod prove;
pub mod repair;
pub mod stage;
pub mod verdict;
pub mod walk;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod testing;

use crate::change::Level;
use crate::change::trees::Trees;
use crate::change::trees::TreesError;
use crate::hunt::event::Event;
use crate::hunt::event::Phase;
use crate::hunt::finding::Conclusion;
use crate::hunt::finding::Finding;
use crate::hunt::history::History;
use crate::hunt::outlook::Outlook;
use crate::hunt::repair::Carried;
use crate::hunt::stage::Stage;
use crate::hunt::verdict::Tested;
use crate::outcome::Outcome;
use crate::outcome::Reason;
use crate::reduce::Reducer;
use crate::revision::CommitId;
use crate::revision::TreeId;
use crate::search::Asker;
use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::HashSet;
use std::rc::Rc;

/// One question to the world: what does this tree show?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Probe {
    /// The tree, held paths and overlay already put in.
    pub tree: TreeId,
    /// The revision it belongs to, for progress and for tests that are told.
    pub revision: CommitId,
    /// What it is for.
    pub phase: Phase,
    /// Whether the answer backs a claim, so that only a run in a fresh worktree will do.
    pub is_claim: bool,
    /// For a candidate that a check which costs less than the build may refuse, the change it is part of; never where
    /// something rests on the answer.
    pub precheck: Option<Ends>,
    /// What is asked of the tree.
    pub question: Question,
    /// Asks for the outcome of one run, the one with this number, instead of a verdict.
    pub run: Option<u32>,
}

impl Probe {
    /// Asks for the test, as the search does.
    pub fn of(tree: TreeId, revision: CommitId, phase: Phase) -> Self {
        Self { tree, revision, phase, is_claim: false, precheck: None, question: Question::Test, run: None }
    }

    /// Asks for the test in a fresh worktree, to prove what `question` says.
    fn claim(tree: TreeId, revision: CommitId, question: Question) -> Self {
        Self { is_claim: true, question, ..Self::of(tree, revision, Phase::Verify) }
    }
}

/// What is asked of a tree. One test underdetermines a program, so a hit of a reduction is asked more than one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Question {
    /// What the test shows; it fails if the failure has the signature of the hunt.
    Test,
    /// What the test shows; it fails if the failure is exactly that of the newer end, and no line is printed that neither end
    /// prints.
    Exact(Ends),
    /// Whether compiler or interpreter have nothing to complain of that they do not complain of in any of these trees: passes, or
    /// fails. Passes where nobody can be asked.
    Complaints(Baseline),
    /// Whether the suite fails nothing that it does not fail in any of these trees: passes, or fails.
    Suite(Baseline),
    /// Whether the suite is quick enough to be asked for each hit: passes, or fails. Unresolved if it cannot tell whether another
    /// tree is worse than this one.
    IsSuiteQuick,
}

impl Question {
    /// Whether it is the test that answers.
    pub fn is_of_test(self) -> bool {
        matches!(self, Self::Test | Self::Exact(_))
    }
}

/// The trees that a candidate may be as bad as; some may be the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Baseline {
    /// In no particular order.
    pub trees: [TreeId; 3],
}

impl From<Ends> for Baseline {
    fn from(ends: Ends) -> Self {
        Self { trees: [ends.older, ends.newer, ends.newer] }
    }
}

/// The two trees whose difference is reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ends {
    /// What candidates begin with.
    pub older: TreeId,
    /// With everything put in.
    pub newer: TreeId,
}

/// How history is walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walk {
    /// Gallop, then bisect, repairing what cannot be tested.
    Auto,
    /// One revision after the other, as in Artho's Figure 2.
    Linear,
}

/// What the user asked for.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent wishes of the user")]
pub struct Order {
    /// The revision where the test fails.
    pub bad: CommitId,
    /// Revisions said to pass; each is verified.
    pub goods: Vec<CommitId>,
    /// The revision that the fix is for.
    pub target: CommitId,
    /// How history is walked.
    pub walk: Walk,
    /// Whether side branches are left alone.
    pub first_parent: bool,
    /// Whether the tests of repairs are bounded by what a search costs.
    pub bounds_repairs: bool,
    /// How the culprit is reduced.
    pub reducer: Reducer,
    /// How far down it is reduced.
    pub level: Level,
    /// Whether the culprit is reduced from both ends, for the smaller result.
    pub is_retried: bool,
    /// Whether the trees are told that a reduction refused without a probe, see [`Event::Refused`].
    pub is_audited: bool,
    /// What is to be found.
    pub until: Stage,
    /// Whether the fix is carried to the target.
    pub port: bool,
    /// Whether a culprit that touches only tests is taken for an empty pass, see [`Again::Hold`].
    pub check_vacuous: bool,
    /// Whether the held files may be let go if nothing passes with them, see [`Again::HoldNothing`].
    pub may_release: bool,
    /// Whether the signature may be widened to the ending alone, see [`Again::SignatureIsExit`].
    pub may_widen: bool,
    /// Whether every probe is made in a fresh worktree already.
    pub is_clean: bool,
    /// Whether candidates of a reduction may be refused by a check before their build.
    pub has_precheck: bool,
    /// Whether hits are asked for complaints of compiler or interpreter.
    pub asks_complaints: bool,
    /// Whether there is a suite to ask.
    pub has_suite: bool,
    /// Whether the project seems to have a suite that was not given.
    pub could_ask_suite: bool,
    /// Whether runs of one tree disagree, and what to do then.
    pub noisy: Option<Noisy>,
}

/// How a hunt goes on where runs of one tree disagree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noisy {
    /// The share of runs that show the wrong outcome, if the user gives it.
    pub rate: Option<f64>,
    /// The search ends when one place has this probability.
    pub confidence: f64,
}

/// Why an engine ends before its last line.
#[derive(Debug, thiserror::Error)]
pub enum Halt {
    /// The hunt is over; the board holds what was learned.
    #[error("the hunt is over")]
    Concluded(Conclusion),
    /// The same hunt is to be started again under a changed plan; the cache makes the way back short.
    #[error("the hunt starts again")]
    Again(Again),
    /// The object store failed.
    #[error(transparent)]
    Trees(#[from] TreesError),
}

/// How the plan changes before a hunt starts again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Again {
    /// These test files are held too: without them a pass was empty (RULES: vacuous passes).
    Hold(Vec<Vec<u8>>),
    /// Nothing is held: with the held files no revision passes.
    HoldNothing,
    /// Only the exit code makes the signature: the failure line made most revisions another failure.
    SignatureIsExit,
    /// The same, because the test asked to be skipped: its exit codes tell three outcomes apart, and its author is believed.
    TestSkips,
    /// Every probe is made in a fresh worktree: a clean run disagreed with an incremental one, see [`Board::doubt`].
    Clean,
    /// One probe runs at a time: those at the same time disturbed each other. The driver decides so; engines do not ask for it.
    Alone,
    /// A single run is no verdict any more: two clean runs of one tree disagreed.
    Noisy,
}

/// What engines write down as they go; the driver reads it between probes.
#[derive(Debug)]
pub struct Board {
    /// What is known so far.
    pub finding: Finding,
    /// What happened since the driver looked last.
    pub events: Vec<Event>,
    /// Candidates that were refused without a probe: they fit into no tree, or their syntax tells that they cannot do.
    pub n_refused: usize,
    /// Candidates of repairs that were asked for, whoever answered.
    n_asked_for_repairs: usize,
    /// Whether the time for reductions is used up: no further candidate is probed then.
    pub is_effort_spent: bool,
    tested: HashMap<CommitId, Tested>,
    /// What the walk stands before, if it was told.
    outlook: Option<Outlook>,
    /// The clean run that contradicted an earlier one of the same tree, if that is why the hunt starts again.
    pub doubt: Option<Probe>,
    /// Why revisions could not be tested in a fresh worktree either.
    confirmed: HashSet<Reason>,
    carried: Option<Rc<Carried>>,
    port_target: Option<CommitId>,
}

impl Board {
    /// An empty board for a hunt from `bad`.
    pub fn new(bad: CommitId) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self {
            finding: Finding::new(bad),
            events: Vec::new(),
            n_refused: 0,
            n_asked_for_repairs: 0,
            is_effort_spent: false,
            tested: HashMap::new(),
            outlook: None,
            doubt: None,
            confirmed: HashSet::new(),
            carried: None,
            port_target: None,
        }))
    }
}

/// What every engine of the hunt works with; cheap to clone.
#[derive(Clone)]
pub struct Hunter<'a> {
    asker: Asker<Probe, Outcome>,
    trees: &'a dyn Trees,
    history: &'a History,
    order: &'a Order,
    board: Rc<RefCell<Board>>,
}

impl<'a> Hunter<'a> {
    /// Brings together what a hunt needs.
    pub fn new(
        asker: Asker<Probe, Outcome>,
        trees: &'a dyn Trees,
        history: &'a History,
        order: &'a Order,
        board: Rc<RefCell<Board>>,
    ) -> Self {
        Self { asker, trees, history, order, board }
    }

    fn tell(&self, event: Event) {
        self.board.borrow_mut().events.push(event);
    }

    fn note(&self, text: String) {
        let mut board = self.board.borrow_mut();
        if !board.finding.notes.contains(&text) {
            board.events.push(Event::Remark(text.clone()));
            board.finding.notes.push(text);
        }
    }

    /// The tree of a revision as it is tested.
    fn view(&self, revision: CommitId) -> Result<TreeId, Halt> {
        Ok(self.trees.view(self.history.get(revision).tree)?)
    }

    /// Probes one tree. Cost: one probe.
    async fn probe(&self, tree: TreeId, revision: CommitId, phase: Phase) -> Outcome {
        self.asker.one(Probe::of(tree, revision, phase)).await
    }

    /// Asks for a wider signature once most revisions show "another" failure and no repair helps.
    ///
    /// A revision that was repaired counts as testable: there the other failure is a defect of its own. One before which none can be
    /// tested does not count: it may lie before a border of history, as all that are older do, and wait for its repair.
    fn judge_signature(&self) -> Result<(), Halt> {
        /// Fewer verdicts than this say nothing about a share.
        const MIN_JUDGED: usize = 6;
        let board = self.board.borrow();
        if !self.order.may_widen || board.carried.is_some() {
            return Ok(());
        }
        let (others, rest): (Vec<&Tested>, Vec<&Tested>) =
            board.tested.values().partition(|tested| tested.outcome == Outcome::Unresolved(Reason::Other));
        let is_most = |n_other: usize| n_other + rest.len() >= MIN_JUDGED && n_other > rest.len();
        if !is_most(others.len()) {
            return Ok(());
        }
        let is_before = |ancestors: HashSet<CommitId>| {
            rest.iter().any(|tested| tested.outcome.is_testable() && ancestors.contains(&tested.revision))
        };
        if is_most(others.iter().filter(|other| is_before(self.history.ancestors(other.revision))).count()) {
            return Err(Halt::Again(Again::SignatureIsExit));
        }
        Ok(())
    }
}
