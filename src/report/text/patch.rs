//! A patch, line by line, in git's colours.

use crate::escape::{Terminal, Untrusted};
use crate::patch::Patch;
use crate::style::TextRole;
use crate::text::TextLook;

/// The margin of marked lines, and of the others.
pub const MARGINS: [&str; 2] = ["\u{2502} ", "  "];

/// The text of `patch`, with a newline at its end.
///
/// - `marked`: the numbers of the lines with a bar in the margin; if these are all edits or none, there is no margin. A
///   raw patch has none, either.
pub fn shown(patch: &Untrusted, marked: &[u64], look: TextLook) -> Vec<u8> {
    let mut shown = Vec::new();
    let has_margin = !look.is_raw && !marked.is_empty() && marked.len() < Patch::read(patch).edits().count();
    let mut is_in_hunk = false;
    let bytes = patch.as_bytes();
    let is_crlf = has_crlf(bytes.split(|byte| *byte == b'\n').filter(|line| is_changed(line)));
    for (at, line) in (1..).zip(bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|byte| *byte == b'\n')) {
        let role = match line {
            [b'@', b'@', ..] => {
                is_in_hunk = true;
                Some(TextRole::Hunk)
            }
            [b'+', ..] if is_in_hunk => Some(TextRole::Added),
            [b'-', ..] if is_in_hunk => Some(TextRole::Removed),
            [b' ' | b'\\', ..] if is_in_hunk => None,
            _ => {
                is_in_hunk = false;
                Some(TextRole::Heading)
            }
        };
        let line = if is_crlf && !look.is_raw { line.strip_suffix(b"\r").unwrap_or(line) } else { line };
        let text = if look.is_raw { Terminal.raw(line) } else { Terminal.block(&line.into()).into_bytes() };
        let (before, after) = match role {
            Some(role) => look.style.brackets(role),
            None => Default::default(),
        };
        if has_margin {
            shown.extend_from_slice(MARGINS[usize::from(!marked.contains(&at))].as_bytes());
        }
        shown.extend([before.as_bytes(), &text, after.as_bytes(), b"\n"].concat());
    }
    shown
}

/// Whether a line of a patch is added or removed.
fn is_changed(line: &[u8]) -> bool {
    matches!(line.first(), Some(b'+' | b'-')) && !line.starts_with(b"+++ ") && !line.starts_with(b"--- ")
}

/// Whether all of these lines end with a carriage return: then it is how this file ends lines, and no part of a change.
pub fn has_crlf<'l>(lines: impl Iterator<Item = &'l [u8]>) -> bool {
    let mut lines = lines.peekable();
    lines.peek().is_some() && lines.all(|line| line.ends_with(b"\r"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Style;
    use crate::text::DetailLevel;

    const PATCH: &[u8] =
        b"diff --git a/\xe9.c b/\xe9.c\n--- a/\xe9.c\n+++ b/\xe9.c\n@@ -1,2 +1,2 @@\n a\n-b\r\n+\x1b[2Jb\n";

    fn written(is_raw: bool, style: Style) -> Vec<u8> {
        shown(&PATCH.into(), &[], TextLook { style, is_raw, detail: DetailLevel::Full, columns: None, is_older: false })
    }

    #[test]
    fn line_ends_that_all_changed_lines_have_are_not_shown() {
        let text = |patch: &[u8]| {
            let (style, detail) = (Style::PLAIN, DetailLevel::Full);
            let look = TextLook { style, is_raw: false, detail, columns: None, is_older: false };
            String::from_utf8(shown(&patch.into(), &[], look)).unwrap()
        };
        assert_eq!(text(b"@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n"), "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        assert_eq!(text(b"@@ -1 +1 @@\n-b\r\n+b\n"), "@@ -1 +1 @@\n-b^M\n+b\n");
    }

    #[test]
    fn a_raw_patch_is_the_patch() {
        assert_eq!(written(true, Style::PLAIN), PATCH);
    }

    #[test]
    fn a_patch_on_a_terminal_is_escaped_and_coloured_by_line() {
        let text = String::from_utf8(written(false, Style::COLOURED)).unwrap();
        insta::assert_snapshot!(text.replace('\x1b', "<ESC>"), @r"
        <ESC>[1mdiff --git a/\xe9.c b/\xe9.c<ESC>[m
        <ESC>[1m--- a/\xe9.c<ESC>[m
        <ESC>[1m+++ b/\xe9.c<ESC>[m
        <ESC>[36m@@ -1,2 +1,2 @@<ESC>[m
         a
        <ESC>[31m-b^M<ESC>[m
        <ESC>[32m+\x1b[2Jb<ESC>[m
        ");
    }
}
