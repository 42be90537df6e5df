//! The stack of open regions of one activation of a function. A region is everything that runs because of one decision.
//! The stack gives the control dependence of each step, and its structural [`Index`].
//!
//! Source: Xin and Zhang 2007, "Efficient Online Detection of Dynamic Control Dependence". A region that ends at the same
//! block as the one below it replaces that one. The module does not know how programs are recorded: the player reports
//! entered blocks, steps, decisions and calls.

use crate::{BlockId, Index, Keys, Step};

/// The region of a decision: it is open until its last block is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// The step of the decision.
    pub step: Step,
    /// The block that ends the region; `None` for the end of the function.
    pub end: Option<BlockId>,
    /// The index of the region.
    pub index: Index,
}

/// The state of an activation when a function that returns twice (`setjmp`) returned for the first time.
#[derive(Debug, Clone)]
struct Mark {
    point: u32,
    open: Vec<Region>,
    /// The number of returns since then.
    n_returns: u64,
}

#[derive(Debug, Clone)]
pub struct Regions {
    /// The region of the call.
    base: Index,
    /// The regions of decisions, the outermost first.
    open: Vec<Region>,
    marks: Vec<Mark>,
    /// The index of the current step; `None` before the first one.
    index: Option<Index>,
    /// Whether other versions have the current statement, too.
    is_shared: bool,
    /// The functions that the current step has called so far.
    n_calls: u64,
}

impl Regions {
    /// The regions of an activation whose call is in this region.
    pub fn new(base: Index) -> Self {
        Self { base, open: Vec::new(), marks: Vec::new(), index: None, is_shared: false, n_calls: 0 }
    }

    /// Resets the stack for another activation; allocated memory is kept.
    pub fn renew(&mut self, base: Index) {
        self.base = base;
        self.open.clear();
        self.marks.clear();
        (self.index, self.is_shared, self.n_calls) = (None, false, 0);
    }

    /// The index of the region of the call.
    pub fn base(&self) -> Index {
        self.base
    }

    /// The index of the current step; `None` before the first one.
    pub fn index(&self) -> Option<Index> {
        self.index
    }

    /// The innermost open decision; `None` if only the call is open.
    #[inline]
    pub fn decider(&self) -> Option<Step> {
        self.open.last().map(|region| region.step)
    }

    /// The index of the innermost region.
    #[inline]
    fn innermost(&self) -> Index {
        self.open.last().map_or(self.base, |region| region.index)
    }

    /// The index of the region that the current step opens.
    #[inline]
    fn made(&self) -> Index {
        self.index.filter(|_| self.is_shared).unwrap_or(self.innermost())
    }

    /// The index of the function with this key, if the current step calls it next.
    pub fn call(&mut self, key: u64) -> Index {
        let caller = self.made();
        if !Keys::is_shared(key) {
            return caller;
        }
        self.n_calls += 1;
        caller.below(key).again(self.n_calls)
    }

    /// Enters a block.
    ///
    /// - `is_back`: whether the edge goes back to the head of a loop.
    #[inline]
    pub fn enter(&mut self, block: BlockId, is_back: bool) {
        while self.open.last().is_some_and(|region| region.end == Some(block)) {
            self.open.pop();
        }
        if is_back {
            self.go_again(0);
        }
    }

    fn go_again(&mut self, n: u64) {
        let region = self.open.last_mut().map_or(&mut self.base, |region| &mut region.index);
        *region = region.again(n);
    }

    /// Begins a step.
    ///
    /// - `key`: the key of its statement; `None` if it has none.
    #[inline]
    pub fn begin(&mut self, key: Option<u64>) {
        self.n_calls = 0;
        self.is_shared = key.is_some_and(Keys::is_shared);
        self.index = Some(self.innermost().below(key.unwrap_or(0)));
    }

    /// Opens the region of a decision by the current step, which ends at `end`.
    #[inline]
    pub fn decide(&mut self, step: Step, end: Option<BlockId>) {
        let region = Region { step, end, index: self.made() };
        match self.open.last_mut() {
            Some(last) if last.end == end => *last = region,
            _ => self.open.push(region),
        }
    }

    /// Leaves the regions whose last blocks are not ahead any more, because of an exception.
    pub fn leave(&mut self, is_ahead: impl Fn(BlockId) -> bool) {
        self.open.retain(|region| region.end.is_none_or(&is_ahead));
    }

    /// Handles the return of a function that returns twice. The first return stores the open regions; each later one
    /// restores them.
    pub fn mark(&mut self, point: u32, is_first: bool) {
        let found = self.marks.iter_mut().find(|mark| mark.point == point);
        match found {
            Some(mark) if is_first => {
                mark.open.clone_from(&self.open);
                mark.n_returns = 0;
            }
            Some(mark) => {
                self.open.clone_from(&mark.open);
                mark.n_returns += 1;
                let n = mark.n_returns;
                self.go_again(n);
            }
            None if is_first => self.marks.push(Mark { point, open: self.open.clone(), n_returns: 0 }),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Index = Index(7);
    const END: Option<BlockId> = Some(BlockId(9));

    #[test]
    fn a_region_reaches_to_its_end_and_a_second_one_to_the_same_end_takes_its_place() {
        let mut regions = Regions::new(BASE);
        regions.begin(Some(1));
        assert_eq!((regions.decider(), regions.index()), (None, Some(BASE.below(1))));
        regions.decide(Step(1), END);
        regions.enter(BlockId(2), false);
        assert_eq!(regions.decider(), Some(Step(1)));
        regions.begin(Some(2));
        regions.decide(Step(2), END);
        regions.decide(Step(3), None);
        assert_eq!(regions.decider(), Some(Step(3)));
        regions.enter(BlockId(9), false);
        // The end of the function comes first.
        assert_eq!(regions.decider(), Some(Step(3)));
        regions.renew(BASE);
        regions.begin(Some(1));
        regions.decide(Step(4), END);
        regions.begin(Some(2));
        regions.decide(Step(5), END);
        regions.enter(BlockId(9), false);
        assert_eq!(regions.decider(), None);
    }

    #[test]
    fn iterations_and_calls_are_called_differently_and_what_is_only_here_is_transparent() {
        let mut regions = Regions::new(BASE);
        regions.begin(Some(1));
        let first = regions.index();
        let (one, other) = (regions.call(5), regions.call(5));
        assert_ne!(one, other);
        regions.enter(BlockId(1), true);
        regions.begin(Some(1));
        assert_ne!(regions.index(), first);
        // A statement of this version alone: the region of its decision is called as the one around it.
        let local = Keys { function: 3, statements: [4].into() }.local();
        let around = regions.base();
        regions.begin(Some(local.statements[0]));
        assert_eq!(regions.call(local.function), around);
        regions.decide(Step(2), END);
        regions.begin(Some(8));
        assert_eq!(regions.index(), Some(around.below(8)));
    }

    #[test]
    fn what_was_decided_at_a_mark_is_decided_again_after_a_jump_to_it() {
        let mut regions = Regions::new(BASE);
        regions.begin(Some(1));
        regions.decide(Step(1), END);
        regions.mark(3, true);
        regions.begin(Some(2));
        let first = regions.index();
        regions.decide(Step(2), None);
        regions.mark(3, false);
        assert_eq!(regions.decider(), Some(Step(1)));
        regions.begin(Some(2));
        assert_ne!(regions.index(), first);
    }
}
