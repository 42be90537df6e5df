//! The verdict on one revision: without a repair if it can be tested, else with one.
//!
//! The order is fixed: without a repair; with the carried repair; with the part of the carried repair that still
//! applies; with a new repair from the testable neighbour (see [`crate::repair`]).

use crate::border::Crossed;
use crate::pair::Bracket;
use crate::{Again, Artifacts, Carried, Event, Halt, Hunter, Phase, Probe, TestedRevision};
use idd_base::{CommitId, Outcome, Reason, TreeId};
use idd_change::Level;
use idd_change::trees::{Favor, Merged};
use std::collections::HashMap;

/// The result of examining a revision on a line.
#[derive(Debug, Clone)]
pub enum Examined {
    /// The revision at this index of the line has a verdict; not always the requested one.
    Verdict {
        /// Index on the line.
        index: usize,
        /// Its verdict, `Pass` or `Fail`.
        tested: TestedRevision,
        /// Whether it is the newest of a burst of commits, which are one step together.
        is_burst: bool,
    },
    /// The revision need not be tested: a side branch of a newer one has a revision that fails and one that passes.
    Around(Bracket),
    /// The revision cannot be made testable.
    Irreparable,
}

/// Up to this many older revisions are repaired one after the other, because a pass may be among them. The number of tests of
/// all repairs is bounded anyway.
const FEW_OLDER: usize = 40;

