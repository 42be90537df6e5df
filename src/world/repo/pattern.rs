//! Patterns of `.gitignore` and `.gitattributes`, on bytes.
//!
//! Paths are relative to the directory of the pattern's file, without a leading or trailing slash. The semantics are
//! those of git's `wildmatch`. Matching simulates all alternatives at once, because a recursive matcher takes
//! exponential time on patterns such as `**/**/**/x`, and patterns come from others.

use std::mem;

/// One pattern, compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    tokens: Vec<PatternToken>,
    /// Matches the last component only.
    is_basename: bool,
    /// Ended in `/`: matches directories only.
    pub is_directory_only: bool,
    /// Began with `!`.
    pub is_negated: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternToken {
    Byte(u8),
    /// `?`: one byte, never a slash.
    Any,
    /// `[...]`: one byte of the set, never a slash.
    Class(Box<[bool; 256]>),
    /// `*`: any bytes without a slash.
    Star,
    /// `**`: any bytes.
    Deep,
    /// `**/`: nothing, or any bytes that end in a slash.
    Directories,
}

impl Pattern {
    /// Compiles a pattern from the file, without comment and surrounding blanks.
    ///
    /// `None` if it can never match (an open bracket, a backslash at the end).
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (is_negated, text) = text.strip_prefix(b"!").map_or((false, text), |rest| (true, rest));
        let (is_directory_only, text) = text.strip_suffix(b"/").map_or((false, text), |rest| (true, rest));
        let is_basename = !text.contains(&b'/');
        let text = text.strip_prefix(b"/").unwrap_or(text);
        Some(Self { tokens: tokens(text, is_basename)?, is_basename, is_directory_only, is_negated })
    }

    /// Whether `path` matches, of any kind: the caller must check [`is_directory_only`](Self::is_directory_only).
    pub fn matches(&self, path: &[u8]) -> bool {
        let start =
            if self.is_basename { path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1) } else { 0 };
        accepts(&self.tokens, &path[start..])
    }
}

fn tokens(text: &[u8], is_basename: bool) -> Option<Vec<PatternToken>> {
    let mut tokens = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        tokens.push(match byte {
            b'?' => PatternToken::Any,
            b'\\' => {
                at += 1;
                PatternToken::Byte(*text.get(at - 1)?)
            }
            b'[' => {
                let (class, end) = class(text, at)?;
                at = end;
                PatternToken::Class(class)
            }
            b'*' => {
                let first = at - 1;
                while text.get(at) == Some(&b'*') {
                    at += 1;
                }
                let rest = &text[at..];
                let starts_component = first == 0 || text[first - 1] == b'/';
                let ends_component = rest.is_empty() || rest[0] == b'/' || rest.starts_with(b"\\/");
                if is_basename || at - first < 2 || !starts_component || !ends_component {
                    PatternToken::Star
                } else if rest.first() == Some(&b'/') {
                    at += 1;
                    PatternToken::Directories
                } else {
                    PatternToken::Deep
                }
            }
            other => PatternToken::Byte(other),
        });
    }
    Some(tokens)
}

/// Parses a bracket expression after its `[`; returns the set and the index after its `]`.
fn class(text: &[u8], mut at: usize) -> Option<(Box<[bool; 256]>, usize)> {
    let mut set = Box::new([false; 256]);
    let is_complement = matches!(text.get(at)?, b'!' | b'^');
    if is_complement {
        at += 1;
    }
    let first = at;
    let mut range_start = None;
    loop {
        let byte = *text.get(at)?;
        match byte {
            b']' if at > first => break,
            b'\\' => {
                at += 1;
                let literal = *text.get(at)?;
                set[usize::from(literal)] = true;
                range_start = Some(literal);
            }
            b'-' if range_start.is_some() && *text.get(at + 1)? != b']' => {
                at += 1;
                if text[at] == b'\\' {
                    at += 1;
                }
                let end = *text.get(at)?;
                range_start.into_iter().flat_map(|start| start..=end).for_each(|byte| set[usize::from(byte)] = true);
                range_start = None;
            }
            b'[' if text.get(at + 1) == Some(&b':') => {
                let from = at + 2;
                let close = from + text[from..].iter().position(|byte| *byte == b']')?;
                if close > from && text[close - 1] == b':' {
                    let is_member = named_class(&text[from..close - 1])?;
                    (0..=255u8).filter(is_member).for_each(|byte| set[usize::from(byte)] = true);
                    at = close;
                    range_start = None;
                } else {
                    set[usize::from(b'[')] = true;
                    range_start = Some(b'[');
                }
            }
            literal => {
                set[usize::from(literal)] = true;
                range_start = Some(literal);
            }
        }
        at += 1;
    }
    if is_complement {
        set.iter_mut().for_each(|member| *member = !*member);
    }
    set[usize::from(b'/')] = false;
    Some((set, at + 1))
}

