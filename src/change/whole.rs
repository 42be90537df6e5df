//! Whole edits: changed lines that form one edit, because no version had only a part of them.
//!
//! One test says little about a program. If a reduction may keep half of a replaced statement, or the header of a loop
//! without its body, it ends in code that nobody wrote. So the statements of both versions are compared, and the lines
//! of an edit are applied together.
//!
//! Source: the anti-patterns of Tan, Yoshida, Prasad and Roychoudhury (FSE 2016) name the transformations that produce
//! such code. Deviation: the paper rejects them afterwards; here they cannot be formed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use idd_base::difference::difference;
use similar::{Algorithm, DiffOp};

use crate::outline::{ItemRole, Outline, OutlineItem};
use crate::pairing::{self, MIN_SIMILARITY, align};

/// If there are more combinations of an older and a newer statement, they are not compared.
const MAX_COMBINATIONS: usize = 4096;

/// A statement with fewer words occurs at many places, so it never counts as moved.
const MIN_WORDS_MOVED: usize = 3;

/// Lines of both versions whose changes are one edit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct WholeEdit {
    pub(super) older: Vec<Range<u32>>,
    pub(super) newer: Vec<Range<u32>>,
    /// Whether it is a member of a container that only one side has; adjacent additions may have replaced it.
    pub(super) is_member: bool,
    /// The number of bodies around it.
    depth: usize,
}

impl WholeEdit {
    fn of(older: Vec<Range<u32>>, newer: Vec<Range<u32>>) -> Self {
        Self { older, newer, is_member: false, depth: 0 }
    }
}

/// The result of the comparison of two outlines.
#[derive(Debug, Clone, Default)]
pub(super) struct Whole {
    /// The edits. If a line is in several edits, these are one.
    pub(super) edits: Vec<WholeEdit>,
    /// The bounds of corresponding statements: an older and a newer line, ascending in both.
    pub(super) cuts: Vec<(u32, u32)>,
    /// For each older and each newer line its owner: equal numbers for items that correspond or replace each other.
    pub(super) owners: (Vec<Option<usize>>, Vec<Option<usize>>),
    /// For each number: whether it is a member of a container that only one side has. Such members may have replaced
    /// each other.
    pub(super) is_alone: Vec<bool>,
}

impl Whole {
    /// Compares two versions of a file.
    ///
    /// - `pairs`: the matched older and newer declarations, by index.
    ///
    /// Declarations correspond as `pairs` says. The statements of one body correspond in order: first equal ones, then
    /// those of one kind that share half of their tokens. Between two corresponding statements, the rest of both sides
    /// is a replacement and one edit, so a body is never emptied. A statement that only one side has is one edit, with
    /// everything in it. If both have it with different headers, the header is an edit, and the changes inside are
    /// edits of their own; but if no statement of the bodies corresponds, header and body are one edit. A control
    /// statement around existing statements is an edit of its own. A statement that is deleted at one place and
    /// inserted at another is one edit.
    ///
    /// Cost: that of a difference, plus the product of older and newer statements of each gap, up to 4096.
    pub(super) fn of(older: &Outline, newer: &Outline, pairs: &[(usize, usize)]) -> Self {
        let mut comparing = Comparing {
            older,
            newer,
            older_numbers: vec![None; older.items.len()],
            newer_numbers: vec![None; newer.items.len()],
            n_numbers: 0,
            edits: Vec::new(),
            cuts: Vec::new(),
            depth: 0,
            joined: BTreeSet::new(),
            alone: BTreeSet::new(),
        };
        comparing.all(pairs);
        comparing.join_moved();
        let Comparing { older_numbers, newer_numbers, edits, mut cuts, n_numbers, alone, .. } = comparing;
        let is_alone = (0..n_numbers).map(|number| alone.contains(&number)).collect();
        let owners = |outline: &Outline, numbers: &[Option<usize>]| {
            outline.item_of.iter().map(|item| item.and_then(|item| numbers[item])).collect()
        };
        let owners = (owners(older, &older_numbers), owners(newer, &newer_numbers));
        cuts.sort_unstable();
        cuts.dedup();
        Self { edits, cuts, owners, is_alone }
    }
}

