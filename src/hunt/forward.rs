//! Forward port: carries the reversal of the culprit to the newest revision, tested at every step.
//!
//! Source: Artho, Iterative Delta Debugging, section 4.2. Deviations: the newest revision is tried at once. The
//! revision at which the fix stops applying or working is found by bisection, not step by step. At a conflict, the
//! reduction starts from the merge in which the fix wins, if that passes, and not from the whole difference.

use crate::finding::{Fix, FoundChange, Scope};
use crate::minimise::{Aim, ReductionStart};
use crate::{Again, Event, Halt, Hunter, Phase};
use idd_base::{CommitId, Outcome, TreeId};
use idd_change::trees::{Favor, Merged, Rung};

/// A fix that has grown to more than this many times the culprit's size is not carried further.
const MAX_GROWTH: usize = 10;

/// A fix of at most this size is always carried further: a tiny culprit can need a fix of some lines.
const MIN_GROWTH_LINES: usize = 40;

/// A fix that will not be recommended is reduced with at most this many candidates at each revision.
const MAX_ASKED: usize = 40;

/// The result of carrying the fix to one revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carry {
    /// It applies by this method, and the test passes; the tree with the fix.
    Works(TreeId, Rung),
    /// It does not apply.
    Conflict,
    /// It applies, but the test has this outcome.
    Shows(Outcome),
}

/// The reversal, as a patch between two trees.
#[derive(Debug, Clone, Copy)]
struct ReversalPatch {
    base: TreeId,
    patched: TreeId,
    /// The last method that was needed to get it.
    rung: Rung,
}

