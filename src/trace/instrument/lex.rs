//! A place in a line of IR text, and how to step over what stands there.

use crate::instrument::Unsupported;
use crate::instrument::types::Type;

/// A place in a text; every step checks bounds, so a text cut short is [`Unsupported`] and never a panic.
#[derive(Debug, Clone, Copy)]
pub struct TextCursor<'t> {
    text: &'t str,
    at: usize,
}

/// Words that begin a constant, so that they are not taken for an attribute.
const CONSTANTS: [&str; 27] = [
    "true",
    "false",
    "null",
    "undef",
    "poison",
    "zeroinitializer",
    "none",
    "getelementptr",
    "ptrtoint",
    "inttoptr",
    "bitcast",
    "addrspacecast",
    "trunc",
    "zext",
    "sext",
    "add",
    "sub",
    "mul",
    "xor",
    "and",
    "or",
    "shl",
    "icmp",
    "blockaddress",
    "dso_local_equivalent",
    "no_cfi",
    "splat",
];

/// Constants of one word.
const ATOMS: [&str; 7] = ["true", "false", "null", "undef", "poison", "zeroinitializer", "none"];

impl<'t> TextCursor<'t> {
    /// Stands before the first character that is no space.
    pub fn new(text: &'t str) -> Self {
        let mut cursor = Self { text, at: 0 };
        cursor.skip_space();
        cursor
    }

    /// What is still to come.
    pub fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// The next byte; 0 at the end.
    pub fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn advance(&mut self, n_bytes: usize) {
        self.at += n_bytes;
        self.skip_space();
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
    }

    /// Steps over `part` and the space behind it, if it stands here. A word is not cut in two.
    pub fn eat(&mut self, part: &str) -> bool {
        let Some(rest) = self.rest().strip_prefix(part) else { return false };
        let is_cut = |byte: &u8| part.as_bytes().last().copied().is_some_and(is_word) && is_word(*byte);
        if rest.as_bytes().first().is_some_and(is_cut) {
            return false;
        }
        self.advance(part.len());
        true
    }

    /// Steps over `part`, which has to stand here.
    pub fn expect(&mut self, part: &str) -> Result<(), Unsupported> {
        if self.eat(part) { Ok(()) } else { Err(self.unexpected(part)) }
    }

    /// The complaint that something else stands here.
    pub fn unexpected(&self, what: &str) -> Unsupported {
        let found: String = self.rest().chars().take_while(|letter| *letter != '\n').take(40).collect();
        Unsupported::new(format!("expected {what}, found `{found}`"))
    }