struct Comparing<'a> {
    older: &'a Outline,
    newer: &'a Outline,
    /// For each item a number; corresponding items have the same number.
    older_numbers: Vec<Option<usize>>,
    newer_numbers: Vec<Option<usize>>,
    n_numbers: usize,
    edits: Vec<WholeEdit>,
    cuts: Vec<(u32, u32)>,
    depth: usize,
    /// The numbers of items that correspond, and do not only replace each other.
    joined: BTreeSet<usize>,
    /// The numbers of members of containers that only one side has.
    alone: BTreeSet<usize>,
}

impl Comparing<'_> {
    /// Joins statements that are deleted at one place and inserted unchanged at another, if there is exactly one of
    /// each.
    fn join_moved(&mut self) {
        let alone = |outline: &Outline, numbers: &[Option<usize>], others: &[Option<usize>]| {
            let there: BTreeSet<usize> = others.iter().flatten().copied().collect();
            let is_alone = |index: &usize| {
                let item = &outline.items[*index];
                let is_gone = numbers[*index].is_some_and(|number| !there.contains(&number));
                is_gone && item.declaration.is_none() && item.words.len() >= MIN_WORDS_MOVED
            };
            let mut by_digest: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
            for index in (0..outline.items.len()).filter(is_alone) {
                by_digest.entry(outline.items[index].digest).or_default().push(index);
            }
            by_digest
        };
        let older = alone(self.older, &self.older_numbers, &self.newer_numbers);
        let newer = alone(self.newer, &self.newer_numbers, &self.older_numbers);
        for (digest, rows) in older {
            if let ([row], Some([column])) = (&rows[..], newer.get(&digest).map(Vec::as_slice)) {
                let (one, two) = (self.older, self.newer).at(*row, *column);
                self.edits.push(WholeEdit::of(vec![one.lines.clone()], vec![two.lines.clone()]));
            }
        }
    }

    fn all(&mut self, pairs: &[(usize, usize)]) {
        let of = |outline: &Outline, declaration: usize| {
            outline.items.iter().position(|item| item.declaration == Some(declaration))
        };
        let joined: Vec<(usize, usize)> =
            pairs.iter().filter_map(|(row, column)| Some((of(self.older, *row)?, of(self.newer, *column)?))).collect();
        for (older, newer) in &joined {
            self.join(*older, *newer);
        }
        let (older, newer) = (self.older.roots.clone(), self.newer.roots.clone());
        self.members(&older, &newer);
        for (older, newer) in joined {
            self.compare(older, newer, false);
        }
    }

    fn number(&mut self) -> usize {
        self.n_numbers += 1;
        self.n_numbers - 1
    }

    fn number_alone(&mut self) -> usize {
        let number = self.number();
        self.alone.insert(number);
        number
    }

    fn join(&mut self, older: usize, newer: usize) {
        let number = self.number();
        self.joined.insert(number);
        self.older_numbers[older] = Some(number);
        self.newer_numbers[newer] = Some(number);
        let (older, newer) = (&self.older.items[older].lines, &self.newer.items[newer].lines);
        self.cuts.extend([(older.start, newer.start), (older.end, newer.end)]);
    }

    /// Joins two equal items, with everything in them.
    fn join_equal(&mut self, older: usize, newer: usize) {
        if self.older_numbers[older].is_none() && self.newer_numbers[newer].is_none() {
            self.join(older, newer);
        }
        let (older, newer) = (self.older, self.newer).at(older, newer);
        for (older, newer) in older.children.iter().zip(&newer.children) {
            self.join_equal(*older, *newer);
        }
    }

    /// Compares the members of a container. Those that are declarations correspond already.
    fn members(&mut self, older: &[usize], newer: &[usize]) {
        let is_open = |numbers: &[Option<usize>], items: &[OutlineItem], index: &usize| {
            numbers[*index].is_none() && items[*index].declaration.is_none()
        };
        let rows: Vec<usize> =
            older.iter().copied().filter(|index| is_open(&self.older_numbers, &self.older.items, index)).collect();
        let columns: Vec<usize> =
            newer.iter().copied().filter(|index| is_open(&self.newer_numbers, &self.newer.items, index)).collect();
        for index in older.iter().filter(|index| self.older.items[**index].declaration.is_some()) {
            self.older_alone(*index);
        }
        for index in newer.iter().filter(|index| self.newer.items[**index].declaration.is_some()) {
            self.newer_alone(*index);
        }
        self.body(&rows, &columns);
    }

    /// Records the edit of an older item without a counterpart; for a container, of its remaining members too.
    fn older_alone(&mut self, index: usize) {
        if self.older_numbers[index].is_some() {
            return;
        }
        let item = &self.older.items[index];
        if item.role == ItemRole::Whole {
            self.edit(&[index], &[]);
        } else {
            self.older_numbers[index] = Some(self.number_alone());
            self.edits.push(WholeEdit { is_member: true, ..WholeEdit::of(single(&item.header_lines), Vec::new()) });
            item.children.iter().for_each(|child| self.older_alone(*child));
        }
    }

    /// The same for a newer item.
    fn newer_alone(&mut self, index: usize) {
        if self.newer_numbers[index].is_some() {
            return;
        }
        let item = &self.newer.items[index];
        if item.role == ItemRole::Whole {
            self.edit(&[], &[index]);
        } else {
            self.newer_numbers[index] = Some(self.number_alone());
            self.edits.push(WholeEdit { is_member: true, ..WholeEdit::of(Vec::new(), single(&item.header_lines)) });
            item.children.iter().for_each(|child| self.newer_alone(*child));
        }
    }

    /// Records that these items replace each other, or are added or removed as a whole.
    fn edit(&mut self, older: &[usize], newer: &[usize]) {
        let number = self.number();
        for index in older {
            fill(self.older, &mut self.older_numbers, *index, number);
        }
        for index in newer {
            fill(self.newer, &mut self.newer_numbers, *index, number);
        }
        let lines = |outline: &Outline, items: &[usize]| {
            items.iter().map(|index| outline.items[*index].lines.clone()).collect()
        };
        let edit = WholeEdit::of(lines(self.older, older), lines(self.newer, newer));
        self.edits.push(WholeEdit { depth: self.depth, ..edit });
    }

    /// Compares two items that correspond.
    fn compare(&mut self, older: usize, newer: usize, is_in_body: bool) {
        let (one, two) = (self.older, self.newer).at(older, newer);
        if one.digest == two.digest {
            self.join_equal(older, newer);
            return;
        }
        if one.children.is_empty() && two.children.is_empty() {
            self.edits.push(WholeEdit::of(vec![one.lines.clone()], vec![two.lines.clone()]));
            return;
        }
        let is_new_header = one.header_digest != two.header_digest;
        let header =
            WholeEdit { depth: self.depth, ..WholeEdit::of(single(&one.header_lines), single(&two.header_lines)) };
        let n_edits = self.edits.len();
        self.depth += 1;
        if is_in_body || one.role == ItemRole::Whole {
            self.body(&one.children, &two.children);
        } else {
            self.members(&one.children, &two.children);
        }
        self.depth -= 1;
        if !is_new_header {
            return;
        }
        let mut edit = header;
        // A new header over another body: no version had it over this one.
        if is_in_body && !self.has_own_in_common(one, two) {
            let of_body = self.edits[n_edits..].iter().filter(|of_body| of_body.depth == edit.depth + 1);
            let (older, newer): (Vec<_>, Vec<_>) = of_body.map(|edit| (edit.older.clone(), edit.newer.clone())).unzip();
            edit.older.extend(older.into_iter().flatten());
            edit.newer.extend(newer.into_iter().flatten());
        }
        self.edits.push(edit);
    }

    /// Whether some statement of one body corresponds to one of the other. Clauses (`else`, `catch`) do not count.
    fn has_own_in_common(&self, one: &OutlineItem, two: &OutlineItem) -> bool {
        let own = |outline: &Outline, numbers: &[Option<usize>], item: &OutlineItem| -> BTreeSet<Option<usize>> {
            let own = item.children.iter().filter(|child| !outline.items[**child].is_clause);
            own.map(|child| numbers[*child]).collect()
        };
        let corresponds = |number: &Option<usize>| number.is_some_and(|number| self.joined.contains(&number));
        let (older, newer) = (own(self.older, &self.older_numbers, one), own(self.newer, &self.newer_numbers, two));
        (older.is_empty() && newer.is_empty()) || older.intersection(&newer).any(corresponds)
    }

    /// Compares the statements of a body.
    fn body(&mut self, older: &[usize], newer: &[usize]) {
        let (mut row, mut column) = (0, 0);
        for (start, other, length) in equal_runs(&digests(self.older, older), &digests(self.newer, newer)) {
            self.gap(&older[row..start], &newer[column..other]);
            for offset in 0..length {
                self.join_equal(older[start + offset], newer[other + offset]);
            }
            (row, column) = (start + length, other + length);
        }
        self.gap(&older[row..], &newer[column..]);
    }

    /// Compares statements without equal pairs.
    fn gap(&mut self, older: &[usize], newer: &[usize]) {
        if self.is_wrapping(older, newer) || older.len() * newer.len() > MAX_COMBINATIONS {
            self.rest(older, newer);
            return;
        }
        let similar =
            |row: usize, column: usize| similarity(&self.older.items[older[row]], &self.newer.items[newer[column]]);
        let pairs = align(older.len(), newer.len(), similar);
        let (mut row, mut column) = (0, 0);
        for (paired_row, paired_column) in pairs {
            self.rest(&older[row..paired_row], &newer[column..paired_column]);
            let (one, two) = (older[paired_row], newer[paired_column]);
            if self.older_numbers[one].is_none() && self.newer_numbers[two].is_none() {
                self.join(one, two);
                self.compare(one, two, true);
            }
            (row, column) = (paired_row + 1, paired_column + 1);
        }
        self.rest(&older[row..], &newer[column..]);
    }

    fn is_wrapping(&self, older: &[usize], newer: &[usize]) -> bool {
        wrapper(self.newer, newer, &digests(self.older, older)).is_some()
            || wrapper(self.older, older, &digests(self.newer, newer)).is_some()
    }

    /// The rest between corresponding statements.
    fn rest(&mut self, older: &[usize], newer: &[usize]) {
        if older.is_empty() || newer.is_empty() {
            for index in older {
                self.older_left(*index);
            }
            for index in newer {
                self.newer_left(*index);
            }
        } else if let Some(at) = wrapper(self.newer, newer, &digests(self.older, older)) {
            let item = &self.newer.items[newer[at]];
            self.newer_numbers[newer[at]] = Some(self.number());
            self.wrapped(older, &item.children, WholeEdit::of(Vec::new(), single(&item.header_lines)));
            newer.iter().filter(|index| **index != newer[at]).for_each(|index| self.newer_left(*index));
        } else if let Some(at) = wrapper(self.older, older, &digests(self.newer, newer)) {
            let item = &self.older.items[older[at]];
            self.older_numbers[older[at]] = Some(self.number());
            self.wrapped(&item.children, newer, WholeEdit::of(single(&item.header_lines), Vec::new()));
            older.iter().filter(|index| **index != older[at]).for_each(|index| self.older_left(*index));
        } else {
            self.replaced(older, newer);
        }
    }

    /// Records that statements replace each other. A clause that only one side has is an edit of its own, if statements
    /// of the body are left on both sides.
    fn replaced(&mut self, older: &[usize], newer: &[usize]) {
        let parts = |outline: &Outline, items: &[usize]| -> (Vec<usize>, Vec<usize>) {
            items.iter().partition(|index| outline.items[**index].is_clause)
        };
        let (older_clauses, older_own) = parts(self.older, older);
        let (newer_clauses, newer_own) = parts(self.newer, newer);
        if older_own.is_empty() || newer_own.is_empty() || older_clauses.is_empty() == newer_clauses.is_empty() {
            self.edit(older, newer);
            return;
        }
        self.edit(&older_own, &newer_own);
        for index in older_clauses {
            self.older_left(index);
        }
        for index in newer_clauses {
            self.newer_left(index);
        }
    }

    fn older_left(&mut self, index: usize) {
        match self.older.items[index].role {
            ItemRole::Whole => self.edit(&[index], &[]),
            ItemRole::Container => self.older_alone(index),
        }
    }

    fn newer_left(&mut self, index: usize) {
        match self.newer.items[index].role {
            ItemRole::Whole => self.edit(&[], &[index]),
            ItemRole::Container => self.newer_alone(index),
        }
    }

    /// Records a control statement that was put around statements or removed from around them. The edit includes the
    /// changed indentation of the statements that stay, and everything else that was added or removed inside. Changes
    /// inside are edits of their own.
    fn wrapped(&mut self, older: &[usize], newer: &[usize], mut edit: WholeEdit) {
        let (mut row, mut column) = (0, 0);
        let mut runs = equal_runs(&digests(self.older, older), &digests(self.newer, newer));
        runs.push((older.len(), newer.len(), 0));
        for (start, other, length) in runs {
            let (rows, columns) = (&older[row..start], &newer[column..other]);
            if rows.is_empty() || columns.is_empty() {
                edit.older.extend(rows.iter().map(|index| self.older.items[*index].lines.clone()));
                edit.newer.extend(columns.iter().map(|index| self.newer.items[*index].lines.clone()));
            } else {
                self.gap(rows, columns);
            }
            for offset in 0..length {
                let (one, two) = (older[start + offset], newer[other + offset]);
                self.join_equal(one, two);
                edit.older.push(self.older.items[one].lines.clone());
                edit.newer.push(self.newer.items[two].lines.clone());
            }
            (row, column) = (start + length, other + length);
        }
        edit.depth = self.depth;
        self.edits.push(edit);
    }
}

