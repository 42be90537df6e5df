//! Minimises the culprit: the change that is sufficient to break the good tree, and the change that is necessary to
//! break the bad one.

use crate::finding::{ChangeEdit, FoundChange, Labelled};
use crate::pair::TreePair;
use crate::test_paths::is_test_path;
use crate::{Baseline, ChangeEnds, Event, Halt, Hunter, Phase, Probe, ProbeQuestion};
use idd_base::{CommitId, Outcome, TreeId, count};
use idd_change::reduce::{Judge, NextCandidates, Reducer};
use idd_change::{ChangeSet, Level, Subset, UnitGrain, reduce};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// The direction of a change set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeDirection {
    /// From good to bad.
    Forward,
    /// From bad to good.
    Backward,
}

/// The aim of a reduction, and the questions about its candidates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aim {
    phase: Phase,
    what: &'static str,
    /// The question for the test.
    question: ProbeQuestion,
    /// The trees that a hit may be as bad as; `None` if only the test is run.
    baseline: Option<Baseline>,
    /// Whether the suite is run for hits, too.
    asks_suite: bool,
    /// The change of the finding that stores the best candidate so far.
    keeps: Option<ChangeDirection>,
    /// The reduction ends with its best candidate after this many candidates.
    max_asked: Option<usize>,
    /// The finest level: only groups of this level or larger are removed alone.
    finest: Level,
    is_reversed: bool,
}

impl Aim {
    /// A reduction that runs only the test.
    pub(super) fn of(phase: Phase, what: &'static str) -> Self {
        Self {
            phase,
            what,
            question: ProbeQuestion::Test,
            baseline: None,
            asks_suite: false,
            keeps: None,
            max_asked: None,
            finest: Level::HalfLine,
            is_reversed: false,
        }
    }

    /// A reduction of a repair, which ends after `max_asked` candidates.
    pub(super) fn repair(max_asked: Option<usize>) -> Self {
        Self { max_asked, ..Self::of(Phase::Repair, "the repair") }
    }

    /// A reduction between two trees whose outcomes are known.
    fn between(ends: ChangeEnds, what: &'static str, keeps: ChangeDirection) -> Self {
        let (question, baseline) = (ProbeQuestion::Exact(ends), Some(Baseline::from(ends)));
        Self { question, baseline, keeps: Some(keeps), ..Self::of(Phase::Reduce, what) }
    }

    /// A reduction of a fix for `bare`, from the difference to `mended`, which ends after `max_asked` candidates.
    pub(super) fn fix(bare: TreeId, mended: TreeId, max_asked: Option<usize>) -> Self {
        let baseline = Some(Baseline { trees: [bare, mended, mended] });
        Self { baseline, max_asked, ..Self::of(Phase::Port, "the fix") }
    }
}

/// If a result has more parts, they are not tried alone.
const MAX_PARTS: usize = 16;

/// The start of a reduction.
pub(super) struct ReductionStart<'s> {
    set: &'s ChangeSet,
    /// The tree to which candidates are applied.
    base: TreeId,
    /// A set that is known to give the wanted outcome.
    units: Subset,
    /// Units that are always kept.
    pinned: Subset,
}

impl<'s> ReductionStart<'s> {
    /// From the whole change.
    pub(super) fn whole(set: &'s ChangeSet, base: TreeId) -> Self {
        Self { set, base, units: set.full(), pinned: set.empty() }
    }

    /// From a part of the change, with units that are always kept.
    pub(super) fn pinned(set: &'s ChangeSet, base: TreeId, units: &Subset, pinned: Subset) -> Self {
        Self { set, base, units: units.difference(&pinned), pinned }
    }
}

