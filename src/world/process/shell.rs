//! Words in the quoting of the shell.

use shlex::bytes::Quoter;

/// The words of a line, without their quotes; none if a quote is open. Nothing is expanded, and operators are words.
pub fn split(line: &[u8]) -> Vec<Vec<u8>> {
    shlex::bytes::split(line).unwrap_or_default()
}

/// A word as a part of a line for the shell; as it is if it has no special characters.
pub fn quoted(word: &[u8]) -> Vec<u8> {
    let quoted = Quoter::new().allow_nul(true).quote(word);
    quoted.expect("only a NUL byte is an error, and it is allowed").into_owned()
}

/// The same as text; bytes that are not UTF-8 are replaced.
pub fn quoted_text(word: &[u8]) -> String {
    String::from_utf8_lossy(&quoted(word)).into_owned()
}

/// A text as one word in one pair of single quotes, which is easier to read than what quotes as little as can be.
pub fn in_quotes(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Words as a line for the shell.
pub fn line<'w>(words: impl IntoIterator<Item = &'w [u8]>) -> Vec<u8> {
    words.into_iter().map(quoted).collect::<Vec<_>>().join(&b' ')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::process::Command;

    #[test]
    fn the_shell_reads_the_words_that_were_quoted() {
        let words = ["printf", "%s|", "", "a b", "it's", "$x`y`", "\\n\n", "\"", "^!^", "~", "A=b", "#", "{a,b}", "é"];
        let mut words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        words.push(b"\xff'");
        let output = Command::new("sh").arg("-c").arg(OsStr::from_bytes(&line(words.iter().copied()))).output();
        let expected: Vec<u8> = words[2..].iter().flat_map(|word| [word, &b"|"[..]].concat()).collect();
        assert_eq!(output.unwrap().stdout.escape_ascii().to_string(), expected.escape_ascii().to_string());
    }

    #[test]
    fn a_word_without_special_characters_stays_as_it_is() {
        assert_eq!(line([&b"./t.sh"[..], b"-j4", b"a_b", b"it's", b"CC=gcc"]), b"./t.sh -j4 a_b \"it's\" 'CC=gcc'");
    }
}
