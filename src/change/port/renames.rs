//! Names that ours has replaced by others, and texts with the new names.

use crate::port::align::{AlignEffort, align};
use crate::port::matching::UnitMatching;
use crate::port::version::{FileVersion, UnitNo};
use crate::port::words::VersionWord;
use crate::syntax::UnitClass;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A name that is not declared in the file counts as renamed if it was replaced in this many declarations,
const MIN_DECLARATIONS: usize = 3;

/// and in this many more for each declaration in which it was only removed. A rename replaces a name everywhere; a
/// redesign does not.
const MIN_REPLACED_PER_LOST: usize = 4;

/// Stands for every name, when texts are compared without names. No text has this number.
const ANY_NAME: VersionWord = VersionWord(u32::MAX - 1);

/// The old name and the new one.
type Renames = BTreeMap<VersionWord, VersionWord>;

/// Which names became which: in the whole file, and within single declarations.
#[derive(Debug, Default)]
pub(super) struct Renamed {
    anywhere: Renames,
    /// By the unit of the base.
    within: BTreeMap<UnitNo, Renames>,
}

impl Renamed {
    /// Finds names of `base` that ours no longer has, if each was replaced by the same new name everywhere.
    ///
    /// A new name is one that neither `base` nor `patched` has. Two names never become one. Within a declaration, only
    /// names that are declared there count.
    pub(super) fn find(
        base: &FileVersion,
        ours: &FileVersion,
        patched: &FileVersion,
        to_ours: &UnitMatching,
        to_patched: &UnitMatching,
    ) -> Self {
        let effort = AlignEffort::new();
        let known = |version: &FileVersion, range: &Range<usize>| -> BTreeSet<VersionWord> {
            version.words(range).iter().copied().collect()
        };
        let whole = |version: &FileVersion| 0..version.tokens.len() - 1;
        let (in_ours, mut taken) = (known(ours, &whole(ours)), known(base, &whole(base)));
        taken.extend(known(patched, &whole(patched)));
        let mut all = Votes::default();
        let mut votes_within = BTreeMap::new();
        let mut declared = Renames::new();
        for (unit, counterpart) in to_ours.forward.iter().enumerate() {
            let Some(counterpart) = *counterpart else { continue };
            let (old, new) = (&base.units[unit], &ours.units[counterpart]);
            if let (Some(old), Some(new)) = (&old.name, &new.name)
                && old.word != new.word
            {
                declared.insert(old.word, new.word);
            }
            if !old.members.is_empty() || base.words(&old.tokens) == ours.words(&new.tokens) {
                continue;
            }
            let votes = Votes::of(base, &old.tokens, ours, &new.tokens, &effort);
            all.add(&votes);
            votes_within.insert(unit, votes);
        }
        let anywhere = all.elected(&in_ours, &taken, &declared);
        let mut within = BTreeMap::new();
        for (unit, votes) in votes_within {
            let (Some(here), Some(there)) = (to_ours.forward[unit], to_patched.forward[unit]) else { continue };
            let mut taken = known(base, &base.units[unit].tokens);
            taken.extend(known(patched, &patched.units[there].tokens));
            let mut renames = votes.consistent(&known(ours, &ours.units[here].tokens), &taken);
            let (old_names, new_names) = (declared_within(base, unit), declared_within(ours, here));
            renames.retain(|old, (new, _)| {
                !anywhere.contains_key(old) && old_names.contains(old) && new_names.contains(new)
            });
            let renames: Renames = renames.into_iter().map(|(old, (new, _))| (old, new)).collect();
            if !renames.is_empty() {
                within.insert(unit, renames);
            }
        }
        Self { anywhere, within }
    }

    /// Whether nothing was renamed.
    pub(super) fn is_empty(&self) -> bool {
        self.anywhere.is_empty() && self.within.is_empty()
    }

    /// A version with the new names. `units`: for each of its units the unit of the base, as in [`UnitMatching::backward`].
    ///
    /// `spelling`: the text of each word.
    pub(super) fn apply(
        &self,
        version: &FileVersion,
        units: &[Option<UnitNo>],
        spelling: &BTreeMap<VersionWord, &[u8]>,
    ) -> Vec<u8> {
        let mut local: BTreeMap<usize, VersionWord> = BTreeMap::new();
        for (unit, base) in units.iter().enumerate() {
            let Some(renames) = base.and_then(|base| self.within.get(&base)) else { continue };
            for at in version.units[unit].tokens.clone() {
                if let Some(new) = renames.get(&version.words[at]) {
                    local.insert(at, *new);
                }
            }
        }
        let mut text = Vec::with_capacity(version.text.len());
        let mut from = 0;
        for (at, token) in version.tokens.iter().enumerate() {
            let new = local.get(&at).or_else(|| self.anywhere.get(&token.word)).filter(|_| token.is_name);
            if let Some(new) = new.and_then(|new| spelling.get(new)) {
                text.extend_from_slice(&version.text[from..token.text.start]);
                text.extend_from_slice(new);
                from = token.text.end;
            }
        }
        text.extend_from_slice(&version.text[from..]);
        text
    }

