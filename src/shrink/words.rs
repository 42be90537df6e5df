//! Makes words shorter, everywhere at once: names, numbers, texts.

use crate::shrink::plan::Plan;
use crate::shrink::views::token_ranges;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Replaces each word by shorter ones until one of them keeps the failure: all occurrences of a word at once, the
/// words that take the most bytes first; then each occurrence alone.
///
/// Cost: at most [`MAX_TRIES`] probes for each different word, and as many for each occurrence.
#[derive(Clone)]
pub struct Shortening {
    text: Rc<[u8]>,
    /// The words that were not tried yet, in the order of the trials from the end.
    open: Vec<Word>,
    /// The replacements of the last open word, the next one last.
    tries: Vec<Vec<u8>>,
    has_hit: bool,
}

/// What is replaced.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Word {
    /// Bytes that its occurrences take.
    weight: usize,
    text: Vec<u8>,
}

/// A word has at most this many replacements.
const MAX_TRIES: usize = 4;

impl Shortening {
    /// Shortens the words of `text`.
    pub fn new(text: &Rc<[u8]>) -> Self {
        let mut weights: BTreeMap<&[u8], usize> = BTreeMap::new();
        for range in token_ranges(text) {
            let word = &text[range];
            if word.len() > 1 && is_word(word) {
                *weights.entry(word).or_default() += word.len();
            }
        }
        let mut open: Vec<Word> =
            weights.into_iter().map(|(text, weight)| Word { weight, text: text.to_vec() }).collect();
        open.sort();
        let mut shortening = Self { text: Rc::clone(text), open, tries: Vec::new(), has_hit: false };
        shortening.tries = shortening.replacements();
        shortening.settle();
        shortening
    }

    /// The replacements of the last open word, the first one last.
    fn replacements(&self) -> Vec<Vec<u8>> {
        let Some(word) = self.open.last() else { return Vec::new() };
        let is_number = word.text.iter().all(u8::is_ascii_digit);
        let mut tries: Vec<Vec<u8>> = if is_number {
            vec![b"0".to_vec(), b"1".to_vec()]
        } else {
            let used: Vec<&[u8]> = token_ranges(&self.text).into_iter().map(|range| &self.text[range]).collect();
            let fresh = (b'a'..=b'z').map(|letter| vec![letter]).find(|name| !used.contains(&name.as_slice()));
            let known = (b'a'..=b'z').map(|letter| vec![letter]).find(|name| used.contains(&name.as_slice()));
            fresh.into_iter().chain(known).collect()
        };
        tries.retain(|replacement| replacement.len() < word.text.len());
        tries.truncate(MAX_TRIES);
        tries.reverse();
        tries
    }

    fn settle(&mut self) {
        while self.tries.is_empty() && self.open.pop().is_some() {
            self.tries = self.replacements();
        }
    }
}

fn is_word(word: &[u8]) -> bool {
    word.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80)
}

impl Plan for Shortening {
    fn next(&self) -> Option<Vec<u8>> {
        let (word, replacement) = (self.open.last()?, self.tries.last()?);
        let mut content = Vec::with_capacity(self.text.len());
        for range in token_ranges(&self.text) {
            let token = &self.text[range];
            content.extend_from_slice(if token == word.text { replacement } else { token });
        }
        Some(content)
    }

    fn answer(&mut self, is_failing: bool) {
        self.has_hit = is_failing;
        if is_failing {
            if let Some(content) = self.next() {
                self.text = content.into();
            }
            self.tries.clear();
        } else {
            self.tries.pop();
        }
        self.settle();
    }

    fn odds(&self) -> f64 {
        if self.has_hit { 0.6 } else { 0.3 }
    }
}
