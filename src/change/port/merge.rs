//! The merge of three versions, unit by unit.
//!
//! Declarations whose order has no meaning are matched wherever they are; the result has the order of ours. Inside a
//! declaration, units and tokens are merged as sequences. A part that matches in both other versions is stable, and is
//! merged separately. Between two stable parts, only one side may have changed something.

use crate::mentioned_names::TextNames;
use crate::port::align::{AlignEffort, align, align_items};
use crate::port::matching::UnitMatching;
use crate::port::trivia::Trivia;
use crate::port::version::{FileVersion, SyntaxUnit, UnitNo, UnitPart};
use crate::port::words::VersionWord;
use crate::syntax::UnitClass;
use std::collections::BTreeMap;
use std::ops::Range;

/// Inside one statement, an edit of one side and an edit of the other need at least this many unchanged tokens between
/// them.
const MIN_BETWEEN: usize = 3;

/// Both sides changed the same part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Conflict;

/// The version from which a part of the result comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MergeSide {
    Ours,
    Patched,
}

/// A token of the result. Its white space and comments can come from another version.
#[derive(Debug, Clone)]
pub(super) struct Out<'a> {
    pub text: (MergeSide, usize),
    pub lead: Trivia<'a>,
    pub trail: Trivia<'a>,
    /// The same token in the patched version, if `text` is from ours and both have it.
    pub peer: Option<usize>,
}

/// For each word, how often it was added (or removed, if negative).
pub(super) type Balance = BTreeMap<VersionWord, isize>;

/// Adds the words of a text, or removes them.
pub(super) fn count(balance: &mut Balance, words: &[VersionWord], by: isize) {
    for word in words {
        *balance.entry(*word).or_default() += by;
    }
}

/// A range of the tokens of each version.
#[derive(Debug, Clone)]
struct Ranges {
    base: Range<usize>,
    ours: Range<usize>,
    patched: Range<usize>,
}

/// The state of a merge.
pub(super) struct Merger<'a> {
    base: &'a FileVersion<'a>,
    ours: &'a FileVersion<'a>,
    patched: &'a FileVersion<'a>,
    to_ours: UnitMatching,
    to_patched: UnitMatching,
    effort: AlignEffort,
    pub out: Vec<Out<'a>>,
    /// For each word, how much more often ours has it than the base.
    drift: Balance,
    /// The same for units, by their hashes.
    unit_drift: BTreeMap<u64, isize>,
    /// The edits that both sides made in the same way; they are applied once.
    pub common: Balance,
}

impl<'a> Merger<'a> {
    pub(super) fn new(base: &'a FileVersion<'a>, ours: &'a FileVersion<'a>, patched: &'a FileVersion<'a>) -> Self {
        let effort = AlignEffort::new();
        let to_ours = UnitMatching::of(base, ours, &effort);
        let to_patched = UnitMatching::of(base, patched, &effort);
        let mut drift = Balance::new();
        count(&mut drift, &ours.words, 1);
        count(&mut drift, &base.words, -1);
        let mut unit_drift = BTreeMap::new();
        for (version, by) in [(ours, 1), (base, -1)] {
            for unit in &version.units {
                *unit_drift.entry(unit.hash).or_default() += by;
            }
        }
        let (out, common) = (Vec::new(), Balance::new());
        Self { base, ours, patched, to_ours, to_patched, effort, out, drift, unit_drift, common }
    }

    /// The matched declarations of the base and ours, and of the base and the patched version.
    pub(super) fn matchings(&self) -> (&UnitMatching, &UnitMatching) {
        (&self.to_ours, &self.to_patched)
    }

    /// Merges the whole file.
    pub(super) fn run(&mut self) -> Result<(), Conflict> {
        self.unit(0, 0, 0, true)?;
        let end = |version: &FileVersion| version.tokens.len() - 1;
        self.stable(end(self.base), end(self.ours), end(self.patched));
        Ok(())
    }