impl Hunter<'_> {
    /// Tests a revision without a repair, then with the carried repair.
    ///
    /// The outcome is unresolved if neither helps. Cost: at most three probes; none if known.
    pub(super) async fn as_tested(&self, revision: CommitId) -> Result<TestedRevision, Halt> {
        let known = self.state.borrow().tested.get(&revision).copied();
        if let Some(tested) = known
            && tested.outcome.is_testable()
        {
            return Ok(tested);
        }
        let bare = match known {
            Some(tested) => tested,
            None => self.bare(revision).await?,
        };
        if bare.outcome.is_testable() {
            return Ok(bare);
        }
        let carried = self.state.borrow().carried.clone();
        let Some(carried) = carried else { return Ok(bare) };
        for tree in self.carry(&carried, bare.tree)? {
            let outcome = self.probe(tree, revision, Phase::Search).await;
            if outcome.is_testable() {
                return Ok(self.record(TestedRevision {
                    revision,
                    tree,
                    outcome,
                    repair: Some(carried.index),
                    is_fetched: false,
                }));
            }
        }
        self.state.borrow_mut().irreparable.insert(revision);
        Ok(bare)
    }

    /// Whether a revision has a verdict already.
    pub(super) fn is_known(&self, revision: CommitId) -> bool {
        self.state.borrow().tested.get(&revision).is_some_and(|tested| tested.outcome.is_testable())
    }

    /// Tests a revision without a repair: its artifact, if there is one, and else what is built of it.
    async fn bare(&self, revision: CommitId) -> Result<TestedRevision, Halt> {
        if self.is_fetched(revision)
            && let Some(tested) = self.fetched(revision).await?
        {
            return Ok(tested);
        }
        self.asked(revision).await
    }

    /// Tests a revision in the way that [`bare_probe`](Self::bare_probe) says.
    ///
    /// Without a verdict, an artifact says nothing about what could be built.
    pub(super) async fn asked(&self, revision: CommitId) -> Result<TestedRevision, Halt> {
        let asked = self.bare_probe(revision)?;
        let outlook = self.state.borrow_mut().outlook.take();
        let guesses = |overheard: &HashMap<Probe, Outcome>, n: usize| {
            outlook.as_ref().map_or_else(Vec::new, |outlook| self.guesses(outlook, &asked, overheard, n))
        };
        let (tree, outcome) = (asked.tree, self.asker.one_before(asked, guesses).await);
        if outcome == Outcome::Unresolved(Reason::Skip) && self.order.may_widen {
            return Err(Halt::Again(Again::TestSkips));
        }
        let tested = TestedRevision { revision, tree, outcome, repair: None, is_fetched: asked.is_fetched };
        if self.is_to_be_built(&tested) {
            return Ok(tested);
        }
        self.suspect(asked, outcome).await?;
        Ok(self.record(tested))
    }

    /// Runs an unrepaired revision that gives no verdict again in a fresh worktree, because old build products can be
    /// the reason.
    ///
    /// If it can be tested there, the hunt ends, and starts again with clean probes only. If the fresh worktree agrees
    /// once, later revisions with the same reason are not run again: a window of broken revisions would cost a clean
    /// run for each of them, and all results are proved in the end. Cost: one clean run for each reason.
    async fn suspect(&self, probe: Probe, outcome: Outcome) -> Result<(), Halt> {
        let Outcome::Unresolved(reason) = outcome else { return Ok(()) };
        if self.order.is_clean || !reason.may_be_stale() || self.state.borrow().confirmed.contains(&reason) {
            return Ok(());
        }
        let claim = Probe { phase: Phase::Verify, is_claim: true, ..probe };
        if self.asker.one(claim).await.is_testable() {
            self.state.borrow_mut().doubt = Some(claim);
            return Err(Halt::Again(Again::Clean));
        }
        self.state.borrow_mut().confirmed.insert(reason);
        Ok(())
    }

    /// Records a verdict and reports it.
    pub(super) fn record(&self, tested: TestedRevision) -> TestedRevision {
        let mut state = self.state.borrow_mut();
        state.tested.insert(tested.revision, tested);
        let verdict = (tested.revision, tested.outcome, tested.repair.is_some());
        state.finding.verdicts.push(verdict);
        if tested.is_fetched && tested.outcome.is_testable() {
            state.finding.fetched.push(tested.revision);
        }
        state.events.push(Event::Tested {
            revision: tested.revision,
            outcome: tested.outcome,
            is_repaired: tested.repair.is_some(),
        });
        tested
    }

    /// Gives the revision at `target` of `line` a verdict, or a newer one at the next border; `near` (< `target`) is the
    /// nearest newer index that is known to be testable.
    ///
    /// A bisection between `near` and `target` finds the border of testability. The one commit there is reduced to a
    /// repair, which is carried from now on. A pass on the way is newer than `target` and ends the work, because it answers
    /// more than the question. A revision that hangs is not repaired.
    ///
    /// Cost: log2(`target` - `near`) revisions and one reduction of one commit.
    pub(super) async fn examine(&self, line: &[CommitId], target: usize, near: usize) -> Result<Examined, Halt> {
        let mut near = near;
        let tested = self.as_tested(line[target]).await?;
        if tested.outcome.is_testable() {
            return Ok(Examined::Verdict { index: target, tested, is_burst: false });
        }
        if self.order.artifacts == Artifacts::Only {
            return Ok(Examined::Irreparable);
        }
        let end = self.history.burst_end(line, target);
        if end < target && end > near {
            let tested = self.as_tested(line[end]).await?;
            if tested.outcome.is_testable() {
                self.note(format!(
                    "{} commits made within minutes by one author are taken as one step: they can only be tested together",
                    target - end + 1
                ));
                return Ok(Examined::Verdict { index: end, tested, is_burst: true });
            }
        }
        loop {
            let mut untestable = target;
            while untestable - near > 1 {
                let middle = near + (untestable - near) / 2;
                let tested = self.as_tested(line[middle]).await?;
                match tested.outcome {
                    Outcome::Pass => return Ok(Examined::Verdict { index: middle, tested, is_burst: false }),
                    Outcome::Fail => near = middle,
                    Outcome::Unresolved(_) => untestable = middle,
                }
            }
            if let Some((index, tested)) = self.beside_another_failure(line, untestable, target).await? {
                if tested.outcome == Outcome::Pass {
                    return Ok(Examined::Verdict { index, tested, is_burst: false });
                }
                near = index;
                continue;
            }
            // A hang has no message by which a repair could be judged, and each run of it takes as long as is allowed.
            if self.as_tested(line[untestable]).await?.outcome == Outcome::Unresolved(Reason::Timeout) {
                return Ok(Examined::Irreparable);
            }
            if self.is_repairing_spent() {
                self.note(
                    "older revisions can only be tested with repairs, and those found so far took more tests than a search; \
                     `--repair` goes on"
                        .to_owned(),
                );
                return Ok(Examined::Irreparable);
            }
            if self.order.bounds_repairs && self.is_repaired_in_vain() && line.len() - untestable > FEW_OLDER {
                self.note(
                    "no repair was carried to the next older revision three times in a row, so older ones are not repaired; \
                     `--repair` goes on"
                        .to_owned(),
                );
                return Ok(Examined::Irreparable);
            }
            let source = self.as_tested(line[near]).await?;
            return Ok(match self.across(line[untestable], source).await? {
                Crossed::Repaired(tested) => Examined::Verdict { index: untestable, tested, is_burst: false },
                Crossed::Around(bracket) => Examined::Around(bracket),
                Crossed::Nothing => Examined::Irreparable,
            });
        }
    }

    /// A revision with a verdict behind one that fails in another way, with its index, at most `target`.
    ///
    /// A repair is the last resort: perhaps only the line differs. So before the first one, older revisions are tested: if
    /// they print other forms of the line, it varies, and the driver compares less of it. Cost: at most three revisions in
    /// a hunt.
    async fn beside_another_failure(
        &self,
        line: &[CommitId],
        untestable: usize,
        target: usize,
    ) -> Result<Option<(usize, TestedRevision)>, Halt> {
        const N_LOOKED_AT: usize = 4;
        if !self.order.may_widen || !self.state.borrow().finding.repairs.is_empty() {
            return Ok(None);
        }
        // The line may have another form in another part of the history only.
        let step = untestable.min((line.len() - untestable) / N_LOOKED_AT).max(1);
        for (index, revision) in line.iter().enumerate().skip(untestable).step_by(step).take(N_LOOKED_AT) {
            let tested = self.as_tested(*revision).await?;
            if !matches!(tested.outcome, Outcome::Unresolved(Reason::Other | Reason::Assertion)) {
                return Ok(Some((index, tested)).filter(|_| tested.outcome.is_testable() && index <= target));
            }
        }
        Ok(None)
    }

    /// Whether the last three repairs were made of one commit after the other: none was carried to the next revision, so each
    /// verdict is hardly more than that of the neighbour.
    fn is_repaired_in_vain(&self) -> bool {
        let state = self.state.borrow();
        match &state.finding.repairs[..] {
            [.., first, second, third] => third.source == second.revision && second.source == first.revision,
            _ => false,
        }
    }

    /// Applies a repair to a tree: all of it, then only those of its files that apply. At most two different trees.
    fn carry(&self, carried: &Carried, bare: TreeId) -> Result<Vec<TreeId>, Halt> {
        let mut trees = Vec::new();
        let whole = self.trees.merge(carried.base, bare, carried.patched, Favor::Neither)?;
        match whole {
            Merged::Clean(tree, _) => trees.push(tree),
            Merged::Conflict => {
                if let Some(tree) = self.carry_by_file(carried, bare)? {
                    trees.push(tree);
                }
            }
        }
        trees.retain(|tree| *tree != bare);
        Ok(trees)
    }

    /// The files of a repair that apply one by one; obsolete ones are dropped.
    fn carry_by_file(&self, carried: &Carried, bare: TreeId) -> Result<Option<TreeId>, Halt> {
        let set = self.trees.change_set(carried.base, carried.patched)?;
        let mut tree = bare;
        for group in set.groups(Level::File) {
            let Some(patched) = self.trees.compose(&set, carried.base, &set.subset(group))? else { continue };
            if let Merged::Clean(with, _) = self.trees.merge(carried.base, tree, patched, Favor::Neither)? {
                tree = with;
            }
        }
        Ok((tree != bare).then_some(tree))
    }
}
