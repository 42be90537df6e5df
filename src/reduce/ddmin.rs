//! Minimising delta debugging.

use crate::change::{Group, Level, Subset};
use crate::reduce::Judge;
use crate::reduce::plan::{Plan, without};
use crate::reduce::session::Session;

/// Shrinks to a subset that is 1-minimal at `level` by ddmin.
///
/// Cost: at most n² + 3n probes, n = groups of `level`; about 2 log2 n if the answer is one group.
///
/// Source: Zeller and Hildebrandt 2002, algorithm ddmin, with subsets and complements. Deviations: none in the order.
/// Candidates are closed, so units are removed together with a group that they need. No candidate is asked twice.
pub(super) async fn run<J: Judge>(session: &mut Session<'_, J>, level: Level) -> Result<(), J::Error> {
    let groups = session.groups(level);
    session.run(&mut Ddmin { groups, granularity: 2, at: 0 }).await?;
    Ok(())
}

#[derive(Clone)]
struct Ddmin {
    groups: Vec<Group>,
    granularity: usize,
    /// The number of candidates of this granularity so far: first the subsets, then the complements.
    at: usize,
}

impl Ddmin {
    /// The groups of chunk number `chunk` of `granularity` nearly equal ones.
    fn chunk(&self, chunk: usize) -> std::ops::Range<usize> {
        let bound = |chunk: usize| chunk * self.groups.len() / self.granularity;
        bound(chunk)..bound(chunk + 1)
    }
}

impl Plan for Ddmin {
    fn next(&mut self, current: &Subset) -> Option<Subset> {
        if self.groups.len() < 2 {
            return None;
        }
        if self.at == 2 * self.granularity {
            if self.granularity == self.groups.len() {
                return None;
            }
            self.granularity = (2 * self.granularity).min(self.groups.len());
            self.at = 0;
        }
        self.at += 1;
        let chunk = self.chunk((self.at - 1) % self.granularity);
        if self.at <= self.granularity {
            Some(without(current, self.groups[..chunk.start].iter().chain(&self.groups[chunk.end..])))
        } else {
            Some(without(current, &self.groups[chunk]))
        }
    }

    fn hit(&mut self, current: &Subset) {
        let is_subset = self.at <= self.granularity;
        self.groups.retain(|group| current.has_any_of(group));
        self.granularity = if is_subset { 2 } else { (self.granularity - 1).max(2).min(self.groups.len()) };
        self.at = 0;
    }
}
