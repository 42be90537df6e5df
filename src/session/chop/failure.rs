//! The first wrong value of a failing run: where its backward slice begins.

use crate::Failure;
use crate::recorded::{self, ProcessChoice, failed};
use crate::slice::criterion::BY_SIGNAL;
use idd_base::Ending;
use idd_report::{Status, Terminal, Untrusted};
use idd_trace::container::is_stopped;
use idd_trace::output::{Escape, OutputByte, OutputStream, Outputs, WrittenOutput};
use idd_trace::slice::{self, Kinds, UsedPart};
use idd_trace::{Dependences, Execution, Step, Steps};
use idd_world::files;
use idd_world::repo::Location;
use std::ffi::OsStr;
use std::path::Path;

/// The largest file of expected output.
const MAX_EXPECTED: u64 = 1 << 30;

/// Where the failure shows.
#[derive(Default)]
pub struct Failed {
    /// The step.
    step: Step,
    /// For a wrong output: the last step before it that printed; else the step itself.
    previous: Step,
    /// Whether the address that it used is wrong.
    is_crash: bool,
    /// Whether the step is only the last one.
    is_end: bool,
    /// For a wrong byte that the step copied from memory: the byte alone.
    part: Option<UsedPart>,
    /// For a wrong byte that is the first one of its call: the step that printed the text before it, if that text may be
    /// too short.
    pub text_before: Option<Step>,
    /// The failure in words.
    words: String,
    /// For a wrong byte: its place, and its offset in the output.
    pub wrong: Option<(OutputByte, usize)>,
    /// Whether its output is only not known, and all that is known is right.
    pub is_unknown: bool,
}

impl Failed {
    /// Whether the step crashed.
    pub fn is_crash(&self) -> bool {
        self.is_crash
    }

    /// The failure in words, with the place of its step. The last step of a program has none: it is at a closing brace.
    pub fn described(&self, run: &mut dyn Execution) -> Result<String, Failure> {
        if self.is_end {
            return Ok(self.words.clone());
        }
        let detail = run.detail(self.step).map_err(|error| failed(&error))?;
        let standing = detail.map(|detail| detail.standing);
        let place = standing.and_then(|standing| Some((standing.place?, standing.function)));
        let at = place.map(|(place, function)| format!(", at {}:{} in {function}", place.file, place.line));
        Ok(format!("{}{}", self.words, at.unwrap_or_default()))
    }

    /// The step, and the last step before it that printed something else.
    pub fn steps(&self) -> (Step, Step) {
        (self.step, self.previous)
    }

    /// The criteria of the backward slice: the step, and for a crash also the steps that computed the address. For a byte
    /// that was copied from memory, the steps that stored it.
    fn criteria(&self, graph: &Dependences, kinds: Kinds) -> Vec<(Step, Step)> {
        if let Some(part) = &self.part {
            return part.criteria(graph, kinds);
        }
        let end = Step(u32::MAX);
        let makers = graph.makers(self.step).filter(|(_, kind)| self.is_crash && kind.is_flow());
        std::iter::once((self.step, end)).chain(makers.map(|(maker, _)| (maker, self.step))).collect()
    }

    /// The backward slice, with the step itself and the decisions that skipped other output.
    pub fn slice(&self, graph: &Dependences, skipped: &[Step], kinds: Kinds) -> Steps {
        let mut criteria = self.criteria(graph, kinds);
        criteria.extend(skipped.iter().map(|decision| (*decision, self.step)));
        let mut steps = slice::backward(graph, &criteria, kinds);
        steps.insert(self.step);
        steps
    }
}

/// `signal 11 (SIGSEGV)`.
fn name(signal: u32) -> String {
    let name = i32::try_from(signal).ok().and_then(signal_hook::low_level::signal_name);
    name.map_or_else(|| format!("signal {signal}"), |name| format!("signal {signal} ({name})"))
}

/// A byte of the right output, or a mark: a text that is not known ([`ANY_TEXT`]), a byte that is not known ([`ANY_BYTE`]).
pub type Symbol = u16;

/// What a call printed, if neither its text nor its length is known.
const ANY_TEXT: Symbol = 256;

/// A byte of a text of known length.
const ANY_BYTE: Symbol = 257;

