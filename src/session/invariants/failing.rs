//! The failure of a run, and the conditions with which it follows.

use crate::Failure;
use crate::chop::failure::{self, ChopReference, Symbol};
use crate::invariants::passing_run::PassingBeside;
use crate::invariants::recursion::Recursion;
use crate::invariants::{InvariantsOrder, assertion, recursion};
use crate::recorded::{self, ProcessChoice, failed};
use crate::slice::SliceDirection;
use crate::slice::criterion::{BY_SIGNAL, Criterion, is_fault, not_visible};
use crate::sources::RecordedSources;
use idd_explain::failure::RunWrong;
use idd_explain::invariant::FailingState;
use idd_explain::native::endless::{self, EndlessLoop};
use idd_explain::native::invariant::Native;
use idd_explain::native::recorded::NativeRecorded;
use idd_trace::container::is_stopped;
use idd_trace::logic::term::Terms;
use idd_trace::native::output::{self, ByteOrigin};
use idd_trace::native::visit::before_step;
use idd_trace::native::{NativeMachine, NativePlayer, View};
use idd_trace::output::{OutputByte, OutputStream, Outputs};
use idd_trace::{Run, Step};
use idd_world::repo::Location;
use signal_hook::consts::SIGSEGV;

/// What fails.
#[derive(Debug, Clone, PartialEq)]
pub enum FailingThing {
    /// The step uses an address that is wrong.
    Crash,
    /// It is the last one.
    End,
    /// It printed a wrong byte: the place of that, its origin, and what is right there.
    Output(OutputByte, ByteOrigin, Option<u64>),
    /// It printed something else than the passing run, of which the text is not known.
    Printed,
    /// A variable has its recorded value before it: its address and bytes.
    Variable(u64, u64),
    /// An expression of the user does not hold before it.
    Assertion,
}

/// The failure.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedFailure {
    /// Its step.
    pub step: Step,
    /// What fails.
    pub what: FailingThing,
    /// In words.
    pub words: String,
    /// For wrong output: the last step before it that printed. Else the step itself.
    pub previous: Step,
    /// For a wrong byte: the step that printed the text before it, if that text may be too short.
    pub text_before: Option<Step>,
}

/// The failure of a program that was stopped in a loop that it does not leave; `None` if the order names another one.
///
/// Cost: reads the recording.
pub fn endless(
    order: &InvariantsOrder,
    which: &ProcessChoice,
    ended: Option<u32>,
    location: &Location,
) -> Result<Option<AskedFailure>, Failure> {
    if order.at.is_some() || order.assertion.is_some() || !is_stopped(ended) {
        return Ok(None);
    }
    let mut player = recorded::open(which, location)?.run.into_native()?;
    let run = Run::read(&mut player).map_err(|error| failed(&error))?;
    let found = endless::find(&mut NativeRecorded { player, run }).map_err(|error| failed(&error))?;
    Ok(found.map(|EndlessLoop { stuck: step, words, .. }| AskedFailure {
        step,
        what: FailingThing::End,
        words: format!("the program does not end: from step {} on {words}", step.0),
        previous: step,
        text_before: None,
    }))
}

