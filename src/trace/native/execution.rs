//! A recorded run of a C program for commands that work in each language.

use std::ops::Range;

use crate::execution::execution;
use crate::input::InputEntry;
use crate::native::{NativePlayer, detail, initial, input, output, relevant, stat, statements, tree, uses};
use crate::output::OutputByte as Byte;
use crate::slice::UsedPart;
use crate::statements::Initial;
use crate::{Place, Step, Steps, TraceError};

execution! { NativePlayer {
    fn n_steps(&mut self) -> Result<u32, TraceError> {
        self.seek(u64::MAX)?;
        Ok(self.machine.n_steps)
    }

    fn program(&mut self) -> Result<Vec<Option<Place>>, TraceError> {
        let shapes = Self::program(self)?;
        let statements = shapes.iter().flat_map(|shape| shape.statements.iter().skip(1));
        Ok(statements.map(|statement| statement.place.clone()).collect())
    }

    fn initial(&mut self, steps: &Steps) -> Result<Vec<Initial>, TraceError> {
        initial::initial(self, steps)
    }

    fn entering(&mut self, entries: &[&InputEntry], range: Option<&Range<u64>>) -> Result<Vec<Step>, TraceError> {
        input::entering(self, entries, range)
    }

    fn part(&mut self, place: Byte) -> Result<Option<UsedPart>, TraceError> {
        output::part(self, place)
    }

    /// It does if the byte was in memory.
    fn ends_text(&mut self, place: Byte) -> Result<bool, TraceError> {
        Ok(output::part(self, place)?.is_some())
    }
} }
