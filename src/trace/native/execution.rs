//! A recorded run of a C program for commands that work in each language.

use std::ops::Range;

use crate::TraceError;
use crate::dependence::Dependences;
use crate::detail::{Access, Answer, Detail, Standing};
use crate::execution::Execution;
use crate::input::{Contents, Entry};
use crate::native::machine::{Machine, Watch};
use crate::native::play::Player;
use crate::native::{detail, initial, input, output, relevant, stat, statements, tree, uses};
use crate::output::{Outputs, Place as Byte};
use crate::place::Place;
use crate::slice::Part;
use crate::stat::Stat;
use crate::statements::{Initial, StatementCounts};
use crate::step::{Step, Steps};
use crate::tree::{Limits, Node};

impl Execution for Player {
    fn n_steps(&mut self) -> Result<u32, TraceError> {
        self.seek(u64::MAX)?;
        Ok(self.machine.n_steps)
    }

    fn stat(&mut self) -> Result<Stat, TraceError> {
        stat::stat(self)
    }

    fn tree(&mut self, limits: Limits) -> Result<(Vec<Node>, u64), TraceError> {
        tree::tree(self, limits)
    }

    fn details(&mut self, steps: &[Step], until: Step) -> Result<Vec<Detail>, TraceError> {
        detail::details(self, steps, until)
    }

    fn asked(&mut self, at: (Step, &str)) -> Result<Result<(Standing, Access), Answer>, TraceError> {
        detail::asked(self, at)
    }

    fn dependences(&mut self, until: Step) -> Result<Dependences, TraceError> {
        uses::dependences(self, until)
    }

    fn relevant_dependences(&mut self, wrong: (Step, Step)) -> Result<(Dependences, Vec<Step>), TraceError> {
        relevant::dependences(self, wrong)
    }

    fn statements(&mut self, sets: &[&Steps], distances: &[u32]) -> Result<StatementCounts, TraceError> {
        statements::statements(self, sets, distances)
    }

    fn program(&mut self) -> Result<Vec<Option<Place>>, TraceError> {
        let shapes = Self::program(self)?;
        let statements = shapes.iter().flat_map(|shape| shape.statements.iter().skip(1));
        Ok(statements.map(|statement| statement.place.clone()).collect())
    }

    fn initial(&mut self, steps: &Steps) -> Result<Vec<Initial>, TraceError> {
        initial::initial(self, steps)
    }

    fn steps_at(&mut self, is_there: &dyn Fn(&Place) -> bool) -> Result<Vec<Step>, TraceError> {
        let mut there = There { is_there, found: Vec::new() };
        self.replay(&mut there)?;
        Ok(there.found)
    }

    fn inputs(&mut self, until: Step, contents: &mut Contents<'_>) -> Result<Vec<Entry>, TraceError> {
        input::inputs(self, until, contents)
    }

    fn entering(&mut self, entries: &[&Entry], range: Option<&Range<u64>>) -> Result<Vec<Step>, TraceError> {
        input::entering(self, entries, range)
    }

    fn outputs(&mut self) -> Result<Outputs, TraceError> {
        output::outputs(self)
    }

    fn part(&mut self, place: Byte) -> Result<Option<Part>, TraceError> {
        output::part(self, place)
    }

    /// It does if the byte was in memory.
    fn ends_text(&mut self, place: Byte) -> Result<bool, TraceError> {
        Ok(output::part(self, place)?.is_some())
    }
}

/// Collects the steps at some places.
struct There<'t> {
    is_there: &'t dyn Fn(&Place) -> bool,
    found: Vec<Step>,
}

impl Watch for There<'_> {
    fn step(&mut self, machine: &Machine) {
        let Some(frame) = machine.frame().filter(|frame| frame.statement != 0) else { return };
        if frame.place().is_some_and(self.is_there) {
            self.found.push(frame.step);
        }
    }
}
