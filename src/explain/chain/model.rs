//! Small programs that are run, compared and patched in memory: what the engines are tested on.

use std::collections::HashMap;
use std::rc::Rc;

use proptest::prelude::*;

use crate::chain::{AlignedPoint, CausalityTest, Definition, Executions, Goal, PathVariable};

pub(super) const N_VARIABLES: u8 = 6;

#[derive(Debug, Clone, Copy)]
pub(super) enum Operand {
    Constant(i8),
    Variable(u8),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Shift,
    Exceeds,
    IsSumPositive,
}

/// Values stay below 16, so that different states often lead to the same value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expression(pub(super) Operand, pub(super) Operator, pub(super) Operand);

#[derive(Debug, Clone)]
pub(super) enum Statement {
    Nothing,
    Assign(u8, Expression),
    If(Expression, Vec<Statement>, Vec<Statement>),
    /// At most three iterations.
    While(Expression, Vec<Statement>),
    /// Calls the procedure so many after this one; there may be none.
    Call(usize),
    /// `variable = expression + call`: the expression is evaluated first and waits; what comes back is variable 1.
    AddCall(u8, Expression, usize),
}

/// Procedures; the first is run. The result of the program is variable 0.
#[derive(Debug, Clone)]
pub(super) struct Program(pub(super) Vec<Vec<Statement>>);

/// Where a step stands in the structure of its run: for each region around it the place, and which branch or iteration.
type Index = Rc<[usize]>;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Value {
    number: i64,
    /// The step that wrote it, empty for input.
    definition: Index,
    time: u64,
}

#[derive(Debug, Clone)]
struct Step {
    index: Index,
    /// The numbers of the steps that lead the regions around it, innermost last, and whether they are calls.
    regions: Vec<(u64, bool)>,
    /// The state right before it.
    before: Vec<Value>,
}

/// One run: its steps, and the state after the last.
#[derive(Debug, Clone)]
struct Run {
    steps: Vec<Step>,
    after: Vec<Value>,
}

struct Interpreter<'a> {
    program: &'a Program,
    steps: Vec<Step>,
    state: Vec<Value>,
    index: Vec<usize>,
    regions: Vec<(u64, bool)>,
    /// What to overwrite right before a step, by its number.
    patch: Option<(u64, &'a [(usize, Value)])>,
}

/// A run of more steps is cut off.
const MAX_STEPS: usize = 100;

impl Run {
    fn of(program: &Program, input: &[i64], patch: Option<(u64, &[(usize, Value)])>) -> Self {
        let state = input.iter().map(|value| Value { number: *value, definition: Rc::default(), time: 0 }).collect();
        let (steps, index, regions) = (Vec::new(), Vec::new(), Vec::new());
        let mut interpreter = Interpreter { program, steps, state, index, regions, patch };
        interpreter.block(&program.0[0], 0);
        Self { steps: interpreter.steps, after: interpreter.state }
    }

    fn result(&self) -> i64 {
        self.after[0].number
    }
}

