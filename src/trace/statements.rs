//! The executed statements of a run, and how many of their steps are in some sets.

use crate::{Place, Step, Steps};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// A global variable whose initial value was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Initial {
    /// The variable.
    pub name: Arc<str>,
    /// Its declaration.
    pub place: Place,
    /// The number of steps that read it.
    pub n_reads: u64,
    /// The last of them.
    pub last: Step,
}

/// A statement of the source that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutedStatement {
    /// The function, by its name in the source.
    pub function: Arc<str>,
    /// The place.
    pub place: Option<Place>,
    /// The number of times that it ran.
    pub n_steps: u64,
    /// For each set: the number of its steps that are in the set, and the last of these.
    pub inside: Vec<(u64, Step)>,
    /// The smallest distance of one of its steps.
    pub nearest: u32,
}

/// The executed statements, and the functions whose effects are not known.
pub type StatementCounts = (Vec<ExecutedStatement>, BTreeSet<Arc<str>>);

/// Counts the steps of statements; a watcher of each language tells it the steps.
pub struct StatementCounter<'c> {
    sets: &'c [&'c Steps],
    distances: &'c [u32],
    /// By function and statement.
    known: HashMap<(u32, u32), usize>,
    counts: StatementCounts,
}

impl<'c> StatementCounter<'c> {
    /// Nothing ran so far.
    ///
    /// - `distances`: a number for each step, from [`Step::START`]; steps without one have [`u32::MAX`].
    pub fn new(sets: &'c [&'c Steps], distances: &'c [u32]) -> Self {
        Self { sets, distances, known: HashMap::new(), counts: StatementCounts::default() }
    }

    /// Counts a step of a statement, whose function and place are asked for when it first runs.
    ///
    /// - `function`, `statement`: their numbers.
    pub fn count(
        &mut self,
        function: u32,
        statement: u32,
        step: Step,
        place: impl FnOnce() -> (Arc<str>, Option<Place>),
    ) {
        let (found, _) = &mut self.counts;
        let index = *self.known.entry((function, statement)).or_insert_with(|| {
            let (function, place) = place();
            let inside = vec![(0, Step::START); self.sets.len()];
            found.push(ExecutedStatement { function, place, n_steps: 0, inside, nearest: u32::MAX });
            found.len() - 1
        });
        let statement = &mut found[index];
        statement.n_steps += 1;
        let distance = self.distances.get(step.0 as usize).copied().unwrap_or(u32::MAX);
        statement.nearest = statement.nearest.min(distance);
        for ((n_inside, last), set) in statement.inside.iter_mut().zip(self.sets) {
            if set.contains(step) {
                *n_inside += 1;
                *last = step;
            }
        }
    }

    /// Adds the function that a step calls, if the step is in a set and the effect of the function is not known.
    ///
    /// - `unknown`: the function; `None` if its effect is known.
    pub fn add_unknown(&mut self, step: Step, unknown: impl FnOnce() -> Option<Arc<str>>) {
        if self.sets.iter().any(|set| set.contains(step)) {
            self.counts.1.extend(unknown());
        }
    }

    /// What was counted.
    pub fn counts(self) -> StatementCounts {
        self.counts
    }
}
