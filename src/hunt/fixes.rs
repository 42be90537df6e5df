//! The fixes: from the necessary lines to all that the culprit changed in their files, each tested at the newest
//! revision; and the reverts, of the whole culprit or of the merge that brought it.
//!
//! A minimal change for one test often breaks behaviour that this test does not check. So several reversals are tried,
//! and the acceptable one with the fewest lines is recommended, if possible one with which all of the command passes. The suite shows what a reversal breaks. Without a suite,
//! at least whole declarations are reversed, and none if the culprit's own tests still exist: they show that its
//! behaviour is wanted. A revert is never recommended: what the commit was for would be lost with the fault.
//!
//! Source: relifix (Tan and Roychoudhury, ICSE 2015) repairs a regression by statements of both versions, "revert to
//! the previous statement" first. Deviation: the reversed parts are not chosen by a search over operators; they are the
//! parts around a change that is known to be necessary.

use crate::finding::{Fix, FoundChange, Scope};
use crate::minimise::{ReducedSet, tests_of};
use crate::own_tests::{Covered, named};
use crate::pair::TreePair;
use crate::{Baseline, Event, Halt, Hunter, Phase, Probe, ProbeQuestion};
use idd_base::{CommitId, Outcome, Reason, TreeId};
use idd_change::trees::{Favor, Merged, Rung};
use idd_change::{Level, Subset};

/// If there are more edits, they are not carried one by one.
const MAX_EDITS: usize = 200;

/// The share of the culprit's code, as numerator and denominator, from which on a note says how much a fix takes back.
const NEARLY_ALL: (usize, usize) = (4, 5);

/// A fix of a culprit with at most this many lines of code usually takes back all of them, and nothing is said of it.
const FEW_LINES: usize = 5;

/// A reversal that may become the fix.
struct FixCandidate {
    scope: Scope,
    /// The commit that is reverted as a whole, but perhaps for its tests and comments.
    commit: Option<CommitId>,
    base: TreeId,
    patched: TreeId,
    /// The reversed units of the culprit; `None` for one of several commits.
    units: Option<Subset>,
    n_lines: usize,
}

/// What the culprit changed but for its tests and its comments; all but for its tests, if that is nothing.
fn code_of(necessary: &ReducedSet) -> Subset {
    let ReducedSet { set, kept, .. } = necessary;
    let all = set.full().difference(&tests_of(set).difference(kept));
    Some(all.difference(set.trivia())).filter(|code| !code.is_empty()).unwrap_or(all)
}

