//! Which units are one edit.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::parsed::Parsed;
use crate::unit::{Unit, UnitKind};
use crate::whole::WholeEdit;

/// Sets of units that are applied together or not at all. Each set has the name of one of its units.
#[derive(Debug)]
pub(super) struct Atoms {
    of: Vec<usize>,
}

impl Atoms {
    /// One set for each unit.
    pub(super) fn alone(n_units: usize) -> Self {
        Self { of: (0..n_units).collect() }
    }

    fn root(&mut self, unit: usize) -> usize {
        let mut root = unit;
        while self.of[root] != root {
            self.of[root] = self.of[self.of[root]];
            root = self.of[root];
        }
        root
    }

    /// Merges the sets of two units.
    pub(super) fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.of[one.max(other)] = one.min(other);
    }

    fn join_all(&mut self, units: impl IntoIterator<Item = usize>) {
        let mut units = units.into_iter();
        if let Some(first) = units.next() {
            units.for_each(|unit| self.join(first, unit));
        }
    }

    /// For each unit, the name of its set: the first unit of the set that is not only comments and white space, if
    /// there is one.
    pub(super) fn into_names(mut self, is_trivia: &[bool]) -> Vec<usize> {
        let mut names: BTreeMap<usize, usize> = BTreeMap::new();
        for unit in 0..self.of.len() {
            let root = self.root(unit);
            let name = names.entry(root).or_insert(unit);
            if is_trivia[*name] && !is_trivia[unit] {
                *name = unit;
            }
        }
        (0..self.of.len()).map(|unit| names[&self.root(unit)]).collect()
    }

    /// Joins the units of one file that form one edit.
    ///
    /// - `span`: the units of the file; `hunks`: its runs of changed lines, as units.
    ///
    /// Outside of the `edits`, the deletions and insertions at one place form one edit, and so do the lines of a
    /// comment. A blank line joins the line before it in its run, or else the line after it.
    pub(super) fn join_edits(
        &mut self,
        units: &[Unit],
        span: &Range<u32>,
        hunks: &[Range<u32>],
        edits: &[WholeEdit],
        parsed: Option<&Parsed>,
        is_blank: impl Fn(usize) -> bool,
    ) {
        let places = LineOwners::of(units, span);
        let mut is_covered = vec![false; span.len()];
        for edit in edits {
            let members: Vec<usize> = places.within(&edit.older, &edit.newer).collect();
            if !edit.is_member {
                for unit in &members {
                    is_covered[*unit - span.start as usize] = true;
                }
            }
            self.join_all(members);
        }
        if let Some(parsed) = parsed {
            for comment in &parsed.older.comments {
                self.join_all(places.within(std::slice::from_ref(comment), &[]));
            }
            for comment in &parsed.newer.comments {
                self.join_all(places.within(&[], std::slice::from_ref(comment)));
            }
        }
        for hunk in hunks {
            let hunk: Vec<usize> = hunk.clone().map(|unit| unit as usize).collect();
            let is_line = |unit: &usize| matches!(units[*unit].kind, UnitKind::Lines { .. });
            let is_open = |unit: &usize| !is_covered[*unit - span.start as usize] && !is_blank(*unit) && is_line(unit);
            for run in hunk.chunk_by(|one, two| is_open(one) && is_open(two)).filter(|run| is_open(&run[0])) {
                self.join_replaced(units, run);
            }
            for pair in hunk.windows(2).filter(|pair| is_line(&pair[0]) && is_line(&pair[1])) {
                if is_blank(pair[1]) {
                    self.join(pair[0], pair[1]);
                }
            }
            if let [first, second, ..] = hunk[..]
                && is_blank(first)
                && is_line(&first)
                && is_line(&second)
            {
                self.join(first, second);
            }
        }
    }

    /// Joins deletions and insertions that have no modified line between them.
    fn join_replaced(&mut self, units: &[Unit], run: &[usize]) {
        let sides = |unit: usize| match &units[unit].kind {
            UnitKind::Lines { deleted, inserted } => (!deleted.is_empty(), !inserted.is_empty()),
            _ => (true, true),
        };
        for part in run.split(|unit| sides(*unit) == (true, true)) {
            if part.iter().any(|unit| sides(*unit).0) && part.iter().any(|unit| sides(*unit).1) {
                self.join_all(part.iter().copied());
            }
        }
    }
}

/// Which unit of a file changes which line.
struct LineOwners {
    older: BTreeMap<u32, usize>,
    newer: BTreeMap<u32, usize>,
}

impl LineOwners {
    fn of(units: &[Unit], span: &Range<u32>) -> Self {
        let mut places = Self { older: BTreeMap::new(), newer: BTreeMap::new() };
        for unit in span.clone().map(|unit| unit as usize) {
            if let UnitKind::Lines { deleted, inserted } = &units[unit].kind {
                places.older.extend(deleted.clone().map(|line| (line, unit)));
                places.newer.extend(inserted.clone().map(|line| (line, unit)));
            }
        }
        places
    }

    /// The units that change one of these lines.
    fn within<'a>(&'a self, older: &'a [Range<u32>], newer: &'a [Range<u32>]) -> impl Iterator<Item = usize> + 'a {
        let of = |places: &'a BTreeMap<u32, usize>, lines: &'a [Range<u32>]| {
            lines
                .iter()
                .filter(|lines| lines.start < lines.end)
                .flat_map(move |lines| places.range(lines.clone()).map(|(_, unit)| *unit))
        };
        of(&self.older, older).chain(of(&self.newer, newer))
    }
}
