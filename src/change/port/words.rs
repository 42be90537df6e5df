//! Words: the texts of tokens as numbers, shared by the versions of a file.

use std::collections::HashMap;

/// A text that occurs in some version. Equal texts have equal words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Word(pub u32);

/// Every word of the versions that are merged, in the order in which they were met.
#[derive(Debug, Default)]
pub(super) struct Words {
    numbers: HashMap<Vec<u8>, Word>,
}

impl Words {
    /// The word of the end of a text: it is equal to no other.
    pub(super) const END: Word = Word(u32::MAX);

    /// The word of a text; white space at its ends does not count.
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

/// A text without what a version control system has written into it: `$Id: a.c,v 1.2 2004/05/31 $` is `$Id$`.
fn without_keywords(text: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    const KEYWORDS: [&[u8]; 6] = [b"$Id: ", b"$Revision: ", b"$Date: ", b"$Header: ", b"$Author: ", b"$Source: "];
    for keyword in KEYWORDS {
        let found = text.windows(keyword.len()).position(|window| window == keyword);
        let Some(start) = found else { continue };
        let value = start + keyword.len();
        let Some(length) = text[value..].iter().position(|byte| *byte == b'$') else { continue };
        return [&text[..value - 2], &text[value + length..]].concat().into();
    }
    text.into()
}
