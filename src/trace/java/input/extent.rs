//! Which bytes of an input a call read: from its result, and from the content of the input if that is known.

use crate::java::input::table::InputExtent;
use crate::java::input::{GivenBytes, PendingRead};

/// The first byte and the number of bytes, as far as they are known, and whether they are certain.
pub type InputBytes = (Option<u64>, Option<u64>, bool);

/// Bytes that are not known.
const UNKNOWN: InputBytes = (None, None, false);

/// How far an input was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputCursor {
    /// The content, if it is known.
    content: Option<Vec<u8>>,
    /// The next byte, if it is known.
    at: Option<usize>,
    /// Whether that is certain.
    is_exact: bool,
    /// The place that was noted.
    mark: (Option<usize>, bool),
}

/// The bytes of a value that was read as a whole.
pub fn whole(given: &GivenBytes) -> InputBytes {
    match given {
        GivenBytes::Text(text, true) => (Some(0), Some(text.len() as u64), true),
        _ => UNKNOWN,
    }
}

impl InputCursor {
    /// The beginning of an input.
    pub fn new(content: Option<Vec<u8>>) -> Self {
        Self { content, at: Some(0), is_exact: true, mark: (None, false) }
    }

    pub fn read(&mut self, seen: &PendingRead) -> InputBytes {
        let length = self.content.as_ref().map(Vec::len);
        match (seen.extent, &seen.given) {
            (InputExtent::Mark, _) => {
                self.mark = (self.at, self.is_exact);
                UNKNOWN
            }
            (InputExtent::Reset, _) => {
                (self.at, self.is_exact) = self.mark;
                UNKNOWN
            }
            (InputExtent::Whole, _) => (Some(0), length.map(|length| length as u64), length.is_some()),
            (InputExtent::Looks, _) => (self.at.map(|at| at as u64), Some(0), true),
            (InputExtent::Line | InputExtent::Bytes | InputExtent::Characters, GivenBytes::End) => {
                self.take(length.or(self.at), 0)
            }
            (InputExtent::Rest, _) => {
                let n = self.at.zip(length).map(|(at, length)| length.saturating_sub(at));
                self.taken(n)
            }
            (InputExtent::Line, GivenBytes::Text(text, is_whole)) => self.line(text, *is_whole),
            (InputExtent::Word, given) => self.word(given),
            (InputExtent::Bytes, GivenBytes::Number(_)) if seen.is_single => self.taken(Some(1)),
            (InputExtent::Bytes, GivenBytes::Number(n)) => self.taken(usize::try_from(*n).ok()),
            (InputExtent::Characters, GivenBytes::Number(code)) if seen.is_single => {
                let character = u32::try_from(*code).ok().and_then(char::from_u32);
                let fits = |rest: &str| rest.chars().next() == character;
                let n = character.map(char::len_utf8);
                self.characters(n, &fits)
            }
            (InputExtent::Characters, GivenBytes::Number(n)) => {
                let n = usize::try_from(*n).unwrap_or(usize::MAX);
                let rest = self.rest().and_then(|rest| std::str::from_utf8(rest).ok());
                let n_bytes = rest.map(|rest| length_of(rest, n));
                if rest.is_none() {
                    self.is_exact = false;
                }
                self.taken(n_bytes.or(Some(n)))
            }
            _ => self.taken(None),
        }
    }

    /// What is not read yet, if that is known.
    fn rest(&self) -> Option<&[u8]> {
        self.content.as_ref()?.get(self.at?..)
    }

    fn take(&mut self, at: Option<usize>, n: usize) -> InputBytes {
        self.at = at;
        self.taken(Some(n))
    }

    /// Goes on by a number of bytes.
    fn taken(&mut self, n: Option<usize>) -> InputBytes {
        let begin = self.at;
        self.at = begin.zip(n).and_then(|(begin, n)| begin.checked_add(n));
        match begin {
            Some(begin) => (Some(begin as u64), n.map(|n| n as u64), self.is_exact && n.is_some()),
            None => UNKNOWN,
        }
    }

    /// Goes on by characters, if what is known of the content is what was read.
    fn characters(&mut self, n: Option<usize>, fits: &dyn Fn(&str) -> bool) -> InputBytes {
        if let Some(rest) = self.rest() {
            let is_there = n.and_then(|n| std::str::from_utf8(rest.get(..n)?).ok()).is_some_and(fits);
            return self.taken(n.filter(|_| is_there));
        }
        self.is_exact &= n == Some(1);
        self.taken(n)
    }

