//! Replaces words by shorter or simpler ones: names, numbers, texts.

use crate::shrink::plan::ShrinkPlan;
use crate::shrink::views::token_ranges;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

/// Replaces all occurrences of a word at once, the words that take the most bytes first; or each occurrence alone. The
/// replacements are a new name, and the most frequent words of the text, numbers for numbers first. Equal words make
/// other units removable.
///
/// Each success makes the text shorter, or not longer and smaller in the order of bytes.
///
/// Cost: at most [`MAX_TRIES`] probes for each different word, and [`MAX_TRIES_ALONE`] for each occurrence.
#[derive(Clone)]
pub struct Shortening {
    text: Rc<[u8]>,
    /// The targets that were not tried yet, the next one last.
    open: Vec<ReplacedWord>,
    /// The replacements for the last open target, the next one last.
    tries: Vec<Vec<u8>>,
    is_shorter: bool,
    has_hit: bool,
}

#[derive(Clone)]
enum ReplacedWord {
    /// All occurrences of this word.
    All(Vec<u8>),
    /// The token with this number.
    Alone(usize),
}

/// A word has at most this many replacements.
const MAX_TRIES: usize = 4;

/// A single occurrence of a word has at most this many replacements.
const MAX_TRIES_ALONE: usize = 3;

/// Single occurrences are replaced in a text with at most this many tokens.
const MAX_TOKENS_ALONE: usize = 200;

impl Shortening {
    /// Replaces the words of `text` everywhere.
    ///
    /// - `is_shorter`: only by shorter words; the others succeed rarely.
    pub fn of_words(text: &Rc<[u8]>, is_shorter: bool) -> Self {
        Self::new(text, words(text).into_iter().rev().map(ReplacedWord::All).collect(), is_shorter)
    }

    /// Replaces single occurrences of words; none in a long text.
    pub fn of_occurrences(text: &Rc<[u8]>) -> Self {
        let n_tokens = token_ranges(text).len();
        let n_tried = if n_tokens <= MAX_TOKENS_ALONE { n_tokens } else { 0 };
        Self::new(text, (0..n_tried).map(ReplacedWord::Alone).collect(), false)
    }

    fn new(text: &Rc<[u8]>, open: Vec<ReplacedWord>, is_shorter: bool) -> Self {
        let mut shortening = Self { text: Rc::clone(text), open, tries: Vec::new(), is_shorter, has_hit: false };
        shortening.tries = shortening.replacements();
        shortening.settle();
        shortening
    }

    /// The replacements for the last open target, the first one last.
    fn replacements(&self) -> Vec<Vec<u8>> {
        let tokens;
        let (word, n_tries) = match self.open.last() {
            None => return Vec::new(),
            Some(ReplacedWord::All(word)) => (&word[..], MAX_TRIES),
            Some(ReplacedWord::Alone(index)) => {
                tokens = token_ranges(&self.text);
                let token = tokens.get(*index).cloned().unwrap_or_default();
                (&self.text[token], MAX_TRIES_ALONE)
            }
        };
        if !is_word(word) {
            return Vec::new();
        }
        let words = words(&self.text);
        let fresh = || (b'a'..=b'z').map(|letter| vec![letter]).find(|name| !words.contains(name));
        let is_number = |word: &[u8]| word.iter().all(u8::is_ascii_digit);
        let mut tries: Vec<Vec<u8>> = match self.open.last() {
            _ if is_number(word) => vec![b"0".to_vec(), b"1".to_vec()],
            Some(ReplacedWord::All(_)) => fresh().into_iter().collect(),
            _ => Vec::new(),
        };
        let (alike, others): (Vec<_>, Vec<_>) = words.iter().partition(|other| is_number(other) == is_number(word));
        tries.extend(alike.into_iter().chain(others).cloned());
        let is_smaller = |other: &Vec<u8>| match other.len().cmp(&word.len()) {
            Ordering::Less => true,
            Ordering::Equal => !self.is_shorter && other[..] < *word,
            Ordering::Greater => false,
        };
        tries.retain(is_smaller);
        tries.truncate(n_tries);
        tries.reverse();
        tries
    }

    fn settle(&mut self) {
        while self.tries.is_empty() && self.open.pop().is_some() {
            self.tries = self.replacements();
        }
    }
}

/// The different words of a text, those that take the most bytes first.
fn words(text: &[u8]) -> Vec<Vec<u8>> {
    let mut weights: BTreeMap<&[u8], usize> = BTreeMap::new();
    for range in token_ranges(text) {
        let word = &text[range];
        if is_word(word) {
            *weights.entry(word).or_default() += word.len();
        }
    }
    let mut words: Vec<(&[u8], usize)> = weights.into_iter().collect();
    words.sort_by_key(|(word, weight)| (std::cmp::Reverse(*weight), *word));
    words.into_iter().map(|(word, _)| word.to_vec()).collect()
}

fn is_word(word: &[u8]) -> bool {
    !word.is_empty() && word.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80)
}

impl ShrinkPlan for Shortening {
    fn next(&self) -> Option<Vec<u8>> {
        let (target, replacement) = (self.open.last()?, self.tries.last()?);
        let mut content = Vec::with_capacity(self.text.len());
        let is_meant = |index: usize, token: &Range<usize>| match target {
            ReplacedWord::All(word) => self.text[token.clone()] == word[..],
            ReplacedWord::Alone(number) => index == *number,
        };
        for (index, token) in token_ranges(&self.text).into_iter().enumerate() {
            let is_meant = is_meant(index, &token);
            content.extend_from_slice(if is_meant { replacement } else { &self.text[token] });
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
