//! The words and tokens of C and Java, by their letters: no source is parsed.

/// Names and numbers, and every other character that is not white space by itself.
pub fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
        let first = rest.chars().next()?;
        let end = if is_letter(first) {
            rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (word, behind) = rest.split_at(end);
        rest = behind;
        Some(word)
    })
}

/// The lines of a text, without comments and without what is in literals.
pub fn code(text: &str) -> impl Iterator<Item = String> {
    without_comments(text, false, &|literal| &literal[..1])
}

/// The tokens of the lines of a part of a text. A literal is one; comments have none.
pub fn tokens(text: &str) -> Vec<Vec<String>> {
    without_comments(text, begins_in_comment(text), &|literal| literal).map(|line| tokens_of(&line)).collect()
}

/// Whether a part of a text seems to begin inside of a comment: that ends in it, or all lines look like such lines.
fn begins_in_comment(text: &str) -> bool {
    match (text.find("/*"), text.find("*/")) {
        (Some(begin), Some(end)) => end < begin,
        (None, None) => text.lines().all(|line| line.trim_start().starts_with('*')),
        (begin, _) => begin.is_none(),
    }
}

fn tokens_of(line: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let end = literal(rest).or_else(|| Some(words(rest).next()?.len())).unwrap_or(first.len_utf8());
        // `a - -b` is not `a --b`.
        let is_doubled = matches!(first, '+' | '-') && found.last().is_some_and(|last| last.ends_with(first));
        match found.last_mut().filter(|_| is_doubled && !line[..line.len() - rest.len()].ends_with(char::is_whitespace))
        {
            _ if first.is_whitespace() => {}
            Some(last) => last.push(first),
            None => found.push(rest[..end].to_owned()),
        }
        rest = if first.is_whitespace() { rest.trim_start() } else { &rest[end..] };
    }
    found
}

/// The length of the literal at the beginning of a text.
fn literal(text: &str) -> Option<usize> {
    let mut letters = text.char_indices();
    let (_, quote) = letters.next().filter(|(_, first)| matches!(first, '"' | '\''))?;
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' {
            letters.next();
        } else if letter == quote {
            return Some(at + 1);
        }
    }
    Some(text.len())
}

/// The lines of a text without comments.
///
/// - `is_comment`: whether it begins inside of one.
/// - `shown`: what stands for a literal.
fn without_comments<'t>(
    text: &'t str,
    is_comment: bool,
    shown: &'t dyn Fn(&str) -> &str,
) -> impl Iterator<Item = String> + 't {
    let mut is_comment = is_comment;
    text.lines().map(move |line| {
        let (mut kept, mut rest) = (String::new(), line);
        while !rest.is_empty() {
            if is_comment {
                let Some(end) = rest.find("*/") else { break };
                (rest, is_comment) = (&rest[end + 2..], false);
                kept.push(' ');
            } else if rest.starts_with("//") {
                break;
            } else if let Some(behind) = rest.strip_prefix("/*") {
                (rest, is_comment) = (behind, true);
            } else if let Some(end) = literal(rest) {
                kept.push_str(shown(&rest[..end]));
                rest = &rest[end..];
            } else {
                let first = rest.chars().next().map_or(1, char::len_utf8);
                kept.push_str(&rest[..first]);
                rest = &rest[first..];
            }
        }
        kept
    })
}