    fn line(&mut self, text: &str, is_whole: bool) -> InputBytes {
        let Some(rest) = self.rest() else {
            self.is_exact = false;
            return self.taken(is_whole.then_some(text.len() + 1));
        };
        let end = rest.iter().position(|byte| *byte == b'\n');
        let line = &rest[..end.unwrap_or(rest.len())];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let is_same = if is_whole { line == text.as_bytes() } else { line.starts_with(text.as_bytes()) };
        let n = end.map_or(rest.len(), |end| end + 1);
        self.taken(Some(n).filter(|_| is_same))
    }

    fn word(&mut self, given: &GivenBytes) -> InputBytes {
        let Some(rest) = self.rest() else { return self.taken(None) };
        let is_blank = |byte: &u8| byte.is_ascii_whitespace();
        let blank = rest.iter().take_while(|byte| is_blank(byte)).count();
        let n = rest[blank..].iter().take_while(|byte| !is_blank(byte)).count();
        let word = &rest[blank..blank + n];
        let is_same = match given {
            GivenBytes::Text(text, is_whole) => {
                if *is_whole {
                    word == text.as_bytes()
                } else {
                    word.starts_with(text.as_bytes())
                }
            }
            GivenBytes::Number(number) => word == number.to_string().as_bytes(),
            // A negative number, a number with a fraction, or a truth value.
            GivenBytes::End | GivenBytes::Unknown => n > 0,
        };
        if !is_same {
            return self.taken(None);
        }
        self.at = self.at.map(|at| at + blank);
        self.taken(Some(n))
    }
}

/// The bytes of so many characters of Java, which have 16 bits.
fn length_of(text: &str, n: usize) -> usize {
    let mut left = n;
    let taken = text.chars().take_while(|character| {
        let is_there = left >= character.len_utf16();
        left = left.saturating_sub(character.len_utf16());
        is_there
    });
    taken.map(char::len_utf8).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Step;
    use crate::input::InputSource;

    fn read(extent: InputExtent, given: GivenBytes, is_single: bool) -> PendingRead {
        let source = InputSource::Standard;
        PendingRead { open: Some(0), source, extent, is_single, given, step: Step(1), function: None, place: None }
    }

    fn text(text: &str) -> GivenBytes {
        GivenBytes::Text(text.into(), true)
    }

    #[test]
    fn lines_words_and_characters_are_found_in_the_content() {
        let mut cursor = InputCursor::new(Some("a b\r\n12 é7\nrest".as_bytes().to_vec()));
        let mut check = |extent, given, is_single, expected| {
            assert_eq!(cursor.read(&read(extent, given, is_single)), expected);
        };
        check(InputExtent::Line, text("a b"), true, (Some(0), Some(5), true));
        check(InputExtent::Looks, GivenBytes::Number(1), true, (Some(5), Some(0), true));
        check(InputExtent::Mark, GivenBytes::Unknown, false, UNKNOWN);
        check(InputExtent::Characters, GivenBytes::Number(49), true, (Some(5), Some(1), true));
        check(InputExtent::Reset, GivenBytes::Unknown, false, UNKNOWN);
        check(InputExtent::Word, GivenBytes::Number(12), true, (Some(5), Some(2), true));
        check(InputExtent::Characters, GivenBytes::Number(32), true, (Some(7), Some(1), true));
        check(InputExtent::Characters, GivenBytes::Number(2), false, (Some(8), Some(3), true));
        check(InputExtent::Rest, GivenBytes::Unknown, true, (Some(11), Some(5), true));
        check(InputExtent::Line, GivenBytes::End, true, (Some(16), Some(0), true));
        check(InputExtent::Whole, GivenBytes::Unknown, true, (Some(0), Some(16), true));
    }

    #[test]
    fn what_does_not_fit_or_has_no_known_content_is_not_certain() {
        let mut other = InputCursor::new(Some(b"xyz\n".to_vec()));
        assert_eq!(other.read(&read(InputExtent::Line, text("a"), true)), (Some(0), None, false));
        assert_eq!(other.read(&read(InputExtent::Line, text("b"), true)), UNKNOWN);
        let mut unknown = InputCursor::new(None);
        assert_eq!(unknown.read(&read(InputExtent::Bytes, GivenBytes::Number(4), false)), (Some(0), Some(4), true));
        assert_eq!(unknown.read(&read(InputExtent::Line, text("ab"), true)), (Some(4), Some(3), false));
        assert_eq!(unknown.read(&read(InputExtent::Bytes, GivenBytes::Number(10), true)), (Some(7), Some(1), false));
        assert_eq!(unknown.read(&read(InputExtent::Word, text("a"), true)), (Some(8), None, false));
        assert_eq!(whole(&text("é")), (Some(0), Some(2), true));
        assert_eq!(whole(&GivenBytes::Unknown), UNKNOWN);
    }
}
