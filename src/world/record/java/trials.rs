//! Has a virtual machine run its program many times, with other values in the place of some each time.
//!
//! ```text
//! <base>/points                   the points of all trials, see `replace`
//! <base>/trials                   the command line of the virtual machine that is meant, in hexadecimal digits
//!                                 <milliseconds a trial> <bytes of its output> <trials that pass, then it ends> <`shared` or `anew`>
//!                                 a line for each trial: `<point>,<nth>,<expected>,<instead>`, with tabs between them
//! <base>/<pid>-<start>/trials     a line for each trial that ended, with tabs between its words: its number, the exit code,
//!                                 what was done at each point, the output in hexadecimal digits
//! ```
//!
//! The virtual machine ends after the trials, with an exit code that is not 0. All others run as they are.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::files;
use crate::record::java::collect::machines;
use crate::record::java::replace;
use idd_trace::instrument::java::replace::Replacement;

/// The file with the trials, and that with what came of them.
const TRIALS: &str = "trials";

/// Trials for a virtual machine.
#[derive(Debug, Clone, Copy)]
pub struct Trials<'t> {
    /// Its command line, as the system has it.
    pub words: &'t [u8],
    /// What each trial replaces, at different points.
    pub all: &'t [&'t [Replacement]],
    /// How long one may take.
    pub limit: Duration,
    /// Bytes that are kept of the output of one.
    pub kept: u32,
    /// Whether classes outside of the checkout are loaded once for all.
    pub is_shared: bool,
    /// It ends after so many that replace something and exit with 0.
    pub n_wanted: u32,
}

/// What came of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialResult {
    /// Its number.
    pub number: usize,
    /// The exit code of the program.
    pub code: i32,
    /// The values that were replaced, by their numbers in the trial, ascending.
    pub done: Vec<usize>,
    /// Whether another value was at one of the points than is expected.
    pub is_other: bool,
    /// What the program printed, on both streams.
    pub output: String,
}

impl TrialResult {
    /// Whether all values of a trial were replaced.
    pub fn is_done(&self, n_values: usize) -> bool {
        !self.is_other && self.done.iter().copied().eq(0..n_values)
    }
}

/// By trial the numbers of its points, in the order of what it replaces.
#[derive(Debug, PartialEq, Eq)]
pub struct PointNumbers(Vec<Vec<usize>>);