/// Finds the failure: what the order says, else what [`failure::find`] finds.
pub fn find(
    order: &InvariantsOrder,
    player: &mut NativePlayer,
    ended: Option<u32>,
    ending: &str,
    expected: Option<&[Symbol]>,
    beside: Option<&PassingBeside>,
    sources: &RecordedSources,
) -> Result<AskedFailure, Failure> {
    if let Some(asked) = &order.assertion {
        let step = assertion::violated(asked, player)?;
        let words = format!("`{}` does not hold at {}, step {}", asked.text, asked.place(), step.0);
        return Ok(AskedFailure { step, what: FailingThing::Assertion, words, previous: step, text_before: None });
    }
    let outputs = |player: &mut NativePlayer| output::outputs(player).map_err(|error| failed(&error));
    match &order.at {
        None => {
            let found =
                failure::find(player, ended, ending, ChopReference { output: expected, ..ChopReference::default() })?;
            if let Some((step, words)) = beside.and_then(|beside| printed_otherwise(&found, beside))
                && outputs(player)?.written.iter().any(|one| one.step == step && one.stream == OutputStream::Output)
            {
                return Ok(AskedFailure {
                    step,
                    what: FailingThing::Printed,
                    words,
                    previous: step,
                    text_before: None,
                });
            }
            // A stack that is exhausted ends the program by this signal, and no instrumented statement uses a bad address.
            let is_exhausted = !found.is_crash() && ended == Some(BY_SIGNAL + SIGSEGV.unsigned_abs());
            let is_shared = |step: Step| beside.is_some_and(|beside| beside.alignment.reference(step).is_some());
            if is_exhausted && let Some(found) = recursion::find(player, &is_shared).map_err(|error| failed(&error))? {
                let Recursion { step, function, depth } = found;
                let words = format!(
                    "the endless recursion of `{function}` ({depth} activations at the end), from the call of step {} on",
                    step.0
                );
                return Ok(AskedFailure { step, what: FailingThing::End, words, previous: step, text_before: None });
            }
            let ((step, previous), text_before) = (found.steps(), found.text_before);
            let words = found.described(player)?;
            let what = if found.is_crash() {
                FailingThing::Crash
            } else if let Some((place, at)) = found.wrong {
                let origin = output::origin(player, place).map_err(|error| failed(&error))?;
                let right = right(&outputs(player)?, place, origin, at, expected.unwrap_or_default(), player)?;
                FailingThing::Output(place, origin, right)
            } else if is_fault(ended) {
                FailingThing::Crash
            } else {
                FailingThing::End
            };
            Ok(AskedFailure { step, what, words, previous, text_before })
        }
        Some(Criterion::Variable(step, variable)) => {
            let found = variable_at(player, Step(*step), variable)?;
            let words = format!("`{variable}` before step {step}");
            let step = Step(*step);
            Ok(AskedFailure {
                step,
                what: FailingThing::Variable(found.0, found.1),
                words,
                previous: step,
                text_before: None,
            })
        }
        Some(Criterion::Output(offset) | Criterion::Errors(offset)) => {
            let stream = match order.at {
                Some(Criterion::Output(_)) => OutputStream::Output,
                _ => OutputStream::Errors,
            };
            let found = found(order.at.as_ref(), player, ended, sources)?;
            let place = outputs(player)?.byte(stream, *offset).ok();
            let what = match place {
                Some(place) => {
                    let origin = output::origin(player, place).map_err(|error| failed(&error))?;
                    FailingThing::Output(place, origin, None)
                }
                None => FailingThing::End,
            };
            Ok(AskedFailure { what, ..found })
        }
        at => found(at.as_ref(), player, ended, sources),
    }
}

/// A step that printed something else than the passing run before the output is wrong for certain, because not all of the
/// text is known; and that in words.
fn printed_otherwise(found: &failure::Failed, beside: &PassingBeside) -> Option<(Step, String)> {
    let Some(RunWrong::Said(said, other)) = beside.seen.as_ref().map(|seen| &seen.wrong) else { return None };
    let is_unknown = said.text.is_none() || other.as_ref().is_some_and(|other| other.text.is_none());
    let is_first = found.is_unknown || (!found.is_crash() && said.step < found.steps().0);
    let words = || format!("what step {} printed, where the passing run printed something else", said.step.0);
    (is_unknown && is_first).then(|| (said.step, words()))
}

/// The step of a criterion of a slice.
fn found(
    at: Option<&Criterion>,
    player: &mut NativePlayer,
    ended: Option<u32>,
    sources: &RecordedSources,
) -> Result<AskedFailure, Failure> {
    let criterion = at.unwrap_or(&Criterion::End);
    let what = match criterion {
        Criterion::Crash => FailingThing::Crash,
        Criterion::Line(..) | Criterion::Input(..) => {
            return Err(Failure::usage("this criterion is no failure").with_hint(
                "take `crash`, `end`, `<step>`, `<step>:<variable>`, `output:<byte>`, or `--assert '<expression> at \
                 <file>:<line>'`",
            ));
        }
        _ => FailingThing::End,
    };
    let found = criterion.find(player, ended, SliceDirection::Backward, sources)?;
    let step = found.steps.first().map_or(Step::START, |(step, _)| *step);
    Ok(AskedFailure { step, what, words: found.words, previous: step, text_before: None })
}

/// The address and the bytes of a variable before a step.
fn variable_at(player: &mut NativePlayer, step: Step, variable: &str) -> Result<(u64, u64), Failure> {
    let (mut found, mut names) = (None, Vec::new());
    let look = |machine: &NativeMachine| {
        let view = View::without_words(machine);
        let Some(frame) = machine.frame() else { return };
        found = view.named_by(frame, variable).map(|place| (place.address, place.size));
        names = view.variables(frame).into_iter().map(|place| place.name).collect();
    };
    before_step(player, step, look).map_err(|error| failed(&error))?;
    found.filter(|(_, size)| (1..=8).contains(size)).ok_or_else(|| not_visible(&names, variable, step))
}

