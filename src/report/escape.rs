//! Text from others, and the safe ways to print it.
//!
//! File names, subjects, patches and output of tests can contain anything: escape sequences that rewrite the screen,
//! marks that change the direction of writing, bytes that are no text. [`Untrusted`] has no `Display`. Each form of
//! output has its own escaper, and only escapers accept it.

use std::fmt::Write as _;
use std::{fmt, io};

use serde_json::ser::Formatter;

/// Bytes from a repository, a test or a user. They have no `Display`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Untrusted(Vec<u8>);

impl Untrusted {
    /// The raw bytes, to store or compare; not for output.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first `max_bytes` bytes, with `…` if there are more.
    #[must_use]
    pub fn cut(&self, max_bytes: usize) -> Self {
        match self.0.get(..max_bytes) {
            Some(begin) if begin.len() < self.0.len() => {
                let begin = String::from_utf8_lossy(begin);
                format!("{}…", begin.trim_end_matches(char::REPLACEMENT_CHARACTER)).into()
            }
            _ => self.clone(),
        }
    }
}

/// Of bytes, or of a text.
impl<T: Into<Vec<u8>>> From<T> for Untrusted {
    fn from(bytes: T) -> Self {
        Self(bytes.into())
    }
}

impl fmt::Debug for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Untrusted({:?})", String::from_utf8_lossy(&self.0))
    }
}

/// Commands of CI services, at any place in a line of the log: Azure Pipelines, `TeamCity`, old GitHub Actions.
const COMMANDS: [&str; 3] = ["##vso[", "##teamcity[", "##["];

/// Commands of GitHub Actions at the beginning of a line, between `::` and either a space or `::`.
const LEADING_COMMANDS: [&str; 16] = [
    "add-mask",
    "add-matcher",
    "add-path",
    "debug",
    "echo",
    "endgroup",
    "error",
    "group",
    "internal-set-repo-path",
    "notice",
    "remove-matcher",
    "save-state",
    "set-env",
    "set-output",
    "stop-commands",
    "warning",
];

/// Escapes for a terminal, and for the log of a CI service.
///
/// Characters that could move the cursor, or change the colour or the order of the text, are printed as `\x1b` or
/// `\u{202e}`. So is the first letter of a command of a CI service. Printable text of any script is unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal;

/// A line for a terminal, as [`Terminal::line`] writes it.
pub fn safe(text: &str) -> String {
    Terminal.line(&Untrusted::from(text))
}

impl Terminal {
    /// One line: newline, tab and carriage return are shown as `\n`, `\t` and `\r`.
    pub fn line(self, text: &Untrusted) -> String {
        escape(text.as_bytes(), |character, line| match character {
            '\n' => line.push_str("\\n"),
            '\t' => line.push_str("\\t"),
            '\r' => line.push_str("\\r"),
            _ => escape_char(character, line),
        })
    }

    /// Several lines, such as a patch: newline and tab stay, a carriage return is shown as `^M`.
    pub fn block(self, text: &Untrusted) -> String {
        escape(text.as_bytes(), |character, block| match character {
            '\n' | '\t' => block.push(character),
            '\r' => block.push_str("^M"),
            _ => escape_char(character, block),
        })
    }

    /// The raw bytes without commands of CI services, for redirected output, such as a patch to apply.
    pub fn raw(self, bytes: &[u8]) -> Vec<u8> {
        without_commands(bytes.to_vec())
    }
}

fn escape(bytes: &[u8], mut push: impl FnMut(char, &mut String)) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        chunk.valid().chars().for_each(|character| push(character, &mut text));
        for byte in chunk.invalid() {
            write!(text, "\\x{byte:02x}").expect("writing to a string cannot fail");
        }
    }
    text_without_commands(text)
}

/// The same for a string.
pub(super) fn text_without_commands(text: String) -> String {
    String::from_utf8(without_commands(text.into_bytes())).expect("ASCII stands in the place of ASCII")
}

/// Replaces the first letter of each command of a CI service by `\x23` or `\x3a`. Text that is broken anew needs it again,
/// because some commands count only at the beginning of a line.
fn without_commands(text: Vec<u8>) -> Vec<u8> {
    if !text.windows(2).any(|pair| matches!(pair, b"##" | b"::")) {
        return text;
    }
    let mut shown = Vec::with_capacity(text.len() + 3);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let leading = leading_command(line);
        for (index, byte) in line.iter().enumerate() {
            if leading == Some(index) || (*byte == b'#' && is_command(&line[index..])) {
                shown.extend(format!("\\x{byte:02x}").into_bytes());
            } else {
                shown.push(*byte);
            }
        }
    }
    shown
}

/// Whether the text begins with a command that counts at any place.
fn is_command(text: &[u8]) -> bool {
    COMMANDS
        .iter()
        .any(|command| text.get(..command.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(command.as_bytes())))
}