    fn ranges(&self, base: UnitNo, ours: UnitNo, patched: UnitNo) -> Ranges {
        Ranges {
            base: self.base.units[base].tokens.clone(),
            ours: self.ours.units[ours].tokens.clone(),
            patched: self.patched.units[patched].tokens.clone(),
        }
    }

    /// Runs `merge`; if it conflicts, restores the state before it.
    fn attempt(&mut self, merge: impl FnOnce(&mut Self) -> Result<(), Conflict>) -> Result<(), Conflict> {
        let (n_out, common) = (self.out.len(), self.common.clone());
        let result = merge(self);
        if result.is_err() {
            self.out.truncate(n_out);
            self.common = common;
        }
        result
    }

    /// Merges three versions of one unit. `is_free`: members may be matched in any order.
    fn unit(&mut self, base: UnitNo, ours: UnitNo, patched: UnitNo, is_free: bool) -> Result<(), Conflict> {
        let ranges = self.ranges(base, ours, patched);
        if self.is_settled(&ranges) && !self.has_members(base, ours, patched) {
            return self.settle(&ranges);
        }
        if is_free
            && self.has_members(base, ours, patched)
            && self.attempt(|it| it.members(base, ours, patched)).is_ok()
        {
            return Ok(());
        }
        let units = (base, ours, patched);
        self.attempt(|it| it.items(units, &ranges))
    }

    fn has_members(&self, base: UnitNo, ours: UnitNo, patched: UnitNo) -> bool {
        !self.base.units[base].members.is_empty()
            && !self.ours.units[ours].members.is_empty()
            && !self.patched.units[patched].members.is_empty()
    }

    /// Whether at most one side changed a token.
    fn is_settled(&self, ranges: &Ranges) -> bool {
        let words = self.words(ranges);
        words.0 == words.1 || words.0 == words.2
    }

    fn words(&self, ranges: &Ranges) -> (&'a [VersionWord], &'a [VersionWord], &'a [VersionWord]) {
        (self.base.words(&ranges.base), self.ours.words(&ranges.ours), self.patched.words(&ranges.patched))
    }

    /// Takes the side that changed tokens.
    fn settle(&mut self, ranges: &Ranges) -> Result<(), Conflict> {
        let (base, ours, patched) = self.words(ranges);
        if !self.effort.spend(base.len() + ours.len() + patched.len()) {
            return Err(Conflict);
        }
        if base == patched {
            let place = align(base, ours, &self.effort);
            for gap in gaps(&place, ours.len()) {
                self.all_of(MergeSide::Ours, ranges.ours.start + gap.other.start..ranges.ours.start + gap.other.end);
                if let Some(index) = gap.stable {
                    let (base, patched) = (ranges.base.start + index, ranges.patched.start + index);
                    self.stable(base, ranges.ours.start + gap.other.end, patched);
                }
            }
            return Ok(());
        }
        let place = align(base, patched, &self.effort);
        for gap in gaps(&place, patched.len()) {
            let replaced = ranges.ours.start + gap.base.start..ranges.ours.start + gap.base.end;
            let base = ranges.base.start + gap.base.start..ranges.base.start + gap.base.end;
            let new = ranges.patched.start + gap.other.start..ranges.patched.start + gap.other.end;
            self.replace(&Ranges { base, ours: replaced, patched: new });
            if let Some(index) = gap.stable {
                let (base, ours) = (ranges.base.start + index, ranges.ours.start + index);
                self.stable(base, ours, ranges.patched.start + gap.other.end);
            }
        }
        Ok(())
    }

