//! The statements of a run.

use idd_trace::Place;
use std::collections::HashMap;
use std::sync::Arc;

/// The statement of each step of a run, by a number from 1; and where each statement is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statements {
    /// By step, from [`Step::START`](idd_trace::Step::START).
    pub of_steps: Vec<u32>,
    /// By number, from 0, which is none.
    pub places: Vec<Option<Place>>,
    /// By number: the number of its line; 0 for none.
    pub lines: Vec<u32>,
    /// By number: the function; empty for none.
    pub functions: Vec<Arc<str>>,
    /// By the number of the function, and by statement in it: the number of the statement; 0 if it has none yet.
    known: Vec<Vec<u32>>,
    known_lines: HashMap<Place, u32>,
}

impl Statements {
    /// Before the first step.
    pub fn new() -> Self {
        let nobody: Arc<str> = "".into();
        Self { of_steps: vec![0], places: vec![None], lines: vec![0], functions: vec![nobody], ..Self::default() }
    }

    /// Takes the next step down.
    ///
    /// - `function`, `statement`, `n_statements`: the number of its function in the program, and of its statement in the
    ///   function, which has so many.
    /// - `described`: of a statement that is new, the place, whether it belongs to the line there, and the function.
    pub fn step(
        &mut self,
        function: u32,
        statement: u32,
        n_statements: usize,
        described: impl FnOnce() -> (Option<Place>, bool, Arc<str>),
    ) {
        let (function, statement) = (function as usize, statement as usize);
        if self.known.len() <= function {
            self.known.resize(function + 1, Vec::new());
        }
        let of = &mut self.known[function];
        if of.len() < n_statements {
            of.resize(n_statements, 0);
        }
        if of[statement] == 0 {
            of[statement] = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
            let (place, is_line, function) = described();
            let next = u32::try_from(self.known_lines.len() + 1).unwrap_or(u32::MAX);
            let line = place.clone().filter(|_| is_line).map(|place| Place { column: 0, ..place });
            self.lines.push(line.map_or(0, |line| *self.known_lines.entry(line).or_insert(next)));
            self.places.push(place);
            self.functions.push(function);
        }
        self.of_steps.push(self.known[function][statement]);
    }
}
