//! The report as a mail, with the fix as an attachment.
//!
//! Source: RFC 5322 (mail), RFC 2045 to 2047 (MIME). As a mail of `git format-patch --attach`, it is one that `git am` applies:
//! the text above `---` becomes the message of the commit, and the report below it does not.

use crate::style::Style;
use crate::text::{self, DetailLevel, TextLook};
use crate::{Explained, Report, ReportedFix, Terminal, Untrusted, summary};
use data_encoding::BASE64;
use idd_base::count;
use std::io::{self, Write};

/// The columns of the text.
const COLUMNS: usize = 72;

/// The characters of a line of Base64, at most 76.
const BASE64_COLUMNS: usize = 76;

/// The bytes of a text in one encoded word of a header: with `Subject: `, its line has at most 76 characters.
const WORD_BYTES: usize = 39;

/// Between the parts; no line of the text begins with it.
const BOUNDARY: &str = "------------git-idd";

/// Beginnings of lines with which a patch could begin.
const OF_PATCH: [&str; 5] = ["---", "diff ", "Index:", "@@", "From "];

/// Writes `report`; `test` is the test command of the hunt.
///
/// - `sender`: name and address of the sender; without them, the program that sends the mail adds its own.
pub fn write(
    report: &Report,
    test: &Untrusted,
    sender: Option<(&str, &str)>,
    explanations: &[Explained],
    out: &mut dyn Write,
) -> io::Result<()> {
    let fix = report.fix.as_ref().filter(|fix| fix.complete && !fix.patch.is_empty());
    if let Some((name, address)) = sender {
        writeln!(out, "From: {} <{}>", header(name.as_bytes()), plain(address))?;
    }
    writeln!(out, "Subject: {}\nMIME-Version: 1.0", header(summary::title(report, test).as_bytes()))?;
    let of_text = "Content-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n";
    let Some(fix) = fix else {
        writeln!(out, "{of_text}")?;
        return write_text(report, explanations, out);
    };
    writeln!(out, "Content-Type: multipart/mixed; boundary=\"{BOUNDARY}\"\n\n--{BOUNDARY}\n{of_text}")?;
    write_message(report, fix, out)?;
    writeln!(out, "---")?;
    write_text(report, explanations, out)?;
    writeln!(
        out,
        "\n--{BOUNDARY}\nContent-Type: text/x-patch; name=\"fix.patch\"\nContent-Transfer-Encoding: base64\n\
         Content-Disposition: attachment; filename=\"fix.patch\"\n"
    )?;
    for line in BASE64.encode(fix.patch.as_bytes()).as_bytes().chunks(BASE64_COLUMNS) {
        out.write_all(line)?;
        writeln!(out)?;
    }
    writeln!(out, "\n--{BOUNDARY}--")
}

/// The message of a commit with the fix.
fn write_message(report: &Report, fix: &ReportedFix, out: &mut dyn Write) -> io::Result<()> {
    let lines = count(fix.lines, "line");
    writeln!(out, "This takes back {lines} that broke the test. The test passes with it at\n{}.", fix.commit.short())?;
    if let Some(first_bad) = &report.first_bad {
        let (commit, subject) = (first_bad.commit.commit.short(), Terminal.line(&first_bad.commit.subject));
        writeln!(out, "\nFixes: {commit} (\"{subject}\")")?;
    }
    Ok(())
}

/// The report as text. No line can be taken for a part of a patch, or for the end of this part of the mail.
fn write_text(report: &Report, explanations: &[Explained], out: &mut dyn Write) -> io::Result<()> {
    let mut text = Vec::new();
    let look = TextLook {
        style: Style::PLAIN,
        is_raw: false,
        detail: DetailLevel::Screen,
        columns: Some(COLUMNS),
        is_older: false,
    };
    text::write_answer(report, explanations, look, &mut text)?;
    for line in String::from_utf8_lossy(&text).lines() {
        let indent = if OF_PATCH.iter().any(|begin| line.starts_with(begin)) { " " } else { "" };
        writeln!(out, "{indent}{line}")?;
    }
    Ok(())
}

/// A text in a header: encoded if it is more than plain words.
fn header(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " ._'-".contains(letter);
    if text.len() <= WORD_BYTES && text.chars().all(is_plain) {
        return text.into_owned();
    }
    let mut words = vec![String::new()];
    for letter in text.chars() {
        match words.last_mut() {
            Some(word) if word.len() + letter.len_utf8() <= WORD_BYTES => word.push(letter),
            _ => words.push(letter.to_string()),
        }
    }
    let words: Vec<String> =
        words.iter().map(|word| format!("=?UTF-8?B?{}?=", BASE64.encode(word.as_bytes()))).collect();
    words.join("\n ")
}

/// An address without what could end it.
fn plain(address: &str) -> String {
    address.chars().filter(|letter| letter.is_ascii_graphic() && !"<>()\",;:".contains(*letter)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn mail(report: &Report, sender: (&str, &str)) -> String {
        let mut out = Vec::new();
        write(report, &"./t.sh <x>".into(), Some(sender), &[], &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_mail_has_the_report_and_its_fix() {
        insta::assert_snapshot!(mail(&samples::found(), ("A U Thor", "author@example.org")));
    }

    #[test]
    fn without_a_fix_it_is_plain_text() {
        let report = Report { fix: None, ..samples::found() };
        let mail = mail(&report, ("A", "a@b"));
        assert!(mail.contains("\nContent-Type: text/plain; charset=UTF-8\n") && !mail.contains("multipart"), "{mail}");
    }

    #[test]
    fn no_name_ends_a_header() {
        let mail = mail(&samples::found(), ("Jö\r\nBcc: x@y", "a@b>\nBcc: x@y"));
        let (headers, _) = mail.split_once("\n\n").unwrap();
        assert!(!headers.contains("Bcc") || headers.contains("<a@bBccx@y>"), "{headers}");
        assert!(headers.lines().all(|line| line.len() <= 76), "{headers}");
    }
}
