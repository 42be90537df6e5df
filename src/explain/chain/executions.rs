//! What an engine knows of the failing run, and the one experiment it may ask for.

/// An aligned point: the state of the failing run right before one of its steps. Index in the order of the failing run.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AlignedPoint(pub u32);

impl AlignedPoint {
    /// The next aligned point of the failing run, if there is one.
    pub(super) fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The aligned point before this one; none before the first.
    pub(super) fn previous(self) -> Option<Self> {
        self.0.checked_sub(1).map(Self)
    }
}

/// A variable: an interned path from a root (a global, a variable of a frame, the heap).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PathVariable(pub u32);

/// A value that a variable was given in the failing run. They are ordered by time.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Definition {
    /// How many steps had begun when it was written; 0: before the start, hence input.
    ///
    /// A state at a point can hold the definition only if this is less than the position of the point.
    pub time: u64,
    /// What was written.
    pub variable: PathVariable,
}

/// What a patched run is to bring about.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Goal {
    /// The failure that is to be explained.
    Failure,
    /// Part of the failing run's state at a later point.
    Set {
        /// Where.
        point: AlignedPoint,
        /// What holds there: the same values, made at the same (aligned) steps. In temporal order.
        definitions: Vec<Definition>,
    },
}

/// A causality test: a question about one patched run.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CausalityTest {
    /// Where the failing run is patched.
    pub point: AlignedPoint,
    /// What keeps its faulty value; every other faulty variable is overwritten. In temporal order, part of the faulty state.
    pub retained: Vec<Definition>,
    /// What is then looked for.
    pub goal: Goal,
}

/// The failing run beside its reference, and patched re-executions of it.
///
/// All answers are the same whenever they are asked for.
pub trait Executions {
    /// What stops the work (not: a patched run that crashes or hangs; its goal did not come about).
    type Error;

    /// Whether no further test can be run, because the time is up or somebody stopped the work. From then on, tests and
    /// states that are not known yet are errors.
    fn is_stopped(&self) -> bool {
        false
    }

    /// How many aligned points there are. The failure comes about after the last.
    fn n_points(&self) -> usize;

    /// The number of the step, counted from 1, that the point is right before. Strictly ascending.
    fn position(&self, point: AlignedPoint) -> u64;

    /// The faulty state at a point, in a fixed order, each variable once; the earlier of two are the sooner retained.
    ///
    /// A variable is faulty if its value or its definition point differs from the reference's.
    fn faulty(&mut self, point: AlignedPoint) -> Result<Vec<Definition>, Self::Error>;

    /// Runs the failing program on from the test's point, with everything faulty but `retained` overwritten by the
    /// reference's values. Returns whether the goal came about.
    fn induce(&mut self, test: &CausalityTest) -> Result<bool, Self::Error>;

    /// The point whose step leads the innermost region (a call, an instance of a predicate) around the point's step; none
    /// at the root.
    ///
    /// It is earlier than the point, and all points between the two lie in its region. The iterations of one loop are siblings.
    fn parent(&self, point: AlignedPoint) -> Option<AlignedPoint>;

    /// Earlier points from where values may be pending at the point that no patch reaches, the latest first: the beginnings of the statements whose calls are
    /// under way there, those of the `return`s that came back to these statements already, and the last ones of the same function.
    fn around(&mut self, point: AlignedPoint) -> Result<Vec<AlignedPoint>, Self::Error>;
}
