//! The default: coarse before fine, bisection before counting, singles at the end.

use std::collections::HashMap;
use std::mem;
use std::rc::Rc;

use crate::reduce::Judge;
use crate::reduce::bisection::Bisection;
use crate::reduce::counting::Counting;
use crate::reduce::plan::{ReducePlan, left_of};
use crate::reduce::session::ReduceSession;
use crate::reduce::singles::Singles;
use crate::{Group, Level, Subset};

/// Shrinks to a subset that is 1-minimal at `finest`, one rung after the other from files downwards.
///
/// 1. The coarse rungs (all but the finest) in turn, until none removes anything. Finer groups wait until then: removed
///    too early, they lead to a larger answer. On the first visit, a rung gets a [`Bisection`], or [`Counting`] if a
///    bisection gave up before. Later visits try only pairs and each group alone. A group of several rungs is tried
///    only on the coarsest of them.
/// 2. The finest rung in the same way, then [`Singles`] on it. If either removed anything, again from 1.
/// 3. [`Singles`] without the filter. If that removed anything, again from 1. Otherwise the result is exactly
///    1-minimal, independent of the filter.
///
/// After the files come the lines that change with one name, at any place, as two rungs that are not partitions: first
/// joined if they share a line, then name by name. On a change of one signature in ten files, 988 runs of a hunt became
/// 26.
///
/// The last group of a list is tried first, because later code uses declarations of earlier code.
///
/// Cost in probes, n = units (or names, if those are more), R = rungs with the two of names: at most (1.1R + 1.5) n² +
/// (14R + 3) n + 11R, since every round but the last drops a unit: in each a rung costs 2.02n + 5 and the singles 2n,
/// and each hit of the singles n more. At least one for each remaining unit. About m log2 n where m units matter and
/// each matters by itself.
///
/// Source: hierarchical delta debugging (Misherghi and Su 2006) on the hierarchy of a patch (Artho 2011, section 3.4).
/// Deviations are in the algorithm of a level. Bisection comes first because it is cheap if the answer is small; it
/// ends at the first rung where it does not pay. In a dense change most probes would test large parts of groups that
/// are known to be needed. So there are no large parts after the first visit, and no group on two rungs.
///
/// Measured on synthetic change sets, mean probes of 12 seeds, and those of Artho's bisection to its fix-point: one
/// hunk of 1000 lines of which 1, 2, 3, 8 matter: 12, 23, 35, 96 and 17, 32, 44, 105; 128 hunks of which 2 matter: 18
/// and 23; 20 files of 5 hunks of 10 lines of which 1, 2, 3, 8 matter: 14, 29, 60, 159 and 18, 32, 48, 108. It is more
/// expensive if many lines matter and nothing is untestable (30 of the 1000 lines in 20 files: 455 and 318), and if
/// units are untestable without others drawn at random (200 such pairs there, 3 lines matter: 1030 and 733). This is
/// the price of going rung by rung, which avoids larger answers if untestable units follow the syntax.
pub(super) async fn run<J: Judge>(session: &mut ReduceSession<'_, J>, finest: Level) -> Result<(), J::Error> {
    let mut rungs = session.rungs(finest);
    if finest >= Level::Line {
        rungs.splice(1..1, session.named_together());
    }
    let finest = rungs.last().expect("a change set has at least one rung").clone();
    let mut rounds = Rounds::new(rungs);
    loop {
        session.is_filtered = true;
        session.run(&mut rounds).await?;
        session.is_filtered = false;
        if !session.run(&mut Singles::new(session.left_of(&finest))).await? {
            return Ok(());
        }
        rounds.begin(0);
    }
}

/// Steps 1 and 2 as one plan, so speculation can continue from one rung to the next.
#[derive(Clone)]
struct Rounds {
    /// Coarse before fine.
    rungs: Rc<Vec<Vec<Group>>>,
    /// Units of the whole change.
    n_units: usize,
    /// The number of rungs visited so far; the first visits are in order.
    n_seen: usize,
    /// Whether a bisection gave up: too much of the change matters, or answers are not monotone. Finer rungs are no
    /// better.
    is_dense: bool,
    /// The groups that cannot be removed alone, with the first rung on which they were tried.
    tried_on: Rc<HashMap<Group, usize>>,
    rung: usize,
    /// Whether anything was removed in this round over the coarse rungs, this visit of the finest one, or by the
    /// singles.
    is_changed: bool,
    stage: RungStage,
}