impl Interpreter<'_> {
    fn block(&mut self, block: &[Statement], procedure: usize) {
        for (place, statement) in block.iter().enumerate() {
            if self.steps.len() > MAX_STEPS {
                return;
            }
            self.index.push(place);
            self.statement(statement, procedure);
            self.index.pop();
        }
    }

    fn statement(&mut self, statement: &Statement, procedure: usize) {
        match statement {
            Statement::Nothing => self.begin(),
            Statement::Assign(variable, expression) => {
                self.begin();
                let value = self.evaluate(*expression);
                self.write(*variable, value);
            }
            Statement::If(condition, then, otherwise) => {
                self.begin();
                let is_true = self.evaluate(*condition) != 0;
                self.region(if is_true { then } else { otherwise }, procedure, usize::from(is_true), false);
            }
            Statement::While(condition, body) => {
                for iteration in 0..4 {
                    self.index.push(iteration);
                    self.begin();
                    let goes_on = self.evaluate(*condition) != 0 && iteration < 3;
                    if goes_on {
                        self.region(body, procedure, 0, false);
                    }
                    self.index.pop();
                    if !goes_on {
                        break;
                    }
                }
            }
            Statement::Call(distance) => {
                self.begin();
                self.call(procedure + 1 + distance);
            }
            Statement::AddCall(variable, expression, distance) => {
                self.begin();
                let pending = self.evaluate(*expression);
                self.call(procedure + 1 + distance);
                let value = (pending + self.state[1].number) & 15;
                self.write(*variable, value);
            }
        }
    }

    fn call(&mut self, procedure: usize) {
        let program = self.program;
        if let Some(body) = program.0.get(procedure) {
            self.region(body, procedure, 0, true);
        }
    }

    fn region(&mut self, body: &[Statement], procedure: usize, branch: usize, is_call: bool) {
        self.regions.push((self.steps.len() as u64, is_call));
        self.index.push(branch);
        self.block(body, procedure);
        self.index.pop();
        self.regions.pop();
    }

    fn begin(&mut self) {
        if let Some((number, values)) = self.patch
            && number == self.steps.len() as u64 + 1
        {
            for (variable, value) in values {
                self.state[*variable] = value.clone();
            }
        }
        let (index, regions, before) = (self.index.as_slice().into(), self.regions.clone(), self.state.clone());
        self.steps.push(Step { index, regions, before });
    }

    fn evaluate(&self, Expression(first, operator, second): Expression) -> i64 {
        let value = |operand| match operand {
            Operand::Constant(value) => i64::from(value),
            Operand::Variable(variable) => self.state[usize::from(variable)].number,
        };
        let (first, second) = (value(first), value(second));
        let value = match operator {
            Operator::Add => first + second,
            Operator::Subtract => first - second,
            Operator::Multiply => first * second,
            Operator::Shift => first << (second & 3),
            Operator::Exceeds => i64::from(first > second),
            Operator::IsSumPositive => i64::from(first + second > 0),
        };
        value & 15
    }

    fn write(&mut self, variable: u8, number: i64) {
        let time = self.steps.len() as u64;
        self.state[usize::from(variable)] = Value { number, definition: self.index.as_slice().into(), time };
    }
}

/// A failing program and its reference, both with their input.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub(super) failing: (Program, Vec<i64>),
    pub(super) reference: (Program, Vec<i64>),
}

/// The executions of a pair.
pub(super) struct Model {
    pair: Pair,
    failing: Run,
    /// The numbers of the step of the failing run and of its peer, from 0.
    aligned: Vec<(usize, usize)>,
    reference: Run,
    /// Whether the fixed order of the faulty state is that of the variables, or the other way round.
    pub(super) is_reversed: bool,
    /// The number of tests that were run.
    pub(super) n_asked: usize,
    /// Tests that it answers.
    pub(super) n_answered: usize,
}

impl Model {
    pub(super) fn of(pair: &Pair) -> Self {
        let run = |(program, input): &(Program, Vec<i64>)| Run::of(program, input, None);
        let (failing, reference) = (run(&pair.failing), run(&pair.reference));
        let peers: HashMap<_, _> = reference.steps.iter().map(|step| &step.index).zip(0..).collect();
        let peer = |step: &Step| peers.get(&step.index).copied();
        let aligned =
            (failing.steps.iter().enumerate()).filter_map(|(number, step)| Some((number, peer(step)?))).collect();
        let pair = pair.clone();
        Self { pair, failing, aligned, reference, is_reversed: false, n_asked: 0, n_answered: usize::MAX }
    }

    pub(super) fn is_failing(&self) -> bool {
        self.failing.result() != self.reference.result()
            && self.failing.steps.len() < MAX_STEPS
            && self.reference.steps.len() < MAX_STEPS
    }

    fn point_of(&self, number: u64) -> Option<AlignedPoint> {
        let number = usize::try_from(number - 1).unwrap();
        let point = self.aligned.binary_search_by_key(&number, |(failing, _)| *failing).ok()?;
        Some(AlignedPoint(u32::try_from(point).unwrap()))
    }

    fn step(&self, point: AlignedPoint) -> &Step {
        &self.failing.steps[self.aligned[point.0 as usize].0]
    }