    /// Replaces tokens by those of the patched version, and keeps the white space and comments around.
    fn replace(&mut self, ranges: &Ranges) {
        let is_one_by_one = ranges.base.len() == ranges.patched.len();
        for (offset, at) in ranges.patched.clone().enumerate() {
            let is_last = at + 1 == ranges.patched.end;
            let (lead, trail) = self.patched.trivia(at);
            let (mut lead, mut trail) = (Trivia::foreign(lead), Trivia::foreign(trail));
            if !ranges.base.is_empty() && (is_one_by_one || offset == 0) {
                lead = self.around(ranges.base.start + offset, ranges.ours.start + offset, at).0;
            }
            if !ranges.base.is_empty() && (is_one_by_one || is_last) {
                let back = ranges.patched.end - at;
                trail = self.around(ranges.base.end - back, ranges.ours.end - back, at).1;
            }
            self.out.push(Out { text: (MergeSide::Patched, at), lead, trail, peer: None });
        }
    }

    /// A token that all three versions have.
    fn stable(&mut self, base: usize, ours: usize, patched: usize) {
        let (lead, trail) = self.around(base, ours, patched);
        let [before, here, there] = [(self.base, base), (self.ours, ours), (self.patched, patched)]
            .map(|(version, at)| &version.text[version.tokens[at].text.clone()]);
        let text =
            if before == here && here != there { (MergeSide::Patched, patched) } else { (MergeSide::Ours, ours) };
        self.out.push(Out { text, lead, trail, peer: Some(patched) });
    }

    /// The white space and comments around a token: those of ours, unless only the patch changed them.
    fn around(&self, base: usize, ours: usize, patched: usize) -> (Trivia<'a>, Trivia<'a>) {
        let (base, ours, patched) = (self.base.trivia(base), self.ours.trivia(ours), self.patched.trivia(patched));
        (Trivia::merged(base.0, ours.0, patched.0), Trivia::merged(base.1, ours.1, patched.1))
    }

    fn only(&mut self, side: MergeSide, at: usize) {
        let (lead, trail) = if side == MergeSide::Ours { self.ours.trivia(at) } else { self.patched.trivia(at) };
        let trivia = |bytes| if side == MergeSide::Ours { Trivia::ours(bytes) } else { Trivia::foreign(bytes) };
        self.out.push(Out { text: (side, at), lead: trivia(lead), trail: trivia(trail), peer: None });
    }

    /// Applies an edit that both sides made. A part that both deleted must not exist elsewhere in ours.
    fn agreed(&mut self, chunk: &Ranges) -> Result<(), Conflict> {
        let (base, ours, _) = self.words(chunk);
        let is_elsewhere = |unit: &SyntaxUnit| {
            let is_inside = unit.tokens.start >= chunk.base.start && unit.tokens.end <= chunk.base.end;
            is_inside && self.unit_drift.get(&unit.hash).is_none_or(|by| *by >= 0)
        };
        if !base.is_empty()
            && (base.iter().all(|word| self.drift.get(word).is_none_or(|by| *by >= 0))
                || self.base.units.iter().any(is_elsewhere))
        {
            return Err(Conflict);
        }
        count(&mut self.common, ours, 1);
        count(&mut self.common, base, -1);
        self.all_of(MergeSide::Ours, chunk.ours.clone());
        Ok(())
    }

    fn all_of(&mut self, side: MergeSide, tokens: Range<usize>) {
        for at in tokens {
            self.only(side, at);
        }
    }

    /// Merges the members of a unit in the order of ours, and the tokens before and after them.
    fn members(&mut self, base: UnitNo, ours: UnitNo, patched: UnitNo) -> Result<(), Conflict> {
        let (ends, our_ends, patched_ends) =
            (borders(self.base, base), borders(self.ours, ours), borders(self.patched, patched));
        let whole = self.ranges(base, ours, patched);
        let head = Ranges {
            base: whole.base.start..ends.0,
            ours: whole.ours.start..our_ends.0,
            patched: whole.patched.start..patched_ends.0,
        };
        self.items((base, ours, patched), &head)?;
        self.check_order(base, patched)?;
        self.check_deleted(base)?;
        let slots = self.slots(ours, patched)?;
        for (index, slot) in slots.iter().enumerate() {
            for unit in slot {
                let tail = tail(self.patched, patched, *unit, patched_ends.1);
                self.all_of(MergeSide::Patched, self.patched.units[*unit].tokens.start..tail.end);
            }
            if let Some(unit) = self.ours.units[ours].members.get(index).copied() {
                self.member(unit, ours, our_ends.1)?;
            }
        }
        let foot = Ranges {
            base: ends.1..whole.base.end,
            ours: our_ends.1..whole.ours.end,
            patched: patched_ends.1..whole.patched.end,
        };
        self.items((base, ours, patched), &foot)
    }

