//! Words that a parser cannot understand, because the preprocessor removes them: calls of macros at places where the
//! language allows no call.

use std::borrow::Cow;
use std::ops::Range;

use regex::bytes::Regex;
use serde::Deserialize;

/// The table in `language.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patterns {
    /// Text in which no word is searched, such as comments.
    apart: String,
    /// Patterns of such words that also match in that text; every group of a match is a word.
    #[serde(default)]
    anywhere: Vec<String>,
    /// Patterns of such words elsewhere.
    words: Vec<String>,
}

/// Finds the words that are hidden from the parser.
#[derive(Debug, Default)]
pub struct Unseen {
    patterns: Vec<Regex>,
}

/// A text without its hidden words, and their ranges: ascending, not adjacent, each within one line.
pub type UnseenText<'a> = (Cow<'a, [u8]>, Vec<Range<usize>>);

impl Unseen {
    /// Compiles the patterns. Each is searched line by line (`^` and `$`), after the previous match.
    pub fn new(patterns: &Patterns) -> Result<Self, regex::Error> {
        let anywhere = patterns.anywhere.iter().map(|word| format!("(?m){word}"));
        // Excluded text comes first, so it cannot be a part of another match.
        let words = patterns.words.iter().map(|word| format!("(?m){}|{word}", patterns.apart));
        Ok(Self { patterns: anywhere.chain(words).map(|word| Regex::new(&word)).collect::<Result<_, _>>()? })
    }

    /// Replaces the hidden words by blanks.
    ///
    /// - `is_keyword`: the keywords of the language, which are never hidden.
    ///
    /// Cost: linear for each pattern; a pattern searches the text that earlier patterns have left.
    pub fn hide<'a>(&self, text: &'a [u8], is_keyword: impl Fn(&[u8]) -> bool) -> UnseenText<'a> {
        let mut shown = Cow::Borrowed(text);
        let mut hidden = Vec::new();
        for pattern in &self.patterns {
            let groups = |captures: regex::bytes::Captures| -> Vec<_> {
                captures.iter().skip(1).flatten().map(|group| group.range()).collect()
            };
            let mut found: Vec<Range<usize>> = pattern.captures_iter(&shown).flat_map(groups).collect();
            found.retain(|word| {
                let bytes = &shown[word.clone()];
                !bytes.is_empty() && !bytes.contains(&b'\n') && !is_keyword(bytes)
            });
            for word in &found {
                shown.to_mut()[word.clone()].fill(b' ');
            }
            hidden.extend(found);
        }
        hidden.sort_by_key(|word| word.start);
        (shown, hidden)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_blanked_except_keywords_and_what_is_apart() {
        let patterns = Patterns {
            apart: "#.*".into(),
            anywhere: vec![],
            words: vec![r"\b([a-z]+) (int)\b".into(), r"^ *(b)$".into()],
        };
        let unseen = Unseen::new(&patterns).unwrap();
        let (shown, hidden) =
            unseen.hide(b"api int f\n# api int\nstatic int\n  b\n", |word| word != b"api" && word != b"b");
        assert_eq!(String::from_utf8_lossy(&shown), "    int f\n# api int\nstatic int\n   \n");
        assert_eq!(hidden, [0..3, 33..34]);
    }

    #[test]
    fn without_patterns_a_text_is_shown_as_it_is() {
        let (shown, hidden) = Unseen::default().hide(b"api int f", |_| false);
        assert_eq!((shown, hidden), (Cow::Borrowed(&b"api int f"[..]), vec![]));
    }
}
