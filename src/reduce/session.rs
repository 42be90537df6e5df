//! The one loop that runs every engine, and what it remembers.

use std::collections::HashSet;
use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;

use crate::change::{ChangeSet, Group, Level, Subset, UnitId};
use crate::reduce::plan::Plan;
use crate::reduce::{Filter, Judge};

/// One reduction under way.
pub(super) struct Session<'a, J> {
    change_set: &'a ChangeSet,
    filter: Filter<'a>,
    judge: &'a mut J,
    /// Closed and interesting; only ever shrinks, so an interesting subset is never asked for again.
    current: Subset,
    /// The closed subsets that were judged not interesting, by digest: whole ones would take n bits for each of n.
    judged: HashSet<u128>,
    /// The closed subsets that the filter refused, by digest. Nothing is known of them.
    refused: HashSet<u128>,
    /// Whether the filter is asked at all.
    pub(super) is_filtered: bool,
    /// Whether every list of groups is turned round.
    pub(super) is_reversed: bool,
}

/// What was drawn for one question to the judge.
#[derive(Default)]
struct Drawn {
    /// The candidates handed out, in order: how many the plan had named with it, and its digest.
    asked: Vec<(usize, u128)>,
    /// The refused ones in between: how many were handed out before it, and its digest.
    refused: Vec<(usize, u128)>,
    /// All of them.
    digests: HashSet<u128>,
}

impl<'a, J: Judge> Session<'a, J> {
    pub(super) fn new(change_set: &'a ChangeSet, start: Subset, filter: Filter<'a>, judge: &'a mut J) -> Self {
        let (judged, refused) = (HashSet::new(), HashSet::new());
        Self { change_set, filter, judge, current: start, judged, refused, is_filtered: false, is_reversed: false }
    }

    pub(super) fn into_current(self) -> Subset {
        self.current
    }

    /// Asks whether nothing at all is interesting; a start that is empty is, by contract.
    pub(super) async fn is_empty_interesting(&mut self) -> Result<bool, J::Error> {
        let empty = self.change_set.empty();
        if self.current == empty {
            return Ok(true);
        }
        let hit = self.judge.first(std::iter::once(empty.clone())).await?;
        self.judged.insert(digest(&empty));
        Ok(hit.is_some())
    }

    /// What is left of the groups of `level`.
    pub(super) fn groups(&self, level: Level) -> Vec<Group> {
        self.left_of(&self.ordered(self.change_set.groups(level)))
    }

    /// The partitions of all units down to `finest`, coarse before fine.
    pub(super) fn rungs(&self, finest: Level) -> Vec<Vec<Group>> {
        self.change_set.rungs(finest).map(|groups| self.ordered(groups)).collect()
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
        self.change_set.named_together().iter().map(|groups| self.ordered(groups)).collect()
    }

    /// What is left of `groups`: their units in the current subset, without those groups that have none.
    pub(super) fn left_of(&self, groups: &[Group]) -> Vec<Group> {
        let left = |group: &Group| {
            let ids = group.spans().iter().flat_map(|span| span.clone().map(UnitId));
            Group::of(ids.filter(|id| self.current.contains(*id)))
        };
        groups.iter().filter(|group| self.current.has_any_of(group)).map(left).collect()
    }

    /// Follows `plan` to its end, where it is left; returns whether anything was taken out.
    pub(super) async fn run(&mut self, plan: &mut impl Plan) -> Result<bool, J::Error> {
        let mut is_changed = false;
        while let Some((n_steps, subset)) = self.first(plan.clone()).await? {
            (0..n_steps).for_each(|_| drop(plan.next(&self.current)));
            self.current = subset;
            plan.hit(&self.current);
            is_changed = true;
        }
        while plan.next(&self.current).is_some() {}
        Ok(is_changed)
    }

    /// The first interesting candidate that `plan` names, and how many it named up to there; candidates that were
    /// judged before or are refused are passed over.
    async fn first(&mut self, mut plan: impl Plan) -> Result<Option<(usize, Subset)>, J::Error> {
        let mut n_named = 0;
        let replay = plan.clone();
        let mut drawn = Drawn::default();
        let candidates = std::iter::from_fn(|| {
            loop {
                let candidate = self.change_set.close(&plan.next(&self.current)?);
                n_named += 1;
                let digest = digest(&candidate);
                let is_known = self.judged.contains(&digest) || (self.is_filtered && self.refused.contains(&digest));
                if is_known || !drawn.digests.insert(digest) {
                    continue;
                }
                if self.is_filtered && !(self.filter)(&candidate) {
                    drawn.refused.push((drawn.asked.len(), digest));
                    continue;
                }
                drawn.asked.push((n_named, digest));
                return Some(candidate);
            }
        })
        .fuse();
        let hit = self.judge.first(candidates).await?;
        // What was drawn behind a hit is speculation: whatever it would say was never heard.
        let hit = hit.map(|index| {
            drawn.asked.truncate(index + 1);
            drawn.refused.retain(|(n_before, _)| *n_before <= index);
            let (n_named, _) = drawn.asked.pop().expect("a hit is one of the candidates that were drawn");
            (n_named, self.named(replay, n_named))
        });
        self.judge.note_refused(drawn.refused.len());
        self.judged.extend(drawn.asked.into_iter().map(|(_, digest)| digest));
        self.refused.extend(drawn.refused.into_iter().map(|(_, digest)| digest));
        Ok(hit)
    }

    /// The candidate that `plan` names as its `n`th, counted from 1.
    fn named(&self, mut plan: impl Plan, n: usize) -> Subset {
        let named = std::iter::from_fn(|| plan.next(&self.current)).nth(n - 1);
        self.change_set.close(&named.expect("the plan named it before"))
    }
}

/// A digest of a subset that stands for it: two hashes with different beginnings.
fn digest(subset: &Subset) -> u128 {
    let half = |beginning: u64| {
        let mut hasher = DefaultHasher::new();
        beginning.hash(&mut hasher);
        subset.hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}
