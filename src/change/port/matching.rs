//! Matches the declarations of two versions, wherever they are.

use crate::port::align::{AlignEffort, likeness};
use crate::port::version::{DeclarationName, FileVersion, UnitNo};
use crate::port::words::VersionWord;
use std::collections::{BTreeMap, BTreeSet};

/// Declarations without a partner are compared by content if each side has at most this many.
const MAX_STRANGERS: usize = 64;

/// Shorter declarations cannot be recognised by their content.
const MIN_KNOWN_TOKENS: usize = 12;

/// Declarations that share less than this part of their words are different ones.
const MIN_SHARED_PERCENT: usize = 70;

/// For each member unit of one version (see [`SyntaxUnit::members`](crate::port::version::SyntaxUnit)) its counterpart in
/// another version, and in reverse.
#[derive(Debug)]
pub(super) struct UnitMatching {
    pub forward: Vec<Option<UnitNo>>,
    pub backward: Vec<Option<UnitNo>>,
}

impl UnitMatching {
    /// Matches by name and signature, then by name, then by content: first among the members of matched units, then in
    /// the whole file.
    pub(super) fn of(base: &FileVersion, other: &FileVersion, effort: &AlignEffort) -> Self {
        let mut matching = Self { forward: vec![None; base.units.len()], backward: vec![None; other.units.len()] };
        matching.pair(0, 0);
        let mut open = vec![(0, 0)];
        while let Some((one, two)) = open.pop() {
            let (ours, theirs) = (&base.units[one].members, &other.units[two].members);
            matching.pair_lists(base, ours, other, theirs, effort);
            open.extend(ours.iter().filter_map(|unit| Some((*unit, matching.forward[*unit]?))));
        }
        // Those that moved to another place, outermost first.
        let is_left = |units: &[Option<UnitNo>], version: &FileVersion| -> Vec<UnitNo> {
            let members = version.units.iter().flat_map(|unit| &unit.members).copied();
            let left: BTreeSet<UnitNo> = members.filter(|unit| units[*unit].is_none()).collect();
            left.into_iter().filter(|unit| version.units[*unit].name.is_some()).collect()
        };
        let (left, left_there) = (is_left(&matching.forward, base), is_left(&matching.backward, other));
        matching.pair_lists(base, &left, other, &left_there, effort);
        matching
    }

    fn pair(&mut self, one: UnitNo, two: UnitNo) {
        self.forward[one] = Some(two);
        self.backward[two] = Some(one);
    }

    fn pair_lists(
        &mut self,
        base: &FileVersion,
        ones: &[UnitNo],
        other: &FileVersion,
        twos: &[UnitNo],
        effort: &AlignEffort,
    ) {
        let name = |version: &FileVersion, unit: UnitNo| version.units[unit].name.clone();
        let short = |name: DeclarationName| DeclarationName { signature: Vec::new(), ..name };
        // Equal words: the first with the first, and so on.
        self.pair_equal(
            ones,
            twos,
            |unit| Some((name(base, unit), base.units[unit].hash)),
            |unit| Some((name(other, unit), other.units[unit].hash)),
            false,
        );
        self.pair_equal(ones, twos, |unit| name(base, unit), |unit| name(other, unit), false);
        self.pair_equal(ones, twos, |unit| name(base, unit).map(short), |unit| name(other, unit).map(short), true);
        self.pair_equal(ones, twos, |unit| header(base, unit), |unit| header(other, unit), false);
        self.pair_alike(base, ones, other, twos, effort);
    }

    /// Pairs units with equal keys: in order if both sides have the same number, or only if each side has one.
    fn pair_equal<K: Ord>(
        &mut self,
        ones: &[UnitNo],
        twos: &[UnitNo],
        key: impl Fn(UnitNo) -> Option<K>,
        other_key: impl Fn(UnitNo) -> Option<K>,
        is_unique: bool,
    ) {
        let mut groups: BTreeMap<K, (Vec<UnitNo>, Vec<UnitNo>)> = BTreeMap::new();
        for unit in ones.iter().filter(|unit| self.forward[**unit].is_none()) {
            if let Some(key) = key(*unit) {
                groups.entry(key).or_default().0.push(*unit);
            }
        }
        for unit in twos.iter().filter(|unit| self.backward[**unit].is_none()) {
            if let Some(key) = other_key(*unit) {
                groups.entry(key).or_default().1.push(*unit);
            }
        }
        for (ones, twos) in groups.into_values() {
            if ones.len() == twos.len() && (!is_unique || ones.len() == 1) {
                for (one, two) in ones.into_iter().zip(twos) {
                    self.pair(one, two);
                }
            }
        }
    }

    /// Pairs the rest by content: each must clearly be the best match of the other.
    fn pair_alike(
        &mut self,
        base: &FileVersion,
        ones: &[UnitNo],
        other: &FileVersion,
        twos: &[UnitNo],
        effort: &AlignEffort,
    ) {
        let is_known = |version: &FileVersion, unit: UnitNo| version.units[unit].tokens.len() >= MIN_KNOWN_TOKENS;
        let ones: Vec<_> =
            ones.iter().copied().filter(|unit| self.forward[*unit].is_none() && is_known(base, *unit)).collect();
        let twos: Vec<_> =
            twos.iter().copied().filter(|unit| self.backward[*unit].is_none() && is_known(other, *unit)).collect();
        if ones.len() > MAX_STRANGERS || twos.len() > MAX_STRANGERS {
            return;
        }
        let percent = |one: UnitNo, two: UnitNo| {
            let total = base.units[one].tokens.len() + other.units[two].tokens.len();
            200 * likeness(base, one, other, two, effort) / total
        };
        let table: Vec<Vec<usize>> =
            ones.iter().map(|one| twos.iter().map(|two| percent(*one, *two)).collect()).collect();
        for (row, one) in ones.iter().enumerate() {
            for (column, two) in twos.iter().enumerate() {
                let like = table[row][column];
                let is_best = (0..twos.len()).all(|at| at == column || table[row][at] + 5 < like)
                    && (0..ones.len()).all(|at| at == row || table[at][column] + 5 < like);
                if like >= MIN_SHARED_PERCENT && is_best {
                    self.pair(*one, *two);
                }
            }
        }
    }
}

/// For a unit without a name, its kind and the words before its first member: the condition of a preprocessor region.
fn header(version: &FileVersion, unit: UnitNo) -> Option<(&'static str, Vec<VersionWord>)> {
    let unit = &version.units[unit];
    let first = version.units[*unit.members.first()?].tokens.start;
    (unit.name.is_none()).then(|| (unit.kind, version.words(&(unit.tokens.start..first)).to_vec()))
}
