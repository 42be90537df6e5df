//! The two versions of a file as syntax: declarations, moves, comment lines.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::balance::{self, Depths};
use crate::declarations::{Declaration, comment_lines, declarations, has_lines_alone, matches};
use crate::mentioned_names::is_word;
use crate::moves::{MovedLines, moves};
use crate::names::LineNames;
use crate::outline::Outline;
use crate::syntax::{Language, SyntaxNode, SyntaxTree, UnitClass};
use crate::text_lines::{LinedText, TextLines};

/// Statements are recognised down to this level of nesting; deeper code is divided into lines.
const MAX_NESTING: usize = 8;

/// One version of a file, parsed; no lines and no errors if it is missing.
#[derive(Debug, Default)]
pub(super) struct ParsedSide {
    pub(super) declarations: Vec<Declaration>,
    pub(super) n_errors: usize,
    pub(super) depths: Depths,
    /// For each line: whether it is blank or contains only a comment.
    is_trivia: Vec<bool>,
    /// For each line: its names.
    names: Vec<BTreeSet<Vec<u8>>>,
    /// For each line: the names that it declares, outside of bodies.
    declared: Vec<Vec<Vec<u8>>>,
    /// For each line: the innermost declaration around it.
    declaration_of: Vec<Option<usize>>,
    /// Syntax units of more than one line that share their lines with no other code, in preorder.
    blocks: Vec<Range<u32>>,
    /// Maximal runs of lines that contain only comments.
    pub(super) comments: Vec<Range<u32>>,
    pub(super) outline: Outline,
}

/// Two versions of a file, parsed.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) older: ParsedSide,
    pub(super) newer: ParsedSide,
    /// The matched older and newer declarations, by index.
    pub(super) pairs: Vec<(usize, usize)>,
    /// For each newer declaration its number: the index of the matched older one, or a number after all of those.
    numbers: Vec<usize>,
    /// For each number: whether only one side has the declaration.
    pub(super) is_alone: Vec<bool>,
}

impl ParsedSide {
    fn of(tree: &SyntaxTree, text: &[u8], lines: &TextLines) -> Self {
        let declarations = declarations(tree, text, lines);
        let mut declaration_of = vec![None; lines.len() as usize];
        for (index, declaration) in declarations.iter().enumerate() {
            declaration.lines.clone().for_each(|line| declaration_of[line as usize] = Some(index));
        }
        let blocks = tree
            .units()
            .map(|(id, _)| tree.node(id))
            .filter(|node| node.lines.len() > 1 && has_lines_alone(node, text, lines))
            .map(|node| node.lines.clone())
            .collect();
        let mut is_trivia = comment_lines(tree, text, lines);
        let comments = runs(&is_trivia);
        let outline = Outline::of_tree(tree, text, lines.len(), &declarations);
        for (line, is_trivia) in (0..).zip(&mut is_trivia) {
            *is_trivia |= lines.slice(text, &(line..line + 1)).trim_ascii().is_empty();
        }
        let mut names = vec![BTreeSet::new(); lines.len() as usize];
        for node in tree.tokens(tree.root()).map(|id| tree.node(id)).filter(|node| !is_quoted(node)) {
            // A macro's body is one token of several lines that contains names.
            for line in node.lines.start..node.lines.end.min(lines.len()) {
                let part = lines.bytes(&(line..line + 1));
                let part = part.start.max(node.bytes.start)..part.end.min(node.bytes.end);
                names[line as usize].extend(words(&text[part]).map(<[u8]>::to_vec));
            }
        }
        let mut declared = vec![Vec::new(); lines.len() as usize];
        for node in tree.nodes().iter().filter(|node| node.class.is_some_and(UnitClass::is_declaration)) {
            if let Some(declaration) = &node.declared {
                // The line of a name begins at or before the name, and the next line begins after it.
                let line = lines.at(declaration.name.start);
                declared[line as usize].push(text[declaration.name.clone()].to_vec());
            }
        }
        let (n_errors, depths) = (tree.n_errors(), balance::depths(tree));
        Self { declarations, n_errors, depths, is_trivia, names, declared, declaration_of, blocks, comments, outline }
    }

    pub(super) fn n_lines(&self) -> usize {
        self.is_trivia.len()
    }

    /// The declarations around a line, outermost first.
    fn declarations_around(&self, line: u32) -> Vec<usize> {
        let innermost = self.declaration_of.get(line as usize).copied().flatten();
        let mut chain: Vec<usize> =
            std::iter::successors(innermost, |index| self.declarations[*index].parent).collect();
        chain.reverse();
        chain
    }

    /// For each line, the blocks around it that consist only of one-sided lines, outermost first, by index.
    ///
    /// - `is_one_sided`: for each line, whether only this side has it.
    pub(super) fn blocks_of(&self, is_one_sided: &[bool]) -> Vec<Vec<usize>> {
        let mut before = vec![0_usize];
        before.extend(is_one_sided.iter().scan(0, |sum, is_one_sided| {
            *sum += usize::from(*is_one_sided);
            Some(*sum)
        }));
        let mut blocks_of = vec![Vec::new(); is_one_sided.len()];
        for (index, block) in self.blocks.iter().enumerate() {
            let (start, end) = (block.start as usize, block.end as usize);
            if before[end] - before[start] < end - start {
                continue;
            }
            for chain in &mut blocks_of[start..end] {
                let is_same = chain.last().is_some_and(|above: &usize| self.blocks[*above] == *block);
                if chain.len() < MAX_NESTING && !is_same {
                    chain.push(index);
                }
            }
        }
        blocks_of
    }
}

