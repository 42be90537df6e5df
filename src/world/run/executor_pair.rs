//! Two executors in one hunt: a few places near, and many far away.
//!
//! A probe gets a near place while one is free, because what was built there before is not built again. Results of both count
//! alike, so both must have the same programs and the same environment; who makes a pair of them sees to that.

use crate::repo::ConversionNotice;
use crate::run::executor::{Executor, PlaceResult, PlacedJob, Wish};
use crate::run::sandbox::SandboxError;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long one side is waited for while a probe runs on the other, too.
const TURN: Duration = Duration::from_millis(5);

struct PairSide {
    executor: Box<dyn Executor>,
    /// Its places that are reserved, or at work.
    n_busy: usize,
}

/// The pair. Even places are near, odd ones are far.
pub struct ExecutorPair {
    near: PairSide,
    far: PairSide,
    n_near: usize,
}

impl ExecutorPair {
    /// - `n_near`: the number of probes that may run near at once.
    pub fn new(near: Box<dyn Executor>, n_near: usize, far: Box<dyn Executor>) -> Self {
        let side = |executor| PairSide { executor, n_busy: 0 };
        Self { near: side(near), far: side(far), n_near }
    }

    /// The side of a place, with the side's own number of it.
    fn side(&mut self, place: usize) -> (&mut PairSide, usize) {
        let side = if place.is_multiple_of(2) { &mut self.near } else { &mut self.far };
        (side, place / 2)
    }

    fn poll_near(&mut self, at_most: Duration) -> Option<PlaceResult> {
        let PlaceResult { place, result } = self.near.executor.poll(at_most)?;
        self.near.n_busy -= 1;
        Some(PlaceResult { place: 2 * place, result })
    }

    fn poll_far(&mut self, at_most: Duration) -> Option<PlaceResult> {
        let PlaceResult { place, result } = self.far.executor.poll(at_most)?;
        self.far.n_busy -= 1;
        Some(PlaceResult { place: 2 * place + 1, result })
    }
}

impl Executor for ExecutorPair {
    fn programs(&self) -> Option<[u8; 32]> {
        self.far.executor.programs()
    }

    fn usual_width(&self) -> usize {
        self.n_near + self.far.executor.usual_width()
    }

    fn reserve(&mut self, wish: Wish) -> Result<Option<usize>, SandboxError> {
        let Some(n_more) = wish.width.checked_sub(self.near.n_busy + self.far.n_busy).filter(|n_more| *n_more > 0)
        else {
            return Ok(None);
        };
        if !wish.is_far
            && self.near.n_busy < self.n_near
            && let Some(place) = self.near.executor.reserve(Wish { width: self.n_near, ..wish })?
        {
            self.near.n_busy += 1;
            return Ok(Some(2 * place));
        }
        let place = self.far.executor.reserve(Wish { width: self.far.n_busy + n_more, ..wish })?;
        self.far.n_busy += usize::from(place.is_some());
        Ok(place.map(|place| 2 * place + 1))
    }

    fn directory(&self, place: usize) -> Option<&Path> {
        let side = if place.is_multiple_of(2) { &self.near } else { &self.far };
        side.executor.directory(place / 2)
    }

    fn start(&mut self, place: usize, placed_job: PlacedJob) {
        let (side, place) = self.side(place);
        side.executor.start(place, placed_job);
    }

    fn poll(&mut self, at_most: Duration) -> Option<PlaceResult> {
        let begin = Instant::now();
        match (self.near.n_busy, self.far.n_busy) {
            (_, 0) => self.poll_near(at_most),
            (0, _) => self.poll_far(at_most),
            _ => loop {
                let done = self.poll_near(TURN).or_else(|| self.poll_far(Duration::ZERO));
                if done.is_some() || begin.elapsed() >= at_most {
                    return done;
                }
            },
        }
    }

    fn directories(&self) -> Vec<PathBuf> {
        [self.near.executor.directories(), self.far.executor.directories()].concat()
    }

    fn notices(&self) -> BTreeSet<ConversionNotice> {
        &self.near.executor.notices() | &self.far.executor.notices()
    }

    fn spoil(&mut self) {
        self.near.executor.spoil();
        self.far.executor.spoil();
    }