impl Hunter<'_> {
    /// Tries the reversals of the culprit at the newest revision, from the smallest to the largest, and puts them on
    /// the state.
    ///
    /// Each reversal contains the definitions that it needs. If none passes, the whole declarations are
    /// [carried](Self::port) step by step. Returns the recommended reversal, or else the one that was carried farthest,
    /// and the commits on the way that break the test again.
    ///
    /// Cost: at most six probes, and one more for each of several culprits; the same number of runs of checks and
    /// suite; and the cost of `port`.
    pub(super) async fn fixes(
        &self,
        necessary: &ReducedSet,
        pair: &TreePair,
    ) -> Result<(Option<Fix>, Vec<CommitId>), Halt> {
        let target = if self.order.port { self.port_target().await? } else { pair.newer.revision };
        let is_reachable = self.history.path(target, pair.newer.revision).is_some();
        let covered = &self.order.covered;
        let all_own_tests = self.own_tests(&necessary.change, pair, self.view(target)?)?;
        let mut own_tests = all_own_tests.clone();
        own_tests.retain(|path| !covered.has(path));
        let mut runnable = own_tests.clone();
        runnable.retain(|path| self.order.runnable.has(path));
        if !runnable.is_empty() {
            self.state.borrow_mut().announced_tests.clone_from(&runnable);
            self.tell(Event::OwnTests { paths: runnable });
        }
        let mut fixes: Vec<Fix> = Vec::new();
        let reversals = self.reversals(necessary, pair)?;
        if is_reachable {
            for reversal in &reversals {
                match fixes.iter_mut().find(|fix| fix.reverted == reversal.patched) {
                    // One result has one row, named by the most that it takes back.
                    Some(known) => (known.scope, known.commit) = (reversal.scope, reversal.commit),
                    None => fixes.push(self.try_fix(reversal, target, necessary, pair).await?),
                }
                // What is known if the hunt ends here.
                self.state.borrow_mut().finding.fixes.clone_from(&fixes);
            }
            let is_reverted = |fix: &Fix| fix.scope == Scope::Revert && fix.tested == Outcome::Pass;
            if !fixes.iter().any(is_reverted)
                && let Some(reversal) = self.merge_of(pair.newer.revision, target)?
            {
                fixes.push(self.try_fix(&reversal, target, necessary, pair).await?);
            }
        }
        let has_suite = self.has_suite(target).await?;
        if has_suite {
            own_tests.clear();
        }
        let mut culprits = Vec::new();
        // If the culprit's own tests exist, no reversal that is carried step by step would be recommended.
        if own_tests.is_empty() && fixes.iter().all(|fix| fix.tested != Outcome::Pass) {
            if let Some(reversal) = reversals.iter().find(|reversal| reversal.scope == Scope::Declarations) {
                let change = FoundChange {
                    older: reversal.patched,
                    newer: reversal.base,
                    n_lines: reversal.n_lines,
                    units: Vec::new(),
                    is_minimal: true,
                };
                let (mut fix, more) = self.port(&change, pair.newer.revision).await?;
                culprits = more;
                (fix.scope, fix.reverted) = (Scope::Declarations, reversal.patched);
                if fix.is_complete {
                    self.ask_beside(&mut fix, pair).await?;
                }
                fixes.retain(|other| other.scope != Scope::Declarations);
                fixes.push(fix);
            }
            fixes.sort_by_key(|fix| fix.scope);
        }
        let has_whole_suite = has_suite && self.state.borrow().announced_tests.is_empty();
        let is_safe = |fix: &Fix| match fix.scope {
            _ if fix.is_revert() => false,
            // It can take back what other commits brought, which the tests of the culprit do not check.
            _ if fix.rung == Rung::Reduced
                && self.order.could_ask_suite
                && !has_whole_suite
                && *covered != Covered::All =>
            {
                false
            }
            _ if has_suite || *covered == Covered::All => true,
            Scope::Declarations | Scope::Files => own_tests.is_empty(),
            Scope::Lines | Scope::Statements | Scope::Revert | Scope::Merge => false,
        };
        let is_recommended = |fix: &&Fix| fix.is_whole() && (fix.is_complete || !self.order.port) && is_safe(fix);
        let recommended = fixes.iter().filter(is_recommended).min_by_key(|fix| (fix.still_fails, fix.n_lines)).cloned();
        let farthest = || {
            let is_partial = |fix: &&Fix| fix.tested == Outcome::Pass && !fix.is_complete && !fix.is_revert();
            let partial = fixes.iter().filter(is_partial).filter(|_| self.order.port);
            partial
                .min_by_key(|fix| self.history.path(target, fix.revision).map_or(usize::MAX, |path| path.len()))
                .cloned()
        };
        let is_given = has_suite && self.state.borrow().announced_tests.is_empty();
        if let Some(named) = named(&all_own_tests).filter(|_| is_given && recommended.is_some()) {
            self.note(format!(
                "the culprit changed tests, in {named}: if the suite does not have them, run them with the fix"
            ));
        }
        if let Some(fix) = &recommended {
            let n_code = necessary.set.n_lines(&code_of(necessary));
            let is_nearly_all = fix.n_lines * NEARLY_ALL.1 >= n_code * NEARLY_ALL.0;
            if is_nearly_all && n_code > FEW_LINES && fix.rung != Rung::Reduced {
                let n_lines = fix.n_lines;
                self.note(format!(
                    "the fix takes back nearly all code of the culprit: it has {n_lines} lines, and the culprit changed {n_code}"
                ));
            }
        }
        let best = recommended.or_else(farthest);
        let finding = &mut self.state.borrow_mut().finding;
        (finding.fixes, finding.own_tests) = (fixes, own_tests);
        Ok((best, culprits))
    }

    /// The reversals, ordered by size. One that takes back all code of the culprit is a revert, whatever its scope.
    fn reversals(&self, necessary: &ReducedSet, pair: &TreePair) -> Result<Vec<FixCandidate>, Halt> {
        let ReducedSet { set, kept, change } = necessary;
        let scopes = [
            (Scope::Lines, kept.clone()),
            (Scope::Statements, set.widened(kept, Level::Hunk)),
            (Scope::Declarations, set.widened(kept, Level::Unit)),
            (Scope::Files, set.widened(kept, Level::File)),
            (Scope::Revert, set.full()),
        ];
        // The tests of the culprit are removed only with all of it, or if the test needs that.
        let others_tests = tests_of(set).difference(kept);
        let code = code_of(necessary);
        let culprit = Some(pair.newer.revision).filter(|_| self.candidates(pair).len() == 1);
        let mut reversals = Vec::new();
        for (scope, units) in scopes {
            let units = match scope {
                Scope::Revert => units,
                _ => set.close(&set.with_definitions(&units).difference(&others_tests)),
            };
            if let Some(patched) = self.trees.compose(set, change.newer, &units)? {
                let n_lines = set.n_lines(&units);
                let commit = culprit.filter(|_| code.is_subset(&units));
                let (base, units) = (change.newer, Some(units));
                reversals.push(FixCandidate { scope, commit, base, patched, units, n_lines });
            }
        }
        let culprits = self.state.borrow().finding.culprits.clone();
        for commit in culprits.iter().copied().filter(|_| culprits.len() > 1) {
            let Some(parent) = self.history.first_parent(commit) else { continue };
            if self.history.path(pair.newer.revision, commit).is_some() {
                let (base, patched) = (self.view(commit)?, self.view(parent)?);
                let set = self.trees.change_set(base, patched)?;
                let n_lines = set.n_lines(&set.full());
                let (scope, commit, units) = (Scope::Revert, Some(commit), None);
                reversals.push(FixCandidate { scope, commit, base, patched, units, n_lines });
            }
        }
        Ok(reversals)
    }

    /// Merges a reversal into the newest revision and tests it there. Cost: one probe, one run of checks and suite
    /// each.
    async fn try_fix(
        &self,
        reversal: &FixCandidate,
        target: CommitId,
        necessary: &ReducedSet,
        pair: &TreePair,
    ) -> Result<Fix, Halt> {
        self.tell(Event::Trying { scope: reversal.scope, revision: target });
        let bare = self.view(target)?;
        let merged = match self.trees.merge(reversal.base, bare, reversal.patched, Favor::Neither)? {
            Merged::Conflict => self.by_edits(reversal, bare, necessary)?,
            clean @ Merged::Clean(..) => clean,
        };
        let (probed, rung, tested) = match merged {
            Merged::Clean(tree, rung) if tree != bare => {
                let tested = self.probe(tree, target, Phase::Port).await;
                if tested == Outcome::Pass {
                    self.tell(Event::Carried { revision: target, rung });
                }
                (tree, rung, tested)
            }
            Merged::Clean(..) | Merged::Conflict => (bare, Rung::Merge, Outcome::Unresolved(Reason::DoesNotApply)),
        };
        let mut fix = self.describe_fix(target, bare, probed, rung, tested)?;
        (fix.scope, fix.commit, fix.reverted) = (reversal.scope, reversal.commit, reversal.patched);
        if tested == Outcome::Unresolved(Reason::DoesNotApply) {
            fix.stopped_by = self.stopped_by(reversal, target, pair.newer.revision)?;
        }
        if tested == Outcome::Pass {
            self.ask_beside(&mut fix, pair).await?;
        }
        Ok(fix)
    }

    /// The reversal of the merge that brought `culprit` into the line of `target`; `None` if the culprit is on that line.
    fn merge_of(&self, culprit: CommitId, target: CommitId) -> Result<Option<FixCandidate>, Halt> {
        let line = self.history.first_parents(target);
        let n_with = line.partition_point(|commit| self.history.path(*commit, culprit).is_some());
        let Some(commit) = n_with.checked_sub(1).map(|last| line[last]).filter(|commit| *commit != culprit) else {
            return Ok(None);
        };
        let Some(parent) = self.history.first_parent(commit) else { return Ok(None) };
        let (base, patched) = (self.view(commit)?, self.view(parent)?);
        let set = self.trees.change_set(base, patched)?;
        let n_lines = set.n_lines(&set.full());
        Ok(Some(FixCandidate { scope: Scope::Merge, commit: Some(commit), base, patched, units: None, n_lines }))
    }

    /// The first commit between the culprit and the target since which a reversal does not apply: it conflicts, or there is
    /// nothing left to take back. Found by bisection, so it is one of several if that changes more than once.
    /// Cost: no probe.
    fn stopped_by(
        &self,
        reversal: &FixCandidate,
        target: CommitId,
        culprit: CommitId,
    ) -> Result<Option<CommitId>, Halt> {
        let mut line = self.history.path(target, reversal.commit.unwrap_or(culprit)).unwrap_or_default();
        line.reverse();
        let (mut applies, mut conflicts) = (0, line.len().saturating_sub(1));
        while conflicts > applies + 1 {
            let middle = applies + (conflicts - applies) / 2;
            let bare = self.view(line[middle])?;
            match self.trees.merge(reversal.base, bare, reversal.patched, Favor::Neither)? {
                Merged::Clean(tree, _) if tree != bare => applies = middle,
                _ => conflicts = middle,
            }
        }
        Ok((conflicts > 0).then(|| line[conflicts]))
    }

    /// Merges a reversal edit by edit. All edits of the necessary change must apply, and at least half of the others.
    ///
    /// If a newer commit rewrote one of many edits, the others can still be reversed.
    fn by_edits(&self, reversal: &FixCandidate, bare: TreeId, necessary: &ReducedSet) -> Result<Merged, Halt> {
        let ReducedSet { set, kept, .. } = necessary;
        let Some(units) = reversal.units.as_ref().filter(|_| reversal.scope > Scope::Lines) else {
            return Ok(Merged::Conflict);
        };
        let edits: Vec<Subset> = set
            .groups(Level::Line)
            .iter()
            .map(|group| set.subset(group))
            .filter(|edit| edit.is_subset(units))
            .collect();
        if edits.len() > MAX_EDITS {
            return Ok(Merged::Conflict);
        }
        let (mut tree, mut last, mut n_left) = (bare, Rung::Lines, 0);
        let is_needed = |edit: &Subset| !edit.intersection(kept).is_empty();
        let (needed, others): (Vec<Subset>, Vec<Subset>) = edits.into_iter().partition(is_needed);
        for (edit, is_needed) in needed.iter().map(|edit| (edit, true)).chain(others.iter().map(|edit| (edit, false))) {
            let patched = self.trees.compose(set, reversal.base, &set.close(edit))?;
            let merged = match patched.filter(|patched| *patched != reversal.base) {
                Some(patched) => self.trees.merge(reversal.base, tree, patched, Favor::Neither)?,
                None => Merged::Conflict,
            };
            match merged {
                Merged::Clean(with, rung) => (tree, last) = (with, last.max(rung)),
                Merged::Conflict if is_needed => return Ok(Merged::Conflict),
                Merged::Conflict => n_left += 1,
            }
        }
        // If most of it was rewritten since, the rest may not belong together.
        Ok(if 2 * n_left > others.len() { Merged::Conflict } else { Merged::Clean(tree, last) })
    }

    /// Whether there is a suite that can judge a fix for `target`. Cost: one run of the suite.
    async fn has_suite(&self, target: CommitId) -> Result<bool, Halt> {
        let probe = Probe::of(self.view(target)?, target, Phase::Port);
        let asked = Probe { question: ProbeQuestion::IsSuiteQuick, ..probe };
        let is_one = self.order.has_suite || !self.state.borrow().announced_tests.is_empty();
        Ok(is_one && self.asker.one(asked).await.is_testable())
    }

    /// Asks whether all of the command passes with a fix, and runs the checks and the suite for it.
    async fn ask_beside(&self, fix: &mut Fix, pair: &TreePair) -> Result<(), Halt> {
        let baseline = Baseline { trees: [self.view(fix.revision)?, pair.older.tree, pair.newer.tree] };
        let probe = Probe::of(fix.probed, fix.revision, Phase::Port);
        let command = self.asker.one(Probe { question: ProbeQuestion::Command, ..probe }).await;
        fix.still_fails = command == Outcome::Fail;
        let [complaints, _] = self.is_whole(probe, baseline, false).await;
        fix.has_complaints = complaints == Outcome::Fail;
        if !fix.has_complaints && self.has_suite(fix.revision).await? {
            // Newer code can depend on a test that fails at either end of the culprit, so only the target is the
            // baseline.
            let question = ProbeQuestion::Suite(Baseline { trees: [baseline.trees[0]; 3] });
            fix.suite = Some(self.asker.one(Probe { question, ..probe }).await);
        }
        Ok(())
    }
}
