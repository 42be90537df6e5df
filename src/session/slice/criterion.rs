//! The criterion of a slice: the values that it begins with.

use crate::Failure;
use crate::recorded::failed;
use crate::slice::SliceDirection;
use crate::sources::RecordedSources;
use idd_report::{Terminal, Untrusted};
use idd_trace::input::{InputEntry, InputSource};
use idd_trace::output::{NoByte, OutputStream};
use idd_trace::slice::UsedPart;
use idd_trace::{Dependences, Execution, OriginAnswer, Place, Step};
use signal_hook::consts::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
use std::ops::Range;
use std::sync::Arc;

/// What a slice begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Criterion {
    /// All values that a step used.
    Step(u32),
    /// A variable before a step.
    Variable(u32, String),
    /// A byte of standard output, from 0.
    Output(u64),
    /// A byte of standard error, from 0.
    Errors(u64),
    /// The crash; in a library the last step of a program that was killed by a signal of its own.
    Crash,
    /// The last step.
    End,
    /// The bytes of an input; all of them without a range. The name `-` is standard input.
    Input(String, Option<Range<u64>>),
    /// All steps of a line.
    Line(String, u32),
}

/// The steps of a criterion.
pub struct CriterionSteps {
    /// Steps, and for each the step before which its value is examined.
    pub steps: Vec<(Step, Step)>,
    /// The criterion in words.
    pub words: String,
    /// For a byte of the output that a step copied from memory: the byte alone.
    pub part: Option<UsedPart>,
}

/// The signals that a program gets for what it does itself: it aborts, or cannot go on.
const FAULTS: [i32; 7] = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS];

/// The end of a process by a signal, see [`container`](idd_trace::container).
pub const BY_SIGNAL: u32 = 256;

/// Whether a process was killed by what it did itself.
pub fn is_fault(ended: Option<u32>) -> bool {
    ended.is_some_and(|ended| FAULTS.iter().any(|signal| ended == BY_SIGNAL + signal.unsigned_abs()))
}

fn shown(text: &str) -> String {
    Terminal.line(&Untrusted::from(text))
}

impl Criterion {
    /// Finds its steps in a run.
    ///
    /// - `ended`: how the process ended.
    pub fn find(
        &self,
        run: &mut dyn Execution,
        ended: Option<u32>,
        direction: SliceDirection,
        sources: &RecordedSources,
    ) -> Result<CriterionSteps, Failure> {
        let whole = |step: Step| (step, Step(u32::MAX));
        match self {
            Self::Step(step) => {
                let n_steps = run.n_steps().map_err(|error| failed(&error))?;
                if *step == 0 || *step > n_steps {
                    return Err(no_step(n_steps));
                }
                Ok(CriterionSteps { steps: vec![whole(Step(*step))], words: format!("step {step}"), part: None })
            }
            Self::Variable(step, variable) => {
                let steps = self::variable(run, Step(*step), variable)?;
                let words = format!("`{}` before step {step}", shown(variable));
                if steps.is_empty() {
                    return Err(Failure::error(format!("no step wrote {words}"))
                        .with_hint(format!("`git idd trace why {step} {}` shows its value", shown(variable))));
                }
                Ok(CriterionSteps { steps, words, part: None })
            }
            Self::Output(offset) => written(run, OutputStream::Output, *offset),
            Self::Errors(offset) => written(run, OutputStream::Errors, *offset),
            Self::Crash => {
                let outputs = run.outputs().map_err(|error| failed(&error))?;
                let in_library = is_fault(ended).then_some(outputs.last).flatten();
                let step = outputs.crash.or(in_library).ok_or_else(|| {
                    Failure::error("the program did not crash")
                        .with_hint("`end` is its last step, `output:<n>` a byte that it printed")
                })?;
                Ok(CriterionSteps {
                    steps: vec![whole(step)],
                    words: format!("the crash (step {})", step.0),
                    part: None,
                })
            }
            Self::End => {
                let last = run.outputs().map_err(|error| failed(&error))?.last;
                let last = last.ok_or_else(|| no_step(0))?;
                Ok(CriterionSteps {
                    steps: vec![whole(last)],
                    words: format!("the last step (step {})", last.0),
                    part: None,
                })
            }
            Self::Line(file, line) => {
                let is_there = |place: &Place| is_in_line(place, file, *line);
                of_line(file, *line, run.steps_at(&is_there).map_err(|error| failed(&error))?)
            }
            Self::Input(name, range) => {
                if direction == SliceDirection::Backward {
                    return Err(Failure::usage("nothing in the program comes before its input")
                        .with_hint("`--forward` shows what depends on an input"));
                }
                entered(run, name, range.as_ref(), sources)
            }
        }
    }
}

/// All steps of a line.
///
/// Errors: there is none.
pub fn of_line(file: &str, line: u32, steps: Vec<Step>) -> Result<CriterionSteps, Failure> {
    let words = format!("{}:{line}", shown(file));
    if steps.is_empty() {
        return Err(Failure::error(format!("no statement of {words} ran"))
            .with_hint("a statement is in the line in which it begins; `git idd trace tree` shows what ran"));
    }
    Ok(CriterionSteps { steps: steps.into_iter().map(|step| (step, Step(u32::MAX))).collect(), words, part: None })
}

