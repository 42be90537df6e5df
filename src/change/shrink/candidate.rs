//! What is asked about, and what is known of it.

use crate::syntax::Language;
use std::rc::Rc;

/// An input: the content of each part, in the order of the parts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct InputCandidate {
    /// One content for each part.
    pub parts: Vec<Rc<[u8]>>,
}

impl InputCandidate {
    /// Bytes of all parts together.
    pub fn size(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum()
    }

    /// The same with another content of one part.
    #[must_use]
    pub fn with(&self, index: usize, content: Vec<u8>) -> Self {
        let mut parts = self.parts.clone();
        parts[index] = content.into();
        Self { parts }
    }
}

/// The form of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartForm {
    /// A file; its language if that is known.
    File(Option<&'static Language>),
    /// Words, each with a NUL after it.
    Words,
}

/// The state of a reduction, for its driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShrinkProgress {
    /// The smallest failing input so far.
    pub current: InputCandidate,
    /// The units that are being removed, in the plural.
    pub units: &'static str,
}
