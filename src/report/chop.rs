//! The failure-inducing chop of a run: an [explanation](crate::explanation) of a finding.

use serde::{Deserialize, Serialize};

use crate::Untrusted;
use crate::bounds::{Shorten, shorten};
use idd_base::count;

/// The maximum number of printed lines of a chop, and of its constants.
const MAX_LINES: usize = 400;

/// The maximum number of printed values of a line, and of inputs and remarks.
const MAX_VALUES: usize = 20;

/// The statements that depend on the input of a failing run and on which its failure depends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chop {
    /// The recording of the run.
    pub recording: Untrusted,
    /// The revision.
    pub commit: Untrusted,
    /// How the test ended.
    pub ending: Untrusted,
    /// The first wrong value, in words.
    pub failure: Untrusted,
    /// The names of the inputs.
    pub inputs: Vec<Untrusted>,
    /// The inputs that were reduced before the run.
    pub reduced: Vec<ReducedInput>,
    /// The number of passing runs with similar inputs that the run is compared with.
    pub n_passing: u32,
    /// The instrumented part of the program; steps are not counted.
    pub program: Size,
    /// The executed part of it.
    pub run: Size,
    /// The forward slice of the inputs.
    pub forward: Size,
    /// The backward slice of the failure.
    pub backward: Size,
    /// The chop.
    pub chop: Size,
    /// The lines of the chop, the most suspicious first: changed ones, then those that fewer of the passing runs ran,
    /// then those that do first what the passing version does not do, then the nearest to the failure, then those that ran least often.
    pub lines: Vec<ChopLine>,
    /// The part of the backward slice that depends on no input.
    pub constants: Size,
    /// Its lines, in the same order, and then the declarations of global variables whose initial values were used.
    pub constant_lines: Vec<ChopLine>,
    /// Notes: limits of the chop, and omitted parts.
    pub remarks: Vec<Untrusted>,
}

/// A reduced input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReducedInput {
    /// The name of the file.
    pub name: Untrusted,
    /// Its size before, in bytes.
    pub n_bytes_before: usize,
    /// Its size, in bytes.
    pub n_bytes: usize,
    /// Its content, if that is a short text.
    pub text: Option<Untrusted>,
}

/// The size of a part of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// The number of executed statements of the source.
    pub n_statements: usize,
    /// The number of lines of the source that have one of them.
    pub n_lines: usize,
    /// The number of steps.
    pub n_steps: u64,
}

/// A line of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChopLine {
    /// The file, as the compiler was given it.
    pub file: Untrusted,
    /// The line, from 1.
    pub line: u32,
    /// The function.
    pub function: Untrusted,
    /// The text of the line without the space around it, if it is known.
    pub source: Option<Untrusted>,
    /// Whether the change that breaks the test touches the line.
    pub is_changed: bool,
    /// The number of dependences from the line to the failure, if it is known.
    pub distance: Option<u32>,
    /// The number of the compared passing runs that ran the line.
    pub n_passing: u32,
    /// The number of steps of the line in the slice.
    pub n_steps: u64,
    /// The number of all steps of the line.
    pub n_run: u64,
    /// The last step of the line in the slice.
    pub last: u32,
    /// Variables with their values at the last step, such as `n = 3`.
    pub values: Vec<Untrusted>,
}

impl Chop {
    /// Whether the passing runs distinguish the lines.
    pub fn tells_apart(&self) -> bool {
        self.lines.iter().any(|line| line.n_passing < self.n_passing)
    }

    /// The same with a limited number of lines, and with short texts.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let Self { recording, commit, ending, failure, inputs, reduced, lines, constant_lines, remarks, .. } =
            &mut self;
        inputs.truncate(MAX_VALUES);
        reduced.truncate(MAX_VALUES);
        remarks.truncate(MAX_VALUES);
        for (lines, what) in [(&mut *lines, "line"), (&mut *constant_lines, "constant line")] {
            if lines.len() > MAX_LINES {
                remarks.push(format!("of {} the first {MAX_LINES} are shown", count(lines.len(), what)).into());
                lines.truncate(MAX_LINES);
            }
        }
        shorten([recording, commit, ending, failure, inputs, reduced, lines, constant_lines, remarks]);
        self
    }
}

impl Shorten for ReducedInput {
    fn shorten(&mut self) {
        shorten([&mut self.name, &mut self.text]);
    }
}

impl Shorten for ChopLine {
    fn shorten(&mut self) {
        self.values.truncate(MAX_VALUES);
        shorten([&mut self.file, &mut self.function, &mut self.source, &mut self.values]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::MAX_TEXT;
    use crate::samples;

    #[test]
    fn of_too_many_lines_the_first_are_shown_and_long_texts_are_cut() {
        let mut chop = samples::chop();
        chop.lines = vec![chop.lines[0].clone(); MAX_LINES + 9];
        chop.lines[0].source = Some("x".repeat(MAX_TEXT + 1).into());
        chop.lines[0].values = vec!["n = 1".into(); 1000];
        let chop = chop.bounded();
        assert_eq!((chop.lines.len(), chop.lines[0].values.len()), (MAX_LINES, MAX_VALUES));
        assert_eq!(chop.lines[0].source, Some(format!("{}…", "x".repeat(MAX_TEXT)).into()));
        assert_eq!(chop.remarks.last().unwrap(), &"of 409 lines the first 400 are shown".into());
        assert_eq!(samples::chop().bounded(), samples::chop());
    }
}