    /// One member of ours, with the edits of the patch.
    fn member(&mut self, unit: UnitNo, container: UnitNo, end: usize) -> Result<(), Conflict> {
        let tail_of_ours = tail(self.ours, container, unit, end);
        let Some(base) = self.to_ours.backward[unit] else { return self.new_member(unit, &tail_of_ours) };
        let Some(patched) = self.to_patched.forward[base] else {
            let same = self.base.words(&self.base.units[base].tokens) == self.ours.words(&self.ours.units[unit].tokens);
            return if same { Ok(()) } else { Err(Conflict) };
        };
        let around = |version: &FileVersion, unit: UnitNo| version.units[unit].parent.expect("a member has a parent");
        let (base_around, patched_around) = (around(self.base, base), around(self.patched, patched));
        if self.to_patched.forward[base_around] != Some(patched_around) {
            return Err(Conflict);
        }
        self.unit_or_tokens(base, unit, patched, true)?;
        let tail_in = |version: &FileVersion, container: UnitNo, unit: UnitNo| {
            tail(version, container, unit, borders(version, container).1)
        };
        let tails = Ranges {
            base: tail_in(self.base, base_around, base),
            ours: tail_of_ours,
            patched: tail_in(self.patched, patched_around, patched),
        };
        if self.is_settled(&tails) { self.settle(&tails) } else { Err(Conflict) }
    }

    /// A member that ours added: it can be a region around existing members.
    fn new_member(&mut self, unit: UnitNo, tail: &Range<usize>) -> Result<(), Conflict> {
        let tokens = self.ours.units[unit].tokens.clone();
        if self.ours.units[unit].members.is_empty() {
            self.all_of(MergeSide::Ours, tokens.start..tail.end);
            return Ok(());
        }
        let (start, end) = borders(self.ours, unit);
        self.all_of(MergeSide::Ours, tokens.start..start);
        for member in self.ours.units[unit].members.clone() {
            self.member(member, unit, end)?;
        }
        self.all_of(MergeSide::Ours, end..tail.end);
        Ok(())
    }

    /// Merges a unit by its parts; if they conflict, token by token.
    fn unit_or_tokens(&mut self, base: UnitNo, ours: UnitNo, patched: UnitNo, is_free: bool) -> Result<(), Conflict> {
        if self.unit(base, ours, patched, is_free).is_ok() {
            return Ok(());
        }
        let ranges = self.ranges(base, ours, patched);
        self.attempt(|it| it.tokens(&ranges))
    }

    /// Conflicts if the patch changes the order of members.
    fn check_order(&self, base: UnitNo, patched: UnitNo) -> Result<(), Conflict> {
        let members = &self.patched.units[patched].members;
        let kept: Vec<UnitNo> = members
            .iter()
            .filter_map(|unit| self.to_patched.backward[*unit])
            .filter(|unit| self.base.units[*unit].parent == Some(base))
            .collect();
        if kept.is_sorted() { Ok(()) } else { Err(Conflict) }
    }

