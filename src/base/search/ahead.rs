//! Speculation: the queries that a search may ask after the answers that are still missing.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::rc::Rc;

/// The predicted course of a search: a value that can be given an assumed answer.
pub trait Course: Sized {
    /// The type of its queries.
    type Query;

    /// Its next query; `None` at the end, or at the end of the prediction.
    fn query(&self) -> Option<Self::Query>;

    /// Its state after this answer to [`query`](Self::query).
    #[must_use]
    fn after(&self, is_yes: bool) -> Self;

    /// The probability of a yes, from 0 to 1.
    fn odds(&self) -> f64;
}

/// The queries that may follow the query of `start`, the likeliest first; without that query itself.
///
/// - `known`: answers that are known already. Such queries are not returned, and only the branch of the known answer is
///   followed.
/// - Lazy: nothing is computed before it is drawn. The same query can be returned more than once, from different
///   branches.
///
/// Source: speculative bisection with a tree of all branches; the probability of a branch is the product of its
/// answers.
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

/// A branch that was not followed yet.
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

/// The likelier branch first; of equal ones the older.
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
