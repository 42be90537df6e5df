//! The stages of a hunt: the commit, the change inside it, the fix. Each is an answer by itself.

use crate::finding::{CleanRun, Conclusion, Expected};
use crate::pair::TreePair;
use crate::test_paths::is_test_path;
use crate::{Again, Event, Halt, Hunter, Phase, Probe};
use idd_base::{CommitId, HuntStage, Outcome};
use std::collections::BTreeSet;

impl Hunter<'_> {
    /// Reports that the first bad commit is proved, before it is reduced. Ends the hunt if no more is asked for.
    ///
    /// - `candidates`: the commits between the two sides of the pair, whose ends were run in fresh worktrees.
    ///
    /// Reports nothing if only the reduction can distinguish the commits, or if the tests of the commit fail by
    /// themselves, so that the pass before it was empty; returns the paths of these tests. Cost: one probe if the commit
    /// changes tests and something else.
    pub(super) async fn end_with_commit(
        &self,
        pair: &TreePair,
        candidates: &[CommitId],
    ) -> Result<Option<Vec<Vec<u8>>>, Halt> {
        let is_last = self.order.until == HuntStage::Commit || self.order.known.contains(&pair.newer.revision);
        if let Some(paths) = self.failing_tests(pair).await? {
            return if is_last { Err(Halt::Again(Again::Hold(paths))) } else { Ok(Some(paths)) };
        }
        // If a merge fails while its parents pass, it stays the first bad commit.
        let is_merge = pair.is_exact && self.history.is_merge(pair.newer.revision);
        let is_one = candidates.len() < 2 || is_merge;
        if is_one {
            {
                let finding = &mut self.state.borrow_mut().finding;
                (finding.evidence, finding.is_proved) = (ends(pair), true);
            }
            self.tell(Event::Proved { revision: pair.newer.revision });
        }
        if !is_last {
            return Ok(None);
        }
        if !is_one {
            self.state.borrow_mut().finding.range = candidates.to_vec();
        }
        self.prove_change(pair).await?;
        Err(Halt::Concluded(if is_one { Conclusion::Found } else { Conclusion::Range }))
    }

    /// Proves the reduced change. Ends the hunt if no fix is asked for.
    pub(super) async fn end_with_change(&self, pair: &TreePair, is_range: bool) -> Result<(), Halt> {
        self.prove_change(pair).await?;
        if self.order.until > HuntStage::Change {
            return Ok(());
        }
        Err(Halt::Concluded(if is_range { Conclusion::Range } else { Conclusion::Found }))
    }

    /// The test files in the difference of a pair, if they alone make the passing side fail.
    async fn failing_tests(&self, pair: &TreePair) -> Result<Option<Vec<Vec<u8>>>, Halt> {
        let (older, newer) = (pair.older.tree, pair.newer.tree);
        if !self.order.check_vacuous || self.trees.files(older, newer, &is_test_path)?.is_empty() {
            return Ok(None);
        }
        let set = self.trees.change_set(pair.older.tree, pair.newer.tree)?;
        let (mut tests, mut paths) = (set.full(), BTreeSet::new());
        for unit in &set.full() {
            let path = set.describe(unit).path();
            if is_test_path(path) {
                paths.insert(path.to_vec());
            } else {
                tests.remove(unit);
            }
        }
        if paths.is_empty() {
            return Ok(None);
        }
        let Some(tree) = self.trees.compose(&set, pair.older.tree, &set.close(&tests))? else { return Ok(None) };
        let is_all = tree == pair.newer.tree;
        let older = pair.older;
        // The tests beside the fetched program of the passing side, or beside one that is built of its sources.
        let revision = if older.is_fetched { older.revision } else { pair.newer.revision };
        let probe = Probe { is_fetched: older.is_fetched, ..Probe::of(tree, revision, Phase::Search) };
        let fails = is_all || self.asker.one(probe).await == Outcome::Fail;
        Ok(fails.then(|| paths.into_iter().collect()))
    }

    /// Whether the time for reductions is used up.
    pub(super) fn is_effort_spent(&self) -> bool {
        self.state.borrow().is_effort_spent
    }
}

/// The evidence from the runs of both ends.
fn ends(pair: &TreePair) -> Vec<CleanRun> {
    let shown = |claim: &str, revision, tree, expected, seen| CleanRun {
        claim: claim.to_owned(),
        revision,
        tree,
        expected,
        seen,
    };
    let (older, newer) = (&pair.older, &pair.newer);
    vec![
        shown("the last good revision passes", older.revision, older.tree, Expected::Pass, Outcome::Pass),
        shown("the first bad revision fails", newer.revision, newer.tree, Expected::Fail, Outcome::Fail),
    ]
}
