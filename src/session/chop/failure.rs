//! The first wrong value of a failing run: where its backward slice begins.

use crate::report::Status;
use crate::report::escape::Terminal;
use crate::report::escape::Untrusted;
use crate::session::failure::Failure;
use crate::session::recorded;
use crate::session::recorded::Which;
use crate::session::recorded::failed;
use crate::session::slice::criterion::BY_SIGNAL;
use crate::trace::dependence::Dependences;
use crate::trace::native::output;
use crate::trace::native::output::Outputs;
use crate::trace::native::output::Stream;
use crate::trace::native::play::Player;
use crate::trace::step::Step;
use crate::world::files;
use crate::world::repo::locate::Location;
use std::ffi::OsStr;
use std::path::Path;

/// The largest file of expected output.
const MAX_EXPECTED: u64 = 1 << 30;

/// Where the failure shows.
pub struct Failed {
    /// The step.
    step: Step,
    /// For a wrong output: the last step before it that printed; else the step itself.
    previous: Step,
    /// Whether the address that it used is wrong.
    is_crash: bool,
    /// The failure in words.
    pub words: String,
}

impl Failed {
    /// The step, and the last step before it that printed something else.
    pub fn steps(&self) -> (Step, Step) {
        (self.step, self.previous)
    }

    /// The criteria of the backward slice: the step, and for a crash also the steps that computed the address.
    pub fn criteria(&self, graph: &Dependences) -> Vec<(Step, Step)> {
        let end = Step(u32::MAX);
        let makers = graph.makers(self.step).filter(|(_, kind)| self.is_crash && kind.is_flow());
        std::iter::once((self.step, end)).chain(makers.map(|(maker, _)| (maker, self.step))).collect()
    }
}

/// The content of a file with the right output.
pub fn expected(file: &OsStr) -> Result<Vec<u8>, Failure> {
    files::bytes_up_to(Path::new(file), MAX_EXPECTED).map_err(|error| {
        let name = Terminal.line(&Untrusted::from(&*file.to_string_lossy()));
        Failure::new(Status::Usage, format!("failed to read `{name}`: {error}"))
            .with_hint("`--expected` takes a file with the output of a correct run")
    })
}

/// What the chosen process of a recording printed to standard output, if all of it is known.
pub fn printed(name: &str, location: &Location) -> Result<Option<Vec<u8>>, Failure> {
    let mut recorded = recorded::open(&Which { recording: Some(name.to_owned()), process: None }, location)?;
    let outputs = output::outputs(&mut recorded.player).map_err(|error| failed(&error))?;
    let (text, is_all) = outputs.text(Stream::Output);
    Ok(is_all.then_some(text))
}

/// Finds where a run failed: a crash, the first output that differs from the expected one, or the end of a program that
/// ended with an error.
///
/// - `ended`: how the process ended.
pub fn find(player: &mut Player, ended: Option<u32>, expected: Option<&[u8]>) -> Result<Failed, Failure> {
    let outputs = output::outputs(player).map_err(|error| failed(&error))?;
    let last = outputs.last.ok_or_else(|| Failure::new(Status::Error, "the run has no steps"))?;
    let found = |step: Step, words: String| Failed { step, previous: step, is_crash: false, words };
    if let Some(step) = outputs.crash {
        return Ok(Failed { is_crash: true, ..found(step, format!("the crash at step {}", step.0)) });
    }
    if let Some(signal @ 1..BY_SIGNAL) = ended.and_then(|ended| ended.checked_sub(BY_SIGNAL)) {
        return Ok(found(last, format!("the end by signal {signal} at step {}", last.0)));
    }
    if let Some(expected) = expected
        && let Some((step, words)) = first_wrong(&outputs, expected)
    {
        let before = outputs.written.iter().rev().find(|written| written.step < step && written.length != Some(0));
        return Ok(Failed { previous: before.map_or(Step::START, |written| written.step), ..found(step, words) });
    }
    match ended {
        Some(code @ 1..BY_SIGNAL) => Ok(found(last, format!("the exit with code {code} after step {}", last.0))),
        _ if expected.is_some() => Ok(found(
            last,
            format!("the end at step {}; the program prints what is expected, and ends without an error", last.0),
        )),
        _ => Err(Failure::new(
            Status::Error,
            "the program ended without an error, so its first wrong value is not known",
        )
        .with_hint("give its right output with `--expected <file>`, or a version that passes with `--good <rev>`")),
    }
}