/// The maximal runs of lines for which `holds` is true.
fn runs(holds: &[bool]) -> Vec<Range<u32>> {
    let mut runs: Vec<Range<u32>> = Vec::new();
    for (line, _) in (0..).zip(holds).filter(|(_, holds)| **holds) {
        match runs.last_mut() {
            Some(run) if run.end == line => run.end += 1,
            _ => runs.push(line..line + 1),
        }
    }
    runs
}

/// Whether a token is a comment or a string; words in it are not names.
fn is_quoted(node: &SyntaxNode) -> bool {
    node.is_extra || node.kind.contains("string") || node.kind.contains("char")
}

/// The words of a text that can be names.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_name = |word: &&[u8]| word.first().is_some_and(|byte| !byte.is_ascii_digit());
    text.split(|byte| !is_word(*byte)).filter(is_name)
}

impl Parsed {
    /// Parses both versions; `None` if the parser cannot read one of them.
    pub(super) fn of(language: &Language, older: LinedText<'_>, newer: LinedText<'_>) -> Option<Self> {
        let side = |side: LinedText<'_>| Some(ParsedSide::of(&language.parse(side.text)?, side.text, side.lines));
        let (older, newer) = (side(older)?, side(newer)?);
        let pairs = matches(language, &older.declarations, &newer.declarations);
        let n_older = older.declarations.len();
        let mut numbers: Vec<usize> = (n_older..n_older + newer.declarations.len()).collect();
        let mut is_alone = vec![true; n_older + newer.declarations.len()];
        for (row, column) in &pairs {
            numbers[*column] = *row;
            is_alone[*row] = false;
        }
        Some(Self { older, newer, pairs, numbers, is_alone })
    }

    /// Whether an older and a newer line are in the same declaration, or both in none.
    fn is_same_declaration(&self, older: Option<u32>, newer: Option<u32>) -> bool {
        let (Some(older), Some(newer)) = (older, newer) else { return false };
        let number = self.newer.declaration_of[newer as usize].map(|column| self.numbers[column]);
        self.older.declaration_of[older as usize] == number
    }

    /// Whether a changed line changes only comments, or only white space.
    pub(super) fn is_trivia(&self, deleted: (Option<u32>, &[u8]), inserted: (Option<u32>, &[u8])) -> bool {
        let is_trivial = |side: &ParsedSide, line: Option<u32>| line.is_none_or(|line| side.is_trivia[line as usize]);
        let bare = |text: &[u8]| text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect::<Vec<u8>>();
        (is_trivial(&self.older, deleted.0) && is_trivial(&self.newer, inserted.0))
            || (self.is_same_declaration(deleted.0, inserted.0) && bare(deleted.1) == bare(inserted.1))
    }

    /// The declarations that moved.
    pub(super) fn moves(&self) -> Vec<MovedLines> {
        moves(&self.older.declarations, &self.newer.declarations, &self.pairs)
    }

    /// The declarations around a changed line, outermost first. A declaration of both sides has one number.
    pub(super) fn declarations_around(&self, deleted: Option<u32>, inserted: Option<u32>) -> Vec<usize> {
        if let Some(line) = inserted {
            self.newer.declarations_around(line).into_iter().map(|column| self.numbers[column]).collect()
        } else {
            deleted.map(|line| self.older.declarations_around(line)).unwrap_or_default()
        }
    }

    /// The innermost declaration around a line of one side.
    pub(super) fn innermost(&self, deleted: Option<u32>, inserted: Option<u32>) -> Option<usize> {
        let of_older = deleted.and_then(|line| self.older.declaration_of[line as usize]);
        of_older.or_else(|| Some(self.numbers[self.newer.declaration_of[inserted? as usize]?]))
    }

    /// All names on the older side, and all on the newer one.
    pub(super) fn all_names(&self) -> (impl Iterator<Item = &[u8]>, impl Iterator<Item = &[u8]>) {
        let (older, newer) = (&self.older.names, &self.newer.names);
        (older.iter().flatten().map(Vec::as_slice), newer.iter().flatten().map(Vec::as_slice))
    }

    /// Adds the names of a changed line to `names`.
    pub(super) fn note_names(&self, deleted: Option<u32>, inserted: Option<u32>, names: &mut LineNames) {
        for (side, line, mentioned) in
            [(&self.older, deleted, &mut names.unused), (&self.newer, inserted, &mut names.used)]
        {
            if let Some(line) = line {
                mentioned.extend(side.names[line as usize].iter().cloned());
                names.declared.extend(side.declared[line as usize].iter().cloned());
            }
        }
        for innermost in [self.innermost(deleted, None), self.innermost(None, inserted)].into_iter().flatten() {
            match (self.side_of(innermost), innermost.checked_sub(self.older.declarations.len())) {
                (Some(true), Some(column)) => names.created.insert(self.newer.declarations[column].name.clone()),
                (Some(false), None) => names.dropped.insert(self.older.declarations[innermost].name.clone()),
                _ => false,
            };
        }
    }

    /// For a declaration number that only one side has: true for the newer side. `None` if both sides have it.
    pub(super) fn side_of(&self, number: usize) -> Option<bool> {
        self.is_alone[number].then_some(number >= self.older.declarations.len())
    }

    /// For each older and each newer line, the number of the innermost declaration around it.
    pub(super) fn owners(&self) -> (Vec<Option<usize>>, Vec<Option<usize>>) {
        let number = |column: &Option<usize>| column.map(|column| self.numbers[column]);
        (self.older.declaration_of.clone(), self.newer.declaration_of.iter().map(number).collect())
    }
}
