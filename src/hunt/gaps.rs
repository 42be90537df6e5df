//! The search for a pass between the stops of a gallop that found none.
//!
//! A gallop multiplies its steps, so it jumps over a stretch of passing revisions that ends before an old defect. The wide gaps
//! that it left are sampled before untestable older revisions are repaired, and all of them before a hunt says that nothing
//! passes.

use crate::pair::Bracket;
use crate::{Halt, Hunter, TestedRevision, WalkPosition};
use idd_base::{CommitId, Outcome};
use std::collections::BTreeSet;

/// The number of tested revisions of a line of `n` after which no gap is sampled.
fn enough(n: usize) -> usize {
    3 * n.ilog2() as usize + 20
}

/// A gap of more steps is sampled before older revisions are repaired.
const WIDE: usize = 24;

/// At most this many revisions are tested in such gaps: a repair takes about as many.
const MAX_IN_WIDE: usize = 4;

/// The middle of the widest gap between tested indices, the newest of the widest ones; `None` if no gap has more than `width`
/// steps.
///
/// - `tested`: at least one index. The indices before the first and after the last one are no gap.
pub(super) fn widest_middle(tested: &BTreeSet<usize>, width: usize) -> Option<usize> {
    let gaps = tested.iter().zip(tested.iter().skip(1)).map(|(newer, older)| (older - newer, *newer));
    let (widest, newer) = gaps.max_by_key(|(width, newer)| (*width, usize::MAX - newer))?;
    (widest > width).then_some(newer + widest / 2)
}

impl Hunter<'_> {
    /// The indices of a line whose revisions were tested, with a verdict or without.
    pub(super) fn tested_on(&self, line: &[CommitId]) -> BTreeSet<usize> {
        let state = self.state.borrow();
        (0..line.len()).filter(|index| state.tested.contains_key(&line[*index])).collect()
    }

    /// Tests the middle of the widest gap between tested revisions until one passes, or enough are tested: 3 log2(n) + 20
    /// of the n revisions of the line. Nothing is repaired.
    ///
    /// Cost: at most 2 log2(n) + 20 revisions.
    pub(super) async fn sample_gaps(&self, line: &[CommitId]) -> Result<Option<Bracket>, Halt> {
        self.sample(line, enough(line.len()), 1).await
    }

    /// The same for the wide gaps only. Cost: at most four revisions.
    pub(super) async fn sample_wide_gaps(&self, line: &[CommitId]) -> Result<Option<Bracket>, Halt> {
        self.sample(line, self.tested_on(line).len() + MAX_IN_WIDE, WIDE).await
    }

    async fn sample(&self, line: &[CommitId], n_enough: usize, width: usize) -> Result<Option<Bracket>, Halt> {
        let mut tested = self.tested_on(line);
        while tested.len() < n_enough
            && let Some(middle) = widest_middle(&tested, width)
        {
            if width == 1 {
                self.look_ahead(line, WalkPosition::Gaps);
            }
            let good = self.as_tested(line[middle]).await?;
            tested.insert(middle);
            if good.outcome == Outcome::Pass {
                let (newest, bad) = self.failing_before(line, middle);
                return Ok(Some(Bracket { line: line[newest..=middle].to_vec(), bad, good }));
            }
        }
        Ok(None)
    }

    /// The nearest revision that fails before an index of a line whose first revision fails, with its index.
    fn failing_before(&self, line: &[CommitId], index: usize) -> (usize, TestedRevision) {
        let state = self.state.borrow();
        let fails = |at: usize| Some((at, *state.tested.get(&line[at])?)).filter(|(_, t)| t.outcome == Outcome::Fail);
        (0..index).rev().find_map(fails).expect("the first revision of the line fails")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_gap_comes_first_until_every_index_is_tested() {
        let mut tested = BTreeSet::from([0, 1, 2, 4, 8, 16, 20]);
        let mut order = Vec::new();
        while let Some(middle) = widest_middle(&tested, 1) {
            order.push(middle);
            tested.insert(middle);
        }
        assert_eq!(order[..5], [12, 6, 10, 14, 18]);
        assert_eq!(tested, (0..=20).collect());
        assert_eq!(widest_middle(&BTreeSet::from([0, 4, 16, 64]), 24), Some(40));
        assert_eq!(widest_middle(&BTreeSet::from([0, 4, 16, 40, 64]), 24), None);
    }
}