/// The content of a file with the right output.
pub fn expected(file: &OsStr) -> Result<Vec<Symbol>, Failure> {
    let bytes = files::bytes_up_to(Path::new(file), MAX_EXPECTED);
    bytes.map(|bytes| bytes.into_iter().map(Symbol::from).collect()).map_err(|error| {
        let name = Terminal.line(&Untrusted::from(&*file.to_string_lossy()));
        Failure::usage(format!("failed to read `{name}`: {error}"))
            .with_hint("`--expected` takes a file with the output of a correct run")
    })
}

/// What the chosen process of a recording printed to standard output, with marks for what is not known. A program that
/// copies lines with `fgets` and `fputs` prints texts that are not known, and prints right ones after them.
pub fn printed(name: &str, location: &Location) -> Result<Vec<Symbol>, Failure> {
    let mut recorded = recorded::open(&ProcessChoice { recording: Some(name.to_owned()), process: None }, location)?;
    let outputs = recorded.run.execution().outputs().map_err(|error| failed(&error))?;
    Ok(symbols(&outputs))
}

/// Standard output, with marks for what is not known.
pub fn symbols(outputs: &Outputs) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    for written in outputs.written.iter().filter(|written| written.stream == OutputStream::Output) {
        match (&written.bytes, length(written)) {
            (Some(bytes), _) => symbols.extend(bytes.iter().copied().map(Symbol::from)),
            (None, Some(length)) => symbols.resize(symbols.len().saturating_add(length), ANY_BYTE),
            (None, None) => symbols.push(ANY_TEXT),
        }
    }
    symbols
}

/// The number of bytes that a call printed, if it is known.
fn length(written: &WrittenOutput) -> Option<usize> {
    written.length.and_then(|length| usize::try_from(length).ok())
}

/// What a run is compared with.
#[derive(Debug, Clone, Copy, Default)]
pub struct ChopReference<'r> {
    /// The right output, if it is known.
    pub output: Option<&'r [Symbol]>,
    /// The exceptions of a run that passes.
    pub escapes: &'r [Escape],
}

/// The exceptions that no code of the program caught, in the chosen process of a recording.
pub fn escapes(name: &str, location: &Location) -> Result<Vec<Escape>, Failure> {
    let mut recorded = recorded::open(&ProcessChoice { recording: Some(name.to_owned()), process: None }, location)?;
    Ok(recorded.run.execution().outputs().map_err(|error| failed(&error))?.escapes)
}

/// The step that crashed, and how. Of several exceptions the last one counts that the passing run does not have.
fn crash(outputs: &Outputs, passing: &[Escape]) -> Option<(Step, String)> {
    let is_same = |one: &Escape, other: &Escape| (&one.function, &one.exception) == (&other.function, &other.exception);
    let is_new = |escape: &&Escape| !passing.iter().any(|other| is_same(escape, other));
    if outputs.escapes.is_empty() {
        return outputs.crash.map(|step| (step, format!("the crash at step {}", step.0)));
    }
    let escape = outputs.escapes.iter().rev().find(is_new)?;
    Some((escape.step, format!("{}, thrown by step {}", escape.exception, escape.step.0)))
}

