//! Walks through the steps of a run as a debugger does: into calls, over them and out of them, forward and backward.

use crate::Step;

/// What a debugger must know about a step: 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WalkRow {
    /// Its place in a list of places; [`WalkRow::NOWHERE`] for one at which nobody stops, such as the entry of a function.
    pub place: u32,
    /// The activation of its function.
    pub frame: u32,
    /// The number of activations on the stack of its thread.
    pub depth: u32,
    /// Its thread.
    pub thread: u32,
}

impl WalkRow {
    /// No place.
    pub const NOWHERE: u32 = u32::MAX;
}

/// A direction in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeDirection {
    /// Towards the end.
    Forward,
    /// Towards the beginning.
    Backward,
}

impl TimeDirection {
    /// What a search from `from` has found, after one more hit: the nearest one.
    pub fn nearest(self, from: Step, found: Option<Step>, hit: Step) -> Option<Step> {
        match self {
            Self::Forward if hit > from => found.or(Some(hit)),
            Self::Backward if hit < from && hit != Step::START => found.max(Some(hit)),
            _ => found,
        }
    }
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchOutcome {
    /// With this step.
    Found(Step),
    /// There is none.
    Nothing,
    /// It was stopped; nothing is between its beginning and this step.
    Stopped(Step),
}

/// How far a walk goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stride {
    /// To the neighbour, also in another function.
    Into,
    /// To the neighbour in this activation, or out of it if there is none.
    Over,
    /// To the function that called this one.
    Out,
}

/// The rows of all steps; that of step 1 is the first.
#[derive(Debug, Clone, Default)]
pub struct StepWalk {
    /// See [`WalkRow`].
    pub rows: Vec<WalkRow>,
}

impl StepWalk {
    /// The row of a step; `None` if there is no such step.
    pub fn row(&self, step: Step) -> Option<&WalkRow> {
        self.rows.get((step.0 as usize).checked_sub(1)?)
    }

    /// The next step in this direction at which a walk from `from` stops; `None` if the run ends before.
    ///
    /// Cost: looks at each row in between.
    pub fn walk(&self, from: Step, stride: Stride, time: TimeDirection) -> Option<Step> {
        let here = *self.row(from)?;
        self.find(from, time, |row| {
            row.thread == here.thread
                && match stride {
                    Stride::Into => true,
                    Stride::Over => row.frame == here.frame || row.depth < here.depth,
                    Stride::Out => row.depth < here.depth,
                }
        })
    }

    /// The first step at which one can stop.
    pub fn first(&self) -> Option<Step> {
        self.find(Step::START, TimeDirection::Forward, |_| true)
    }

    /// The last step at which one can stop.
    pub fn last(&self) -> Option<Step> {
        self.find(Step(u32::try_from(self.rows.len()).ok()?.checked_add(1)?), TimeDirection::Backward, |_| true)
    }

    /// The steps at these places, ascending.
    pub fn at(&self, is_wanted: impl Fn(u32) -> bool) -> Vec<Step> {
        let rows = (1..).map(Step).zip(&self.rows);
        rows.filter(|(_, row)| row.place != WalkRow::NOWHERE && is_wanted(row.place)).map(|(step, _)| step).collect()
    }

    fn find(&self, from: Step, time: TimeDirection, is_wanted: impl Fn(&WalkRow) -> bool) -> Option<Step> {
        let is_wanted = |row: &WalkRow| row.place != WalkRow::NOWHERE && is_wanted(row);
        let from = from.0 as usize;
        let index = match time {
            TimeDirection::Forward => from + self.rows.get(from..)?.iter().position(is_wanted)?,
            TimeDirection::Backward => self.rows.get(..from.checked_sub(1)?)?.iter().rposition(is_wanted)?,
        };
        u32::try_from(index + 1).ok().map(Step)
    }
}

/// The next of these steps in a direction, without `from` itself.
///
/// - `hits`: ascending.
pub fn next_hit(hits: &[Step], from: Step, time: TimeDirection) -> Option<Step> {
    match time {
        TimeDirection::Forward => hits.get(hits.partition_point(|hit| *hit <= from)).copied(),
        TimeDirection::Backward => hits[..hits.partition_point(|hit| *hit < from)].last().copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `main` (frame 0) calls a function twice; its entry is no place to stop at.
    fn walk() -> StepWalk {
        let row = |(place, frame, depth)| WalkRow { place, frame, depth, thread: 1 };
        let rows =
            [(0, 0, 1), (1, 0, 1), (WalkRow::NOWHERE, 1, 2), (5, 1, 2), (6, 1, 2), (WalkRow::NOWHERE, 2, 2), (5, 2, 2)];
        let mut rows: Vec<WalkRow> = rows.into_iter().map(row).collect();
        rows.push(WalkRow { place: 9, frame: 3, depth: 1, thread: 2 });
        rows.push(WalkRow { place: 2, frame: 0, depth: 1, thread: 1 });
        StepWalk { rows }
    }

    #[test]
    fn a_walk_goes_into_over_and_out_of_calls_both_ways() {
        let go = |from, stride, time| walk().walk(Step(from), stride, time).map(|step| step.0);
        assert_eq!(go(2, Stride::Into, TimeDirection::Forward), Some(4));
        assert_eq!(go(2, Stride::Over, TimeDirection::Forward), Some(9));
        assert_eq!(go(4, Stride::Out, TimeDirection::Forward), Some(9));
        assert_eq!(go(9, Stride::Over, TimeDirection::Backward), Some(2));
        assert_eq!(go(9, Stride::Into, TimeDirection::Backward), Some(7));
        assert_eq!(go(7, Stride::Over, TimeDirection::Backward), Some(2));
        assert_eq!(go(7, Stride::Out, TimeDirection::Backward), Some(2));
        assert_eq!(go(5, Stride::Over, TimeDirection::Forward), Some(9));
        assert_eq!(go(9, Stride::Into, TimeDirection::Forward), None);
        assert_eq!(go(1, Stride::Into, TimeDirection::Backward), None);
        assert_eq!(go(0, Stride::Into, TimeDirection::Forward), None);
        assert_eq!(go(99, Stride::Into, TimeDirection::Backward), None);
    }

    #[test]
    fn the_ends_and_the_hits_of_a_run_are_found() {
        assert_eq!((walk().first(), walk().last()), (Some(Step(1)), Some(Step(9))));
        assert_eq!(StepWalk::default().last(), None);
        let hits = walk().at(|place| place == 5);
        assert_eq!(hits, [Step(4), Step(7)]);
        assert_eq!(next_hit(&hits, Step(4), TimeDirection::Forward), Some(Step(7)));
        assert_eq!(next_hit(&hits, Step(7), TimeDirection::Forward), None);
        assert_eq!(next_hit(&hits, Step(7), TimeDirection::Backward), Some(Step(4)));
        assert_eq!(next_hit(&hits, Step(4), TimeDirection::Backward), None);
    }
}
