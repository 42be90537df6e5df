//! The lines of a text.

use std::ops::Range;

/// A text and where its lines start.
#[derive(Debug, Clone, Default)]
pub(super) struct TextLines {
    /// Byte offsets: one per line, and the length of the text.
    bounds: Vec<usize>,
}

impl TextLines {
    /// Splits after each `\n`; a last line without `\n` is a line too.
    pub(super) fn of(text: &[u8]) -> Self {
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(index, _)| index + 1);
        let mut bounds: Vec<usize> = std::iter::once(0).chain(ends).collect();
        if bounds.last() != Some(&text.len()) {
            bounds.push(text.len());
        }
        Self { bounds }
    }

    /// The text that was split, with its lines.
    pub(super) fn on<'a>(&'a self, text: &'a [u8]) -> LinedText<'a> {
        LinedText { text, lines: self }
    }

    /// How many lines there are.
    pub(super) fn len(&self) -> u32 {
        number(self.bounds.len().saturating_sub(1))
    }

    /// The line that contains a byte of the text; the last line for a byte after the text.
    pub(super) fn at(&self, byte: usize) -> u32 {
        number(self.bounds.partition_point(|bound| *bound <= byte).clamp(1, self.bounds.len() - 1) - 1)
    }

    /// The byte range of some lines.
    pub(super) fn bytes(&self, lines: &Range<u32>) -> Range<usize> {
        self.bounds[lines.start as usize]..self.bounds[lines.end as usize]
    }

    /// The bytes of a half-open, 0-based range of lines of `text`. `text` must be the text that was split.
    pub(super) fn slice<'a>(&self, text: &'a [u8], lines: &Range<u32>) -> &'a [u8] {
        if lines.is_empty() {
            return &[];
        }
        &text[self.bounds[lines.start as usize]..self.bounds[lines.end as usize]]
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct LinedText<'a> {
    pub(super) text: &'a [u8],
    pub(super) lines: &'a TextLines,
}

/// Whether lines end without a line terminator.
pub(super) fn is_open(lines: &[u8]) -> bool {
    lines.last().is_some_and(|byte| *byte != b'\n')
}

/// The number of a line, from its index.
pub(super) fn number(index: usize) -> u32 {
    u32::try_from(index).expect("a text has at most 4 MiB, so its line numbers fit")
}
