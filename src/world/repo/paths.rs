//! Checks which names of a tree may become names of files.
//!
//! Pure. It refuses names that could lead outside of the directory, names that git would treat as its own `.git` (on
//! any file system: those of Windows and macOS know more spellings), and names that no file system accepts.

use std::collections::HashSet;

/// Longest component, in bytes.
const MAX_NAME_BYTES: usize = 255;

/// Why `name` must not become the name of a file; `None` if it may.
pub fn refuse_component(name: &[u8]) -> Option<&'static str> {
    match name {
        b"" => Some("a component is empty"),
        b"." => Some("a component is `.`"),
        b".." => Some("a component is `..`"),
        _ if name.contains(&b'/') => Some("a component contains a slash"),
        _ if name.contains(&0) => Some("a component contains a NUL byte"),
        _ if name.len() > MAX_NAME_BYTES => Some("a component is longer than 255 bytes"),
        // Windows treats a backslash as a slash.
        _ if name.split(|byte| *byte == b'\\').any(is_ntfs_dot_git) || is_hfs_dot_git(name) => {
            Some("a component is taken for `.git`")
        }
        _ => None,
    }
}

/// Whether NTFS opens `.git` under this name: any case, the short name, trailing dots and spaces, a stream after a
/// colon.
fn is_ntfs_dot_git(name: &[u8]) -> bool {
    let stem = name.split(|byte| *byte == b':').next().unwrap_or_default();
    let end = stem.iter().rposition(|byte| !matches!(byte, b'.' | b' ')).map_or(0, |at| at + 1);
    stem[..end].eq_ignore_ascii_case(b".git") || stem[..end].eq_ignore_ascii_case(b"git~1")
}

/// Whether HFS+ opens `.git` under this name: any case, with code points that it ignores at any place.
fn is_hfs_dot_git(name: &[u8]) -> bool {
    let text = String::from_utf8_lossy(name);
    text.chars().filter(|char| !is_ignored_by_hfs(*char)).flat_map(char::to_lowercase).eq(".git".chars())
}

/// Source: the list in git's `utf8.c`, `next_hfs_char`.
fn is_ignored_by_hfs(char: char) -> bool {
    matches!(char, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// The first name that a case-insensitive file system cannot distinguish from an earlier one.
///
/// Folding is upper, then lower case of valid UTF-8; unlike some file systems it does not fold composed and decomposed
/// letters.
pub fn case_collision<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> Option<&'a [u8]> {
    let mut folded = HashSet::new();
    names.into_iter().find(|name| !folded.insert(fold(name)))
}

fn fold(name: &[u8]) -> Vec<u8> {
    match str::from_utf8(name) {
        Ok(text) => text.to_uppercase().to_lowercase().into_bytes(),
        Err(_) => name.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(names: &[&[u8]]) {
        let taken: Vec<_> = names.iter().filter(|name| refuse_component(name).is_none()).collect();
        assert!(taken.is_empty(), "{taken:?}");
    }

    #[test]
    fn names_that_reach_elsewhere_are_refused() {
        check_refused(&[b"", b".", b"..", b"a/b", b"/", b"a\0b", &[b'x'; 256]]);
    }

    #[test]
    fn every_spelling_of_dot_git_is_refused() {
        check_refused(&[b".git", b".GIT", b".Git", b"git~1", b"GIT~1", b".git.", b".git ", b".git. . ."]);
        check_refused(&[b".git::$INDEX_ALLOCATION", b".git:x", b"git~1 .:y", b".git...:x"]);
        check_refused(&[b"a\\.git", b".git\\x", b"a\\.GIT. .", b"x\\git~1\\y"]);
        check_refused(&[".g\u{200c}it".as_bytes(), "\u{feff}.git".as_bytes(), ".GI\u{202e}T\u{206f}".as_bytes()]);
    }

    #[test]
    fn ordinary_and_odd_names_are_taken() {
        for name in [
            &b"x"[..],
            b".gitignore",
            b".git2",
            b"git~2",
            b"git",
            b"...",
            b"-rf",
            b"\xff\n\x1b[31m",
            b" ",
            b"a:b",
            b"a\\b",
            b"\\",
            b"a\\..\\b",
        ] {
            assert_eq!(refuse_component(name), None, "{name:?}");
        }
        assert_eq!(refuse_component(&[b'x'; 255]), None);
    }

    #[test]
    fn names_that_fold_alike_collide() {
        assert_eq!(case_collision([&b"a"[..], b"b", b"A"]), Some(&b"A"[..]));
        assert_eq!(case_collision(["STRASSE".as_bytes(), "straße".as_bytes()]), Some("straße".as_bytes()));
        assert_eq!(case_collision([&b"\xffA"[..], b"\xffa"]), Some(&b"\xffa"[..]));
        assert_eq!(case_collision([&b"a"[..], b"b", b"ab"]), None);
    }
}