/// The position of a command that counts only after white space, at the beginning of a line.
fn leading_command(line: &[u8]) -> Option<usize> {
    let line = String::from_utf8_lossy(line);
    let begin = line.trim_start();
    let name = begin.strip_prefix("::")?.split([' ', ':']).next()?;
    let is_known = LEADING_COMMANDS.iter().any(|command| command.eq_ignore_ascii_case(name));
    is_known.then_some(line.len() - begin.len())
}

fn escape_char(character: char, text: &mut String) {
    let code = u32::from(character);
    match () {
        () if !is_deceptive(character) => text.push(character),
        () if code < 0x100 => write!(text, "\\x{code:02x}").expect("writing to a string cannot fail"),
        () => write!(text, "\\u{{{code:x}}}").expect("writing to a string cannot fail"),
    }
}

/// Whether `character` changes the display instead of being visible: control, direction, separator, or zero width.
fn is_deceptive(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Escapes for Markdown: all text from others is in code, where no character has a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Markdown;

impl Markdown {
    /// A code span. In a table a bar would end the cell, so it becomes a full-width one.
    pub fn code(self, text: &Untrusted) -> String {
        let line = Terminal.line(text).replace('|', "\u{ff5c}");
        let fence = "`".repeat(longest_run(&line, '`') + 1);
        let pad = if line.is_empty() || line.starts_with(['`', ' ']) || line.ends_with(['`', ' ']) { " " } else { "" };
        format!("{fence}{pad}{line}{pad}{fence}")
    }

    /// A block of code, with a newline at its end.
    pub fn block(self, language: &str, text: &Untrusted) -> String {
        let block = Terminal.block(text);
        let fence = "`".repeat(longest_run(&block, '`').max(2) + 1);
        let newline = if block.ends_with('\n') || block.is_empty() { "" } else { "\n" };
        format!("{fence}{language}\n{block}{newline}{fence}\n")
    }
}

fn longest_run(text: &str, letter: char) -> usize {
    text.split(|other| other != letter).map(str::len).max().unwrap_or(0)
}

/// Escapes for the workflow commands of GitHub Actions, which are lines such as `::error file=a::text`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workflow;

impl Workflow {
    /// The text after the second `::`.
    pub fn message(self, text: &Untrusted) -> String {
        Terminal.block(text).replace('%', "%25").replace('\n', "%0A")
    }

    /// The value of a property.
    pub fn property(self, text: &Untrusted) -> String {
        Terminal.line(text).replace('%', "%25").replace(':', "%3A").replace(',', "%2C")
    }
}

/// Escapes for the text and the attributes of XML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Xml;

impl Xml {
    /// Several lines.
    pub fn text(self, text: &Untrusted) -> String {
        let allowed = |character: char| !matches!(character, '\u{fffe}' | '\u{ffff}');
        let mut escaped = String::new();
        for character in Terminal.block(text).chars() {
            match character {
                '&' => escaped.push_str("&amp;"),
                '<' => escaped.push_str("&lt;"),
                '>' => escaped.push_str("&gt;"),
                '"' => escaped.push_str("&quot;"),
                '\'' => escaped.push_str("&#39;"),
                _ if allowed(character) => escaped.push(character),
                _ => escaped.push('\u{fffd}'),
            }
        }
        escaped
    }

    /// One line, for an attribute between double quotes.
    pub fn attribute(self, text: &Untrusted) -> String {
        self.text(&Terminal.line(text).into())
    }
}

/// Escapes for JSON.
///
/// In addition to the rules of JSON, it writes as `\u....` all characters that [`Terminal`] would escape. So the object
/// can be printed on a terminal or in the log of a CI service, and a reader gets the original text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json;

impl Formatter for Json {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut begin = 0;
        let is_shown = |(index, character): &(usize, char)| {
            is_deceptive(*character) || (*character == '#' && is_command(&fragment.as_bytes()[*index..]))
        };
        for (index, character) in fragment.char_indices().filter(is_shown) {
            writer.write_all(&fragment.as_bytes()[begin..index])?;
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            begin = index + character.len_utf8();
        }
        writer.write_all(&fragment.as_bytes()[begin..])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Serialize;

    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], line: &str, block: &str) {
        assert_eq!(Terminal.line(&bytes.into()), line);
        assert_eq!(Terminal.block(&bytes.into()), block);
    }

    fn as_json(text: &str) -> String {
        let mut bytes = Vec::new();
        text.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, Json)).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn escape_sequences_are_shown_not_sent() {
        check(b"\x1b[2J\x07\x7f", "\\x1b[2J\\x07\\x7f", "\\x1b[2J\\x07\\x7f");
        check("\u{9b}31m".as_bytes(), "\\x9b31m", "\\x9b31m");
    }

    #[test]
    fn marks_of_direction_and_of_no_width_are_shown() {
        let text = "a\u{202e}b\u{2066}c\u{200f}d\u{61c}e\u{2028}f\u{200b}g\u{feff}h\u{e0041}";
        let shown = "a\\u{202e}b\\u{2066}c\\u{200f}d\\u{61c}e\\u{2028}f\\u{200b}g\\u{feff}h\\u{e0041}";
        check(text.as_bytes(), shown, shown);
    }

    #[test]
    fn a_patch_keeps_its_lines_and_tabs_and_shows_carriage_returns() {
        check(b"+\tx = 1;\r\n", "+\\tx = 1;\\r\\n", "+\tx = 1;^M\n");
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_and_text_of_any_script_stays() {
        check(b"caf\xe9 \xff.c", "caf\\xe9 \\xff.c", "caf\\xe9 \\xff.c");
        check("naïve – 日本語 🎉".as_bytes(), "naïve – 日本語 🎉", "naïve – 日本語 🎉");
    }

    #[test]
    fn json_hides_nothing_and_sends_nothing() {
        assert_eq!(
            as_json("a\u{202e}\u{9b}\u{7f}\x1b\u{e0041}ä\"\n"),
            r#""a\u202e\u009b\u007f\u001b\udb40\udc41ä\"\n""#
        );
    }

    #[test]
    fn text_of_others_stays_inside_code_of_markdown() {
        assert_eq!(Markdown.code(&"a<b> @me #1".into()), "`a<b> @me #1`");
        assert_eq!(Markdown.code(&"`` a`".into()), "``` `` a` ```");
        assert_eq!(Markdown.code(&"a|b\n".into()), "`a\u{ff5c}b\\n`");
        assert_eq!(Markdown.code(&"".into()), "`  `");
        assert_eq!(Markdown.block("diff", &"+```\n-x".into()), "````diff\n+```\n-x\n````\n");
    }

    #[test]
    fn what_a_ci_service_would_take_for_a_command_is_shown() {
        check(b"::error file=a::b", "\\x3a:error file=a::b", "\\x3a:error file=a::b");
        check(b"::SET-OUTPUT name=a::b", "\\x3a:SET-OUTPUT name=a::b", "\\x3a:SET-OUTPUT name=a::b");
        check(" \t\u{a0}::endgroup::".as_bytes(), " \\t\u{a0}::endgroup::", " \t\u{a0}\\x3a:endgroup::");
        check(b"a\n  ::debug::b", "a\\n  ::debug::b", "a\n  \\x3a:debug::b");
        check(b"x ##vso[task.x]", "x \\x23#vso[task.x]", "x \\x23#vso[task.x]");
        check(b"###TeamCity[a]##[group]", "#\\x23#TeamCity[a]\\x23#[group]", "#\\x23#TeamCity[a]\\x23#[group]");
        for harmless in ["a::error::b", "::std::move(x)", "::errors::a", "## [1]", "##vs", "::", "##"] {
            check(harmless.as_bytes(), harmless, harmless);
        }
        assert_eq!(as_json("###[a ##VSO[b # ##"), r##""#\u0023#[a \u0023#VSO[b # ##""##);
        let raw: [(&[u8], &[u8]); 3] = [
            (b" ::error::\xe9\r\n+##[a\n", b" \\x3a:error::\xe9\r\n+\\x23#[a\n"),
            (b"\xe9\x1b\r\n ::std::a\n", b"\xe9\x1b\r\n ::std::a\n"),
            (b"  ::group::\r\n", b"  \\x3a:group::\r\n"),
        ];
        for (bytes, expected) in raw {
            assert_eq!(Terminal.raw(bytes), expected, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn text_of_others_begins_no_workflow_command_and_ends_no_element() {
        assert_eq!(Workflow.message(&"50%\r\n::error::x".into()), "50%25^M%0A\\x3a:error::x");
        assert_eq!(Workflow.property(&"a,b:c\n::d".into()), "a%2Cb%3Ac\\n%3A%3Ad");
        assert_eq!(
            Xml.text(&"<a b=\"'\">\n]]>&\x01\u{ffff}".into()),
            "&lt;a b=&quot;&#39;&quot;&gt;\n]]&gt;&amp;\\x01\u{fffd}"
        );
        assert_eq!(Xml.attribute(&"a\n\"".into()), "a\\n&quot;");
    }

    proptest! {
        #[test]
        fn nothing_deceptive_reaches_the_terminal(bytes: Vec<u8>, text: String) {
            for text in [Untrusted::from(bytes), Untrusted::from(text)] {
                prop_assert!(!Terminal.line(&text).chars().any(is_deceptive));
                prop_assert!(Terminal.block(&text).chars().all(|c| c == '\n' || c == '\t' || !is_deceptive(c)));
            }
        }

        #[test]
        fn json_reads_back_as_the_same_text(text: String) {
            prop_assert_eq!(serde_json::from_str::<String>(&as_json(&text)).unwrap(), text);
        }
    }
}