impl Hunter<'_> {
    /// Carries the reversal of `necessary` from the first bad revision to the target of the order.
    ///
    /// Returns the fix at the last revision that was reached, and the commits on the way that break the test again.
    /// Cost: one probe if it works at once; else log2(n) probes, and one reduction for each revision where it stops.
    pub(super) async fn port(
        &self,
        necessary: &FoundChange,
        first_bad: CommitId,
    ) -> Result<(Fix, Vec<CommitId>), Halt> {
        let mut fix = ReversalPatch { base: necessary.newer, patched: necessary.older, rung: Rung::Merge };
        let mut culprits = Vec::new();
        let target = self.port_target().await?;
        let line = match self.history.path(target, first_bad) {
            Some(line) if self.order.port => line,
            _ => vec![first_bad],
        };
        let mut reached = line.len() - 1;
        let mut best = (line[reached], fix);
        let max_lines = (MAX_GROWTH * necessary.n_lines).max(MIN_GROWTH_LINES);
        while reached > 0 {
            let mut stopped = match self.carry_fix(fix, line[0]).await? {
                Carry::Works(patched, rung) => {
                    best = (line[0], ReversalPatch { base: self.view(line[0])?, patched, rung: rung.max(fix.rung) });
                    break;
                }
                other => other,
            };
            self.keep_fix(best.0, best.1)?;
            let mut works = reached;
            let mut fails = 0;
            while works - fails > 1 {
                let middle = fails + (works - fails) / 2;
                match self.carry_fix(fix, line[middle]).await? {
                    Carry::Works(patched, rung) => {
                        works = middle;
                        let base = self.view(line[middle])?;
                        best = (line[middle], ReversalPatch { base, patched, rung: rung.max(fix.rung) });
                    }
                    other => (fails, stopped) = (middle, other),
                }
            }
            if stopped == Carry::Shows(Outcome::Fail) {
                culprits.push(line[fails]);
            }
            let Some(next) = self.renew(fix, best.1, line[fails]).await? else { break };
            let set = self.trees.change_set(next.base, next.patched)?;
            if set.n_lines(&set.full()) > max_lines {
                self.note(format!(
                    "the fix grew beyond {max_lines} lines while it was carried forward, and was carried no further"
                ));
                break;
            }
            fix = next;
            best = (line[fails], next);
            reached = fails;
        }
        let (revision, reversal) = best;
        let tested = self.probe(reversal.patched, revision, Phase::Port).await;
        let fix = self.describe_fix(revision, reversal.base, reversal.patched, reversal.rung, tested)?;
        Ok((fix, culprits))
    }

    /// The revision that the fix is for: the target of the order if it shows the failure, else the bad revision.
    pub(super) async fn port_target(&self) -> Result<CommitId, Halt> {
        let (target, bad) = (self.order.target, self.order.bad);
        let mut chosen = target;
        if target != bad && self.order.port && self.as_tested(target).await?.outcome != Outcome::Fail {
            self.note("HEAD does not show this failure, so the fix is for the bad revision".to_owned());
            chosen = bad;
        }
        self.state.borrow_mut().port_target = Some(chosen);
        Ok(chosen)
    }

    async fn carry_fix(&self, fix: ReversalPatch, revision: CommitId) -> Result<Carry, Halt> {
        self.tell(Event::Porting { revision });
        let bare = self.view(revision)?;
        match self.trees.merge(fix.base, bare, fix.patched, Favor::Neither)? {
            Merged::Conflict => Ok(Carry::Conflict),
            Merged::Clean(tree, _) if tree == bare => Ok(Carry::Conflict),
            Merged::Clean(tree, rung) => match self.probe(tree, revision, Phase::Port).await {
                Outcome::Pass => {
                    self.tell(Event::Carried { revision, rung });
                    Ok(Carry::Works(tree, rung))
                }
                outcome => Ok(Carry::Shows(outcome)),
            },
        }
    }

    /// Finds the fix again at a revision where it stopped: the smallest part of (revision -> repaired neighbour) that
    /// passes.
    ///
    /// `None` if nothing passes there. A revision that passes without any part of it is a newer pass: the failure was fixed,
    /// and another commit broke the test again, so the hunt starts again from there.
    async fn renew(
        &self,
        fix: ReversalPatch,
        mended: ReversalPatch,
        revision: CommitId,
    ) -> Result<Option<ReversalPatch>, Halt> {
        let bare = self.view(revision)?;
        let mut start = mended.patched;
        if let Merged::Clean(tree, _) = self.trees.merge(fix.base, bare, fix.patched, Favor::Patch)?
            && tree != bare
            && self.probe(tree, revision, Phase::Port).await == Outcome::Pass
        {
            start = tree;
        }
        let set = self.edits(bare, start)?;
        let wanted = |outcome| outcome == Outcome::Pass;
        // A fix from a new reduction is not recommended where a suite could judge it, and was not given.
        let aim = Aim::fix(bare, start, self.order.could_ask_suite.then_some(MAX_ASKED));
        let kept = self.reduce_units(ReductionStart::whole(&set, bare), revision, aim, &wanted).await?;
        if kept.is_empty() {
            return Err(Halt::Again(Again::NewerPass(revision)));
        }
        let patched = self.trees.compose(&set, bare, &kept)?;
        Ok(patched.map(|patched| ReversalPatch { base: bare, patched, rung: Rung::Reduced }))
    }

    /// Records how far the fix was carried, for a hunt that is stopped in the meantime.
    fn keep_fix(&self, revision: CommitId, reversal: ReversalPatch) -> Result<(), Halt> {
        let fix = self.describe_fix(revision, reversal.base, reversal.patched, reversal.rung, Outcome::Pass)?;
        self.state.borrow_mut().finding.fix = Some(Fix { is_complete: false, ..fix });
        Ok(())
    }

    /// Describes the fix at its last revision, without held paths and the overlay.
    ///
    /// - `(base, probed)`: the tree without the fix, and the tree that was tested.
    pub(super) fn describe_fix(
        &self,
        revision: CommitId,
        base: TreeId,
        probed: TreeId,
        rung: Rung,
        tested: Outcome,
    ) -> Result<Fix, Halt> {
        let older = self.history.tree(revision);
        let newer = match self.trees.merge(base, older, probed, Favor::Neither)? {
            Merged::Clean(tree, _) => tree,
            Merged::Conflict => probed,
        };
        let set = self.trees.change_set(older, newer)?;
        let n_lines = set.n_lines(&set.full());
        let is_complete =
            revision == self.state.borrow().port_target.unwrap_or(self.order.target) && tested == Outcome::Pass;
        Ok(Fix {
            scope: Scope::Lines,
            commit: None,
            stopped_by: None,
            reverted: probed,
            revision,
            older,
            newer,
            probed,
            tested,
            is_complete,
            n_lines,
            rung,
            still_fails: false,
            has_complaints: false,
            suite: None,
        })
    }
}