    fn dismiss(&mut self) -> bool {
        let is_near_left = self.near.executor.dismiss();
        self.far.executor.dismiss() && is_near_left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use idd_base::TreeId;
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::rc::Rc;

    /// An executor whose probes are done when the test says so.
    #[derive(Default, Clone)]
    struct Told {
        n_reserved: Rc<RefCell<usize>>,
        done: Rc<RefCell<VecDeque<usize>>>,
        is_kept: bool,
    }

    impl Executor for Told {
        fn usual_width(&self) -> usize {
            8
        }

        fn reserve(&mut self, wish: Wish) -> Result<Option<usize>, SandboxError> {
            let mut n_reserved = self.n_reserved.borrow_mut();
            *n_reserved += 1;
            assert!(*n_reserved <= wish.width);
            Ok(Some(*n_reserved - 1))
        }

        fn directory(&self, place: usize) -> Option<&Path> {
            (place == 1).then(|| Path::new("/one"))
        }

        fn start(&mut self, _: usize, _: PlacedJob) {}

        fn poll(&mut self, _: Duration) -> Option<PlaceResult> {
            let place = self.done.borrow_mut().pop_front()?;
            *self.n_reserved.borrow_mut() -= 1;
            Some(PlaceResult { place, result: Ok(None) })
        }

        fn directories(&self) -> Vec<PathBuf> {
            Vec::new()
        }

        fn notices(&self) -> BTreeSet<ConversionNotice> {
            BTreeSet::new()
        }

        fn spoil(&mut self) {}

        fn dismiss(&mut self) -> bool {
            !self.is_kept
        }
    }

    fn pair(n_near: usize) -> (ExecutorPair, Told, Told) {
        let (near, far) = (Told::default(), Told::default());
        (ExecutorPair::new(Box::new(near.clone()), n_near, Box::new(far.clone())), near, far)
    }

    fn reserve(both: &mut ExecutorPair, width: usize) -> Option<usize> {
        both.reserve(Wish { tree: TreeId::sha1([1; 20]), is_reference: false, is_far: false, width }).unwrap()
    }

    #[test]
    fn near_places_come_first_and_both_together_are_as_wide_as_asked() {
        let (mut both, ..) = pair(2);
        assert_eq!(both.usual_width(), 10);
        let places: Vec<_> = (0..6).map(|_| reserve(&mut both, 5)).collect();
        assert_eq!(places, [Some(0), Some(2), Some(1), Some(3), Some(5), None]);
        assert_eq!((both.directory(2), both.directory(3)), (Some(Path::new("/one")), Some(Path::new("/one"))));
    }

    #[test]
    fn a_place_is_free_again_when_its_probe_is_done_on_either_side() {
        let (mut both, near, far) = pair(1);
        let places: Vec<_> = (0..3).map(|_| reserve(&mut both, 3)).collect();
        assert_eq!(places, [Some(0), Some(1), Some(3)]);
        assert!(both.poll(Duration::from_millis(20)).is_none());
        far.done.borrow_mut().push_back(1);
        assert_eq!(both.wait().place, 3);
        assert_eq!((reserve(&mut both, 3), reserve(&mut both, 3)), (Some(3), None));
        near.done.borrow_mut().push_back(0);
        assert_eq!(both.wait().place, 0);
        assert_eq!(reserve(&mut both, 3), Some(0));
    }

    #[test]
    fn a_probe_that_is_to_run_far_away_does_so_although_a_near_place_is_free() {
        let (mut both, ..) = pair(2);
        let wish = Wish { tree: TreeId::sha1([1; 20]), is_reference: false, is_far: true, width: 2 };
        assert_eq!((both.reserve(wish).unwrap(), reserve(&mut both, 2)), (Some(1), Some(0)));
    }

    #[test]
    fn with_one_job_only_one_side_is_at_work() {
        let (mut both, near, _) = pair(4);
        assert_eq!((reserve(&mut both, 1), reserve(&mut both, 1)), (Some(0), None));
        near.done.borrow_mut().push_back(0);
        assert_eq!(both.wait().place, 0);
        assert_eq!(reserve(&mut both, 1), Some(0));
    }

    #[test]
    fn both_sides_are_dismissed_also_if_the_directories_of_one_are_still_used() {
        let near = Told { is_kept: true, ..Told::default() };
        assert!(!ExecutorPair::new(Box::new(near), 1, Box::<Told>::default()).dismiss());
        assert!(pair(1).0.dismiss());
    }
}
