//! The loop that runs every engine, and its memory.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::reduce::plan::{ReducePlan, left_of};
use crate::reduce::{CandidateFilter, Judge, KnownAnswer};
use crate::{ChangeSet, Group, Level, Subset};
use idd_base::{Course, ahead};

/// The maximum number of candidates that are searched for speculative ones.
const MAX_FORESEEN: usize = 64;

/// Speculation ends after this many consecutive candidates that are known or rejected, because the filter takes time.
const MAX_PASSED_OVER: usize = 100;

/// A running reduction.
pub(super) struct ReduceSession<'a, J> {
    judge: &'a mut J,
    /// Closed and interesting; it only shrinks, so an interesting subset is never asked again.
    pub(super) current: Subset,
    memory: CandidateMemory<'a>,
    /// Whether the filter is used.
    pub(super) is_filtered: bool,
    /// Whether every list of groups is reversed.
    pub(super) is_reversed: bool,
}

/// The known facts about candidates.
struct CandidateMemory<'a> {
    change_set: &'a ChangeSet,
    filter: CandidateFilter<'a>,
    /// The closed subsets that were judged not interesting, by digest: whole ones would take n bits for each of n.
    judged: HashSet<u128>,
    /// The closed subsets that the filter rejected, by digest. They have no answer.
    refused: HashSet<u128>,
    /// The answers of the filter, by digest; speculation uses them too.
    plausible: RefCell<HashMap<u128, bool>>,
    /// The recent share of interesting candidates, from 0 to 1.
    odds: f64,
}

impl CandidateMemory<'_> {
    fn is_plausible(&self, candidate: &Subset, digest: u128) -> bool {
        let known = self.plausible.borrow().get(&digest).copied();
        known.unwrap_or_else(|| {
            let is_plausible = (self.filter)(candidate);
            self.plausible.borrow_mut().insert(digest, is_plausible);
            is_plausible
        })
    }

    fn learn(&mut self, digest: u128, is_hit: bool) {
        /// The weight of the last answer.
        const WEIGHT: f64 = 0.15;
        if !is_hit {
            self.judged.insert(digest);
        }
        self.odds += WEIGHT * (f64::from(u8::from(is_hit)) - self.odds);
    }
}

impl<'a, J: Judge> ReduceSession<'a, J> {
    pub(super) fn new(change_set: &'a ChangeSet, start: Subset, filter: CandidateFilter<'a>, judge: &'a mut J) -> Self {
        let (judged, refused, plausible) = (HashSet::new(), HashSet::new(), RefCell::default());
        let memory = CandidateMemory { change_set, filter, judged, refused, plausible, odds: 0.5 };
        Self { judge, current: start, memory, is_filtered: false, is_reversed: false }
    }

    /// Asks whether the empty subset is interesting; an empty start is, by contract.
    pub(super) async fn is_empty_interesting(&mut self) -> Result<bool, J::Error> {
        let empty = self.memory.change_set.empty();
        if self.current == empty {
            return Ok(true);
        }
        let is_hit = self.judge.is_interesting(&empty, &|_, _| Vec::new()).await?;
        self.memory.judged.insert(digest(&empty));
        Ok(is_hit)
    }

    /// The remaining groups of `level`.
    pub(super) fn groups(&self, level: Level) -> Vec<Group> {
        self.left_of(&self.ordered(self.memory.change_set.groups(level)))
    }

    /// The partitions of all units down to `finest`, coarse before fine.
    pub(super) fn rungs(&self, finest: Level) -> Vec<Vec<Group>> {
        self.memory.change_set.rungs(finest).map(|groups| self.ordered(groups)).collect()
    }

    fn ordered(&self, groups: &[Group]) -> Vec<Group> {
        let mut groups = groups.to_vec();
        if self.is_reversed {
            groups.reverse();
        }
        groups
    }

    /// The groups of units that change with the same name: joined, then name by name; the largest last.
    pub(super) fn named_together(&self) -> Vec<Vec<Group>> {
        self.memory.change_set.named_together().iter().map(|groups| self.ordered(groups)).collect()
    }

