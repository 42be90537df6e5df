//! The stages of a hunt: find the pair, reduce it, carry the fix forward, prove every claim.

use crate::finding::{Conclusion, FoundChange};
use crate::minimise::{ReducedSet, SufficientCore};
use crate::pair::{Aligned, TreePair};
use crate::{Again, Event, Halt, HistoryWalk, Hunter};
use idd_base::{CommitId, HuntStage, Outcome};

/// The maximum number of new searches after a repair that contained the culprit.
const MAX_RESTARTS: usize = 4;

/// Hunts from the failing revision of the order to the culprit and its fix. The state has the findings.
pub async fn hunt(hunter: Hunter<'_>) -> Result<(), Halt> {
    hunter.expect_noise();
    let pair = match hunter.order.walk {
        HistoryWalk::Auto => hunter.find_pair().await?,
        HistoryWalk::Linear => hunter.enter_side_branches(hunter.linear().await?).await?,
    };
    hunter.conclude(pair).await
}

/// Reduces the difference between the one good revision and the bad one of the order, without a search.
pub async fn minimize(hunter: Hunter<'_>) -> Result<(), Halt> {
    hunter.expect_noise();
    let newer = hunter.failing_bad().await?;
    let good = hunter.order.goods[0];
    let older = hunter.as_tested(good).await?;
    match older.outcome {
        Outcome::Pass => {}
        Outcome::Fail => return Err(Halt::Concluded(Conclusion::GoodFails)),
        Outcome::Unresolved(_) => return Err(Halt::Concluded(Conclusion::NothingTestable)),
    }
    let pair = TreePair { last_good: good, older, newer, joined: Vec::new(), is_exact: true };
    hunter.conclude(pair).await
}