/// The algorithm that runs on a rung.
#[derive(Clone)]
enum RungStage {
    /// Nothing yet.
    Begin,
    Bisection(Bisection),
    Counting(Counting),
    Singles(Singles),
}

impl Rounds {
    fn new(rungs: Vec<Vec<Group>>) -> Self {
        let n_units = rungs.last().map_or(0, |finest| finest.iter().map(Group::n_units).sum());
        let tried_on = Rc::default();
        let (rungs, stage) = (Rc::new(rungs), RungStage::Begin);
        Self { rungs, n_units, n_seen: 0, is_dense: false, tried_on, rung: 0, is_changed: false, stage }
    }

    /// Begins a round, or a visit of the finest rung.
    fn begin(&mut self, rung: usize) {
        (self.rung, self.is_changed, self.stage) = (rung, false, RungStage::Begin);
    }

    fn finest(&self) -> usize {
        self.rungs.len() - 1
    }

    fn is_open(&self, group: &Group) -> bool {
        self.tried_on.get(group).is_none_or(|first| *first == self.rung)
    }

    /// The first stage of a visit of a rung.
    fn visit(&mut self, current: &Subset) -> RungStage {
        let groups = &self.rungs[self.rung];
        let is_first = self.rung == self.n_seen;
        let left = left_of(groups, current);
        // Only partitions are bisected: groups of names overlap.
        let is_divided = self.n_units == groups.iter().map(Group::n_units).sum::<usize>();
        if is_first && is_divided && !self.is_dense && left.iter().any(|group| self.is_open(group)) {
            return RungStage::Bisection(Bisection::new(left));
        }
        self.count(left)
    }

    fn count(&mut self, mut left: Vec<Group>) -> RungStage {
        let is_first = self.rung == self.n_seen;
        self.n_seen = self.n_seen.max(self.rung + 1);
        left.retain(|group| self.is_open(group));
        RungStage::Counting(if is_first { Counting::new(left) } else { Counting::again(left) })
    }

    /// Continues with the next rung, the next round, or the singles.
    fn leave(&mut self, current: &Subset) {
        let finest = self.finest();
        if self.rung + 1 < finest {
            (self.rung, self.stage) = (self.rung + 1, RungStage::Begin);
        } else if self.is_changed {
            self.begin(0);
        } else if self.rung < finest {
            self.begin(finest);
        } else {
            self.stage = RungStage::Singles(Singles::new(left_of(&self.rungs[finest], current)));
        }
    }
}

impl ReducePlan for Rounds {
    fn next(&mut self, current: &Subset) -> Option<Subset> {
        loop {
            let next = match &mut self.stage {
                RungStage::Begin => None,
                RungStage::Bisection(bisection) => bisection.next(current),
                RungStage::Counting(counting) => counting.next(current),
                RungStage::Singles(singles) => singles.next(current),
            };
            if next.is_some() {
                return next;
            }
            match mem::replace(&mut self.stage, RungStage::Begin) {
                RungStage::Begin => self.stage = self.visit(current),
                RungStage::Bisection(bisection) => {
                    self.is_dense = bisection.has_given_up();
                    self.stage = self.count(left_of(&self.rungs[self.rung], current));
                }
                RungStage::Counting(counting) => {
                    let tried_on = Rc::make_mut(&mut self.tried_on);
                    for group in counting.into_refused() {
                        tried_on.entry(group).or_insert(self.rung);
                    }
                    self.leave(current);
                }
                RungStage::Singles(_) if self.is_changed => self.begin(0),
                RungStage::Singles(_) => return None,
            }
        }
    }

    fn hit(&mut self, current: &Subset) {
        self.is_changed = true;
        match &mut self.stage {
            RungStage::Begin => {}
            RungStage::Bisection(bisection) => bisection.hit(current),
            RungStage::Counting(counting) => counting.hit(current),
            RungStage::Singles(singles) => singles.hit(current),
        }
    }
}