/// What a sufficient change is looked for around.
#[derive(Clone, Copy)]
pub(super) enum SufficientCore<'r> {
    /// The necessary change of the same ends.
    Necessary(&'r ReducedSet),
    /// The lines of these commits, between other ends than those of the finding.
    Commits(&'r [CommitId]),
}

/// A reduced change, with its change set.
#[derive(Clone)]
pub(super) struct ReducedSet {
    pub(super) set: Rc<ChangeSet>,
    pub(super) kept: Subset,
    pub(super) change: FoundChange,
}

/// Judges subsets by probes of their trees.
struct Probing<'h, 'a> {
    hunter: &'h Hunter<'a>,
    set: &'h ChangeSet,
    older: TreeId,
    revision: CommitId,
    aim: Aim,
    pinned: &'h Subset,
    /// The ends of the change, if a precheck may reject a candidate.
    precheck: Option<ChangeEnds>,
    wanted: &'h dyn Fn(Outcome) -> bool,
    n_asked: usize,
    /// The answers for the trees of a repair: several subsets give the same tree.
    answered: HashMap<TreeId, bool>,
    /// The trees of candidates, including speculative ones.
    composed: RefCell<HashMap<Subset, Option<TreeId>>>,
}

/// The subset that is tested for `subset`.
///
/// A repair adds a file or a function as a whole. If it were cut down to the part that the test just accepts, it would
/// behave differently from the real one, and that can look like the failure.
fn candidate(set: &ChangeSet, phase: Phase, subset: &Subset) -> Subset {
    if phase == Phase::Repair { set.with_whole_additions(subset) } else { subset.clone() }
}

impl Probing<'_, '_> {
    /// The probe of a candidate; `None` if its units do not fit into one tree.
    fn probe(&self, subset: &Subset) -> Result<Option<Probe>, Halt> {
        /// A composed tree is stored as long as it may be needed soon.
        const MAX_KEPT: usize = 1000;
        if let Some(tree) = self.composed.borrow().get(subset) {
            return Ok(tree.map(|tree| self.probe_of(tree)));
        }
        let candidate = candidate(self.set, self.aim.phase, subset).union(self.pinned);
        let tree = self.hunter.trees.compose(self.set, self.older, &candidate)?;
        let mut composed = self.composed.borrow_mut();
        if composed.len() == MAX_KEPT {
            composed.clear();
        }
        composed.insert(subset.clone(), tree);
        Ok(tree.map(|tree| self.probe_of(tree)))
    }

    fn probe_of(&self, tree: TreeId) -> Probe {
        let Self { revision, aim, precheck, .. } = *self;
        Probe { precheck, question: aim.question, ..Probe::of(tree, revision, aim.phase) }
    }
}

impl Judge for Probing<'_, '_> {
    type Error = Halt;

    async fn is_interesting(&mut self, candidate: &Subset, ahead: NextCandidates<'_>) -> Result<bool, Halt> {
        if self.aim.phase == Phase::Reduce && self.hunter.is_effort_spent() {
            return Ok(false);
        }
        let Some(probe) = self.probe(candidate)? else {
            self.note_refused(1);
            return Ok(false);
        };
        if let Some(is_hit) = self.answered.get(&probe.tree) {
            return Ok(*is_hit);
        }
        if self.aim.max_asked.is_some_and(|max_asked| self.n_asked >= max_asked) {
            return Ok(false);
        }
        self.n_asked += 1;
        let outcome = {
            let this = &*self;
            // If a speculative candidate cannot be composed, that is no error until it is asked for.
            let of_guess = |subset: &Subset| this.probe(subset).ok().flatten();
            let guesses = |overheard: &HashMap<Probe, Outcome>, n: usize| {
                let known = |subset: &Subset| match of_guess(subset) {
                    Some(probe) => overheard.get(&probe).map(|outcome| (this.wanted)(*outcome)),
                    None => Some(false),
                };
                ahead(&known, n).iter().filter_map(of_guess).collect()
            };
            this.hunter.asker.one_before(probe, guesses).await
        };
        let is_hit = (self.wanted)(outcome) && self.hunter.accepts(probe, self.aim).await;
        if self.aim.phase == Phase::Repair {
            self.answered.insert(probe.tree, is_hit);
        }
        if is_hit {
            let (n_units, n_total) = (candidate.len(), self.set.units().len());
            self.hunter.tell(Event::Reducing { what: self.aim.what, n_units, n_total });
            if let Some(direction) = self.aim.keeps {
                self.hunter.keep_best(direction, self.older, probe.tree);
            }
        }
        Ok(is_hit)
    }

    fn note_refused(&mut self, n_refused: usize) {
        self.hunter.state.borrow_mut().n_refused += n_refused;
    }
}

/// The first part of a reduced subset that is enough alone; else the whole subset.
///
/// A reduction only removes units. So its result can contain two edits that compensate for each other: neither of them
/// can be removed alone. Cost: at most one probe for each part.
async fn one_part<J: Judge>(set: &ChangeSet, kept: Subset, finest: Level, judge: &mut J) -> Result<Subset, J::Error> {
    let part = |group| set.close(&set.subset(group).intersection(&kept));
    let mut parts: Vec<Subset> = set.groups(finest).iter().map(part).filter(|part| !part.is_empty()).collect();
    if !(2..=MAX_PARTS).contains(&parts.len()) {
        return Ok(kept);
    }
    parts.sort_by_key(|part| set.n_lines(part));
    for part in parts {
        if part != kept && judge.is_interesting(&part, &|_, _| Vec::new()).await? {
            return Ok(part);
        }
    }
    Ok(kept)
}

impl Hunter<'_> {
    /// Stores the current state of a reduction: if the hunt is stopped, it is a valid answer, but not a minimal one.
    fn keep_best(&self, direction: ChangeDirection, base: TreeId, tree: TreeId) {
        let best = |older, newer| Some(FoundChange { older, newer, n_lines: 0, units: Vec::new(), is_minimal: false });
        let finding = &mut self.state.borrow_mut().finding;
        match direction {
            ChangeDirection::Forward => finding.sufficient = best(base, tree),
            ChangeDirection::Backward => finding.necessary = best(tree, base),
        }
    }

    /// Whether a hit passes the checks and the suite, compared with its baseline. Cost: at most one run of the checks,
    /// and one of the suite.
    async fn accepts(&self, hit: Probe, aim: Aim) -> bool {
        let Some(baseline) = aim.baseline else { return true };
        if baseline.trees.contains(&hit.tree) {
            return true;
        }
        self.is_whole(Probe { precheck: None, ..hit }, baseline, aim.asks_suite).await == [Outcome::Pass, Outcome::Pass]
    }

    /// The result of the checks and the suite for a tree; those that are not asked count as passed. The suite is not
    /// run if there are new warnings.
    pub(super) async fn is_whole(&self, probe: Probe, baseline: Baseline, asks_suite: bool) -> [Outcome; 2] {
        let mut said = [Outcome::Pass; 2];
        if self.order.asks_complaints {
            said[0] = self.asker.one(Probe { question: ProbeQuestion::Complaints(baseline), ..probe }).await;
        }
        if self.order.has_suite && asks_suite && said[0] == Outcome::Pass {
            said[1] = self.asker.one(Probe { question: ProbeQuestion::Suite(baseline), ..probe }).await;
        }
        said
    }

    /// The difference of two trees, in whole edits unless the order asks for finer ones.
    pub(super) fn edits(&self, older: TreeId, newer: TreeId) -> Result<Rc<ChangeSet>, Halt> {
        let set = self.trees.change_set(older, newer)?;
        let is_plain = self.order.reducer.is_plain() || self.order.level == Level::HalfLine;
        Ok(if is_plain { set } else { Rc::new(set.with_whole_edits()) })
    }

    /// Reduces a part of a change set that gives a wanted outcome to a 1-minimal subset that still gives it.
    ///
    /// Candidates are the base with the subset applied. If the order says so, the culprit is reduced a second time with
    /// all lists reversed, and the result with fewer lines is kept, or the first of equal ones. Probes of both
    /// reductions run once.
    ///
    /// A change set of half lines is the result of an earlier reduction. It is reduced depth first, which finds the
    /// same result with fewer probes, and with all lists reversed: if either half of a replaced line is enough, the
    /// result is the new line beside the old one, and not the deletion of the old one.
    pub(super) async fn reduce_units(
        &self,
        start: ReductionStart<'_>,
        revision: CommitId,
        aim: Aim,
        wanted: &dyn Fn(Outcome) -> bool,
    ) -> Result<Subset, Halt> {
        let ReductionStart { set, base: older, units, pinned } = start;
        let Aim { phase, what, .. } = aim;
        let newer = if self.order.has_precheck { self.trees.compose(set, older, &set.full())? } else { None };
        let precheck = newer.map(|newer| ChangeEnds { older, newer });
        let composed = RefCell::default();
        let (pinned, n_asked) = (&pinned, 0);
        let answered = self.trees.compose(set, older, &candidate(set, phase, &units).union(pinned))?;
        let answered = answered.filter(|_| phase == Phase::Repair).map(|tree| (tree, true)).into_iter().collect();
        let mut judge =
            Probing { hunter: self, set, older, revision, aim, pinned, precheck, wanted, n_asked, answered, composed };
        let is_left = set.grain() == UnitGrain::HalfLines;
        let is_quick = is_left || (phase == Phase::Repair && self.order.reducer == Reducer::Hierarchical);
        let reducer = if is_quick { Reducer::Fast } else { self.order.reducer };
        let finest = self.order.level.min(aim.finest);
        let options = reduce::ReduceOptions { reducer, finest, is_reversed: is_left != aim.is_reversed };
        let refused = RefCell::new(Vec::new());
        let is_plausible = |subset: &Subset| {
            let candidate = candidate(set, phase, subset).union(pinned);
            let is_plausible = set.is_plausible(&candidate);
            if self.order.is_audited && !is_plausible {
                refused.borrow_mut().push(candidate);
            }
            is_plausible
        };
        let mut kept = reduce::reduce(set, units.clone(), &options, &is_plausible, &mut judge).await?;
        // Artho's reduction is one pass; it is repeated to its fix-point only at the last revision (his section 3.5).
        let has_fix_point = phase == Phase::Reduce && options.reducer == Reducer::Artho;
        let mut n_units = usize::MAX;
        while has_fix_point && kept.len() < n_units {
            n_units = kept.len();
            kept = reduce::reduce(set, kept, &options, &is_plausible, &mut judge).await?;
        }
        // Candidates that the precheck rejected are tested now: no promise may depend on the precheck.
        if judge.precheck.take().is_some() {
            kept = reduce::reduce(set, kept, &options, &is_plausible, &mut judge).await?;
        }
        if phase == Phase::Reduce && !self.order.reducer.is_plain() {
            kept = one_part(set, kept, finest, &mut judge).await?;
        }
        if self.order.is_retried && phase == Phase::Reduce {
            // Until the second result exists, the first one is the best.
            judge.aim.keeps = None;
            let options = reduce::ReduceOptions { is_reversed: !options.is_reversed, ..options };
            let other = reduce::reduce(set, units, &options, &is_plausible, &mut judge).await?;
            if set.n_lines(&other) < set.n_lines(&kept) {
                kept = other;
            }
        }
        if phase == Phase::Repair {
            self.state.borrow_mut().n_asked_for_repairs += judge.n_asked;
        }
        if phase == Phase::Repair && aim.max_asked.is_some_and(|max_asked| judge.n_asked >= max_asked) {
            let (short, lines) = (revision.short(), count(set.n_lines(&kept), "line"));
            self.note(format!(
                "the reduction of {what} of {short} ended with {lines} after {}; `--repair` reduces it further",
                count(judge.n_asked, "test")
            ));
        }
        self.tell_refused(set, older, &refused.into_inner())?;
        let kept = candidate(set, phase, &kept).union(pinned);
        let (n_lines_before, n_lines) = (set.n_lines(&set.full()), set.n_lines(&kept));
        self.tell(Event::Reduced { what, revision, n_lines_before, n_lines });
        Ok(kept)
    }

    /// Reports the trees of rejected candidates, each once.
    fn tell_refused(&self, set: &ChangeSet, older: TreeId, refused: &[Subset]) -> Result<(), Halt> {
        let mut told = BTreeSet::new();
        for subset in refused {
            if let Some(tree) = self.trees.compose(set, older, subset)?
                && told.insert(tree)
            {
                self.tell(Event::Refused { tree });
            }
        }
        Ok(())
    }

    /// A minimal change that makes the test pass if it is taken out of the newer tree.
    ///
    /// It is searched first, because a pass is the stronger condition: many wrong candidates fail in the same way, few
    /// pass. The reduction uses the reverse difference, so that a line of an added file can be removed without the
    /// file.
    ///
    /// With a suite, a hit fails no test that passes at both ends, and does not change the tests of the culprit:
    /// removing a test does not fix it. If the suite is slow, it runs only for the result of each level; if the result
    /// is worse, the reduction ends at the next coarser level. If the suite rejects even all of the culprit but its
    /// tests, it is not used.
    ///
    /// Cost: one reduction; with a slow suite, at most one for each level.
    pub(super) async fn necessary(
        &self,
        ends: ChangeEnds,
        revision: CommitId,
        is_reversed: bool,
    ) -> Result<ReducedSet, Halt> {
        let set = self.edits(ends.newer, ends.older)?;
        let all = set.full();
        self.taken_out(set, all, ends, revision, is_reversed).await
    }

    /// A minimal change inside a sufficient one that makes the test pass if it is taken out of the newer tree: the
    /// necessary change itself if it lies there. `None` if not even all of the sufficient change does.
    ///
    /// Cost: nothing if it lies there; else one probe, and one reduction.
    pub(super) async fn necessary_inside(
        &self,
        sufficient: &ReducedSet,
        necessary: &ReducedSet,
        pair: &TreePair,
    ) -> Result<Option<ReducedSet>, Halt> {
        let (set, ends, revision) = (Rc::clone(&necessary.set), pair.ends(), pair.newer.revision);
        let inside = set.close(&set.counterpart(&sufficient.set, &sufficient.kept));
        if necessary.kept.is_subset(&inside) {
            return Ok(Some(necessary.clone()));
        }
        let Some(tree) = self.trees.compose(&set, ends.newer, &inside)?.filter(|tree| *tree != ends.newer) else {
            return Ok(None);
        };
        let aim = Aim::between(ends, "the necessary change", ChangeDirection::Backward);
        let probe = Probe { question: aim.question, ..Probe::of(tree, revision, Phase::Reduce) };
        if self.asker.one(probe).await != Outcome::Pass || !self.accepts(probe, aim).await {
            return Ok(None);
        }
        self.taken_out(set, inside, ends, revision, false).await.map(Some)
    }

    /// Reduces `units`, a part of the reverse difference that makes the test pass.
    async fn taken_out(
        &self,
        set: Rc<ChangeSet>,
        mut units: Subset,
        ends: ChangeEnds,
        revision: CommitId,
        is_reversed: bool,
    ) -> Result<ReducedSet, Halt> {
        let wanted = |outcome| outcome == Outcome::Pass;
        let mut aim = Aim::between(ends, "the necessary change", ChangeDirection::Backward);
        aim.is_reversed = is_reversed;
        // The second reduction stores nothing before it ends: the first result is complete.
        aim.keeps = aim.keeps.filter(|_| !is_reversed);
        let asks = |question| Probe { question, ..Probe::of(ends.newer, revision, Phase::Reduce) };
        let mut levels: &[Level] = &[Level::HalfLine];
        if self.order.has_suite {
            let is_quick = self.asker.one(asks(ProbeQuestion::IsSuiteQuick)).await;
            aim.asks_suite = is_quick == Outcome::Pass;
            let but_tests = units.difference(&tests_of(&set));
            if aim.asks_suite
                && let Some(kept) = self.alone(&set, &units, ends, revision, aim).await?
            {
                return self.taken_back(set, ends, kept, revision);
            }
            if is_quick.is_testable() && self.takes_all(&set, ends, &but_tests, revision).await? {
                units = but_tests;
                if !aim.asks_suite {
                    levels = &[Level::HalfLine, Level::Hunk, Level::Unit, Level::File];
                }
            } else {
                aim.asks_suite = false;
            }
        }
        let all = units.clone();
        for level in levels {
            aim.finest = *level;
            let alone = if *level == levels[0] { self.alone(&set, &units, ends, revision, aim).await? } else { None };
            let start = ReductionStart { set: &set, base: ends.newer, units: units.clone(), pinned: set.empty() };
            let kept = match alone {
                Some(alone) => alone,
                None => self.reduce_units(start, revision, aim, &wanted).await?,
            };
            let tree = self.tree_of(&set, ends.newer, &kept)?;
            let asked = Probe { question: ProbeQuestion::Suite(ends.into()), ..asks(ProbeQuestion::Test) };
            if levels.len() == 1 || self.asker.one(Probe { tree, ..asked }).await == Outcome::Pass {
                let mut reduced = self.taken_back(set, ends, kept, revision)?;
                // If the suite ended it at a coarse level, a finer part may be enough for the test.
                reduced.change.is_minimal &= *level == levels[0];
                return Ok(reduced);
            }
        }
        let mut reduced = self.taken_back(set, ends, all, revision)?;
        reduced.change.is_minimal = false;
        Ok(reduced)
    }

    /// Whether test and suite accept all of `units`. Cost: one probe, one run of checks and suite.
    async fn takes_all(
        &self,
        set: &ChangeSet,
        ends: ChangeEnds,
        units: &Subset,
        revision: CommitId,
    ) -> Result<bool, Halt> {
        let Some(tree) = self.trees.compose(set, ends.newer, &set.close(units))?.filter(|tree| *tree != ends.newer)
        else {
            return Ok(false);
        };
        let probe = Probe { question: ProbeQuestion::Exact(ends), ..Probe::of(tree, revision, Phase::Reduce) };
        Ok(self.asker.one(probe).await == Outcome::Pass
            && self.is_whole(probe, ends.into(), true).await == [Outcome::Pass, Outcome::Pass])
    }

    /// The first edit of `units` that makes the test pass if it is reversed alone. Only edits that can be reversed alone
    /// are tried, and only if they are few.
    ///
    /// Most regressions are one edit, and trying each is cheaper than removing all others. Cost: at most 24 probes.
    async fn alone(
        &self,
        set: &ChangeSet,
        units: &Subset,
        ends: ChangeEnds,
        revision: CommitId,
        aim: Aim,
    ) -> Result<Option<Subset>, Halt> {
        const MAX_ALONE: usize = 24;
        let mut edits = set.independent_edits();
        edits.retain(|edit| set.subset(edit).is_subset(units));
        let is_whole_commit = edits.len() == 1 && set.subset(edits[0]) == set.full();
        let is_coarse = self.order.level < Level::Line;
        if set.grain() != UnitGrain::Edits || is_coarse || edits.len() > MAX_ALONE || is_whole_commit || aim.is_reversed
        {
            return Ok(None);
        }
        let tests = if aim.asks_suite { tests_of(set) } else { set.empty() };
        for edit in edits {
            let edit = set.close(&set.subset(edit));
            if !edit.intersection(&tests).is_empty() {
                continue;
            }
            let Some(tree) = self.trees.compose(set, ends.newer, &edit)?.filter(|tree| *tree != ends.newer) else {
                continue;
            };
            if self.is_effort_spent() || !set.is_plausible(&edit) {
                continue;
            }
            let precheck = self.order.has_precheck.then_some(ChangeEnds { older: ends.newer, newer: ends.older });
            let probe = Probe { precheck, question: aim.question, ..Probe::of(tree, revision, Phase::Reduce) };
            if self.asker.one(probe).await == Outcome::Pass && self.accepts(probe, aim).await {
                let (n_lines_before, n_lines) = (set.n_lines(&set.full()), set.n_lines(&edit));
                self.tell(Event::Reduced { what: aim.what, revision, n_lines_before, n_lines });
                return Ok(Some(edit));
            }
        }
        Ok(None)
    }

    fn taken_back(
        &self,
        set: Rc<ChangeSet>,
        ends: ChangeEnds,
        kept: Subset,
        commit: CommitId,
    ) -> Result<ReducedSet, Halt> {
        let older = self.tree_of(&set, ends.newer, &kept)?;
        let units = self.parts(&set, ends.newer, &kept, commit, ChangeDirection::Backward)?;
        let n_lines = set.n_lines(&kept);
        Ok(ReducedSet {
            change: FoundChange { older, newer: ends.newer, n_lines, units, is_minimal: !self.is_effort_spent() },
            set,
            kept,
        })
    }

    /// A minimal change that makes the test fail if it is added to the older tree.
    ///
    /// - `core`: if it is not enough by itself, it grows to its declarations, its files, and then to everything, until it is
    ///   enough. Then the added part is reduced, and last the change itself.
    ///
    /// Source: by the duality of minimal correction sets and minimal unsatisfiable subsets, the two changes have a unit
    /// in common if a larger change never makes a failure disappear. Growing one around the other keeps them together,
    /// and both small.
    ///
    /// Cost: at most four probes and two reductions.
    pub(super) async fn sufficient(
        &self,
        ends: ChangeEnds,
        revision: CommitId,
        core: SufficientCore<'_>,
    ) -> Result<ReducedSet, Halt> {
        let wanted = |outcome| outcome == Outcome::Fail;
        let set = self.edits(ends.older, ends.newer)?;
        let mut aim = Aim::between(ends, "the sufficient change", ChangeDirection::Forward);
        let core = match core {
            SufficientCore::Necessary(around) => set.counterpart(&around.set, &around.kept),
            SufficientCore::Commits(commits) => {
                // The change of the finding stays the answer of a hunt that is stopped.
                aim.keeps = None;
                set.close(&self.made_by(&set, commits)?)
            }
        };
        let mut units = set.full();
        let starts = [core.clone(), set.widened(&core, Level::Unit), set.widened(&core, Level::File)];
        for start in starts {
            let Some(tree) = self.trees.compose(&set, ends.older, &start)? else { continue };
            let precheck = self.order.has_precheck.then_some(ends);
            let probe = Probe { precheck, question: aim.question, ..Probe::of(tree, revision, Phase::Reduce) };
            if wanted(self.asker.one(probe).await) && self.accepts(probe, aim).await {
                units = start;
                break;
            }
        }
        if units != core && core.is_subset(&units) {
            let start = ReductionStart { set: &set, base: ends.older, units, pinned: core };
            units = self.reduce_units(start, revision, aim, &wanted).await?;
        }
        let start = ReductionStart { set: &set, base: ends.older, units, pinned: set.empty() };
        let kept = self.reduce_units(start, revision, aim, &wanted).await?;
        let newer = self.tree_of(&set, ends.older, &kept)?;
        let units = self.parts(&set, ends.older, &kept, revision, ChangeDirection::Forward)?;
        let n_lines = set.n_lines(&kept);
        Ok(ReducedSet {
            change: FoundChange { older: ends.older, newer, n_lines, units, is_minimal: !self.is_effort_spent() },
            set,
            kept,
        })
    }

    /// A sufficient change of `--level half-line`, reduced further: the rest is divided again, without modified lines,
    /// and reduced again until nothing changes. The result is the smallest change with the same failure; it can be half
    /// of a replacement.
    ///
    /// Cost: one reduction of the rest each time that something is removed, and one more; known candidates are not
    /// probed again.
    pub(super) async fn with_single_lines(
        &self,
        change: FoundChange,
        ends: ChangeEnds,
        revision: CommitId,
    ) -> Result<FoundChange, Halt> {
        if self.order.level != Level::HalfLine || self.order.reducer.is_plain() {
            return Ok(change);
        }
        let (older, mut change) = (change.older, change);
        let mut n_lines_before = usize::MAX;
        loop {
            let set = self.trees.change_set(older, change.newer)?.with_single_lines();
            // The syntax can divide the same difference into more lines than the rest has, again and again.
            let n_lines = set.n_lines(&set.full());
            if n_lines >= n_lines_before {
                return Ok(change);
            }
            n_lines_before = n_lines;
            let wanted = |outcome| outcome == Outcome::Fail;
            let aim = Aim::between(ends, "the sufficient change", ChangeDirection::Forward);
            let kept = self.reduce_units(ReductionStart::whole(&set, older), revision, aim, &wanted).await?;
            if kept == set.full() {
                return Ok(change);
            }
            let newer = self.tree_of(&set, older, &kept)?;
            let units = self.parts(&set, older, &kept, revision, ChangeDirection::Forward)?;
            change =
                FoundChange { older, newer, n_lines: set.n_lines(&kept), units, is_minimal: !self.is_effort_spent() };
        }
    }

    fn tree_of(&self, set: &ChangeSet, base: TreeId, subset: &Subset) -> Result<TreeId, Halt> {
        let tree = self.trees.compose(set, base, subset)?;
        Ok(tree.expect("the tree that was just probed can be written"))
    }

    /// The parts of a reduced subset, at the level of the reduction, each with the tree without it.
    fn parts(
        &self,
        set: &ChangeSet,
        base: TreeId,
        kept: &Subset,
        commit: CommitId,
        direction: ChangeDirection,
    ) -> Result<Vec<Labelled>, Halt> {
        let mut parts = Vec::new();
        for group in set.groups(self.order.level) {
            let group = set.subset(group).intersection(kept);
            let Some(first) = group.iter().next() else { continue };
            let rest = set.close(&kept.difference(&group));
            parts.push(Labelled {
                commit,
                path: set.describe(first).path().to_vec(),
                n_lines: set.n_lines(&group),
                edits: edits(set, &group, direction),
                without: self.trees.compose(set, base, &rest)?,
                shown_without: None,
            });
        }
        Ok(parts)
    }
}

/// The units in files that look like tests.
pub(super) fn tests_of(set: &ChangeSet) -> Subset {
    let mut tests = set.empty();
    tests.extend(set.full().iter().filter(|unit| is_test_path(set.describe(*unit).path())));
    tests
}

/// The edits of some units.
pub(super) fn edits(set: &ChangeSet, units: &Subset, direction: ChangeDirection) -> Vec<ChangeEdit> {
    let mut edits = Vec::new();
    for unit in units {
        let text = set.describe(unit);
        let path = text.path();
        let is_forward = direction == ChangeDirection::Forward;
        let mut add = |is_insertion: bool, text: &[u8]| {
            edits.push(ChangeEdit { path: path.to_vec(), is_insertion, text: text.to_vec() });
        };
        match (text.deleted, text.inserted) {
            ([], []) => add(true, &[]),
            (deleted, inserted) => {
                if !inserted.is_empty() {
                    add(is_forward, inserted);
                }
                if !deleted.is_empty() {
                    add(!is_forward, deleted);
                }
            }
        }
    }
    edits
}

#[cfg(test)]
mod tests;