impl Hunter<'_> {
    async fn find_pair(&self) -> Result<TreePair, Halt> {
        let mut last = None;
        for _ in 0..MAX_RESTARTS {
            let pair = if let Some(noisy) = self.order.noisy {
                self.likely_pair(noisy).await?
            } else {
                let bracket = self.bracket().await?;
                self.search(bracket).await?
            };
            let pair = self.enter_side_branches(pair).await?;
            last = Some(pair.clone());
            if let Aligned::Pair(pair) = self.align(pair).await? {
                return Ok(pair);
            }
        }
        let pair = last.expect("the loop ran at least once");
        Ok(TreePair { is_exact: false, ..pair })
    }

    /// Runs the stages after the pair: reduction, fix, proof.
    async fn conclude(&self, pair: TreePair) -> Result<(), Halt> {
        let candidates = self.candidates(&pair);
        let is_range = !pair.is_exact && candidates.len() > 1;
        {
            let mut state = self.state.borrow_mut();
            state.finding.last_good = Some(pair.last_good);
            state.finding.first_bad = Some(pair.newer.revision);
            state.finding.culprits = vec![pair.newer.revision];
            state.finding.range = if is_range { candidates.clone() } else { Vec::new() };
            state.finding.ends = Some([pair.older.revision, pair.newer.revision]);
        }
        let n_candidates = if is_range { candidates.len() } else { 1 };
        self.tell(Event::Culprit { revision: pair.newer.revision, n_candidates });
        if self.order.until == HuntStage::Found {
            return Err(Halt::Concluded(if is_range { Conclusion::Range } else { Conclusion::Culprit }));
        }
        self.check_ends(&pair).await?;
        let tests = self.end_with_commit(&pair, &candidates).await?;
        let pair = self.built(pair, &candidates).await?;
        let mut reduced = self.necessary(pair.ends(), pair.newer.revision, false).await?;
        if self.order.check_vacuous && Self::is_only_tests(&reduced.change) {
            // All of them: a test can need a file beside it, or be found by one.
            let reduced = || reduced.change.units.iter().map(|unit| unit.path.clone()).collect();
            return Err(Halt::Again(Again::Hold(tests.unwrap_or_else(reduced))));
        }
        self.state.borrow_mut().finding.necessary = Some(reduced.change.clone());
        let paired = self.meet(&mut reduced, &pair).await?;
        let mut sufficient = self.with_single_lines(paired.clone(), pair.ends(), pair.newer.revision).await?;
        let mut pair = pair;
        if candidates.len() > 1 {
            self.label(&mut sufficient, &candidates)?;
            self.label(&mut reduced.change, &candidates)?;
            let culprits = Self::labels(&sufficient, &candidates);
            self.name_culprits(&pair, culprits);
        } else if let Some((change, older)) = self.interaction(&pair, &paired).await? {
            self.state.borrow_mut().necessary_ends = Some(pair.ends());
            pair.older = older;
            sufficient = change;
            let finding = &mut self.state.borrow_mut().finding;
            (finding.is_interaction, finding.ends) = (true, Some([pair.older.revision, pair.newer.revision]));
        }
        {
            let mut state = self.state.borrow_mut();
            state.finding.sufficient = Some(sufficient);
            state.finding.necessary = Some(reduced.change.clone());
        }
        self.end_with_change(&pair, is_range).await?;
        let (fix, more) = self.fixes(&reduced, &pair).await?;
        let is_mended = self.state.borrow().finding.fixes.iter().any(|fix| fix.tested == Outcome::Pass);
        if self.order.port && !is_mended {
            self.check_again(&pair).await?;
        }
        let is_complete = fix.as_ref().is_some_and(|fix| fix.is_complete) || !self.order.port;
        {
            let mut state = self.state.borrow_mut();
            for culprit in more {
                if !state.finding.culprits.contains(&culprit) {
                    state.finding.culprits.insert(0, culprit);
                }
            }
            state.finding.fix = fix;
        }
        self.prove_fix(&pair).await?;
        let conclusion = match (is_range, is_complete) {
            (true, _) => Conclusion::Range,
            (false, true) => Conclusion::Found,
            (false, false) => Conclusion::Unfixed,
        };
        Err(Halt::Concluded(conclusion))
    }

    /// Searches the sufficient change around the necessary one, then the necessary one inside it.
    ///
    /// If they have nothing in common, one of them is not the cause. Then another necessary change is searched from the
    /// other end. It replaces the first if a sufficient change grows around it. If there is none, both stay as they are.
    async fn meet(&self, necessary: &mut ReducedSet, pair: &TreePair) -> Result<FoundChange, Halt> {
        let revision = pair.newer.revision;
        let sufficient = self.sufficient(pair.ends(), revision, SufficientCore::Necessary(necessary)).await?;
        let mut inside = self.necessary_inside(&sufficient, necessary, pair).await?;
        let mut change = sufficient.change;
        let is_apart =
            sufficient.set.counterpart(&necessary.set, &necessary.kept).intersection(&sufficient.kept).is_empty();
        if inside.is_none() && is_apart {
            let other = self.necessary(pair.ends(), revision, true).await?;
            let around = self.sufficient(pair.ends(), revision, SufficientCore::Necessary(&other)).await?;
            inside = self.necessary_inside(&around, &other, pair).await?;
            if inside.is_some() {
                change = around.change;
            } else {
                self.note(
                    "the sufficient and the necessary change have no line in common, so one of them is not the cause; \
                     both are shown"
                        .to_owned(),
                );
            }
        }
        if let Some(inside) = inside {
            *necessary = inside;
        }
        let finding = &mut self.state.borrow_mut().finding;
        finding.necessary = Some(necessary.change.clone());
        finding.sufficient = Some(change.clone());
        Ok(change)
    }

    fn name_culprits(&self, pair: &TreePair, culprits: Vec<CommitId>) {
        let mut state = self.state.borrow_mut();
        if culprits.is_empty() {
            return;
        }
        state.finding.culprits = culprits;
        // If a merge fails while its parents pass, it stays the first bad revision, with the commits that it merged.
        if self.history.is_merge(pair.newer.revision) && !state.finding.culprits.contains(&pair.newer.revision) {
            state.finding.culprits.insert(0, pair.newer.revision);
            state.finding.is_interaction = pair.older.revision != pair.last_good;
        } else if pair.is_exact {
            // For a step of several commits, or a line that omits commits, the label names the commit.
            state.finding.first_bad = state.finding.culprits.first().copied();
        }
    }
}
