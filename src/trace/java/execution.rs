//! A recorded run of a Java program for commands that work in each language.

use crate::execution::execution;
use crate::input::InputEntry;
use crate::java::{JavaPlayer, detail, input, output, relevant, stat, statements, tree, uses};
use crate::output::OutputByte as Byte;
use crate::slice::UsedPart;
use crate::statements::Initial;
use crate::{Place, Step, Steps, TraceError};
use std::ops::Range;

execution! { JavaPlayer {
    fn n_steps(&mut self) -> Result<u32, TraceError> {
        Self::n_steps(self)
    }

    fn program(&mut self) -> Result<Vec<Option<Place>>, TraceError> {
        statements::program(self)
    }

    /// None: what gives a static field its initial value is a statement.
    fn initial(&mut self, _steps: &Steps) -> Result<Vec<Initial>, TraceError> {
        Ok(Vec::new())
    }

    fn entering(&mut self, entries: &[&InputEntry], range: Option<&Range<u64>>) -> Result<Vec<Step>, TraceError> {
        Ok(input::entering(entries, range))
    }

    /// Not known: the library joins texts.
    fn part(&mut self, _place: Byte) -> Result<Option<UsedPart>, TraceError> {
        Ok(None)
    }

    /// It does unless `println` ended the line.
    fn ends_text(&mut self, place: Byte) -> Result<bool, TraceError> {
        let outputs = output::outputs(self)?;
        let mut of_step = outputs.written.iter().filter(|written| written.step == place.step);
        let written = of_step.nth(place.nth);
        Ok(written.and_then(|written| written.bytes.as_ref()?.last()) != Some(&b'\n'))
    }
} }
