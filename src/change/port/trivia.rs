//! White space and comments between tokens.

use crate::{Touching, merge_lines};
use std::borrow::Cow;

/// White space and comments before or after a token of the result.
#[derive(Debug, Clone)]
pub(super) struct Trivia<'text> {
    pub bytes: Cow<'text, [u8]>,
    /// Whether it has the indentation of the patched version, not that of ours.
    pub is_foreign: bool,
}

impl<'text> Trivia<'text> {
    pub(super) fn ours(bytes: &'text [u8]) -> Self {
        Self { bytes: bytes.into(), is_foreign: false }
    }

    /// A text that only the patched version has.
    pub(super) fn foreign(bytes: &'text [u8]) -> Self {
        Self { bytes: bytes.into(), is_foreign: true }
    }

    /// Merges the text of all three versions. It never conflicts: if both sides changed the same line of a comment,
    /// ours wins.
    pub(super) fn merged(base: &'text [u8], ours: &'text [u8], patched: &'text [u8]) -> Self {
        if base == ours {
            return Self { bytes: patched.into(), is_foreign: false };
        }
        if is_alike(base, patched) || is_alike(ours, patched) {
            return Self::ours(ours);
        }
        if is_alike(base, ours) {
            return Self::foreign(patched);
        }
        match merge_lines(base, ours, patched, Touching::Joined) {
            Some(merged) => Self { bytes: merged.into(), is_foreign: false },
            None => Self::ours(ours),
        }
    }
}

/// Whether two texts differ only in white space.
fn is_alike(one: &[u8], two: &[u8]) -> bool {
    let letters = |text: &[u8]| text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect::<Vec<u8>>();
    letters(one) == letters(two)
}
