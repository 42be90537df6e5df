//! Looking ahead: what a search may ask once it has the answers that are still out.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::rc::Rc;

/// A search as it would go on: a value that can be told a guess.
pub trait Course: Sized {
    /// What it asks.
    type Query;

    /// What it asks where it stands; `None` at the end, or at the end of what can be foreseen.
    fn query(&self) -> Option<Self::Query>;

    /// Where it stands after the answer to [`query`](Self::query).
    #[must_use]
    fn after(&self, is_yes: bool) -> Self;

    /// How likely a yes is, from 0 to 1.
    fn odds(&self) -> f64;
}

/// What may be asked after the query of `start`, which itself does not come, the likeliest first.
///
/// - `known`: answers that came already; such queries do not come, and only the way out that they leave is followed.
/// - Lazy: nothing is computed that is not drawn. The same query can come more than once, from different ways.
///
/// Source: speculative bisection with a tree of all ways; a way is as likely as its answers are together.
pub fn ahead<C: Course>(start: C, known: impl Fn(&C::Query) -> Option<bool>) -> impl Iterator<Item = C::Query> {
    let mut branches = Branches::default();
    branches.fork(start, 1.0);
    std::iter::from_fn(move || {
        loop {
            let Branch { course, is_yes, likelihood, .. } = branches.heap.pop()?;
            let mut course = course.after(is_yes);
            let query = loop {
                let query = course.query();
                match query.as_ref().and_then(&known) {
                    Some(is_yes) => course = course.after(is_yes),
                    None => break query,
                }
            };
            if let Some(query) = query {
                branches.fork(course, likelihood);
                return Some(query);
            }
        }
    })
}

/// A way out that was not followed yet.
struct Branch<C> {
    course: Rc<C>,
    is_yes: bool,
    likelihood: f64,
    number: usize,
}

struct Branches<C> {
    heap: BinaryHeap<Branch<C>>,
    n_made: usize,
}

impl<C> Default for Branches<C> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), n_made: 0 }
    }
}

impl<C: Course> Branches<C> {
    fn fork(&mut self, course: C, likelihood: f64) {
        let odds = course.odds();
        let course = Rc::new(course);
        for (is_yes, odds) in [(false, 1.0 - odds), (true, odds)] {
            let branch =
                Branch { course: Rc::clone(&course), is_yes, likelihood: likelihood * odds, number: self.n_made };
            self.heap.push(branch);
            self.n_made += 1;
        }
    }
}

/// The likelier first, of equal ones that which was made first.
impl<C> Ord for Branch<C> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.likelihood.total_cmp(&other.likelihood).then(other.number.cmp(&self.number))
    }
}

impl<C> PartialOrd for Branch<C> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<C> PartialEq for Branch<C> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<C> Eq for Branch<C> {}