    /// Conflicts if the patch changed something that ours deleted, or if both deleted something other than imports.
    fn check_deleted(&mut self, base: UnitNo) -> Result<(), Conflict> {
        for unit in &self.base.units[base].members {
            let (whole, is_gone) = (&self.base.units[*unit], self.to_ours.forward[*unit].is_none());
            let is_elsewhere = self.unit_drift.get(&whole.hash).is_none_or(|by| *by >= 0);
            if is_gone
                && self.to_patched.forward[*unit].is_none()
                && whole.class == Some(UnitClass::Import)
                && !is_elsewhere
            {
                count(&mut self.common, self.base.words(&whole.tokens), -1);
            }
        }
        let is_fine = self.base.units[base].members.iter().all(|unit| {
            self.to_ours.forward[*unit].is_some()
                || self.to_patched.forward[*unit].is_none_or(|patched| {
                    self.base.words(&self.base.units[*unit].tokens)
                        == self.patched.words(&self.patched.units[patched].tokens)
                })
        });
        if is_fine { Ok(()) } else { Err(Conflict) }
    }

    /// The members that the patch adds before each member of ours, and after the last one.
    fn slots(&mut self, ours: UnitNo, patched: UnitNo) -> Result<Vec<Vec<UnitNo>>, Conflict> {
        let (our_members, members) = (&self.ours.units[ours].members, &self.patched.units[patched].members);
        let mut slots = vec![Vec::new(); our_members.len() + 1];
        // The position in ours of a member of the patched version.
        let place = |unit: UnitNo| {
            let counterpart = self.to_ours.forward[self.to_patched.backward[unit]?]?;
            our_members.binary_search(&counterpart).ok()
        };
        for (index, unit) in members.iter().copied().enumerate() {
            if self.to_patched.backward[unit].is_some() {
                continue;
            }
            let tokens = &self.patched.units[unit].tokens;
            let has_known = (0..self.patched.units.len()).any(|other| {
                self.patched.units[other].parent == Some(unit) && self.to_patched.backward[other].is_some()
            });
            if has_known {
                return Err(Conflict);
            }
            let is_twin = |other: &UnitNo| {
                self.to_ours.backward[*other].is_none()
                    && self.ours.units[*other].name == self.patched.units[unit].name
                    && self.ours.units[*other].name.is_some()
            };
            if let Some(twin) = our_members.iter().find(|other| is_twin(other)) {
                if self.ours.words(&self.ours.units[*twin].tokens) != self.patched.words(tokens) {
                    return Err(Conflict);
                }
                let whole = tail(self.patched, patched, unit, borders(self.patched, patched).1);
                count(&mut self.common, self.patched.words(&(tokens.start..whole.end)), 1);
                continue;
            }
            let behind = members[..index].iter().rev().find_map(|unit| place(*unit));
            let before = members[index + 1..].iter().find_map(|unit| place(*unit));
            let at = match (behind, before) {
                (Some(behind), _) => {
                    let is_new = |unit: &&UnitNo| self.to_ours.backward[**unit].is_none();
                    behind + 1 + our_members[behind + 1..].iter().take_while(is_new).count()
                }
                (None, Some(before)) => before,
                (None, None) => return Err(Conflict),
            };
            slots[at].push(unit);
        }
        Ok(slots)
    }