/// Tells the trials to a virtual machine that starts later.
///
/// Errors: a name has a tab or a line feed; a trial replaces two values at one point; the files cannot be written.
pub fn tell(base: &Path, trials: &Trials<'_>) -> io::Result<PointNumbers> {
    let Trials { words, all, limit, kept, is_shared, n_wanted } = trials;
    let loaded = if *is_shared { "shared" } else { "anew" };
    // Each point once, with the first replacement there.
    let mut points: Vec<Replacement> = Vec::new();
    let mut numbers = Vec::with_capacity(all.len());
    let mut text = format!("{}\n{}\t{kept}\t{n_wanted}\t{loaded}\n", files::hex(words), limit.as_millis());
    for trial in *all {
        let mut here = Vec::with_capacity(trial.len());
        for replacement in *trial {
            let Replacement { point, nth, expected, instead } = replacement;
            let number = points.iter().position(|known| known.point == *point).unwrap_or_else(|| {
                points.push(replacement.clone());
                points.len() - 1
            });
            if here.contains(&number) {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            let tab = if here.is_empty() { "" } else { "\t" };
            let expected = replace::expectation(expected.as_ref());
            write!(text, "{tab}{number},{nth},{expected},{}", replace::word(instead)).expect("a string takes all");
            here.push(number);
        }
        text.push('\n');
        numbers.push(here);
    }
    replace::tell(base, &points, false)?;
    files::write_new(&base.join(TRIALS), text.as_bytes())?;
    Ok(PointNumbers(numbers))
}

/// What came of the trials, in their order; `None` if no virtual machine or more than one made any.
pub fn tried(base: &Path, numbers: &PointNumbers) -> Option<Vec<TrialResult>> {
    let mut made = machines(base).into_iter().filter_map(|place| files::bytes(&place.join(TRIALS)).ok());
    let text = made.next().filter(|_| made.next().is_none())?;
    let text = String::from_utf8(text).ok()?;
    // A line that was not written to its end is left out.
    let lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    lines.map(|line| of_line(line, numbers)).collect()
}

fn of_line(line: &str, PointNumbers(numbers): &PointNumbers) -> Option<TrialResult> {
    let words: Vec<&str> = line.split('\t').collect();
    let [number, code, told, output] = words[..] else { return None };
    let number: usize = number.parse().ok()?;
    let own = numbers.get(number)?;
    let (mut done, mut is_other) = (Vec::new(), false);
    for (point, what) in told.split(',').filter_map(|told| told.split_once(' ')) {
        let point: usize = point.parse().ok()?;
        match own.iter().position(|own| *own == point) {
            Some(nth) if what == "done" => done.push(nth),
            _ => is_other = true,
        }
    }
    done.sort_unstable();
    let output = String::from_utf8_lossy(&files::unhex(output)?).into_owned();
    Some(TrialResult { number, code: code.parse().ok()?, done, is_other, output })
}

#[cfg(test)]
mod tests {
    use super::*;
    use idd_trace::instrument::java::replace::{Instead, ReplacementPoint, ValueHolder};

    fn replacement(instruction: u32, nth: u64) -> Replacement {
        let point = ReplacementPoint {
            class: "a/B".to_owned(),
            method: "f".to_owned(),
            descriptor: "(I)V".to_owned(),
            instruction,
            holder: ValueHolder::Result,
            of: "I".to_owned(),
        };
        Replacement { point, nth, expected: None, instead: Instead::Bits(7) }
    }

    fn trials<'t>(all: &'t [&'t [Replacement]]) -> Trials<'t> {
        Trials { words: b"java\0A\0", all, limit: Duration::from_secs(2), kept: 100, is_shared: true, n_wanted: 3 }
    }

    #[test]
    fn each_point_is_told_once_and_what_is_done_there_is_told_by_its_place_in_the_trial() {
        let place = tempfile::tempdir().unwrap();
        let (one, other) = (replacement(1, 1), [replacement(2, 5), replacement(1, 9)]);
        let numbers = tell(place.path(), &trials(&[&[], &[one], &other])).unwrap();
        assert_eq!(replace::told(place.path()).0.len(), 2);
        let told = files::bytes(&place.path().join(TRIALS)).unwrap();
        let lines =
            ["6a617661004100\n".to_owned(), "2000\t100\t3\tshared\n\n0,1,?,b7\n1,5,?,b7\t0,9,?,b7\n".to_owned()];
        assert_eq!(String::from_utf8(told).unwrap(), lines.concat());
        let line = of_line("2\t3\t0 done,1 done,\t6869", &numbers).unwrap();
        let expected = TrialResult { number: 2, code: 3, done: vec![0, 1], is_other: false, output: "hi".to_owned() };
        assert_eq!(line, expected);
        assert!(of_line("1\t3\t1 done,\t", &numbers).unwrap().is_other, "a point of another trial");
        for damaged in ["3\t0\t\t", "0\t0\t", "0\tx\t\t", "0\t0\t\t6", ""] {
            assert_eq!(of_line(damaged, &numbers), None, "{damaged}");
        }
        assert_eq!(tried(place.path(), &numbers), None);
    }

    #[test]
    fn two_values_at_one_point_are_no_trial() {
        let place = tempfile::tempdir().unwrap();
        assert!(tell(place.path(), &trials(&[&[replacement(1, 1), replacement(1, 2)]])).is_err());
        assert!(!place.path().join(TRIALS).exists());
    }
}