    /// Whether the goal of a test comes about.
    pub(super) fn induces(&self, test: &CausalityTest) -> bool {
        let (number, peer) = self.aligned[test.point.0 as usize];
        let benign = &self.reference.steps[peer].before;
        let is_retained = |variable: usize, time: u64| {
            test.retained.contains(&Definition { time, variable: PathVariable(u32::try_from(variable).unwrap()) })
        };
        let faulty = self.failing.steps[number].before.iter().zip(benign).enumerate();
        let patch: Vec<(usize, Value)> = faulty
            .filter(|(variable, (failing, benign))| !is_same(failing, benign) && !is_retained(*variable, failing.time))
            .map(|(variable, (_, benign))| (variable, benign.clone()))
            .collect();
        let (program, input) = &self.pair.failing;
        let run = Run::of(program, input, Some((number as u64 + 1, &patch)));
        match &test.goal {
            Goal::Failure => run.result() == self.failing.result(),
            Goal::Set { point, definitions } => {
                let goal = self.step(*point);
                run.steps[number..].iter().find(|step| step.index == goal.index).is_some_and(|step| {
                    definitions.iter().all(|definition| {
                        let variable = definition.variable.0 as usize;
                        is_same(&step.before[variable], &goal.before[variable])
                    })
                })
            }
        }
    }
}

fn is_same(value: &Value, other: &Value) -> bool {
    value.number == other.number && value.definition == other.definition
}

impl Executions for Model {
    type Error = String;

    fn is_stopped(&self) -> bool {
        self.n_asked >= self.n_answered
    }

    fn n_points(&self) -> usize {
        self.aligned.len()
    }

    fn position(&self, point: AlignedPoint) -> u64 {
        self.aligned[point.0 as usize].0 as u64 + 1
    }

    fn faulty(&mut self, point: AlignedPoint) -> Result<Vec<Definition>, String> {
        let benign = &self.reference.steps[self.aligned[point.0 as usize].1].before;
        let values = self.step(point).before.iter().zip(benign).enumerate();
        let mut faulty: Vec<_> = values
            .filter(|(_, (failing, benign))| !is_same(failing, benign))
            .map(|(variable, (failing, _))| Definition {
                time: failing.time,
                variable: PathVariable(u32::try_from(variable).unwrap()),
            })
            .collect();
        if self.is_reversed {
            faulty.reverse();
        }
        Ok(faulty)
    }

    fn induce(&mut self, test: &CausalityTest) -> Result<bool, String> {
        let faulty = self.faulty(test.point)?;
        if !test.retained.iter().all(|definition| faulty.contains(definition)) {
            return Err(format!("{test:?} retains what is not faulty"));
        }
        if !test.retained.is_sorted() {
            return Err(format!("{test:?} is not in temporal order"));
        }
        if self.is_stopped() {
            return Err("stopped".to_owned());
        }
        self.n_asked += 1;
        Ok(self.induces(test))
    }

    fn parent(&self, point: AlignedPoint) -> Option<AlignedPoint> {
        let (number, _) = *self.step(point).regions.last()?;
        self.point_of(number)
    }

    fn around(&mut self, point: AlignedPoint) -> Result<Vec<AlignedPoint>, Self::Error> {
        let calls = self.step(point).regions.iter().rev().filter(|(_, is_call)| *is_call);
        Ok(calls.filter_map(|(number, _)| self.point_of(*number)).collect())
    }
}

/// Random numbers that say what a program is like; zeros when they are used up, which make the shortest.
struct Dice(std::vec::IntoIter<u8>);

impl Dice {
    fn below(&mut self, bound: u8) -> u8 {
        self.0.next().unwrap_or(0) % bound
    }

    fn operand(&mut self) -> Operand {
        match self.below(4) {
            0 => Operand::Constant(i8::try_from(self.below(7)).unwrap() - 2),
            _ => Operand::Variable(self.below(N_VARIABLES)),
        }
    }

    fn expression(&mut self) -> Expression {
        let operator = match self.below(9) {
            0..3 => Operator::Add,
            3 => Operator::Subtract,
            4 => Operator::Multiply,
            5 => Operator::Shift,
            6 => Operator::IsSumPositive,
            _ => Operator::Exceeds,
        };
        Expression(self.operand(), operator, self.operand())
    }