    /// Merges ranges of units as sequences of items.
    fn items(&mut self, units: (UnitNo, UnitNo, UnitNo), ranges: &Ranges) -> Result<(), Conflict> {
        if self.is_settled(ranges) {
            return self.settle(ranges);
        }
        let base = self.base.items(units.0, &ranges.base);
        let ours = self.ours.items(units.1, &ranges.ours);
        let patched = self.patched.items(units.2, &ranges.patched);
        let to_ours = align_items(self.base, &base, self.ours, &ours, &self.effort);
        let to_patched = align_items(self.base, &base, self.patched, &patched, &self.effort);
        let mut at = (ranges.base.start, ranges.ours.start, ranges.patched.start);
        let (mut run, mut touching) = (EditRun::new(), Neighbours::default());
        for index in 0..=base.len() {
            let stable = match (base.get(index), to_ours.get(index), to_patched.get(index)) {
                (None, ..) => None,
                (Some(item), Some(Some(here)), Some(Some(there))) => Some((*item, ours[*here], patched[*there])),
                _ => continue,
            };
            let until = stable.map_or((ranges.base.end, ranges.ours.end, ranges.patched.end), |(one, two, three)| {
                (self.base.extent(one).start, self.ours.extent(two).start, self.patched.extent(three).start)
            });
            let chunk = Ranges { base: at.0..until.0, ours: at.1..until.1, patched: at.2..until.2 };
            touching.see(self, &chunk)?;
            run.see(self.chunk(&chunk, false)?)?;
            let Some((one, two, three)) = stable else { break };
            match (one, two, three) {
                (UnitPart::Token(one), UnitPart::Token(two), UnitPart::Token(three)) => {
                    self.stable(one, two, three);
                    run.widen();
                }
                (UnitPart::Unit(one), UnitPart::Unit(two), UnitPart::Unit(three)) => {
                    let ranges = self.ranges(one, two, three);
                    let (old, here, there) = self.words(&ranges);
                    // A container separates the items before it from those after it.
                    if !self.base.units[one].children.is_empty() || old == here && old == there {
                        touching = Neighbours::default();
                    } else {
                        touching.see(self, &ranges)?;
                    }
                    self.unit_or_tokens(one, two, three, false)?;
                    run = EditRun::new();
                }
                _ => return Err(Conflict),
            }
            at = (self.base.extent(one).end, self.ours.extent(two).end, self.patched.extent(three).end);
        }
        Ok(())
    }

    /// Merges the part between two stable items; returns which side changed it.
    fn chunk(&mut self, chunk: &Ranges, is_flat: bool) -> Result<ChangedTokens, Conflict> {
        let (base, ours, patched) = self.words(chunk);
        let mut changed = ChangedTokens {
            by_ours: self.edit(&chunk.base, self.ours, &chunk.ours),
            by_patch: self.edit(&chunk.base, self.patched, &chunk.patched),
            is_agreed: false,
        };
        if self.is_settled(chunk) {
            self.settle(chunk)?;
        } else if ours == patched {
            self.agreed(chunk)?;
            changed = ChangedTokens { by_ours: TokenEdit::Nothing, by_patch: TokenEdit::Nothing, is_agreed: true };
        } else if is_flat {
            return Err(Conflict);
        } else if base.is_empty() && self.may_stand_together(chunk) {
            self.all_of(MergeSide::Ours, chunk.ours.clone());
            self.all_of(MergeSide::Patched, chunk.patched.clone());
            changed = ChangedTokens { by_ours: TokenEdit::Nothing, by_patch: TokenEdit::Nothing, is_agreed: false };
        } else {
            self.tokens(chunk)?;
        }
        Ok(changed)
    }

    /// The edit of one side to a range of the base.
    fn edit(&self, base: &Range<usize>, version: &FileVersion, range: &Range<usize>) -> TokenEdit {
        if self.base.words(base) == version.words(range) {
            return TokenEdit::Nothing;
        }
        let are_names = |version: &FileVersion, range: &Range<usize>| {
            version.tokens[range.clone()].iter().all(|token| token.is_name)
        };
        let is_named = base.len() == range.len() && are_names(self.base, base) && are_names(version, range);
        if is_named { TokenEdit::Names } else { TokenEdit::Anything }
    }

    /// Whether the insertions of both sides have kinds whose order has little meaning, and different names.
    fn may_stand_together(&self, chunk: &Ranges) -> bool {
        let names = |version: &FileVersion, range: &Range<usize>| {
            let mut names = Vec::new();
            let mut at = range.start;
            while at < range.end {
                let unit = version.units.iter().find(|unit| unit.tokens.start == at && unit.tokens.end <= range.end);
                let is_listed = unit.is_some_and(|unit| {
                    matches!(unit.class, Some(UnitClass::Enumerator | UnitClass::Field)) && unit.name.is_some()
                });
                let text = &version.text[version.tokens[at].text.clone()];
                match unit {
                    Some(unit) if is_listed => {
                        names.push(unit.name.as_ref().map(|name| name.word));
                        at = unit.tokens.end;
                    }
                    _ if text == b"," || text == b";" => at += 1,
                    _ => return None,
                }
            }
            Some(names)
        };
        let (ours, patched) = (names(self.ours, &chunk.ours), names(self.patched, &chunk.patched));
        ours.zip(patched).is_some_and(|(ours, patched)| ours.iter().all(|name| !patched.contains(name)))
    }

