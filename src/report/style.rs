//! Colours, as in git.

use std::fmt;

/// Whether output has colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    is_coloured: bool,
}

/// The role of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRole {
    /// The id of a commit.
    Commit,
    /// A heading, or the header of a file in a patch.
    Heading,
    /// The header of a hunk.
    Hunk,
    /// An added line, or good news.
    Added,
    /// A removed line, or bad news.
    Removed,
    /// A warning.
    Warning,
    /// Text of less importance.
    Faint,
}

impl TextRole {
    fn code(self) -> &'static str {
        match self {
            Self::Commit | Self::Warning => "33",
            Self::Heading => "1",
            Self::Hunk => "36",
            Self::Added => "32",
            Self::Removed => "31",
            Self::Faint => "2",
        }
    }
}

impl Style {
    /// No colour.
    pub const PLAIN: Self = Self { is_coloured: false };

    /// Colour.
    pub const COLOURED: Self = Self { is_coloured: true };

    /// `text` in the colour of `role`. `text` must be escaped already.
    pub fn paint<T: fmt::Display>(self, role: TextRole, text: T) -> Painted<T> {
        Painted { style: self, role, text }
    }

    /// The escape sequences before and after text in the colour of `role`.
    pub fn brackets(self, role: TextRole) -> (String, &'static str) {
        if self.is_coloured { (format!("\x1b[{}m", role.code()), "\x1b[m") } else { (String::new(), "") }
    }
}

/// A piece of text with its colour.
#[derive(Debug)]
pub struct Painted<T> {
    style: Style,
    role: TextRole,
    text: T,
}

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = self.style.brackets(self.role);
        write!(f, "{before}{}{after}", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_there_only_when_it_is_asked_for() {
        assert_eq!(Style::PLAIN.paint(TextRole::Added, "+x").to_string(), "+x");
        assert_eq!(Style::COLOURED.paint(TextRole::Added, "+x").to_string(), "\x1b[32m+x\x1b[m");
    }
}