    fn statement(&mut self, depth: u8) -> Statement {
        match self.below(if depth < 3 { 18 } else { 12 }) {
            0 => Statement::Nothing,
            1..9 => Statement::Assign(self.below(N_VARIABLES), self.expression()),
            9 => Statement::Call(usize::from(self.below(2))),
            10..12 => Statement::AddCall(self.below(N_VARIABLES), self.expression(), usize::from(self.below(2))),
            12..15 => Statement::If(self.expression(), self.block(depth + 1), self.block(depth + 1)),
            _ => Statement::While(self.expression(), self.block(depth + 1)),
        }
    }

    fn block(&mut self, depth: u8) -> Vec<Statement> {
        let n_statements = if depth == 0 { 2 + self.below(9) } else { 1 + self.below(3) };
        (0..n_statements).map(|_| self.statement(depth)).collect()
    }

    /// A program with at most three procedures, whose result depends on three of its variables.
    fn program(&mut self) -> Program {
        let n_procedures = 1 + self.below(3);
        let mut procedures: Vec<_> = (0..n_procedures).map(|_| self.block(0)).collect();
        for variable in [1, 2] {
            let sum = Expression(Operand::Variable(0), Operator::Add, Operand::Variable(variable));
            procedures[0].push(Statement::Assign(0, sum));
        }
        Program(procedures)
    }

    fn pair(&mut self) -> Pair {
        let input: Vec<_> = (0..N_VARIABLES).map(|_| i64::from(self.below(8))).collect();
        let is_input_changed = self.below(10) == 9;
        let mutation = match self.below(5) {
            4 => Mutation::Omitted,
            _ => Mutation::Replaced(self.below(N_VARIABLES), self.expression()),
        };
        let number = self.below(u8::MAX);
        let program = self.program();
        let mut failing = (program.clone(), input.clone());
        if is_input_changed {
            failing.1[usize::from(number % N_VARIABLES)] ^= 1;
        } else {
            let procedures = &mut failing.0.0;
            let n_statements: usize = procedures.iter().map(|procedure| size(procedure)).sum();
            let mut n_before = usize::from(number) % n_statements;
            for procedure in procedures {
                mutate(procedure, &mut n_before, &mutation);
            }
        }
        Pair { failing, reference: (program, input) }
    }
}

/// What becomes of the statement that is mutated.
#[derive(Debug, Clone)]
enum Mutation {
    Omitted,
    Replaced(u8, Expression),
}

/// The number of statements, those inside of others too.
fn size(block: &[Statement]) -> usize {
    let inner = |statement: &Statement| match statement {
        Statement::If(_, then, other) => size(then) + size(other),
        Statement::While(_, body) => size(body),
        _ => 0,
    };
    block.iter().map(|statement| 1 + inner(statement)).sum()
}

/// Changes the statement that comes after `n_before` others in textual order. The structure stays, and calls do.
fn mutate(block: &mut [Statement], n_before: &mut usize, mutation: &Mutation) {
    for statement in block {
        if *n_before == 0 {
            match (&mut *statement, mutation) {
                (Statement::Assign(..), Mutation::Omitted) => *statement = Statement::Nothing,
                (Statement::Assign(..) | Statement::Nothing, Mutation::Replaced(variable, expression)) => {
                    *statement = Statement::Assign(*variable, *expression);
                }
                (
                    Statement::If(mutated, ..) | Statement::While(mutated, _) | Statement::AddCall(_, mutated, _),
                    Mutation::Replaced(_, expression),
                ) => *mutated = *expression,
                _ => {}
            }
        }
        *n_before = n_before.wrapping_sub(1);
        match statement {
            Statement::If(_, then, other) => {
                mutate(then, n_before, mutation);
                mutate(other, n_before, mutation);
            }
            Statement::While(_, body) => mutate(body, n_before, mutation),
            _ => {}
        }
    }
}

/// Two versions of a random program that differ in one statement, or now and then in an input, with different results.
pub(super) fn pair() -> impl Strategy<Value = Pair> {
    prop::collection::vec(any::<u8>(), 80..500)
        .prop_map(|numbers| Dice(numbers.into_iter()).pair())
        .prop_filter("the results are the same, or a run is too long", |pair| Model::of(pair).is_failing())
}
