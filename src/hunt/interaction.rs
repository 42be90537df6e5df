//! Interaction: older commits without which the culprit does not break the test.

use crate::finding::FoundChange;
use crate::minimise::SufficientCore;
use crate::pair::TreePair;
use crate::{ChangeEnds, Halt, Hunter, Phase, Probe, TestedRevision};
use idd_base::{CommitId, Outcome, Sought};
use idd_change::trees::{Favor, Merged};
use std::collections::HashMap;

/// A partner is not searched in a larger difference: it would not be found in useful time.
const MAX_UNITS: usize = 5_000;

impl Hunter<'_> {
    /// Searches older commits that the culprit needs. If its lines alone do not break an older pass, other commits take
    /// part.
    ///
    /// Then the newest commit is searched that is needed beside it: the difference from the commit before it is reduced, first
    /// to the lines of both, and each line is labelled with its commit. No other commit takes part if no line has the label of
    /// the culprit, or if a fix or a change of a value is looked for.
    pub(super) async fn interaction(
        &self,
        pair: &TreePair,
        sufficient: &FoundChange,
    ) -> Result<Option<(FoundChange, TestedRevision)>, Halt> {
        // Any other value or failure counts as the older behaviour, so revisions with an even older one say nothing of partners.
        let is_any_other = matches!(self.order.sought, Sought::Change | Sought::Fix);
        if is_any_other || pair.older.repair.is_some() || pair.newer.repair.is_some() {
            return Ok(None);
        }
        let Some((oldest, partner)) = self.pass_without_partner(pair, sufficient).await? else { return Ok(None) };
        let ends = ChangeEnds { older: oldest.tree, newer: pair.newer.tree };
        if self.trees.change_set(ends.older, ends.newer)?.units().len() > MAX_UNITS {
            return Ok(None);
        }
        let core = [pair.newer.revision, partner];
        let change = self.sufficient(ends, pair.newer.revision, SufficientCore::Commits(&core)).await?.change;
        let mut change = self.with_single_lines(change, ends, pair.newer.revision).await?;
        let candidates = self.history.between(oldest.revision, pair.newer.revision);
        self.label(&mut change, &candidates)?;
        let culprits = Self::labels(&change, &candidates);
        // A change without lines of the culprit is another way to the same outcome, such as a test that runs for the
        // first time. The lines of a merge have the labels of the commits that it merged.
        let is_merge = self.history.is_merge(pair.newer.revision);
        if culprits.len() < 2 || !is_merge && !culprits.contains(&pair.newer.revision) {
            return Ok(None);
        }
        let what = self.order.sought.words().together[1].to_lowercase();
        self.note(format!("{} commits interact: {what} needs lines of each of them", culprits.len()));
        self.state.borrow_mut().finding.culprits = culprits;
        Ok(Some((change, oldest)))
    }

    /// Tests revisions 1, 2, 4, ... before the pair, and then those between by halves; returns the newest pass found that
    /// the sufficient change alone does not break, and the commit after it, on which it does.
    ///
    /// Ends where the change no longer applies, or where the result cannot be tested. Revisions before one given as
    /// good are not tested: the user has bounded the search. Cost: at most 2 log2(n) + 1 probes.
    async fn pass_without_partner(
        &self,
        pair: &TreePair,
        sufficient: &FoundChange,
    ) -> Result<Option<(TestedRevision, CommitId)>, Halt> {
        let mut line = self.history.first_parents(pair.older.revision);
        if let Some(bound) = line.iter().position(|id| self.order.goods.contains(id)) {
            line.truncate(bound + 1);
        }
        let last = line.len() - 1;
        let stops =
            std::iter::successors(Some(1), |distance| Some(2 * distance)).map(|distance: usize| distance.min(last));
        let stops: Vec<usize> = stops.take_while(|stop| *stop < last).chain((last > 0).then_some(last)).collect();
        let with_change = |stop: usize| {
            let bare = self.view(line[stop])?;
            let merged = self.trees.merge(sufficient.older, bare, sufficient.newer, Favor::Neither)?;
            let Merged::Clean(tree, _) = merged else { return Ok(None) };
            let probe = Probe::of(tree, line[stop], Phase::Reduce);
            Ok::<_, Halt>(Some((probe, tree == bare)))
        };
        let (mut breaks, mut passes) = (0, None);
        for (index, stop) in stops.iter().copied().enumerate() {
            let Some((probe, is_bare)) = with_change(stop)? else { return Ok(None) };
            // Usually no other commit takes part, so all of them are asked.
            let guesses = |overheard: &HashMap<Probe, Outcome>, n: usize| {
                let further = stops[index + 1..].iter().map_while(|stop| with_change(*stop).ok().flatten());
                let probes = further.map(|(probe, _)| probe);
                probes.filter(|probe| !overheard.contains_key(probe)).take(n).collect()
            };
            match self.asker.one_before(probe, guesses).await {
                Outcome::Fail => breaks = stop,
                Outcome::Unresolved(_) => return Ok(None),
                Outcome::Pass if is_bare => return Ok(None),
                Outcome::Pass => {
                    passes = Some(stop);
                    break;
                }
            }
        }
        let Some(mut passes) = passes else { return Ok(None) };
        while passes - breaks > 1 {
            let middle = breaks + (passes - breaks) / 2;
            let Some((probe, is_bare)) = with_change(middle)? else { return Ok(None) };
            match self.asker.one(probe).await {
                Outcome::Fail => breaks = middle,
                Outcome::Pass if !is_bare => passes = middle,
                Outcome::Pass | Outcome::Unresolved(_) => return Ok(None),
            }
        }
        let tested = self.as_tested(line[passes]).await?;
        let is_bare_pass = tested.outcome == Outcome::Pass && tested.repair.is_none();
        Ok(is_bare_pass.then_some((tested, line[breaks])))
    }
}
