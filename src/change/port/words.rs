//! Words: the texts of tokens as numbers, shared by the versions of a file.

use crate::keywords::without_keywords;
use std::collections::HashMap;

/// A text that occurs in some version. Equal texts have equal words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct VersionWord(pub u32);

/// Every word of the versions that are merged, in the order of their first occurrence.
#[derive(Debug, Default)]
pub(super) struct VersionWords {
    numbers: HashMap<Vec<u8>, VersionWord>,
}

impl VersionWords {
    /// The word for the end of a text; it differs from all others.
    pub(super) const END: VersionWord = VersionWord(u32::MAX);

    /// The word of a text, without white space at its ends.
    pub(super) fn word(&mut self, text: &[u8]) -> VersionWord {
        let text = without_keywords(text.trim_ascii());
        if let Some(word) = self.numbers.get(&*text) {
            return *word;
        }
        let word = VersionWord(u32::try_from(self.numbers.len()).expect("texts of 1 MiB have fewer words"));
        self.numbers.insert(text.into_owned(), word);
        word
    }
}
