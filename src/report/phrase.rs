//! Sentences with text of others in them, which each form of a report prints in its own way.

use crate::{Markdown, Terminal, Untrusted};

/// A part of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inline {
    /// Words of this program.
    Words(String),
    /// Text of others in the sentence. Markdown has no such text, so there it is code.
    Line(Untrusted),
    /// Text of others, as code.
    Code(Untrusted),
}

/// Words of this program.
pub fn words(words: impl Into<String>) -> Inline {
    Inline::Words(words.into())
}

/// Text of others in a sentence.
pub fn line(text: &Untrusted) -> Inline {
    Inline::Line(text.clone())
}

/// Text of others as code.
pub fn code(text: &Untrusted) -> Inline {
    Inline::Code(text.clone())
}

/// Texts of others as code, with words between them.
pub fn codes(texts: &[Untrusted], between: &str) -> Vec<Inline> {
    let separated = texts.iter().flat_map(|text| [words(between), code(text)]);
    separated.skip(1).collect()
}

/// `src/parse.c:8`.
pub fn place(file: &Untrusted, line: Option<impl Into<u64>>) -> Untrusted {
    let line = line.map(|line| format!(":{}", line.into())).unwrap_or_default();
    [file.as_bytes(), line.as_bytes()].concat().into()
}

impl Markdown {
    /// A sentence.
    pub fn phrase(self, parts: &[Inline]) -> String {
        let shown = parts.iter().map(|part| match part {
            Inline::Words(words) => words.clone(),
            Inline::Line(text) | Inline::Code(text) => self.code(text),
        });
        shown.collect()
    }
}

impl Terminal {
    /// Texts with words between them, in one line.
    pub fn lines(self, texts: &[Untrusted], between: &str) -> String {
        texts.iter().map(|text| self.line(text)).collect::<Vec<_>>().join(between)
    }
}