    /// Merges token by token. The edits of the two sides must be apart, or all edits of one side must enclose all edits
    /// of the other.
    fn tokens(&mut self, ranges: &Ranges) -> Result<(), Conflict> {
        let (base, ours, patched) = self.words(ranges);
        let to_ours = align(base, ours, &self.effort);
        let to_patched = align(base, patched, &self.effort);
        let n_kept = |place: &[Option<usize>]| place.iter().flatten().count();
        if 2 * n_kept(&to_ours) < base.len() || 2 * n_kept(&to_patched) < base.len() {
            return Err(Conflict);
        }
        let is_around = |place: &[Option<usize>]| !place.is_empty() && n_kept(place) == place.len() && is_dense(place);
        let is_wrapped = is_around(&to_ours) || is_around(&to_patched);
        let mut at = (0, 0, 0);
        let mut run = EditRun::new();
        for index in 0..=base.len() {
            let stable = match (to_ours.get(index), to_patched.get(index)) {
                (None, _) => None,
                (Some(Some(here)), Some(Some(there))) => Some((index, *here, *there)),
                _ => continue,
            };
            let until = stable.unwrap_or((base.len(), ours.len(), patched.len()));
            let chunk = Ranges {
                base: ranges.base.start + at.0..ranges.base.start + until.0,
                ours: ranges.ours.start + at.1..ranges.ours.start + until.1,
                patched: ranges.patched.start + at.2..ranges.patched.start + until.2,
            };
            let changed = self.chunk(&chunk, true)?;
            if !is_wrapped {
                run.see(changed)?;
            }
            if let Some((one, two, three)) = stable {
                self.stable(ranges.base.start + one, ranges.ours.start + two, ranges.patched.start + three);
                run.widen();
                at = (one + 1, two + 1, three + 1);
            }
        }
        Ok(())
    }
}

/// Whether the indices follow each other without a gap.
fn is_dense(place: &[Option<usize>]) -> bool {
    place.windows(2).all(|pair| matches!(pair, [Some(one), Some(next)] if one + 1 == *next))
}

/// The part between two tokens of the base that another version has too, with the second of them.
struct Between {
    base: Range<usize>,
    other: Range<usize>,
    /// `base.end`, if there is a token; its index in the other version is `other.end`.
    stable: Option<usize>,
}

/// Cuts two versions at the tokens that both have.
fn gaps(place: &[Option<usize>], n_other: usize) -> impl Iterator<Item = Between> {
    let mut at = (0, 0);
    let ends = place.iter().enumerate().filter_map(|(index, place)| Some((index, (*place)?, Some(index))));
    ends.chain(std::iter::once((place.len(), n_other, None))).map(move |(base, other, stable)| {
        let between = Between { base: at.0..base, other: at.1..other, stable };
        at = (base + 1, other + 1);
        between
    })
}

/// The edit of one side between two stable tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TokenEdit {
    Nothing,
    /// Each deleted token is a name that was replaced by another name.
    Names,
    Anything,
}

/// The changes of both sides between two stable tokens.
#[derive(Debug, Clone, Copy)]
struct ChangedTokens {
    by_ours: TokenEdit,
    by_patch: TokenEdit,
    /// Whether both sides made the same edit.
    is_agreed: bool,
}

/// The edits of one statement: a run of tokens that no other unit interrupts.
///
/// Tokens of one statement depend on each other, so two edits can each be right and be wrong together. They are merged
/// only if one side did nothing but replace names by names.
#[derive(Debug)]
struct EditRun {
    by_ours: TokenEdit,
    by_patch: TokenEdit,
    is_agreed: bool,
    /// For each side, the number of tokens since its last change.
    since_ours: usize,
    since_patch: usize,
}