/// What is right in the place of a wrong byte: the byte, or the number of which the byte is a digit. `None` if that is
/// not certain: because the number is printed in another way than in plain digits, or beside others.
fn right(
    outputs: &Outputs,
    place: OutputByte,
    origin: ByteOrigin,
    at: usize,
    expected: &[Symbol],
    player: &mut NativePlayer,
) -> Result<Option<u64>, Failure> {
    let byte = |symbols: &[Symbol], at: usize| symbols.get(at).and_then(|symbol| u8::try_from(*symbol).ok());
    let ByteOrigin::Argument(index) = origin else {
        return Ok(byte(expected, at).filter(|_| matches!(origin, ByteOrigin::Byte(_))).map(u64::from));
    };
    let passed = output::passed(player, place, index).map_err(|error| failed(&error))?;
    let recorded = failure::symbols(outputs);
    // A number is read from both texts in the same way; that of the run has to be the one that was passed.
    if let (Some(passed), Some(number)) = (passed, number(&recorded, at))
        && is_low(passed, number.cast_unsigned())
    {
        return Ok(self::number(expected, at).map(i64::cast_unsigned));
    }
    let is_character =
        byte(&recorded, at).is_some_and(|byte| passed.is_some_and(|passed| passed & 0xff == u64::from(byte)));
    Ok(byte(expected, at).filter(|_| is_character).map(u64::from))
}

/// Whether an argument is a number, as far as their lower 32 bits say that: the upper ones of an `int` are anything.
fn is_low(passed: u64, number: u64) -> bool {
    passed & 0xffff_ffff == number & 0xffff_ffff
}

/// The number in plain digits of which a byte of an output is a part; `None` if there is none, or if it may be a part of
/// something longer.
fn number(symbols: &[Symbol], at: usize) -> Option<i64> {
    let byte = |at: usize| symbols.get(at).and_then(|symbol| u8::try_from(*symbol).ok());
    let is_part = |byte: u8| byte.is_ascii_digit() || byte == b'-';
    let n_before = (0..at).rev().take_while(|before| byte(*before).is_some_and(is_part)).count();
    let begin = at - n_before;
    let token: Vec<u8> = (begin..).map_while(byte).take_while(|byte| is_part(*byte)).take(20).collect();
    let is_other = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_';
    let around = [begin.checked_sub(1).and_then(byte), byte(begin + token.len())];
    if around.into_iter().flatten().any(is_other) {
        return None;
    }
    std::str::from_utf8(&token).ok()?.parse().ok()
}

/// The conditions of the failure.
pub fn criterion(
    order: &InvariantsOrder,
    depth: u32,
    asked: &AskedFailure,
    native: &mut Native<'_>,
    terms: &mut Terms,
) -> Result<FailingState, Failure> {
    let step = asked.step;
    let found = match asked.what {
        FailingThing::Crash => native.crash(terms, step, depth),
        FailingThing::End => native.end(terms, step, depth),
        FailingThing::Printed => native.otherwise(terms, step, depth),
        FailingThing::Output(place, origin, right) => {
            native.output(terms, (place.step, place.nth), origin, (right, asked.text_before), depth)
        }
        FailingThing::Variable(address, length) => match native.held(terms, step, address, length) {
            Ok(Some(term)) => {
                let condition = native.symbolic.as_recorded(terms, term);
                native.state(step, vec![condition], depth)
            }
            Ok(None) => {
                return Err(Failure::error("the value of the variable is not known at this step"));
            }
            Err(error) => Err(error),
        },
        FailingThing::Assertion => {
            let Some(assertion) = &order.assertion else {
                return Err(Failure::error("there is no assertion"));
            };
            let condition = assertion::condition(assertion, step, native, terms)?;
            native.state(step, vec![condition], depth)
        }
    };
    found.map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_if_it_stands_alone() {
        let of = |text: &str, at| number(&text.bytes().map(Symbol::from).collect::<Vec<_>>(), at);
        assert_eq!(of("n = 7845\n", 6), Some(7845));
        assert_eq!(of("n = -12\n", 5), Some(-12));
        assert_eq!(of("7", 0), Some(7));
        assert_eq!([of("x1 2", 1), of("68fee9", 1), of("0.25", 2), of("1.5", 0), of("a", 0), of("", 0)], [None; 6]);
        assert_eq!(of("5-3", 0), None, "two numbers");
        assert!(is_low(u64::MAX, 0xffff_ffff) && is_low(5, 5) && !is_low(5, 6));
    }
}