/// Finds where a run failed: a crash, the first output that differs from the expected one, or the end of a program that
/// ended with an error.
///
/// - `ended`: how the process ended; `None` if that is not recorded.
/// - `ending`: how the test ended.
pub fn find(
    run: &mut dyn Execution,
    ended: Option<u32>,
    ending: &str,
    reference: ChopReference<'_>,
) -> Result<Failed, Failure> {
    let expected = reference.output;
    let outputs = run.outputs().map_err(|error| failed(&error))?;
    let last = outputs.last.ok_or_else(|| Failure::error("the run has no steps"))?;
    let found = |step: Step, words: String| Failed { step, previous: step, words, ..Failed::default() };
    let at_end = |words: String| Failed { is_end: true, ..found(last, words) };
    if let Some((step, words)) = crash(&outputs, reference.escapes) {
        return Ok(Failed { is_crash: true, ..found(step, words) });
    }
    if let Some(signal @ 1..BY_SIGNAL) = ended.and_then(|ended| ended.checked_sub(BY_SIGNAL)) {
        if is_stopped(ended) {
            let what = "stopped the program, which did not end: the last step that is examined is";
            return Ok(found(last, format!("{} {what} step {}", name(signal), last.0)));
        }
        return Ok(found(last, format!("the end by {} at step {}", name(signal), last.0)));
    }
    if let Some(expected) = expected
        && let Some(FirstWrong { step, place: wrong, is_unknown, words }) = first_wrong(&outputs, expected)
    {
        let place = wrong.map(|(place, _)| place);
        let part = place.map(|place| run.part(place)).transpose().map_err(|error| failed(&error))?.flatten();
        let before = outputs.written.iter().rposition(|written| written.step < step && written.length != Some(0));
        let previous = before.map_or(Step::START, |before| outputs.written[before].step);
        let is_first = place.is_some_and(|place| (place.nth, place.offset) == (0, 0));
        let text_before = match before.filter(|_| is_first) {
            Some(before) if may_be_short(run, &outputs, before, expected)? => Some(previous),
            _ => None,
        };
        let is_end = step == last;
        return Ok(Failed { previous, is_end, part, text_before, wrong, is_unknown, ..found(step, words) });
    }
    match ended {
        Some(code @ 1..BY_SIGNAL) => Ok(at_end(format!("the exit with code {code} after step {}", last.0))),
        _ if expected.is_some() && ending == Ending::Exit(0).to_string() => {
            Err(Failure::new(Status::BadPasses, "the program prints what is expected, and ends without an error")
                .with_hint("a failure is an output that differs, a crash, or an exit code other than 0"))
        }
        None => Ok(at_end(format!("step {}, the last recorded one: how the program ended is not recorded", last.0))),
        _ if expected.is_some() => Ok(at_end(format!(
            "the end at step {}; the program prints what is expected, and ends without an error",
            last.0
        ))),
        _ => Err(Failure::error("the program ended without an error, so its first wrong value is not known")
            .with_hint("give its right output with `--expected <file>`, or a version that passes with `--good <rev>`")),
    }
}

/// The first output that is wrong.
#[derive(Debug, PartialEq, Eq)]
struct FirstWrong {
    /// The step that printed it.
    step: Step,
    /// The place of its first byte that differs, and the offset of that in the output, if there is one.
    place: Option<(OutputByte, usize)>,
    /// Whether only the fact that it is not known makes it the wrong one.
    is_unknown: bool,
    /// The difference in words.
    words: String,
}

/// The first output that is wrong: the first byte of standard output that differs.
///
/// What a call printed may be unknown, but its length is known as a rule. Then it counts as right, if a later call prints
/// something that is wrong for certain. The same holds if the length is not known in the run that is right either.
fn first_wrong(outputs: &Outputs, expected: &[Symbol]) -> Option<FirstWrong> {
    let line = |at: usize| expected[..at.min(expected.len())].split(|byte| *byte == Symbol::from(b'\n')).count();
    let is_same = |byte: u8, expected: Symbol| expected == Symbol::from(byte) || expected == ANY_BYTE;
    let (mut at, mut unknown) = (0_usize, None);
    let all = outputs.written.iter().enumerate();
    for (index, written) in all.filter(|(_, written)| written.stream == OutputStream::Output) {
        let step = written.step;
        if let Some(bytes) = &written.bytes {
            let rest = expected.get(at..).unwrap_or_default();
            let n_same = bytes.iter().zip(rest).take_while(|(one, other)| is_same(**one, **other)).count();
            if n_same < bytes.len() {
                let (at, line) = (at + n_same, line(at + n_same));
                // A byte that is too many is not one that is wrong.
                let place = (at < expected.len()).then(|| (outputs.place(index, n_same as u64), at));
                let words = if expected.iter().take(at).any(|symbol| *symbol == ANY_TEXT) {
                    format!("what step {} printed, after output that is not known", step.0)
                } else {
                    format!("byte {at} of standard output (line {line}), which step {} printed", step.0)
                };
                return Some(FirstWrong { step, place, is_unknown: false, words });
            }
        } else {
            unknown.get_or_insert(step);
        }
        at = match length(written) {
            Some(length) => at.saturating_add(length),
            None if expected.get(at) == Some(&ANY_TEXT) => at + 1,
            None => break,
        };
        if at > expected.len() {
            let line = line(expected.len());
            let words = format!("the output after line {line}, where step {} printed more than expected", step.0);
            return Some(FirstWrong { step, place: None, is_unknown: false, words });
        }
    }
    if let Some(step) = unknown {
        let words = format!("what step {} printed, which is not known", step.0);
        return Some(FirstWrong { step, place: None, is_unknown: true, words });
    }
    let last = outputs.last.filter(|_| at < expected.len())?;
    let words = format!("the end of the output at byte {at} (line {}), where more is expected", line(at));
    Some(FirstWrong { step: last, place: None, is_unknown: false, words })
}