/// Whether a place is in a line; the file may be the end of its path.
pub fn is_in_line(place: &Place, file: &str, line: u32) -> bool {
    let before = place.file.strip_suffix(file);
    place.line == line && before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

fn no_step(n_steps: u32) -> Failure {
    Failure::error("there is no such step").with_hint(format!("steps are numbered from 1 to {n_steps}"))
}

/// The last steps that wrote a variable.
fn variable(run: &mut dyn Execution, step: Step, variable: &str) -> Result<Vec<(Step, Step)>, Failure> {
    // Only the variable itself, without what it comes from.
    let asked = run.why(&Dependences::default(), (step, variable), 0);
    match asked.map_err(|error| failed(&error))? {
        OriginAnswer::Found(why) => {
            let makers = why.asked.makers.into_iter().filter(|maker| *maker != Step::START);
            Ok(makers.map(|maker| (maker, step)).collect())
        }
        OriginAnswer::NoStep => Err(no_step(run.n_steps().map_err(|error| failed(&error))?)),
        OriginAnswer::NoVariable(names) => Err(not_visible(&names, variable, step)),
    }
}

/// A variable that does not exist at a step, with the names of those that do.
pub fn not_visible(names: &[Arc<str>], variable: &str, step: Step) -> Failure {
    let names: Vec<String> = names.iter().map(|name| shown(name)).collect();
    let failure = Failure::error(format!("no variable `{}` is visible at step {}", shown(variable), step.0));
    if names.is_empty() {
        failure.with_hint("the names of global variables can be given, too")
    } else {
        failure.with_hint(format!("these are: {}", names.join(", ")))
    }
}

/// The step that wrote a byte of the output.
fn written(run: &mut dyn Execution, stream: OutputStream, offset: u64) -> Result<CriterionSteps, Failure> {
    let outputs = run.outputs().map_err(|error| failed(&error))?;
    let name = if stream == OutputStream::Output { "standard output" } else { "standard error" };
    match outputs.byte(stream, offset) {
        Ok(place) => Ok(CriterionSteps {
            steps: vec![(place.step, Step(u32::MAX))],
            words: format!("byte {offset} of {name} (step {})", place.step.0),
            part: run.part(place).map_err(|error| failed(&error))?,
        }),
        Err(NoByte::Short(length)) => Err(Failure::error(format!("{name} has only {length} bytes in this process"))
            .with_hint("bytes are numbered from 0")),
        Err(NoByte::Unknown(step)) => {
            Err(Failure::error(format!("the number of bytes that step {} wrote is not known", step.0))
                .with_hint("use a step as the criterion; `git idd trace tree` shows their numbers"))
        }
    }
}

/// Whether an input has this name: a file by its path or the end of it, `-` for standard input.
pub fn is_named(source: &InputSource, name: &str) -> bool {
    match source {
        InputSource::File(file) => {
            let name = name.trim_start_matches("./");
            file.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        }
        InputSource::Standard => name == "-",
        other => other.to_string() == name,
    }
}

/// The steps with which an input enters.
fn entered(
    run: &mut dyn Execution,
    name: &str,
    range: Option<&Range<u64>>,
    sources: &RecordedSources,
) -> Result<CriterionSteps, Failure> {
    let read = |run: &mut dyn Execution, standard: Option<&Vec<u8>>| {
        let mut contents = |source: &InputSource| match standard {
            Some(content) if *source == InputSource::Standard => Some(content.clone()),
            _ => sources.input(source),
        };
        run.inputs(Step(u32::MAX), &mut contents).map_err(|error| failed(&error))
    };
    let mut entries = read(run, None)?;
    let is_standard = |entry: &&InputEntry| entry.source == InputSource::Standard;
    let mut named: Vec<&InputEntry> = entries.iter().filter(|entry| is_named(&entry.source, name)).collect();
    // A test may redirect its file to the program. Then the program has not read more than the file has.
    let n_read = entries.iter().filter(is_standard).filter_map(|entry| Some(entry.range()?.end)).max();
    let content = sources.content(name).filter(|content| {
        named.is_empty()
            && entries.iter().any(|entry| is_standard(&entry))
            && n_read.unwrap_or(0) <= content.len() as u64
    });
    if let Some(content) = content {
        entries = read(run, Some(&content))?;
        named = entries.iter().filter(is_standard).collect();
    }
    if named.is_empty() {
        let mut known: Vec<String> = entries.iter().map(|entry| shown(&entry.source.to_string())).collect();
        known.sort();
        known.dedup();
        let failure = Failure::error(format!("the program did not read `{}`", shown(name)));
        return Err(if known.is_empty() {
            failure.with_hint("it read no input; another process of the recording may have (`--process`)")
        } else {
            failure.with_hint(format!("its inputs are: {} (`-` is standard input)", known.join(", ")))
        });
    }
    let steps = run.entering(&named, range).map_err(|error| failed(&error))?;
    let bytes = range.map_or_else(String::new, |range| format!("bytes {} to {} of ", range.start, range.end - 1));
    let words = format!("{bytes}{}", shown(&named[0].source.to_string()));
    Ok(CriterionSteps { steps: steps.into_iter().map(|step| (step, Step(u32::MAX))).collect(), words, part: None })
}