impl EditRun {
    fn new() -> Self {
        let (since_ours, since_patch) = (MIN_BETWEEN, MIN_BETWEEN);
        Self { by_ours: TokenEdit::Nothing, by_patch: TokenEdit::Nothing, is_agreed: false, since_ours, since_patch }
    }

    /// Records the part before the next stable token.
    fn see(&mut self, changed: ChangedTokens) -> Result<(), Conflict> {
        let (by_ours, by_patch) = (changed.by_ours != TokenEdit::Nothing, changed.by_patch != TokenEdit::Nothing);
        if by_ours && self.since_patch < MIN_BETWEEN || by_patch && self.since_ours < MIN_BETWEEN {
            return Err(Conflict);
        }
        self.by_ours = self.by_ours.max(changed.by_ours);
        self.by_patch = self.by_patch.max(changed.by_patch);
        self.is_agreed |= changed.is_agreed;
        let (one, other) = (self.by_ours.min(self.by_patch), self.by_ours.max(self.by_patch));
        if one == TokenEdit::Anything || self.is_agreed && other != TokenEdit::Nothing {
            return Err(Conflict);
        }
        if by_ours {
            self.since_ours = 0;
        }
        if by_patch {
            self.since_patch = 0;
        }
        Ok(())
    }

    /// Passes one stable token.
    fn widen(&mut self) {
        self.since_ours += 1;
        self.since_patch += 1;
    }
}

/// Edits of adjacent statements, without an unchanged one between them.
#[derive(Debug, Default)]
struct Neighbours {
    by_ours: Vec<u8>,
    by_patch: Vec<u8>,
}

impl Neighbours {
    /// Records the edits of the sides to a range. Among neighbours that different sides changed, none may assign to a
    /// name that another one mentions.
    fn see(&mut self, merger: &Merger, ranges: &Ranges) -> Result<(), Conflict> {
        let (old, here, there) = merger.words(ranges);
        if old != here && old != there {
            // Two edits of one statement, or one edit that both made: these are not neighbours.
            *self = Self::default();
            return Ok(());
        }
        let add = |text: &mut Vec<u8>, version: &FileVersion, range: &Range<usize>| {
            for token in &version.tokens[range.clone()] {
                text.extend_from_slice(&version.text[token.text.clone()]);
                text.push(b' ');
            }
        };
        let sides = [
            (&mut self.by_ours, here, merger.ours, &ranges.ours),
            (&mut self.by_patch, there, merger.patched, &ranges.patched),
        ];
        for (text, words, version, range) in sides {
            if words != old {
                add(text, merger.base, &ranges.base);
                add(text, version, range);
            }
        }
        let (ours, patched) = (TextNames::of(&self.by_ours), TextNames::of(&self.by_patch));
        if ours.disturbs(&patched) || patched.disturbs(&ours) { Err(Conflict) } else { Ok(()) }
    }
}

/// The tokens at which the members of a unit begin, and the end of the last member with its tail.
fn borders(version: &FileVersion, unit: UnitNo) -> (usize, usize) {
    let unit = &version.units[unit];
    let (Some(first), Some(last)) = (unit.members.first(), unit.members.last()) else {
        return (unit.tokens.start, unit.tokens.start);
    };
    let mut end = version.units[*last].tokens.end;
    while end < unit.tokens.end && matches!(&version.text[version.tokens[end].text.clone()], b";" | b",") {
        end += 1;
    }
    (version.units[*first].tokens.start, end)
}

/// The tokens after a member that belong to no other member, such as a semicolon. `end`: after the last member.
fn tail(version: &FileVersion, container: UnitNo, member: UnitNo, end: usize) -> Range<usize> {
    let members = &version.units[container].members;
    let next = members.binary_search(&member).ok().and_then(|at| members.get(at + 1));
    version.units[member].tokens.end..next.map_or(end, |next| version.units[*next].tokens.start)
}
