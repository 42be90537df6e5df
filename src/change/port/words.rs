//! Words: the texts of tokens as numbers, shared by the versions of a file.

use crate::keywords::without_keywords;
use std::collections::HashMap;

/// A text that occurs in some version. Equal texts have equal words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Word(pub u32);

/// Every word of the versions that are merged, in the order of their first occurrence.
#[derive(Debug, Default)]
pub(super) struct Words {
    numbers: HashMap<Vec<u8>, Word>,
}

impl Words {
    /// The word for the end of a text; it differs from all others.
    pub(super) const END: Word = Word(u32::MAX);

    /// The word of a text, without white space at its ends.
    pub(super) fn word(&mut self, text: &[u8]) -> Word {
        let text = without_keywords(text.trim_ascii());
        if let Some(word) = self.numbers.get(&*text) {
            return *word;
        }
        let word = Word(u32::try_from(self.numbers.len()).expect("texts of 1 MiB have fewer words"));
        self.numbers.insert(text.into_owned(), word);
        word
    }
}
