//! Versions: what a place of the program held between two assignments, as variables of terms.

use std::collections::HashMap;

use crate::logic::evaluate::evaluate;
use crate::logic::term::{TermId, Terms, mask};
use crate::native::event::EventTime;

/// What is assigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AssignedPlace {
    /// Bytes of memory: address and length.
    Memory(u64, u64),
    /// The pointer through which these bytes were written.
    Pointer(u64, u64),
    /// A parameter of an activation of a function, by its index.
    Parameter(u64, u32),
    /// What a call returned that came back then.
    Result(EventTime),
    /// A result of a computation that is not modelled, by its number in its event.
    Pinned(EventTime, u32),
}

/// What a place held between two assignments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceVersion {
    /// The place.
    pub place: AssignedPlace,
    /// Its bits, at most 64.
    pub width: u32,
    /// What was recorded.
    pub value: u64,
    /// When it was assigned; `None` if it is older than the run, or nobody knows who did.
    pub assigned: Option<EventTime>,
    /// For [`AssignedPlace::Pinned`]: what has to hold so that it has this value.
    pub pins: Vec<TermId>,
}

/// All versions met so far, each once, by their number.
#[derive(Debug, Default)]
pub struct PlaceVersions {
    all: Vec<PlaceVersion>,
    known: HashMap<(AssignedPlace, Option<EventTime>), u32>,
}

impl PlaceVersions {
    /// A version.
    pub fn get(&self, version: u32) -> &PlaceVersion {
        &self.all[version as usize]
    }

    /// How many there are.
    pub fn len(&self) -> u32 {
        u32::try_from(self.all.len()).unwrap_or(u32::MAX)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A version that was met.
    pub fn find(&self, place: AssignedPlace, assigned: Option<EventTime>) -> Option<u32> {
        self.known.get(&(place, assigned)).copied()
    }

    /// The variable of a version.
    pub fn put(&mut self, terms: &mut Terms, version: PlaceVersion) -> TermId {
        let key = (version.place, version.assigned);
        let width = version.width;
        let Self { all, known } = self;
        let number = *known.entry(key).or_insert_with(|| {
            all.push(PlaceVersion { value: version.value & mask(width), ..version });
            u32::try_from(all.len() - 1).expect("versions fit into memory")
        });
        terms.variable(number, self.all[number as usize].width)
    }

    /// The value of a term in the run.
    pub fn value(&self, terms: &Terms, term: TermId) -> u64 {
        evaluate(terms, term, |version, _| self.get(version).value)
    }
}