/// Whether the output is wrong after a call because the call may have printed too little: it ended with text from
/// memory, or with a number that goes on in the expected output.
///
/// - `index`: that of the call.
fn may_be_short(
    run: &mut dyn Execution,
    outputs: &Outputs,
    index: usize,
    expected: &[Symbol],
) -> Result<bool, Failure> {
    let is_output = |written: &&WrittenOutput| written.stream == OutputStream::Output;
    let Some(written) = outputs.written.get(index).filter(is_output) else { return Ok(false) };
    let Some(length @ 1..) = written.length else { return Ok(false) };
    // A text of unknown length has one mark.
    let before = outputs.written[..=index].iter().filter(is_output);
    let end: usize = before.map(|written| self::length(written).unwrap_or(1)).sum();
    let is_digit = |byte: u8| byte.is_ascii_digit();
    let goes_on = expected.get(end).and_then(|symbol| u8::try_from(*symbol).ok()).is_some_and(is_digit);
    if goes_on && written.bytes.as_ref().and_then(|bytes| bytes.last()).copied().is_some_and(is_digit) {
        return Ok(true);
    }
    run.ends_text(outputs.place(index, length - 1)).map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(texts: &[Option<&str>]) -> Outputs {
        let written = (1..).zip(texts).map(|(step, text)| WrittenOutput {
            step: Step(step * 10),
            stream: OutputStream::Output,
            length: text.map(|text| text.len() as u64),
            bytes: text.map(|text| text.as_bytes().to_vec()),
        });
        Outputs { written: written.collect(), last: Some(Step(99)), ..Outputs::default() }
    }

    #[test]
    fn an_exception_that_the_passing_run_has_too_is_no_failure() {
        let escape = |step: u32, function: &str| Escape {
            step: Step(step),
            exception: "Oops".to_owned(),
            function: function.into(),
        };
        let outputs = Outputs {
            crash: Some(Step(9)),
            escapes: vec![escape(5, "T.one"), escape(9, "T.two")],
            ..Outputs::default()
        };
        let step = |passing: &[Escape]| crash(&outputs, passing).map(|(step, _)| step.0);
        assert_eq!(step(&[]), Some(9));
        assert_eq!(step(&[escape(7, "T.two")]), Some(5));
        assert_eq!(step(&[escape(7, "T.two"), escape(8, "T.one")]), None);
    }

    #[test]
    fn the_first_wrong_output_is_where_the_texts_part() {
        let symbols = |text: &str| text.bytes().map(Symbol::from).collect::<Vec<_>>();
        let wrong = |texts: &[Option<&str>], expected: &str| first_wrong(&outputs(texts), &symbols(expected));
        let step = |found: Option<FirstWrong>| found.map(|found| found.step.0);
        assert_eq!(step(wrong(&[Some("a\n"), Some("b\n")], "a\nc\n")), Some(20));
        assert_eq!(
            wrong(&[Some("a\n"), Some("b\n")], "a\nc\n").unwrap().words,
            "byte 2 of standard output (line 2), which step 20 printed"
        );
        assert_eq!(step(wrong(&[Some("a\n"), Some("b\n")], "a\n")), Some(20), "more than expected");
        assert_eq!(step(wrong(&[Some("a\n")], "a\nb\n")), Some(99), "less than expected");
        assert_eq!(step(wrong(&[Some("a\n")], "a\n")), None);
        assert_eq!(step(wrong(&[Some("a\n"), None, Some("x")], "a\nb\n")), Some(20), "not known");
        let mut unknown = outputs(&[Some("a\n"), None, Some("x")]);
        unknown.written[1].length = Some(2);
        assert_eq!(
            step(first_wrong(&unknown, &symbols("a\nb\ny"))),
            Some(30),
            "the unknown part is as long as expected"
        );
        assert_eq!(step(first_wrong(&unknown, &symbols("a\nb\nx"))), Some(20), "all that is known is right");
        let marked = [symbols("a\n"), vec![ANY_TEXT], symbols("y")].concat();
        let found = first_wrong(&outputs(&[Some("a\n"), None, Some("x")]), &marked).unwrap();
        assert_eq!((found.step, &*found.words), (Step(30), "what step 30 printed, after output that is not known"));
        assert_eq!(step(wrong(&[], "a")), Some(99));
    }
}
