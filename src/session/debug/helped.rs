//! What a passing run says of the steps of the failing one: where it first differs, and which values are the same.

use crate::Failure;
use crate::debug::{DebugWalk, given, judged};
use crate::recorded::failed;
use idd_explain::comparison::{Comparison, DifferingStep};
use idd_explain::facts::UsedValue;
use idd_explain::feedback::recommend::{Recommendation, RecommendationState};
use idd_explain::feedback::{Feedback, control};
use idd_trace::Step;
use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, Instant};

/// The passing version judges lines for so long before a person is asked.
const MAX_SILENCE: Duration = Duration::from_secs(5);

/// The passing version judges so many lines before a person is asked.
const MAX_SILENT: usize = 100;

impl DebugWalk {
    /// The next step for a person whom the passing version helps: the first link of the chain that an explanation would
    /// give, if that is known; else the first one in time that uses the same values as there, and gives other ones, or
    /// after which there are steps that are missing here. Steps that the failure depends on only by a potential
    /// dependence come after all others. None of these that was judged is asked again; after [`MAX_SILENT`] comparisons or [`MAX_SILENCE`], the next step is that without help.
    ///
    /// Cost: the first time one pass over each run; then the facts about at most [`MAX_SILENT`] lines, in both runs.
    pub fn recommend_helped(&mut self) -> Result<Option<Recommendation>, Failure> {
        let different = |step| Recommendation { step, state: RecommendationState::FirstDifference, n_suspects: 0 };
        let is_new = |step: &Step| self.judged.iter().all(|answer| answer.step != *step);
        if let Some(first) = self.first.map(|first| self.table.shown(first)).filter(is_new) {
            return Ok(Some(different(first)));
        }
        let candidates = self.divergences()?;
        let gaps: BTreeSet<Step> =
            candidates.iter().filter(|found| found.is_before_more).map(|found| found.step).collect();
        let mut open: Vec<Step> = candidates.iter().rev().map(|found| self.table.shown(found.step)).collect();
        let mut seen = HashSet::new();
        let begin = Instant::now();
        while let Some(step) = open.pop() {
            let is_over = self.silent.len() > MAX_SILENT || begin.elapsed() > MAX_SILENCE;
            if !seen.insert(step) || is_over && !self.silent.contains_key(&step) {
                continue;
            }
            let facts = self.facts(step)?;
            let is_first = match self.silent(step)? {
                None | Some(Feedback::Unclear) => false,
                Some(Feedback::WrongResult) => true,
                Some(Feedback::Correct) => self.table.members(step).iter().any(|member| gaps.contains(member)),
                Some(Feedback::WrongPath) => {
                    self.grounds()?;
                    open.extend(self.grounds.as_ref().and_then(|known| control(&known.graph, &self.table, step)));
                    false
                }
                Some(feedback) => {
                    let makers = judged(&facts, feedback.clone()).makers_of(true);
                    // The latest is looked at first. Between one that is right and here, something may be missing.
                    for maker in makers.into_iter().map(|maker| self.table.shown(maker)) {
                        open.extend(gaps.range(maker.min(step)..step).next().map(|gap| self.table.shown(*gap)));
                        open.push(maker);
                    }
                    given(&facts, &feedback).is_some()
                }
            };
            if is_first && !self.is_clear(step) {
                return Ok(Some(different(step)));
            }
        }
        self.recommend()
    }

    /// Where the failing run may begin to differ from the passing one, in the order in which they are compared.
    fn divergences(&mut self) -> Result<Vec<DifferingStep>, Failure> {
        self.grounds()?;
        let (Some(passing), Some(grounds)) = (&mut self.passing, &self.grounds) else { return Ok(Vec::new()) };
        if self.divergences.is_none() {
            let mut found = passing.candidates(&mut self.run, &grounds.wrong).map_err(|error| failed(&error))?;
            // Only so many are compared: those on which the failure only could have depended come last.
            let certain = grounds.certain();
            found.sort_by_key(|found| !found.is_before_more && !certain.contains(found.step));
            self.divergences = Some(found);
        }
        Ok(self.divergences.clone().unwrap_or_default())
    }

    /// What the passing version says of a step; `None` if there is none.
    pub fn silent(&mut self, step: Step) -> Result<Option<Feedback>, Failure> {
        Ok(self.compared(step)?.map(|found| found.feedback))
    }

    fn compared(&mut self, step: Step) -> Result<Option<Comparison>, Failure> {
        let Some(passing) = &mut self.passing else { return Ok(None) };
        if let Some(known) = self.silent.get(&step) {
            return Ok(Some(known.clone()));
        }
        let found = passing.judge(&mut self.run, &self.table.members(step));
        let found = found.map_err(|error| failed(&error))?;
        self.silent.insert(step, found.clone());
        Ok(Some(found))
    }

    /// Of the values that a step uses, those that are the same in the passing version.
    pub(super) fn presumed(&mut self, step: Step, used: &[UsedValue]) -> Result<Vec<usize>, Failure> {
        let mut found = self.compared(step)?.map(|found| found.same).unwrap_or_default();
        // What is not known of either run, or is shown in part, is not known to be the same.
        let is_whole = |value: &String| !value.ends_with('?') && !value.contains("...");
        found.retain(|index| used[*index].value.as_ref().is_some_and(is_whole));
        Ok(found)
    }
}
