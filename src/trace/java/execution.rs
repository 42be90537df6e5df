//! A recorded run of a Java program for commands that work in each language.

use crate::TraceError;
use crate::dependence::Dependences;
use crate::detail::{Access, Answer, Detail, Standing};
use crate::execution::Execution;
use crate::input::{Contents, Entry};
use crate::java::frame::Frame;
use crate::java::machine::{Machine, Watch};
use crate::java::player::Player;
use crate::java::{detail, input, output, relevant, stat, statements, tree, uses};
use crate::output::{Outputs, Place as Byte};
use crate::place::Place;
use crate::slice::Part;
use crate::stat::Stat;
use crate::statements::{Initial, StatementCounts};
use crate::step::{Step, Steps};
use crate::tree::{Limits, Node};
use std::ops::Range;

impl Execution for Player {
    fn n_steps(&mut self) -> Result<u32, TraceError> {
        Self::n_steps(self)
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
        statements::program(self)
    }

    /// None: what gives a static field its initial value is a statement.
    fn initial(&mut self, _steps: &Steps) -> Result<Vec<Initial>, TraceError> {
        Ok(Vec::new())
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
        Ok(input::entering(entries, range))
    }

    fn outputs(&mut self) -> Result<Outputs, TraceError> {
        output::outputs(self)
    }

    /// Not known: the library joins texts.
    fn part(&mut self, _place: Byte) -> Result<Option<Part>, TraceError> {
        Ok(None)
    }

    /// It does unless `println` ended the line.
    fn ends_text(&mut self, place: Byte) -> Result<bool, TraceError> {
        let outputs = output::outputs(self)?;
        let mut of_step = outputs.written.iter().filter(|written| written.step == place.step);
        let written = of_step.nth(place.nth);
        Ok(written.and_then(|written| written.bytes.as_ref()?.last()) != Some(&b'\n'))
    }
}

/// Collects the steps at some places.
struct There<'t> {
    is_there: &'t dyn Fn(&Place) -> bool,
    found: Vec<Step>,
}

impl Watch for There<'_> {
    fn step(&mut self, _machine: &Machine, frame: &Frame) {
        if frame.step != frame.entry && (self.is_there)(frame.place()) {
            self.found.push(frame.step);
        }
    }
}