fn named_class(name: &[u8]) -> Option<fn(&u8) -> bool> {
    Some(match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| matches!(byte, 0x20..=0x7e),
        b"punct" => u8::is_ascii_punctuation,
        b"space" => |byte| matches!(byte, b' ' | b'\t'..=b'\r'),
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    })
}

/// Cost: `tokens.len()` times `path.len()` steps.
fn accepts(tokens: &[PatternToken], path: &[u8]) -> bool {
    // `reached[i]`: the bytes so far can be matched by the first `i` tokens. A `**/` that has matched bytes can only be
    // left after a slash; one that has not can be skipped: hence the second vector.
    let mut reached = vec![false; tokens.len() + 1];
    let mut swallowing = vec![false; tokens.len()];
    reached[0] = true;
    skip_empty(tokens, &mut reached);
    let mut next_reached = reached.clone();
    let mut next_swallowing = swallowing.clone();
    for &byte in path {
        next_reached.fill(false);
        next_swallowing.fill(false);
        let mut is_alive = false;
        for (index, token) in tokens.iter().enumerate() {
            if !reached[index] && !swallowing[index] {
                continue;
            }
            match token {
                PatternToken::Byte(wanted) => next_reached[index + 1] |= byte == *wanted,
                PatternToken::Any => next_reached[index + 1] |= byte != b'/',
                PatternToken::Class(set) => next_reached[index + 1] |= set[usize::from(byte)],
                PatternToken::Star => next_reached[index] |= byte != b'/',
                PatternToken::Deep => next_reached[index] = true,
                PatternToken::Directories => {
                    next_swallowing[index] = true;
                    next_reached[index + 1] |= byte == b'/';
                }
            }
            is_alive |= next_reached[index] || next_reached[index + 1] || next_swallowing[index];
        }
        if !is_alive {
            return false;
        }
        skip_empty(tokens, &mut next_reached);
        mem::swap(&mut reached, &mut next_reached);
        mem::swap(&mut swallowing, &mut next_swallowing);
    }
    reached[tokens.len()]
}

fn skip_empty(tokens: &[PatternToken], reached: &mut [bool]) {
    for (index, token) in tokens.iter().enumerate() {
        if reached[index] && matches!(token, PatternToken::Star | PatternToken::Deep | PatternToken::Directories) {
            reached[index + 1] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, matching: &[&str], other: &[&str]) {
        let pattern = Pattern::parse(pattern.as_bytes());
        let is_match = |path: &&str| pattern.as_ref().is_some_and(|pattern| pattern.matches(path.as_bytes()));
        assert_eq!(matching.iter().filter(|path| !is_match(path)).collect::<Vec<_>>(), Vec::<&&str>::new());
        assert_eq!(other.iter().filter(|path| is_match(path)).collect::<Vec<_>>(), Vec::<&&str>::new());
    }

    #[test]
    fn a_pattern_without_a_slash_matches_the_last_component() {
        check("*.o", &["x.o", "deep/er/x.o", ".o"], &["x.c", "x.o/y"]);
        check("build", &["build", "a/build"], &["build/a", "builds"]);
    }

    #[test]
    fn a_pattern_with_a_slash_is_anchored() {
        check("/x.o", &["x.o"], &["a/x.o"]);
        check("a/*.o", &["a/x.o"], &["b/a/x.o", "a/b/x.o"]);
    }

    #[test]
    fn two_stars_cross_directories_only_as_a_whole_component() {
        check("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["a/xb", "ab"]);
        check("**/b", &["b", "x/b", "x/y/b"], &["xb"]);
        check("a/**", &["a/x", "a/x/y"], &["a", "ab/x"]);
        check("a/x**y/z", &["a/xqy/z"], &["a/x/y/z"]);
    }

    #[test]
    fn brackets_follow_git() {
        check("[a-c]x", &["ax", "cx"], &["dx", "-x"]);
        check("[!a-c]x", &["dx"], &["ax"]);
        check("[]x]", &["]", "x"], &["a"]);
        check("[[:digit:]-]", &["7", "-"], &["a"]);
        check("[a", &[], &["[a", "a"]);
        check("x\\", &[], &["x", "x\\"]);
        check("\\*", &["*"], &["x"]);
        check("a[/]b/c", &[], &["a/b/c"]);
        check("{a,b}", &["{a,b}"], &["a", "b"]);
    }

    #[test]
    fn a_pattern_that_explodes_in_a_recursive_matcher_is_answered_at_once() {
        let pattern = "**/".repeat(600) + "x";
        check(&pattern, &["x", "a/a/a/x"], &[&"a/".repeat(1000)]);
        check(&("*a".repeat(500) + "b"), &[], &[&"a".repeat(2000)]);
    }
}
