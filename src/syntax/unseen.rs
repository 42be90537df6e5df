//! Words that a parser cannot make sense of, because another program takes them away before: calls of macros where the
//! language has no place for a call.

use std::borrow::Cow;
use std::ops::Range;

use regex::bytes::Regex;
use serde::Deserialize;

/// As it stands in `language.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patterns {
    /// What no word is looked for in, such as comments.
    apart: String,
    /// Where such words stand even in what is apart: every group of a match is one.
    #[serde(default)]
    anywhere: Vec<String>,
    /// Where such words stand elsewhere.
    words: Vec<String>,
}

/// Where the words stand that the parser is not shown.
#[derive(Debug, Default)]
pub struct Unseen {
    patterns: Vec<Regex>,
}

/// A text without its unseen words, and where they stood: ascending, apart from each other, none over two lines.
pub type Hidden<'a> = (Cow<'a, [u8]>, Vec<Range<usize>>);

impl Unseen {
    /// Compiles the patterns. Each is looked for line by line (`^` and `$`), behind what was found so far.
    pub fn new(patterns: &Patterns) -> Result<Self, regex::Error> {
        let anywhere = patterns.anywhere.iter().map(|word| format!("(?m){word}"));
        // What is apart comes first: what it takes away cannot be a part of another match.
        let words = patterns.words.iter().map(|word| format!("(?m){}|{word}", patterns.apart));
        Ok(Self { patterns: anywhere.chain(words).map(|word| Regex::new(&word)).collect::<Result<_, _>>()? })
    }

    /// Puts blanks over the unseen words.
    ///
    /// - `is_keyword`: the words that the language itself has, which are always seen.
    ///
    /// Cost: linear, for each pattern; one pattern looks at what those before it have left.
    pub fn hide<'a>(&self, text: &'a [u8], is_keyword: impl Fn(&[u8]) -> bool) -> Hidden<'a> {
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