    /// Whether any of these words has a new name, in any declaration.
    pub(super) fn concerns(&self, mut words: impl Iterator<Item = VersionWord>) -> bool {
        words.any(|word| {
            self.anywhere.contains_key(&word) || self.within.values().any(|renames| renames.contains_key(&word))
        })
    }
}

/// The names that a unit declares inside, including its parameters.
fn declared_within(version: &FileVersion, unit: UnitNo) -> BTreeSet<VersionWord> {
    let tokens = &version.units[unit].tokens;
    let inside = version.units.iter().filter(|unit| unit.tokens.start >= tokens.start && unit.tokens.end <= tokens.end);
    inside
        .flat_map(|unit| {
            let parameter = if unit.class == Some(UnitClass::Parameter) { unit.tokens.clone() } else { 0..0 };
            version.words(&parameter).iter().copied().chain(unit.name.as_ref().map(|name| name.word))
        })
        .collect()
}

/// The fate of a name, with the number of declarations for each case.
#[derive(Debug, Default)]
struct Fate {
    /// Ours has this name in its place.
    replaced: BTreeMap<VersionWord, usize>,
    /// Ours has nothing in its place.
    n_lost: usize,
}

/// The fate of each name of the base.
#[derive(Debug, Default)]
struct Votes(BTreeMap<VersionWord, Fate>);

impl Votes {
    /// Counts in two versions of a declaration, which are aligned without regard to names.
    fn of(
        base: &FileVersion,
        old: &Range<usize>,
        ours: &FileVersion,
        new: &Range<usize>,
        effort: &AlignEffort,
    ) -> Self {
        let nameless = |version: &FileVersion, range: &Range<usize>| -> Vec<VersionWord> {
            let tokens = &version.tokens[range.clone()];
            tokens.iter().map(|token| if token.is_name { ANY_NAME } else { token.word }).collect()
        };
        let mut votes = Self::default();
        let place = align(&nameless(base, old), &nameless(ours, new), effort);
        for (index, place) in place.into_iter().enumerate() {
            let at = old.start + index;
            if base.tokens[at].is_name {
                let fate = votes.0.entry(base.words[at]).or_default();
                fate.replaced.extend(place.map(|place| (ours.words[new.start + place], 1)));
            }
        }
        for fate in votes.0.values_mut() {
            fate.n_lost = usize::from(fate.replaced.is_empty());
        }
        votes
    }

    fn add(&mut self, other: &Self) {
        for (old, fate) in &other.0 {
            let sum = self.0.entry(*old).or_default();
            sum.n_lost += fate.n_lost;
            for (new, n_declarations) in &fate.replaced {
                *sum.replaced.entry(*new).or_default() += n_declarations;
            }
        }
    }

    /// The renames with enough evidence. `kept` and `taken`: as in [`consistent`](Self::consistent).
    fn elected(&self, kept: &BTreeSet<VersionWord>, taken: &BTreeSet<VersionWord>, declared: &Renames) -> Renames {
        let consistent = self.consistent(kept, taken).into_iter();
        let elected = consistent.filter(|(old, (new, n_declarations))| {
            let least = MIN_DECLARATIONS.max(MIN_REPLACED_PER_LOST * self.0[old].n_lost);
            *n_declarations >= least || declared.get(old) == Some(new)
        });
        elected.map(|(old, (new, _))| (old, new)).collect()
    }

    /// The renames without counter-evidence, each with its number of declarations. `kept`: the names that ours still
    /// has; `taken`: names that cannot be new.
    fn consistent(
        &self,
        kept: &BTreeSet<VersionWord>,
        taken: &BTreeSet<VersionWord>,
    ) -> BTreeMap<VersionWord, (VersionWord, usize)> {
        let mut renames = BTreeMap::new();
        let mut targets: BTreeMap<VersionWord, usize> = BTreeMap::new();
        for (old, fate) in &self.0 {
            if let (false, 1, Some((new, n_declarations))) =
                (kept.contains(old), fate.replaced.len(), fate.replaced.first_key_value())
                && !taken.contains(new)
            {
                renames.insert(*old, (*new, *n_declarations));
                *targets.entry(*new).or_default() += 1;
            }
        }
        renames.retain(|_, (new, _)| targets[new] == 1);
        renames
    }
}