    /// The remaining units of `groups` in the current subset, without empty groups.
    pub(super) fn left_of(&self, groups: &[Group]) -> Vec<Group> {
        left_of(groups, &self.current)
    }

    /// Runs `plan` to its end; returns whether anything was removed.
    ///
    /// Candidates that were judged before, or are rejected by the filter, are skipped.
    pub(super) async fn run(&mut self, plan: &mut (impl ReducePlan + Clone)) -> Result<bool, J::Error> {
        let mut is_changed = false;
        while let Some((candidate, digest)) = self.next(plan) {
            let is_hit = {
                let (memory, is_filtered) = (&self.memory, self.is_filtered);
                let foreseen = |known: KnownAnswer<'_>, n: usize| {
                    let (plan, current) = (plan.clone(), self.current.clone());
                    let missed = Vec::new();
                    let asked = Some((candidate.clone(), digest));
                    let start = Reducing { memory, is_filtered, plan, current, asked, missed };
                    let open = ahead(start, |subset| known(subset)).take(MAX_FORESEEN);
                    open.take(n).collect()
                };
                self.judge.is_interesting(&candidate, &foreseen).await?
            };
            self.memory.learn(digest, is_hit);
            if is_hit {
                self.current = candidate;
                plan.hit(&self.current);
                is_changed = true;
            }
        }
        Ok(is_changed)
    }

    /// The next candidate to be judged, with its digest.
    fn next(&mut self, plan: &mut impl ReducePlan) -> Option<(Subset, u128)> {
        let Self { judge, current, memory, .. } = self;
        let mut n_refused = 0;
        let next = loop {
            let Some(subset) = plan.next(current) else { break None };
            let candidate = memory.change_set.close(&subset);
            let digest = digest(&candidate);
            if memory.judged.contains(&digest) || (self.is_filtered && memory.refused.contains(&digest)) {
                continue;
            }
            if self.is_filtered && !memory.is_plausible(&candidate, digest) {
                memory.refused.insert(digest);
                n_refused += 1;
                continue;
            }
            break Some((candidate, digest));
        };
        judge.note_refused(n_refused);
        next
    }
}

/// The predicted course of a plan.
struct Reducing<'m, P> {
    memory: &'m CandidateMemory<'m>,
    is_filtered: bool,
    plan: P,
    current: Subset,
    /// The current candidate, with its digest.
    asked: Option<(Subset, u128)>,
    /// Candidates on the way here that are assumed not to be interesting.
    missed: Vec<u128>,
}

impl<P: ReducePlan + Clone> Course for Reducing<'_, P> {
    type Query = Subset;

    fn query(&self) -> Option<Subset> {
        self.asked.as_ref().map(|(candidate, _)| candidate.clone())
    }

    fn after(&self, is_hit: bool) -> Self {
        let Self { memory, is_filtered, .. } = *self;
        let (mut plan, mut current, mut missed) = (self.plan.clone(), self.current.clone(), self.missed.clone());
        if let Some((candidate, digest)) = &self.asked {
            if is_hit {
                current = candidate.clone();
                plan.hit(&current);
            } else {
                missed.push(*digest);
            }
        }
        let asked = std::iter::from_fn(|| {
            let candidate = memory.change_set.close(&plan.next(&current)?);
            let digest = digest(&candidate);
            Some((candidate, digest))
        })
        .take(MAX_PASSED_OVER)
        .find(|(candidate, digest)| {
            let is_judged = memory.judged.contains(digest) || missed.contains(digest);
            !is_judged && (!is_filtered || memory.is_plausible(candidate, *digest))
        });
        Self { memory, is_filtered, plan, current, asked, missed }
    }

    fn odds(&self) -> f64 {
        self.memory.odds
    }
}

/// A digest that identifies a subset: two hashes with different seeds.
fn digest(subset: &Subset) -> u128 {
    let half = |beginning: u64| {
        let mut hasher = DefaultHasher::new();
        beginning.hash(&mut hasher);
        subset.hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}
