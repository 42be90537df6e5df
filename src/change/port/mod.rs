//! Merges a patch by the syntax of the language, where a merge by lines conflicts.
//!
//! [`merge_syntax`] splits three versions of a file into tokens and syntax units, merges those, and writes the result
//! in the formatting of ours. Nothing here knows files or repositories: it is an engine over texts. It is part of
//! `change` and not of `hunt`, because the store of trees uses it, and the store must not know hunts. Start reading at
//! [`merge`](mod@merge).

mod align;
mod follow;
mod matching;
mod merge;
mod renames;
mod render;
mod trivia;
mod version;
mod words;

#[cfg(test)]
mod tests;

pub use follow::{Elsewhere, Followed, follow};

use crate::port::merge::{Balance, Conflict, MergeSide, Merger, count};
use crate::port::renames::Renamed;
use crate::port::version::FileVersion;
use crate::port::words::VersionWords;
use crate::syntax::Language;
use crate::trees::Rung;

/// Applies the edits `base` -> `patched` to `ours` by syntax; `None` if they conflict or a version cannot be parsed.
///
/// - Declarations are matched by name and signature, or else by name, or else by content, wherever they are in the
///   file.
/// - Only tokens are compared, not formatting. The result has the white space and the comments of ours. New tokens of
///   the patch keep their own, with the indentation of ours.
/// - Both sides may edit different statements of a function, and different parts of one statement with some tokens
///   between.
/// - If both sides add something where order has no meaning, both additions are kept: first that of ours.
/// - If ours has renamed something throughout, the new name is used in the additions of the patch ([`Rung::Renamed`]).
///
/// The result is checked: it has no more syntax errors than the worst of the three versions, it parses into the merged
/// tokens, and its words are exactly those of ours with the additions and deletions of the patch. Cost: bounded work,
/// linear in the size of similar texts.
pub fn merge_syntax(language: &Language, base: &[u8], ours: &[u8], patched: &[u8]) -> Option<(Vec<u8>, Rung)> {
    let mut words = VersionWords::default();
    let [base, ours, patched] = [base, ours, patched].map(|text| FileVersion::read(language, text, &mut words));
    let (base, ours, patched) = (base?, ours?, patched?);
    let mut merger = Merger::new(&base, &ours, &patched);
    let plain = finish(language, [&base, &ours, &patched], &mut merger, &mut words);
    let (to_ours, to_patched) = merger.matchings();
    let renamed = Renamed::find(&base, &ours, &patched, to_ours, to_patched);
    let brought = merger.out.iter().filter_map(|out| match out.text {
        (MergeSide::Patched, at) => Some(patched.words[at]),
        (MergeSide::Ours, _) => None,
    });
    if renamed.is_empty() || plain.is_some() && !renamed.concerns(brought) {
        return Some((plain?, Rung::Syntax));
    }
    let spelling = ours.tokens.iter().map(|token| (token.word, &ours.text[token.text.clone()])).collect();
    let itself: Vec<Option<usize>> = (0..base.units.len()).map(Some).collect();
    let new_base = renamed.apply(&base, &itself, &spelling);
    let new_patched = renamed.apply(&patched, &merger.matchings().1.backward, &spelling);
    let new_base = FileVersion::read(language, &new_base, &mut words)?;
    let new_patched = FileVersion::read(language, &new_patched, &mut words)?;
    let mut merger = Merger::new(&new_base, &ours, &new_patched);
    match finish(language, [&new_base, &ours, &new_patched], &mut merger, &mut words) {
        Some(text) => Some((text, Rung::Renamed)),
        None => Some((plain?, Rung::Syntax)),
    }
}

/// The share of common words of two texts, in percent; `None` if one cannot be parsed.
pub fn likeness(language: &Language, one: &[u8], other: &[u8]) -> Option<usize> {
    let mut words = VersionWords::default();
    let [one, other] = [one, other].map(|text| FileVersion::read(language, text, &mut words));
    let mut balance = Balance::new();
    let (one, other) = (one?, other?);
    count(&mut balance, &one.words, 1);
    count(&mut balance, &other.words, -1);
    let n_words = one.words.len() + other.words.len();
    let n_single: usize = balance.values().map(|by| by.unsigned_abs()).sum();
    Some(100 * (n_words - n_single) / n_words)
}

/// Whether two texts have the same tokens, so only white space and comments can differ.
pub fn is_reformatted(language: &Language, one: &[u8], other: &[u8]) -> bool {
    let mut words = VersionWords::default();
    match [one, other].map(|text| FileVersion::read(language, text, &mut words)) {
        [Some(one), Some(other)] => one.words == other.words,
        _ => false,
    }
}

/// Merges, writes and checks.
fn finish(
    language: &Language,
    versions: [&FileVersion; 3],
    merger: &mut Merger,
    words: &mut VersionWords,
) -> Option<Vec<u8>> {
    merger.run().ok()?;
    let text = render::render(versions[1], versions[2], &merger.out);
    check(language, versions, merger, &text, words).ok()?;
    Some(text)
}

/// Whether the text of a merge is correct; see [`merge_syntax`].
fn check(
    language: &Language,
    [base, ours, patched]: [&FileVersion; 3],
    merger: &Merger,
    text: &[u8],
    words: &mut VersionWords,
) -> Result<(), Conflict> {
    let read = FileVersion::read(language, text, words).ok_or(Conflict)?;
    let meant = merger.out.iter().map(|out| match out.text {
        (MergeSide::Ours, at) => (ours.words[at], ours.tokens[at].kind),
        (MergeSide::Patched, at) => (patched.words[at], patched.tokens[at].kind),
    });
    if !meant.eq(read.tokens.iter().map(|token| (token.word, token.kind)))
        || read.n_errors > base.n_errors.max(ours.n_errors).max(patched.n_errors)
    {
        return Err(Conflict);
    }
    let mut balance: Balance = merger.common.clone();
    for (version, by) in [(&read, 1), (ours, -1), (patched, -1), (base, 1)] {
        count(&mut balance, &version.words, by);
    }
    if balance.values().all(|by| *by == 0) { Ok(()) } else { Err(Conflict) }
}