/// The step of the first byte of standard output that differs, and the difference in words.
///
/// What a call printed may be unknown, but its length is known as a rule. Then it counts as right, if a later call prints
/// something that is wrong for certain.
fn first_wrong(outputs: &Outputs, expected: &[u8]) -> Option<(Step, String)> {
    let line = |at: usize| expected[..at.min(expected.len())].split(|byte| *byte == b'\n').count();
    let (mut at, mut unknown) = (0_usize, None);
    for written in outputs.written.iter().filter(|written| written.stream == Stream::Output) {
        let step = written.step;
        if let Some(bytes) = &written.bytes {
            let rest = expected.get(at..).unwrap_or_default();
            let n_same = bytes.iter().zip(rest).take_while(|(one, other)| one == other).count();
            if n_same < bytes.len() {
                let (at, line) = (at + n_same, line(at + n_same));
                return Some((
                    step,
                    format!("byte {at} of standard output (line {line}), which step {} printed", step.0),
                ));
            }
        } else {
            unknown.get_or_insert(step);
        }
        let Some(length) = written.length.and_then(|length| usize::try_from(length).ok()) else { break };
        at = at.saturating_add(length);
        if at > expected.len() {
            let line = line(expected.len());
            return Some((
                step,
                format!("the output after line {line}, where step {} printed more than expected", step.0),
            ));
        }
    }
    if let Some(step) = unknown {
        return Some((step, format!("what step {} printed, which is not known", step.0)));
    }
    let last = outputs.last.filter(|_| at < expected.len())?;
    Some((last, format!("the end of the output at byte {at} (line {}), where more is expected", line(at))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::native::output::Written;

    fn outputs(texts: &[Option<&str>]) -> Outputs {
        let written = (1..).zip(texts).map(|(step, text)| Written {
            step: Step(step * 10),
            stream: Stream::Output,
            length: text.map(|text| text.len() as u64),
            bytes: text.map(|text| text.as_bytes().to_vec()),
        });
        Outputs { written: written.collect(), crash: None, last: Some(Step(99)) }
    }

    #[test]
    fn the_first_wrong_output_is_where_the_texts_part() {
        let wrong = |texts: &[Option<&str>], expected: &str| first_wrong(&outputs(texts), expected.as_bytes());
        let step = |found: Option<(Step, String)>| found.map(|(step, _)| step.0);
        assert_eq!(step(wrong(&[Some("a\n"), Some("b\n")], "a\nc\n")), Some(20));
        assert_eq!(
            wrong(&[Some("a\n"), Some("b\n")], "a\nc\n").unwrap().1,
            "byte 2 of standard output (line 2), which step 20 printed"
        );
        assert_eq!(step(wrong(&[Some("a\n"), Some("b\n")], "a\n")), Some(20), "more than expected");
        assert_eq!(step(wrong(&[Some("a\n")], "a\nb\n")), Some(99), "less than expected");
        assert_eq!(step(wrong(&[Some("a\n")], "a\n")), None);
        assert_eq!(step(wrong(&[Some("a\n"), None, Some("x")], "a\nb\n")), Some(20), "not known");
        let mut unknown = outputs(&[Some("a\n"), None, Some("x")]);
        unknown.written[1].length = Some(2);
        assert_eq!(step(first_wrong(&unknown, b"a\nb\ny")), Some(30), "the unknown part is as long as expected");
        assert_eq!(step(first_wrong(&unknown, b"a\nb\nx")), Some(20), "all that is known is right");
        assert_eq!(step(wrong(&[], "a")), Some(99));
    }
}
