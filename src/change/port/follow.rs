//! Follows declarations to the file in which ours has them.

use crate::keywords::replaced;
use crate::port::align::{AlignEffort, likeness};
use crate::port::matching::UnitMatching;
use crate::port::version::{DeclarationName, FileVersion, UnitNo};
use crate::port::words::VersionWords;
use crate::syntax::{Language, UnitClass};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Shorter functions cannot be recognised by their content.
const MIN_TOKENS: usize = 30;

/// A function can be the missing one if they share at least this part of their words.
const MIN_SHARED_PERCENT: usize = 70;

/// The best function must lead the next one by at least this.
const MIN_LEAD_PERCENT: usize = 5;

/// A file that ours has changed or added.
#[derive(Debug)]
pub struct Elsewhere {
    /// Its text in the base; empty if it is new.
    pub before: Vec<u8>,
    /// Its text in ours.
    pub now: Vec<u8>,
}

/// A patch that is divided among files.
#[derive(Debug)]
pub struct Followed {
    /// The patched text without the edits that belong elsewhere.
    pub rest: Vec<u8>,
    /// By index of the other file: the text that the patch edits there, and the result. Both contain the moved
    /// functions as they were in the file that they left; the rest is that of ours.
    pub files: BTreeMap<usize, [Vec<u8>; 2]>,
}

/// The range of a function in ours, and its text in the base and in the patched version.
type MovedFunction<'text> = (Range<usize>, [&'text [u8]; 2]);

/// Finds the functions that a patch edits and that ours has moved to other files; `None` if there are none.
///
/// - `ours` is empty if the file is gone. If ours has a function of the same name that shares less than half of the
///   words, it counts as a different one: a caller of the moved one, for example.
/// - A function moved to another one if that one is new in its file, shares at least seven tenths of the words, and is
///   clearly the most similar one in all of `files`. It may have another name. Two functions never moved to one.
///
/// Nothing is merged here. Each text is one input of a three-way merge whose `ours` is the file as it is.
pub fn follow(language: &Language, [base, ours, patched]: [&[u8]; 3], files: &[Elsewhere]) -> Option<Followed> {
    let (mut words, effort) = (VersionWords::default(), AlignEffort::new());
    let [base, ours, patched] = [base, ours, patched].map(|text| FileVersion::read(language, text, &mut words));
    let (base, ours, patched) = (base?, ours?, patched?);
    let gone = gone(&base, &ours, &patched, &effort);
    if gone.is_empty() {
        return None;
    }
    // For each function the most similar ones: percent, file, bytes there.
    let mut found: Vec<Vec<(usize, usize, Range<usize>)>> = vec![Vec::new(); gone.len()];
    let vocabularies: Vec<_> = gone.iter().map(|(one, _)| vocabulary(&base.text[bytes(&base, *one)])).collect();
    for (index, file) in files.iter().enumerate() {
        let known = vocabulary(&file.now);
        let may_have = |words: &BTreeSet<&[u8]>| 2 * words.intersection(&known).count() >= words.len();
        if !vocabularies.iter().any(may_have) {
            continue;
        }
        let Some(now) = FileVersion::read(language, &file.now, &mut words) else { continue };
        let Some(before) = FileVersion::read(language, &file.before, &mut words) else { continue };
        let known: BTreeSet<&DeclarationName> = before.units.iter().filter_map(|unit| unit.name.as_ref()).collect();
        for (at, unit) in now.units.iter().enumerate() {
            if unit.class != Some(UnitClass::Definition) || unit.name.as_ref().is_none_or(|name| known.contains(name)) {
                continue;
            }
            for ((one, _), found) in gone.iter().zip(&mut found) {
                let n_words = unit.tokens.len() + base.units[*one].tokens.len();
                let percent = 200 * likeness(&base, *one, &now, at, &effort) / n_words;
                if percent + MIN_LEAD_PERCENT > MIN_SHARED_PERCENT {
                    found.push((percent, index, bytes(&now, at)));
                }
            }
        }
    }
    let mut rest = Vec::new();
    let mut edits: BTreeMap<usize, Vec<MovedFunction>> = BTreeMap::new();
    for ((one, there), mut found) in gone.into_iter().zip(found) {
        found.sort_by_key(|(percent, ..)| Reverse(*percent));
        let next = found.get(1).map_or(0, |(percent, ..)| *percent);
        let Some((percent, index, place)) = found.into_iter().next() else { continue };
        if percent < MIN_SHARED_PERCENT || percent < next + MIN_LEAD_PERCENT {
            continue;
        }
        let (old, new) = (&base.text[bytes(&base, one)], bytes(&patched, there));
        edits.entry(index).or_default().push((place, [old, &patched.text[new.clone()]]));
        rest.push((new, old));
    }
    rest.sort_by_key(|(range, _)| range.start);
    let mut followed = BTreeMap::new();
    for (index, mut edits) in edits {
        edits.sort_by_key(|(range, _)| range.start);
        if edits.windows(2).any(|pair| pair[0].0.end > pair[1].0.start) {
            return None;
        }
        let side =
            |side: usize| replaced(&files[index].now, edits.iter().map(|(range, texts)| (range.clone(), texts[side])));
        followed.insert(index, [side(0), side(1)]);
    }
    let is_found = !followed.is_empty() && rest.windows(2).all(|pair| pair[0].0.end <= pair[1].0.start);
    is_found.then(|| Followed { rest: replaced(patched.text, rest.into_iter()), files: followed })
}

/// The functions of the base that the patch edits and ours no longer has, each with its counterpart in the patched
/// version.
fn gone(base: &FileVersion, ours: &FileVersion, patched: &FileVersion, effort: &AlignEffort) -> Vec<(UnitNo, UnitNo)> {
    let (to_ours, to_patched) = (UnitMatching::of(base, ours, effort), UnitMatching::of(base, patched, effort));
    let functions = base.units.iter().enumerate().filter(|(_, unit)| {
        unit.class == Some(UnitClass::Definition) && unit.name.is_some() && unit.tokens.len() >= MIN_TOKENS
    });
    let edited = functions.filter_map(|(at, unit)| {
        let there = to_patched.forward[at]?;
        (base.words(&unit.tokens) != patched.words(&patched.units[there].tokens)).then_some((at, there))
    });
    edited
        .filter(|(at, _)| to_ours.forward[*at].is_none_or(|here| likeness(base, *at, ours, here, effort) == 0))
        .collect()
}

/// The words of a text, without a parser: they are enough to skip most files.
fn vocabulary(text: &[u8]) -> BTreeSet<&[u8]> {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    text.split(|byte| !is_letter(byte)).filter(|word| !word.is_empty()).collect()
}

/// The byte range of a unit.
fn bytes(version: &FileVersion, unit: UnitNo) -> Range<usize> {
    let tokens = &version.units[unit].tokens;
    version.tokens[tokens.start].text.start..version.tokens[tokens.end - 1].text.end
}
