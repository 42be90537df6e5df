//! Has a virtual machine put other values in the place of some: the points are told in a file, and another one tells what
//! was done there.
//!
//! ```text
//! <base>/points                     a line for each point, its words with tabs between them:
//!     class method type instruction holder local type-of-the-value nth expected instead
//! <base>/recorded                   there if the rest is recorded besides
//! <base>/<pid>-<start>/replaced     a line for each point that was reached for the nth time: `<number> done`, or
//!                                   `<number> other` if another value was there than is expected
//! ```
//!
//! A value is a letter, and hexadecimal digits behind it: `b` the bits of a number, `n` `null`, `o` any object, `t` the text
//! of a string, `x` that of a number in an object, `e` the name of a constant of an enumeration.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use crate::files;
use crate::record::java::collect::machines;
use idd_trace::TracedProcess;
use idd_trace::instrument::java::replace::{Instead, Replacement, ReplacementPoint, ValueHolder};

/// The file with the points.
pub const POINTS: &str = "points";

/// The file that says whether the rest is recorded.
const RECORDED: &str = "recorded";

/// The file that tells what was done.
const REPLACED: &str = "replaced";

/// What happened at the points of a virtual machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacedPoints {
    /// Who it is.
    pub process: TracedProcess,
    /// The points at which a value was replaced, ascending.
    pub done: Vec<usize>,
    /// Whether another value was at one of them than is expected.
    pub is_other: bool,
}

/// A value as it is told.
pub(super) fn word(value: &Instead) -> String {
    let (letter, text) = match value {
        Instead::Bits(bits) => return format!("b{bits:x}"),
        Instead::Null => return "n".to_owned(),
        Instead::Object => return "o".to_owned(),
        Instead::Text(text) => ('t', text),
        Instead::Boxed(text) => ('x', text),
        Instead::Constant(text) => ('e', text),
    };
    format!("{letter}{}", files::hex(text.as_bytes()))
}

/// What must be at a point, as it is told.
pub(super) fn expectation(value: Option<&Instead>) -> String {
    value.map_or_else(|| "?".to_owned(), word)
}

fn holder(of: ValueHolder) -> (&'static str, u16) {
    match of {
        ValueHolder::Parameter(local) => ("parameter", local),
        ValueHolder::Local(local) => ("local", local),
        ValueHolder::Operand => ("operand", 0),
        ValueHolder::Result => ("result", 0),
    }
}

/// Tells the points to virtual machines that start later.
///
/// - `is_recorded`: whether they record the rest.
///
/// Errors: a name has a tab or a line feed; the file cannot be written.
pub fn tell(base: &Path, replacements: &[Replacement], is_recorded: bool) -> io::Result<()> {
    let mut text = String::new();
    for Replacement { point, nth, expected, instead } in replacements {
        let ReplacementPoint { class, method, descriptor, instruction, of, .. } = point;
        if [class, method, descriptor, of].iter().any(|name| name.contains(['\t', '\n', '\r'])) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let (holder, local) = holder(point.holder);
        let expected = expectation(expected.as_ref());
        let instead = word(instead);
        writeln!(
            text,
            "{class}\t{method}\t{descriptor}\t{instruction}\t{holder}\t{local}\t{of}\t{nth}\t{expected}\t{instead}"
        )
        .expect("a string takes all");
    }
    if is_recorded {
        files::replace(&base.join(RECORDED), &[])?;
    }
    files::write_new(&base.join(POINTS), text.as_bytes())
}

/// The points that were told, and whether the rest is recorded.
pub(super) fn told(base: &Path) -> (Vec<ReplacementPoint>, bool) {
    let text = files::bytes(&base.join(POINTS)).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let points = text.as_ref().and_then(|text| text.lines().map(point).collect());
    (points.unwrap_or_default(), text.is_none() || base.join(RECORDED).exists())
}

fn point(line: &str) -> Option<ReplacementPoint> {
    let words: Vec<&str> = line.split('\t').collect();
    let [class, method, descriptor, instruction, holder, local, of, ..] = words[..] else { return None };
    let local = local.parse().ok()?;
    let holder = match holder {
        "parameter" => ValueHolder::Parameter(local),
        "local" => ValueHolder::Local(local),
        "operand" => ValueHolder::Operand,
        "result" => ValueHolder::Result,
        _ => return None,
    };
    let [class, method, descriptor, of] = [class, method, descriptor, of].map(str::to_owned);
    Some(ReplacementPoint { class, method, descriptor, instruction: instruction.parse().ok()?, holder, of })
}

/// What happened at the points, in the virtual machines that reached one.
pub fn replaced(base: &Path) -> Vec<ReplacedPoints> {
    let mut found = Vec::new();
    for place in machines(base) {
        let process = files::bytes(&place.join("process")).ok();
        let Some(process) = process.and_then(|bytes| TracedProcess::from_bytes(&bytes)) else { continue };
        let text = files::bytes(&place.join(REPLACED)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let mut done = Vec::new();
        let mut is_other = false;
        for (number, what) in text.lines().filter_map(|line| line.split_once(' ')) {
            match number.parse() {
                Ok(number) if what == "done" => done.push(number),
                _ => is_other = true,
            }
        }
        done.sort_unstable();
        if is_other || !done.is_empty() {
            found.push(ReplacedPoints { process, done, is_other });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_read_as_they_were_told_and_a_name_with_a_tab_is_refused() {
        let point = |method: &str, holder| ReplacementPoint {
            class: "a/B".to_owned(),
            method: method.to_owned(),
            descriptor: "(I)V".to_owned(),
            instruction: 7,
            holder,
            of: "Ljava/lang/String;".to_owned(),
        };
        let points = [ValueHolder::Parameter(300), ValueHolder::Local(2), ValueHolder::Operand, ValueHolder::Result]
            .map(|of| point("f", of));
        let replacement = |point: &ReplacementPoint| Replacement {
            point: point.clone(),
            nth: 3,
            expected: None,
            instead: Instead::Text("é\t".to_owned()),
        };
        let place = tempfile::tempdir().unwrap();
        assert_eq!(told(place.path()), (Vec::new(), true));
        tell(place.path(), &points.each_ref().map(replacement), false).unwrap();
        assert_eq!(told(place.path()), (points.to_vec(), false));
        let other = tempfile::tempdir().unwrap();
        assert!(tell(other.path(), &[replacement(&point("a\tb", ValueHolder::Operand))], true).is_err());
        tell(other.path(), &[replacement(&points[0])], true).unwrap();
        assert_eq!(told(other.path()), (points[..1].to_vec(), true));
    }
}
