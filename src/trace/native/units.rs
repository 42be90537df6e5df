//! The instrumented units of a recording: from the number of a segment to its function and what it records.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::TraceError;
use crate::instrument::map::{MapError, UnitMap};
use crate::instrument::{Function, Segment, Segments};

/// A function of a unit, with its segments.
#[derive(Debug)]
pub struct Body {
    /// The unit, by its number.
    pub unit: u32,
    /// The index of the function in its module.
    pub index: usize,
    /// The function.
    pub function: Function,
    /// Its segments.
    pub segments: Segments,
    /// The number of its first segment.
    pub first: u32,
}

impl Body {
    /// The segment with this number, which is one of this function's.
    pub fn segment(&self, number: u32) -> &Segment {
        &self.segments.segments[(number - self.first) as usize]
    }

    fn numbers(&self) -> Range<u32> {
        self.first..self.first + u32::try_from(self.segments.segments.len()).unwrap_or(0)
    }
}

/// What a segment's number leads to, without looking further: read for every record, so it is small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentEntry {
    /// Index of the function among the [bodies](RecordedUnits::body) read so far.
    pub body: u32,
    /// Bytes of a record.
    pub size: u32,
}

/// Gives the bytes of the map of a unit.
pub type Load = Box<dyn FnMut(u32) -> std::io::Result<Vec<u8>>>;

/// The units of a recording; functions are read when they are first met.
pub struct RecordedUnits {
    load: Load,
    numbers: Vec<u32>,
    /// By the first segment: the last segment and the number of the unit.
    ranges: BTreeMap<u32, (u32, u32)>,
    maps: BTreeMap<u32, Arc<UnitMap>>,
    bodies: Vec<Arc<Body>>,
    entries: Vec<Option<SegmentEntry>>,
}

impl RecordedUnits {
    /// Takes the units of a recording: number, and the numbers of its segments.
    pub fn new(units: impl Iterator<Item = (u32, Range<u32>)>, load: Load) -> Self {
        // One without a function has variables all the same.
        let units: Vec<_> = units.collect();
        let numbers = units.iter().map(|(unit, _)| *unit).collect();
        let filled = units.into_iter().filter(|(_, segments)| !segments.is_empty());
        let ranges = filled.map(|(unit, segments)| (segments.start, (segments.end, unit))).collect();
        Self { load, numbers, ranges, maps: BTreeMap::new(), bodies: Vec::new(), entries: Vec::new() }
    }

    /// What a record with this number is.
    pub fn entry(&mut self, segment: u32) -> Result<SegmentEntry, TraceError> {
        if let Some(Some(entry)) = self.entries.get(segment as usize) {
            return Ok(*entry);
        }
        self.read(segment)
    }

    /// The numbers of all units.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// A function that was met.
    pub fn body(&self, index: u32) -> &Arc<Body> {
        &self.bodies[index as usize]
    }

    /// The map of a unit.
    pub fn map(&mut self, unit: u32) -> Result<&Arc<UnitMap>, TraceError> {
        if !self.maps.contains_key(&unit) {
            let map = UnitMap::read(&(self.load)(unit)?)?;
            self.maps.insert(unit, Arc::new(map));
        }
        Ok(&self.maps[&unit])
    }

    /// The first segment of a function, by its unit's source file and its name.
    ///
    /// Cost: the maps of all units are read until it is found.
    pub fn find(&mut self, file: &str, function: &str) -> Result<Option<u32>, TraceError> {
        for unit in self.numbers.clone() {
            let map = self.map(unit)?;
            if &*map.module.source != file {
                continue;
            }
            let index = map.module.functions.iter().position(|header| &*header.name == function);
            if let Some(index) = index.filter(|index| map.firsts[*index] < map.firsts[*index + 1]) {
                return Ok(Some(map.firsts[index]));
            }
        }
        Ok(None)
    }

    fn read(&mut self, segment: u32) -> Result<SegmentEntry, TraceError> {
        let unknown = TraceError::Damaged("a record with a number that no segment has");
        let Some((_, (end, unit))) = self.ranges.range(..=segment).next_back() else { return Err(unknown) };
        let (end, unit) = (*end, *unit);
        if segment >= end {
            return Err(unknown);
        }
        let map = Arc::clone(self.map(unit)?);
        let index = map.function_of(segment).ok_or(unknown)?;
        let first = map.firsts[index];
        let missing = MapError::Damaged("a function has other segments than it had");
        let (function, segments) = map.function(index)?.ok_or(missing)?;
        let body = Body { unit, index, function, segments, first };
        let number =
            u32::try_from(self.bodies.len()).map_err(|_| TraceError::Damaged("there are too many functions"))?;
        let numbers = body.numbers();
        if self.entries.len() < numbers.end as usize {
            self.entries.resize(numbers.end as usize, None);
        }
        for (segment, id) in body.segments.segments.iter().zip(numbers) {
            self.entries[id as usize] = Some(SegmentEntry { body: number, size: segment.size });
        }
        self.bodies.push(Arc::new(body));
        self.entries[segment as usize].ok_or_else(|| TraceError::Damaged("a record with a number that no segment has"))
    }
}
