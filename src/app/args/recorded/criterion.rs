//! The criterion of a slice, as it is typed.

use idd_session::slice::criterion::Criterion;
use std::ops::Range;

const FORMS: &str = "a criterion is `<step>`, `<step>:<variable>`, `output:<byte>`, `stderr:<byte>`, `crash`, `end`, \
                     `line:<file>:<line>`, or `input:<file>[:<byte>[-<byte>]]`";

/// Reads a criterion.
pub fn parse(text: &str) -> Result<Criterion, String> {
    let number = |text: &str| {
        text.parse::<u64>().map_err(|_| if is_number(text) { too_large(text, u64::MAX) } else { FORMS.to_owned() })
    };
    match text {
        "crash" => return Ok(Criterion::Crash),
        "end" => return Ok(Criterion::End),
        _ => {}
    }
    if let Some(offset) = text.strip_prefix("output:") {
        return Ok(Criterion::Output(number(offset)?));
    }
    if let Some(offset) = text.strip_prefix("stderr:") {
        return Ok(Criterion::Errors(number(offset)?));
    }
    if let Some(place) = text.strip_prefix("line:") {
        let (file, line) =
            place.rsplit_once(':').filter(|(file, _)| !file.is_empty()).ok_or_else(|| FORMS.to_owned())?;
        return Ok(Criterion::Line(file.to_owned(), positive(line)?));
    }
    if let Some(input) = text.strip_prefix("input:") {
        if let Some((file, bytes)) = input.rsplit_once(':')
            && let Some(range) = range(bytes)
        {
            return range.map(|range| Criterion::Input(file.to_owned(), Some(range)));
        }
        return if input.is_empty() { Err(FORMS.to_owned()) } else { Ok(Criterion::Input(input.to_owned(), None)) };
    }
    let (step, variable) = text.split_once(':').map_or((text, None), |(step, variable)| (step, Some(variable)));
    let step = positive(step.strip_prefix('#').unwrap_or(step))?;
    match variable {
        None => Ok(Criterion::Step(step)),
        Some("") => Err(FORMS.to_owned()),
        Some(variable) => Ok(Criterion::Variable(step, variable.to_owned())),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn too_large(text: &str, limit: u64) -> String {
    format!("`{text}` is too large: the number is at most {limit}")
}

/// The number of a step or a line.
fn positive(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(0) => Err("steps and lines are numbered from 1".to_owned()),
        Ok(number) => Ok(number),
        Err(_) if is_number(text) => Err(too_large(text, u32::MAX.into())),
        Err(_) => Err(FORMS.to_owned()),
    }
}

/// `17` or `17-20`, both ends included; `None` if it is the end of a file name.
fn range(text: &str) -> Option<Result<Range<u64>, String>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    if !is_number(first) || !is_number(last) {
        return None;
    }
    Some(match (first.parse::<u64>(), last.parse::<u64>()) {
        (Ok(first), Ok(last)) if first <= last && last < u64::MAX => Ok(first..last + 1),
        (Err(_), _) | (_, Err(_) | Ok(u64::MAX)) => Err(too_large(text, u64::MAX - 1)),
        _ => Err(format!("`{text}` is no range of bytes: the first number is the smaller one")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_criterion_is_read_in_all_its_forms() {
        let input = |file: &str, range: Option<Range<u64>>| Criterion::Input(file.to_owned(), range);
        for (text, expected) in [
            ("12", Criterion::Step(12)),
            ("#12", Criterion::Step(12)),
            ("12:p->n", Criterion::Variable(12, "p->n".to_owned())),
            ("12:a[b:1]", Criterion::Variable(12, "a[b:1]".to_owned())),
            ("output:0", Criterion::Output(0)),
            ("stderr:7", Criterion::Errors(7)),
            ("crash", Criterion::Crash),
            ("end", Criterion::End),
            ("line:a:b.c:3", Criterion::Line("a:b.c".to_owned(), 3)),
            ("input:-", input("-", None)),
            ("input:a.txt", input("a.txt", None)),
            ("input:a.txt:3", input("a.txt", Some(3..4))),
            ("input:a.txt:3-9", input("a.txt", Some(3..10))),
            ("input:a:txt", input("a:txt", None)),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
        for text in
            ["", "0", "x", "12:", "output:", "output:-1", "line:a.c", "line::3", "line:a.c:0", "input:", "input:a:9-3"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
        for (text, limit) in [
            ("99999999999", "4294967295"),
            ("line:a.c:99999999999", "4294967295"),
            ("output:99999999999999999999", "18446744073709551615"),
        ] {
            assert!(parse(text).unwrap_err().ends_with(&format!("at most {limit}")), "{text}");
        }
        assert_eq!(range("18446744073709551615").map(|range| range.is_err()), Some(true));
    }
}
