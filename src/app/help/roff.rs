//! Makes text of a man page.
//!
//! Understands the requests and escapes that [`man`](crate::man) and `clap_mangen` write, not all of roff. The
//! layout is that of `man`, without hyphens and ragged right.

use idd_report::{Style, TextRole};

/// Columns before the text of a section, and between a term and its meaning.
const INDENT: usize = 7;

/// What stands before an item of a list.
const BULLET: &str = "* ";

/// The text of a page for a screen of `width` columns.
///
/// - `style`: if it has colours, headings and words in bold or italics are marked.
/// - Result: ends with a newline; no line has a blank at its end.
pub fn text(page: &str, width: usize, style: Style) -> String {
    let mut text = RoffText {
        out: String::new(),
        words: Vec::new(),
        margin: INDENT,
        hang: 0,
        bullet: "",
        is_after_heading: false,
        outer: Vec::new(),
        width,
        style,
    };
    let mut is_term = false;
    for line in page.lines() {
        let (request, rest) = match line.strip_prefix('.') {
            Some(request) => request.split_once(' ').unwrap_or((request, "")),
            None => ("", line),
        };
        match request {
            "" if rest.is_empty() => text.paragraph(),
            "" if is_term => {
                is_term = false;
                text.term(rest);
            }
            "" => text.words.extend(words(rest)),
            "SH" => text.heading(rest.trim_matches('"')),
            "PP" => text.paragraph(),
            "br" => text.flush(),
            "TP" => {
                text.paragraph();
                text.hang = 0;
                is_term = true;
            }
            "IP" => {
                text.flush();
                text.bullet();
            }
            "RS" => {
                text.flush();
                text.outer.push((text.margin, text.hang));
                text.margin += text.hang + INDENT;
                text.hang = 0;
            }
            "RE" => {
                text.flush();
                (text.margin, text.hang) = text.outer.pop().unwrap_or((INDENT, 0));
            }
            // Definitions of strings, and the title.
            _ => {}
        }
    }
    text.flush();
    text.out
}

/// A word, and whether it is in bold or italics.
struct StyledWord {
    text: String,
    is_marked: bool,
}

struct RoffText {
    out: String,
    /// The words of the paragraph that is not printed yet.
    words: Vec<StyledWord>,
    margin: usize,
    /// Further columns before a meaning.
    hang: usize,
    /// What stands before the first of these words.
    bullet: &'static str,
    /// Whether the last line is a heading.
    is_after_heading: bool,
    /// Margins around this one.
    outer: Vec<(usize, usize)>,
    width: usize,
    style: Style,
}

impl RoffText {
    /// Prints the words that wait, in lines.
    fn flush(&mut self) {
        self.lines(self.margin + self.hang);
    }

    fn lines(&mut self, indent: usize) {
        let bullet = std::mem::take(&mut self.bullet);
        let (mut column, mut is_first) = (0, true);
        for word in std::mem::take(&mut self.words) {
            let length = word.text.chars().count();
            if column > 0 && column + 1 + length > self.width {
                self.out.push('\n');
                column = 0;
            }
            if column == 0 {
                let is_first = std::mem::take(&mut is_first);
                let bullet = if is_first { bullet } else { "" };
                self.out.push_str(&" ".repeat(indent - bullet.len()));
                self.out.push_str(bullet);
                column = indent;
            } else {
                self.out.push(' ');
                column += 1;
            }
            column += length;
            if word.is_marked {
                self.out.push_str(&self.style.paint(TextRole::Heading, word.text).to_string());
            } else {
                self.out.push_str(&word.text);
            }
        }
        if column > 0 {
            self.out.push('\n');
            self.is_after_heading = false;
        }
    }

    /// Ends a paragraph.
    fn paragraph(&mut self) {
        self.flush();
        if !self.out.is_empty() && !self.out.ends_with("\n\n") && !self.is_after_heading {
            self.out.push('\n');
        }
    }

    fn heading(&mut self, title: &str) {
        self.is_after_heading = false;
        self.paragraph();
        self.hang = 0;
        (self.margin, self.outer) = (INDENT, Vec::new());
        self.out.push_str(&self.style.paint(TextRole::Heading, title).to_string());
        self.out.push('\n');
        self.is_after_heading = true;
    }

    /// Prints a term; its meaning follows below it.
    fn term(&mut self, term: &str) {
        self.words.extend(words(term));
        self.lines(self.margin);
        self.hang = INDENT;
    }

    /// Begins an item of a list.
    fn bullet(&mut self) {
        self.bullet = BULLET;
        self.hang = BULLET.len();
    }
}

/// The words of a line of roff.
fn words(line: &str) -> Vec<StyledWord> {
    let mut words = Vec::new();
    let mut word = StyledWord { text: String::new(), is_marked: false };
    let mut is_marked = false;
    let mut rest = line;
    while let Some(letter) = rest.chars().next() {
        let escape = ESCAPES.iter().find(|(escape, _)| rest.starts_with(escape));
        let (n_bytes, text) = escape.map_or((letter.len_utf8(), None), |(escape, text)| (escape.len(), Some(*text)));
        match text {
            Some(MARKED) => is_marked = true,
            Some(PLAIN) => is_marked = false,
            Some(text) => word.text.push_str(text),
            None if letter == ' ' => {
                words.push(std::mem::replace(&mut word, StyledWord { text: String::new(), is_marked }));
            }
            None => word.text.push(letter),
        }
        word.is_marked = is_marked || word.is_marked && !word.text.is_empty();
        rest = &rest[n_bytes..];
    }
    words.push(word);
    words.retain(|word| !word.text.is_empty());
    words
}

const MARKED: &str = "\x01";
const PLAIN: &str = "\x02";

/// What the escapes stand for.
const ESCAPES: [(&str, &str); 10] = [
    (r"\fB", MARKED),
    (r"\fI", MARKED),
    (r"\fR", PLAIN),
    (r"\fP", PLAIN),
    (r"\-", "-"),
    (r"\\", "\\"),
    (r"\e", "\\"),
    (r"\&", ""),
    (r"\(aq", "'"),
    (r"\*(Aq", "'"),
];

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r#".ie \n(.g .ds Aq \(aq
.TH A 1
.SH NAME
a\-b \- do
.SH "TWO WORDS"
\fBgit a\fR [\-\-b]
.br
a second line that is long
.PP
It isn\*(Aqt \\n.
.TP
\fB\-\-walk\fR \fI<HOW>\fR [default: x]
How.

More of it.
.br

.br
\fIPossible values:\fR
.RS 14
.IP \(bu 2
one: The first of the two
.IP \(bu 2
two: Other
.RE
.TP
\fB0\fR \fIfound\fR
Good.
.SH END
.TP
c
It ends."#;

    #[test]
    fn a_page_is_laid_out_as_man_does() {
        insta::assert_snapshot!(text(PAGE, 30, Style::PLAIN), @r"
        NAME
               a-b - do

        TWO WORDS
               git a [--b]
               a second line that is
               long

               It isn't \n.

               --walk <HOW> [default:
               x]
                      How.

                      More of it.

                      Possible values:
                             * one:
                               The
                               first
                               of the
                               two
                             * two:
                               Other

               0 found
                      Good.

        END
               c
                      It ends.
        ");
    }

    #[test]
    fn headings_and_terms_are_marked_on_a_terminal() {
        let page = text(".SH A\nb \\fBc d\\fR e", 80, Style::COLOURED);
        assert_eq!(page, "\x1b[1mA\x1b[m\n       b \x1b[1mc\x1b[m \x1b[1md\x1b[m e\n");
    }
}