    /// The word that stands here, without a step: letters, digits, `_`, `.`.
    pub fn peek_word(&self) -> &'t str {
        let rest = self.rest();
        let end = rest.bytes().position(|byte| !is_word(byte)).unwrap_or(rest.len());
        &rest[..end]
    }

    /// Steps over a word.
    pub fn word(&mut self) -> Result<&'t str, Unsupported> {
        let word = self.peek_word();
        if word.is_empty() {
            return Err(self.unexpected("a word"));
        }
        self.advance(word.len());
        Ok(word)
    }

    /// Steps over a decimal number, which may be negative.
    pub fn number<N: std::str::FromStr>(&mut self) -> Result<N, Unsupported> {
        let rest = self.rest();
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        let n_digits = digits.bytes().take_while(u8::is_ascii_digit).count();
        let end = rest.len() - digits.len() + n_digits;
        let number = rest[..end].parse().map_err(|_| self.unexpected("a number"))?;
        self.advance(end);
        Ok(number)
    }

    /// Steps over a name behind its sigil (`%`, `@`, `!`); the result has neither sigil nor quotes.
    pub fn name(&mut self, sigil: char) -> Result<&'t str, Unsupported> {
        let Some(rest) = self.rest().strip_prefix(sigil) else { return Err(self.unexpected(&format!("`{sigil}`"))) };
        if let Some(quoted) = rest.strip_prefix('"') {
            let end = quoted.find('"').ok_or_else(|| self.unexpected("a closing quote"))?;
            self.advance(end + 3);
            return Ok(&quoted[..end]);
        }
        let end = rest.bytes().position(|byte| !is_name(byte)).unwrap_or(rest.len());
        if end == 0 {
            return Err(self.unexpected("a name"));
        }
        self.advance(end + 1);
        Ok(&rest[..end])
    }

    /// Steps over a string in quotes; what is in it stays as it is written.
    pub fn string(&mut self) -> Result<&'t str, Unsupported> {
        let quoted = self.rest().strip_prefix('"').ok_or_else(|| self.unexpected("a string"))?;
        let end = quoted.find('"').ok_or_else(|| self.unexpected("a closing quote"))?;
        self.advance(end + 2);
        Ok(&quoted[..end])
    }

    /// Steps over a pair of brackets with all that is inside; the result is with the brackets.
    pub fn brackets(&mut self) -> Result<&'t str, Unsupported> {
        let rest = self.rest();
        let end = closing(rest).ok_or_else(|| self.unexpected("a closing bracket"))?;
        self.advance(end);
        Ok(&rest[..end])
    }

    /// Steps over everything up to a comma or a closing bracket that has no opening one here.
    pub fn part(&mut self) -> Result<&'t str, Unsupported> {
        let rest = self.rest();
        let mut at = 0;
        while let Some(byte) = rest.as_bytes().get(at) {
            match byte {
                b',' | b')' | b']' | b'}' => break,
                b'(' | b'[' | b'{' | b'"' => {
                    at += closing(&rest[at..]).ok_or_else(|| self.unexpected("a closing bracket"))?;
                }
                _ => at += 1,
            }
        }
        self.advance(at);
        Ok(rest[..at].trim_end())
    }

    /// Whether a value stands here, and no attribute.
    pub fn is_at_value(&self) -> bool {
        match self.peek() {
            b'%' | b'@' | b'-' | b'0'..=b'9' | b'<' | b'[' | b'{' | b'"' => true,
            b'c' if self.rest().starts_with("c\"") => true,
            _ => CONSTANTS.contains(&self.peek_word()),
        }
    }

    /// Steps over the attributes of a parameter or an argument; returns the type of the copy that the function gets of it in memory (`byval`).
    pub fn passed(&mut self) -> Result<Option<Type>, Unsupported> {
        let mut copied = None;
        while !self.is_at_value() && !self.peek_word().is_empty() {
            if self.peek_word() == "byval" {
                self.word()?;
                self.expect("(")?;
                copied = Some(self.ty()?);
                self.expect(")")?;
            } else {
                self.skip_attribute()?;
            }
        }
        Ok(copied)
    }

    /// Steps over one attribute.
    pub fn skip_attribute(&mut self) -> Result<(), Unsupported> {
        let word = self.word()?;
        if self.peek() == b'(' {
            self.brackets()?;
        } else if matches!(word, "align" | "cc" | "alignstack") && self.peek().is_ascii_digit() {
            self.number::<u64>()?;
        }
        Ok(())
    }

    /// Steps over a value, which may be a constant expression.
    pub fn value(&mut self) -> Result<&'t str, Unsupported> {
        let begin = self.at;
        loop {
            match self.peek() {
                b'%' => drop(self.name('%')?),
                b'@' => drop(self.name('@')?),
                b'<' | b'[' | b'{' | b'(' => drop(self.brackets()?),
                b'c' if self.rest().starts_with("c\"") => {
                    self.at += 1;
                    self.string()?;
                }
                b'-' | b'0'..=b'9' => {
                    let rest = self.rest();
                    let end = rest.bytes().position(|byte| !is_name(byte) && byte != b'+').unwrap_or(rest.len());
                    self.advance(end);
                }
                _ => {
                    // The operation of a constant expression, and its flags, end with a bracket or a name.
                    let word = self.word()?;
                    if word == "inrange" {
                        self.brackets()?;
                    }
                    if !ATOMS.contains(&word) {
                        continue;
                    }
                }
            }
            return Ok(self.text[begin..self.at].trim_end());
        }
    }
}

/// Whether a byte can stand in a word.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
}

/// Whether a byte can stand in a name without quotes.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'-')
}

/// Bytes up to behind the bracket or quote that closes the one at the beginning.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut is_quoted = false;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => continue,
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' | b'>' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 && !is_quoted {
            return Some(index + 1);
        }
    }
    None
}

/// A name as the text has it.
pub fn written(sigil: char, name: &str) -> String {
    if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.$-".contains(&byte)) {
        format!("{sigil}{name}")
    } else {
        format!("{sigil}\"{name}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str, rest: &str) {
        let mut cursor = TextCursor::new(text);
        assert_eq!(cursor.value().unwrap(), expected);
        assert_eq!(cursor.rest(), rest);
    }

    #[test]
    fn a_value_ends_where_it_ends() {
        check("%a.addr, align 4", "%a.addr", ", align 4");
        check("@\"a b\" to ptr", "@\"a b\"", "to ptr");
        check("-1.5e+00, !dbg !3", "-1.5e+00", ", !dbg !3");
        check(
            "getelementptr inbounds (i8, ptr @x, i64 4), i64 0",
            "getelementptr inbounds (i8, ptr @x, i64 4)",
            ", i64 0",
        );
        check("c\"a,\\22)\\00\", align", "c\"a,\\22)\\00\"", ", align");
        check("<4 x i32>", "<4 x i32>", "");
        check("zeroinitializer]", "zeroinitializer", "]");
        check(
            "getelementptr inbounds inrange(-16, 8) ({ [3 x ptr] }, ptr @_ZTV1A, i32 0, i32 0, i32 2), ptr %this",
            "getelementptr inbounds inrange(-16, 8) ({ [3 x ptr] }, ptr @_ZTV1A, i32 0, i32 0, i32 2)",
            ", ptr %this",
        );
        check("dso_local_equivalent @f)", "dso_local_equivalent @f", ")");
    }

    #[test]
    fn attributes_end_where_the_value_begins() {
        let mut cursor = TextCursor::new("noundef byval(%struct.s) align 8 captures(none) %x)");
        assert!(cursor.passed().unwrap().is_some());
        assert_eq!(cursor.rest(), "%x)");
    }

    #[test]
    fn a_text_cut_short_is_an_error() {
        for text in ["", "%", "@\"a", "c\"", "getelementptr inbounds (i8", "[2 x", "getelementptr"] {
            assert!(TextCursor::new(text).value().is_err(), "{text}");
        }
    }
}