/// Items of both sides.
trait SideItems<'a> {
    fn at(self, older: usize, newer: usize) -> (&'a OutlineItem, &'a OutlineItem);
}

impl<'a> SideItems<'a> for (&'a Outline, &'a Outline) {
    fn at(self, older: usize, newer: usize) -> (&'a OutlineItem, &'a OutlineItem) {
        (&self.0.items[older], &self.1.items[newer])
    }
}

/// Numbers an item and everything in it, unless they have numbers.
fn fill(outline: &Outline, numbers: &mut [Option<usize>], index: usize, number: usize) {
    numbers[index].get_or_insert(number);
    for child in &outline.items[index].children {
        fill(outline, numbers, *child, number);
    }
}

fn single(lines: &[u32]) -> Vec<Range<u32>> {
    lines.iter().map(|line| *line..*line + 1).collect()
}

fn digests(outline: &Outline, items: &[usize]) -> Vec<u64> {
    items.iter().map(|index| outline.items[*index].digest).collect()
}

/// The common runs of two sequences: where each starts in either, and its length.
fn equal_runs(older: &[u64], newer: &[u64]) -> Vec<(usize, usize, usize)> {
    let ops = difference(Algorithm::Myers, older, newer);
    let run = |op: DiffOp| match op {
        DiffOp::Equal { old_index, new_index, len } => Some((old_index, new_index, len)),
        _ => None,
    };
    ops.into_iter().filter_map(run).collect()
}

/// The index of the item that contains at least half of some statements.
fn wrapper(outline: &Outline, items: &[usize], statements: &[u64]) -> Option<usize> {
    items.iter().position(|index| holds(&digests(outline, &outline.items[*index].children), statements))
}

/// Whether a body contains at least half of some statements, in order.
fn holds(body: &[u64], statements: &[u64]) -> bool {
    if body.is_empty() || statements.is_empty() {
        return false;
    }
    let n_common: usize = equal_runs(statements, body).iter().map(|(_, _, length)| length).sum();
    n_common > 0 && 2 * n_common >= statements.len()
}

/// The similarity of two statements, in thousandths; 0 for different kinds.
fn similarity(older: &OutlineItem, newer: &OutlineItem) -> u32 {
    if older.kind != newer.kind || older.declaration.is_some() != newer.declaration.is_some() {
        return 0;
    }
    let alike = pairing::similarity(&older.header, &newer.header).max(pairing::similarity(&older.words, &newer.words));
    if alike >= MIN_SIMILARITY { alike } else { 0 }
}
