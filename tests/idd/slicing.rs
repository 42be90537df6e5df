//! Slices of random C programs, beside those of an interpreter that knows only the definitions.
//!
//! A program is generated, recorded, and interpreted. The interpreter writes down for each step what it depends on: the
//! steps that computed the values that it used, and the last run of a predicate on which its statement statically
//! depends (Ferrante, Ottenstein and Warren 1987), else the call of its function. A step that calls functions has a node
//! for each part between the calls, so that an argument does not depend on the result of its own call. Static control
//! dependence is computed by paths: what is on all ways to the end is found by leaving out one statement at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use idd_trace::native::uses::dependences;
use idd_trace::native::{NativeMachine, NativePlayer, Watch};
use idd_trace::slice::{self, Kinds};
use idd_trace::{Dependences, Step};
use idd_world::record::store;

use crate::fixture::Fixture;

/// The number of functions of a program; each calls only those before it.
const N_FUNCTIONS: usize = 10;

/// Local and global numbers, and elements of the arrays.
const N_VARIABLES: u32 = 3;

/// No program runs longer.
const MAX_STEPS: usize = 20_000;

/// Xorshift: the same programs in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(self.0 >> 32).unwrap() % n
    }

    fn is_one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
}

/// A place in memory. An index of an array is taken modulo its length, 4.
#[derive(Clone)]
enum Place {
    Local(u32),
    Global(u32),
    /// An element of the local array, or of the global one.
    Element(bool, Box<Expression>),
    /// What `p` points to.
    Target,
}

#[derive(Clone)]
enum Expression {
    Constant(u32),
    Read(Place),
    Binary(char, Box<Expression>, Box<Expression>),
    /// A function by its number, two arguments, and whether the pointer is `p` or a new one.
    Call(usize, Box<Expression>, Box<Expression>, Box<Pointer>),
    Input,
}

/// Where a pointer points.
#[derive(Clone)]
enum Pointer {
    Of(Place),
    Same,
}

/// A statement, by its line.
struct Statement {
    line: u32,
    kind: What,
}

enum What {
    Assign(Place, Expression),
    Point(Pointer),
    If(Expression, Vec<Statement>, Vec<Statement>),
    /// A loop that counts a variable of its own.
    While(u32, Expression, Vec<Statement>),
    /// Sets or increments the counter of a loop.
    Count(u32, bool),
    Break,
    Return(Expression),
}

struct Function {
    line: u32,
    body: Vec<Statement>,
    /// The line of the brace at the end.
    end: u32,
    n_returns: u32,
}

/// Generates a program, and its text.
struct Generator {
    random: Random,
    text: String,
    line: u32,
    n_loops: u32,
    n_returns: u32,
}

impl Generator {
    fn write(&mut self, depth: usize, text: &str) -> u32 {
        writeln!(self.text, "{}{text}", "    ".repeat(depth)).unwrap();
        self.line += 1;
        self.line
    }

    fn place(&mut self, depth: u32) -> Place {
        match self.random.below(if depth > 2 { 5 } else { 8 }) {
            0..3 => Place::Local(self.random.below(N_VARIABLES)),
            3 | 4 => Place::Global(self.random.below(N_VARIABLES)),
            5 => Place::Target,
            _ => {
                let is_local = self.random.is_one_in(2);
                Place::Element(is_local, Box::new(self.expression(depth + 1, 0)))
            }
        }
    }

    /// - `n_callable`: functions that may be called.
    fn expression(&mut self, depth: u32, n_callable: usize) -> Expression {
        match self.random.below(if depth > 2 { 4 } else { 10 }) {
            0 => Expression::Constant(self.random.below(10)),
            1..6 => Expression::Read(self.place(depth)),
            6 if n_callable > 0 => {
                let function = usize::try_from(self.random.below(u32::try_from(n_callable).unwrap())).unwrap();
                let [one, other] = [0, 1].map(|_| Box::new(self.expression(depth + 1, n_callable)));
                let pointer = Box::new(self.pointer());
                Expression::Call(function, one, other, pointer)
            }
            _ => {
                let operator = ['+', '-', '*', '^'][self.random.below(4) as usize];
                let [one, other] = [0, 1].map(|_| Box::new(self.expression(depth + 1, n_callable)));
                Expression::Binary(operator, one, other)
            }
        }
    }

    fn pointer(&mut self) -> Pointer {
        match self.place(2) {
            Place::Target => Pointer::Same,
            place => Pointer::Of(place),
        }
    }

    fn block(&mut self, depth: usize, n_callable: usize, is_in_loop: bool) -> Vec<Statement> {
        let mut statements = Vec::new();
        for _ in 0..=self.random.below(4) {
            statements.extend(self.statement(depth, n_callable, is_in_loop));
        }
        // Nothing can stand behind what leaves the block.
        if depth > 1 && self.random.is_one_in(8) {
            if is_in_loop && self.random.is_one_in(2) {
                let line = self.write(depth, "break;");
                statements.push(Statement { line, kind: What::Break });
            } else {
                let value = self.expression(1, 0);
                let line = self.write(depth, &format!("return {};", text(&value)));
                self.n_returns += 1;
                statements.push(Statement { line, kind: What::Return(value) });
            }
        }
        statements
    }

    fn statement(&mut self, depth: usize, n_callable: usize, is_in_loop: bool) -> Vec<Statement> {
        match self.random.below(if depth > 3 { 6 } else { 10 }) {
            0 => {
                let pointer = self.pointer();
                let line = self.write(depth, &format!("p = {};", address(&pointer)));
                vec![Statement { line, kind: What::Point(pointer) }]
            }
            6 | 7 => {
                // A condition of constants is no decision.
                let read = Expression::Read(Place::Local(self.random.below(N_VARIABLES)));
                let other = self.expression(1, n_callable);
                let condition = Expression::Binary('^', Box::new(read), Box::new(other));
                let line = self.write(depth, &format!("if (({}) & 1) {{", text(&condition)));
                let then = self.block(depth + 1, n_callable, is_in_loop);
                let mut otherwise = Vec::new();
                if self.random.is_one_in(2) {
                    self.write(depth, "} else {");
                    otherwise = self.block(depth + 1, n_callable, is_in_loop);
                }
                self.write(depth, "}");
                vec![Statement { line, kind: What::If(condition, then, otherwise) }]
            }
            8 => {
                let counter = self.n_loops;
                self.n_loops += 1;
                let line = self.write(depth, &format!("i{counter} = 0;"));
                let begin = Statement { line, kind: What::Count(counter, true) };
                let bound = self.expression(2, 0);
                let line = self.write(depth, &format!("while (i{counter} < (({}) & 3)) {{", text(&bound)));
                let step = self.write(depth + 1, &format!("i{counter} = i{counter} + 1;"));
                let mut body = vec![Statement { line: step, kind: What::Count(counter, false) }];
                body.extend(self.block(depth + 1, 0, true));
                self.write(depth, "}");
                vec![begin, Statement { line, kind: What::While(counter, bound, body) }]
            }
            _ => {
                let place = self.place(0);
                let value = if self.random.is_one_in(12) { Expression::Input } else { self.expression(0, n_callable) };
                let line = self.write(depth, &format!("{} = {};", lvalue(&place), text(&value)));
                vec![Statement { line, kind: What::Assign(place, value) }]
            }
        }
    }

    /// A function, or `main`.
    fn function(&mut self, number: usize) -> Function {
        let head = match number {
            N_FUNCTIONS => "int main(void) {".to_owned(),
            _ => format!("static unsigned f{number}(unsigned v0, unsigned v1, unsigned *p) {{"),
        };
        let line = self.write(0, &head);
        let first = u32::try_from(self.text.len()).unwrap();
        (self.n_loops, self.n_returns) = (0, 1);
        let mut body = Vec::new();
        // The counters are declared when their number is known.
        let declared = self.write(1, "COUNTERS");
        let starts: &[u32] = if number == N_FUNCTIONS { &[0, 1, 2] } else { &[2] };
        if number == N_FUNCTIONS {
            self.write(1, "unsigned v0, v1, v2, *p, a[4];");
        } else {
            self.write(1, "unsigned v2, a[4];");
        }
        for variable in starts {
            let value = Expression::Constant(self.random.below(9));
            let line = self.write(1, &format!("v{variable} = {};", text(&value)));
            body.push(Statement { line, kind: What::Assign(Place::Local(*variable), value) });
        }
        for element in 0..4 {
            let (index, value) = (Box::new(Expression::Constant(element)), Expression::Constant(self.random.below(9)));
            let place = Place::Element(true, index);
            let line = self.write(1, &format!("{} = {};", lvalue(&place), text(&value)));
            body.push(Statement { line, kind: What::Assign(place, value) });
        }
        if number == N_FUNCTIONS {
            let line = self.write(1, "p = &v0;");
            body.push(Statement { line, kind: What::Point(Pointer::Of(Place::Local(0))) });
            for function in 0..N_FUNCTIONS {
                let (one, other) = (Expression::Input, self.expression(2, 0));
                let pointer = Box::new(self.pointer());
                let value = Expression::Call(function, Box::new(one), Box::new(other), pointer);
                let place = self.place(1);
                let line = self.write(1, &format!("{} = {};", lvalue(&place), text(&value)));
                body.push(Statement { line, kind: What::Assign(place, value) });
            }
        } else {
            for _ in 0..3 {
                body.extend(self.block(1, number, false));
            }
        }
        let value = if number == N_FUNCTIONS { Expression::Constant(0) } else { self.expression(1, 0) };
        let last = self.write(1, &format!("return {};", text(&value)));
        body.push(Statement { line: last, kind: What::Return(value) });
        let end = self.write(0, "}");
        let names: Vec<String> = (0..=self.n_loops).map(|counter| format!("i{counter}")).collect();
        let (before, behind) = self.text.split_at(first as usize);
        self.text = format!("{before}{}", behind.replacen("COUNTERS", &format!("unsigned {};", names.join(", ")), 1));
        assert!(declared > line);
        Function { line, body, end, n_returns: self.n_returns }
    }
}

fn lvalue(place: &Place) -> String {
    match place {
        Place::Local(number) => format!("v{number}"),
        Place::Global(number) => format!("g{number}"),
        Place::Element(is_local, index) => {
            format!("{}[({}) & 3]", if *is_local { "a" } else { "ga" }, text(index))
        }
        Place::Target => "*p".to_owned(),
    }
}

fn address(pointer: &Pointer) -> String {
    match pointer {
        Pointer::Of(place) => format!("&{}", lvalue(place)),
        Pointer::Same => "p".to_owned(),
    }
}

fn text(expression: &Expression) -> String {
    match expression {
        Expression::Constant(number) => format!("{number}u"),
        Expression::Read(place) => lvalue(place),
        Expression::Binary(operator, one, other) => format!("({} {operator} {})", text(one), text(other)),
        Expression::Call(function, one, other, pointer) => {
            format!("f{function}({}, {}, {})", text(one), text(other), address(pointer))
        }
        Expression::Input => "(unsigned)getchar()".to_owned(),
    }
}

fn program(seed: u64) -> (Vec<Function>, String) {
    let mut generator = Generator {
        random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
        text: String::new(),
        line: 0,
        n_loops: 0,
        n_returns: 0,
    };
    generator.write(0, "#include <stdio.h>");
    generator.write(0, "static unsigned g0 = 1, g1 = 2, g2 = 3, ga[4] = {4, 5, 6, 7};");
    let functions = (0..=N_FUNCTIONS).map(|number| generator.function(number)).collect();
    (functions, generator.text)
}

/// The statements of a function that can follow each line; 0 is the end of the function.
type Ways = BTreeMap<u32, BTreeSet<u32>>;

/// Adds the ways through statements; returns the first line.
fn ways(statements: &[Statement], next: u32, (broken, end): (u32, u32), into: &mut Ways) -> u32 {
    let mut next = next;
    for statement in statements.iter().rev() {
        let line = statement.line;
        let follow = match &statement.kind {
            What::If(_, then, otherwise) => {
                let [then, otherwise] = [then, otherwise].map(|block| ways(block, next, (broken, end), into));
                BTreeSet::from([then, otherwise])
            }
            What::While(_, _, body) => BTreeSet::from([ways(body, line, (next, end), into), next]),
            What::Break => BTreeSet::from([broken]),
            What::Return(_) => BTreeSet::from([end]),
            _ => BTreeSet::from([next]),
        };
        into.insert(line, follow);
        // A jump is no step: what would come before it goes where it goes.
        next = if matches!(statement.kind, What::Break) { broken } else { line };
    }
    next
}

/// Whether each way from `from` to the end passes `by`.
fn always_passes(ways: &Ways, from: u32, by: u32) -> bool {
    let (mut open, mut seen) = (vec![from], BTreeSet::new());
    while let Some(line) = open.pop() {
        if line == by || !seen.insert(line) {
            continue;
        }
        if line == 0 {
            return false;
        }
        open.extend(&ways[&line]);
    }
    true
}

/// For each line the lines of the predicates on which it statically depends.
fn static_control(function: &Function) -> BTreeMap<u32, BTreeSet<u32>> {
    let mut all = Ways::new();
    let end = if function.n_returns > 1 { function.end } else { 0 };
    if end != 0 {
        all.insert(end, BTreeSet::from([0]));
    }
    ways(&function.body, 0, (0, end), &mut all);
    let depends = |line: u32| {
        let is_on = |(predicate, successors): &(&u32, &BTreeSet<u32>)| {
            let is_always = **predicate != line && always_passes(&all, **predicate, line);
            successors.len() > 1
                && !is_always
                && successors.iter().any(|successor| always_passes(&all, *successor, line))
        };
        all.iter().filter(is_on).map(|(predicate, _)| *predicate).collect()
    };
    all.keys().map(|line| (*line, depends(*line))).collect()
}

/// How a node depends on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Data,
    Address,
    Control,
}

/// A part of a step: the step, and what it depends on.
struct Node {
    step: usize,
    on: Vec<(usize, Kind)>,
}

/// Where a number is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cell {
    /// The frame; 0 for global variables.
    frame: usize,
    /// Variables, elements and counters have different ranges.
    index: u32,
}

/// The first element of an array, and the first counter.
const ARRAY: u32 = 10;
const COUNTERS: u32 = 100;

enum Flow {
    On,
    Broken,
    /// The result, and the node that computed it.
    Returned(u32, usize),
}

struct Frame {
    number: usize,
    function: usize,
    /// The node of the call.
    caller: Option<usize>,
    /// The last node of each predicate.
    predicates: BTreeMap<u32, usize>,
}

/// Runs a program.
struct Interpreter<'i> {
    functions: &'i [Function],
    control: Vec<BTreeMap<u32, BTreeSet<u32>>>,
    input: Vec<u8>,
    n_read: usize,
    nodes: Vec<Node>,
    /// The line of each step, and whether it is the entry of a function.
    steps: Vec<(u32, bool)>,
    /// The value of each cell, and the node that wrote it.
    memory: BTreeMap<Cell, (u32, Option<usize>)>,
    pointers: BTreeMap<usize, (Cell, Option<usize>)>,
    n_frames: usize,
}

impl Interpreter<'_> {
    fn node(&mut self, on: Vec<(usize, Kind)>) -> usize {
        self.nodes.push(Node { step: self.steps.len() - 1, on });
        self.nodes.len() - 1
    }

    /// Begins the next part of a step, after a call.
    fn part(&mut self, before: usize, returned: usize) -> usize {
        let step = self.nodes[before].step;
        self.nodes.push(Node { step, on: vec![(before, Kind::Data), (returned, Kind::Data)] });
        self.nodes.len() - 1
    }

    /// Begins a step; returns its first node.
    fn begin(&mut self, line: u32, frame: &Frame) -> usize {
        self.steps.push((line, false));
        assert!(self.steps.len() < MAX_STEPS);
        let empty = BTreeSet::new();
        let predicates = self.control[frame.function].get(&line).unwrap_or(&empty);
        let last = predicates.iter().filter_map(|predicate| frame.predicates.get(predicate)).max().copied();
        let control = last.or(frame.caller).map(|node| (node, Kind::Control));
        self.node(control.into_iter().collect())
    }

    fn uses(&mut self, node: usize, maker: Option<usize>, kind: Kind) {
        self.nodes[node].on.extend(maker.map(|maker| (maker, kind)));
    }

    /// - `node`: the current node of the step; calls replace it.
    /// - `is_address`: whether only an address is computed.
    fn cell(&mut self, place: &Place, frame: &Frame, node: &mut usize, is_address: bool) -> Cell {
        let kind = if is_address { Kind::Address } else { Kind::Data };
        match place {
            Place::Local(index) => Cell { frame: frame.number, index: *index },
            Place::Global(index) => Cell { frame: 0, index: *index },
            Place::Element(is_local, index) => {
                let index = self.value(index, frame, node, is_address) & 3;
                Cell { frame: if *is_local { frame.number } else { 0 }, index: ARRAY + index }
            }
            Place::Target => {
                let (cell, maker) = self.pointers[&frame.number];
                self.uses(*node, maker, kind);
                cell
            }
        }
    }

    fn value(&mut self, expression: &Expression, frame: &Frame, node: &mut usize, is_address: bool) -> u32 {
        match expression {
            Expression::Constant(number) => *number,
            Expression::Read(place) => {
                let cell = self.cell(place, frame, node, true);
                let (value, maker) = self.memory[&cell];
                self.uses(*node, maker, if is_address { Kind::Address } else { Kind::Data });
                value
            }
            Expression::Binary(operator, one, other) => {
                let one = self.value(one, frame, node, is_address);
                let other = self.value(other, frame, node, is_address);
                match operator {
                    '+' => one.wrapping_add(other),
                    '-' => one.wrapping_sub(other),
                    '*' => one.wrapping_mul(other),
                    _ => one ^ other,
                }
            }
            Expression::Call(function, one, other, pointer) => {
                let one = self.value(one, frame, node, false);
                let other = self.value(other, frame, node, false);
                let pointer = self.target(pointer, frame, node);
                let (result, returned) = self.call(*function, &[one, other], Some(pointer), Some(*node));
                *node = self.part(*node, returned);
                result
            }
            Expression::Input => {
                self.n_read += 1;
                self.input.get(self.n_read - 1).map_or(u32::MAX, |byte| u32::from(*byte))
            }
        }
    }

    fn target(&mut self, pointer: &Pointer, frame: &Frame, node: &mut usize) -> Cell {
        match pointer {
            Pointer::Of(place) => self.cell(place, frame, node, false),
            Pointer::Same => self.cell(&Place::Target, frame, node, false),
        }
    }

    /// Runs a function; returns its result, and the node that returned it.
    fn call(&mut self, number: usize, values: &[u32], pointer: Option<Cell>, caller: Option<usize>) -> (u32, usize) {
        self.n_frames += 1;
        let function = &self.functions[number];
        let mut frame = Frame { number: self.n_frames, function: number, caller, predicates: BTreeMap::new() };
        self.steps.push((function.line, true));
        let control = caller.map(|caller| (caller, Kind::Control));
        let arguments = caller.filter(|_| !values.is_empty()).map(|caller| (caller, Kind::Data));
        let entry = self.node(control.into_iter().chain(arguments).collect());
        for (index, value) in (0..).zip(values) {
            self.memory.insert(Cell { frame: frame.number, index }, (*value, Some(entry)));
        }
        if let Some(pointer) = pointer {
            self.pointers.insert(frame.number, (pointer, Some(entry)));
        }
        let Flow::Returned(result, mut node) = self.run(&function.body, &mut frame) else { panic!("no result") };
        if function.n_returns > 1 {
            let returned = node;
            node = self.begin(function.end, &frame);
            self.uses(node, Some(returned), Kind::Data);
        }
        (result, node)
    }

    fn run(&mut self, statements: &[Statement], frame: &mut Frame) -> Flow {
        for statement in statements {
            if let What::Break = statement.kind {
                return Flow::Broken;
            }
            let mut node = self.begin(statement.line, frame);
            let flow = match &statement.kind {
                What::Assign(place, expression) => {
                    let value = self.value(expression, frame, &mut node, false);
                    let cell = self.cell(place, frame, &mut node, true);
                    self.memory.insert(cell, (value, Some(node)));
                    Flow::On
                }
                What::Point(pointer) => {
                    let cell = self.target(pointer, frame, &mut node);
                    self.pointers.insert(frame.number, (cell, Some(node)));
                    Flow::On
                }
                What::If(condition, then, otherwise) => {
                    let is_true = self.value(condition, frame, &mut node, false) & 1 == 1;
                    frame.predicates.insert(statement.line, node);
                    self.run(if is_true { then } else { otherwise }, frame)
                }
                What::While(counter, bound, body) => {
                    let cell = Cell { frame: frame.number, index: COUNTERS + counter };
                    loop {
                        let (count, maker) = self.memory[&cell];
                        self.uses(node, maker, Kind::Data);
                        let is_on = count < self.value(bound, frame, &mut node, false) & 3;
                        frame.predicates.insert(statement.line, node);
                        if !is_on {
                            break Flow::On;
                        }
                        match self.run(body, frame) {
                            Flow::On => node = self.begin(statement.line, frame),
                            Flow::Broken => break Flow::On,
                            returned @ Flow::Returned(..) => break returned,
                        }
                    }
                }
                What::Count(counter, is_start) => {
                    let cell = Cell { frame: frame.number, index: COUNTERS + counter };
                    let before = self.memory.get(&cell).copied().filter(|_| !is_start);
                    self.uses(node, before.and_then(|(_, maker)| maker), Kind::Data);
                    self.memory.insert(cell, (before.map_or(0, |(count, _)| count + 1), Some(node)));
                    Flow::On
                }
                What::Return(expression) => {
                    let value = self.value(expression, frame, &mut node, false);
                    Flow::Returned(value, node)
                }
                What::Break => Flow::Broken,
            };
            if !matches!(flow, Flow::On) {
                return flow;
            }
        }
        Flow::On
    }
}

fn interpreted(functions: &[Function], input: &[u8]) -> (Vec<Node>, Vec<(u32, bool)>) {
    let mut interpreter = Interpreter {
        functions,
        control: functions.iter().map(static_control).collect(),
        input: input.to_vec(),
        n_read: 0,
        nodes: Vec::new(),
        steps: Vec::new(),
        memory: BTreeMap::new(),
        pointers: BTreeMap::new(),
        n_frames: 0,
    };
    for (index, value) in [(0, 1), (1, 2), (2, 3), (ARRAY, 4), (ARRAY + 1, 5), (ARRAY + 2, 6), (ARRAY + 3, 7)] {
        interpreter.memory.insert(Cell { frame: 0, index }, (value, None));
    }
    interpreter.call(N_FUNCTIONS, &[], None, None);
    (interpreter.nodes, interpreter.steps)
}

/// All steps that can be reached from those of some nodes.
fn reached(
    edges: &[Vec<(usize, Kind)>],
    nodes: &[Node],
    from: usize,
    is_followed: impl Fn(Kind) -> bool,
) -> BTreeSet<u32> {
    let mut open: Vec<usize> = (0..nodes.len()).filter(|node| nodes[*node].step == from).collect();
    let mut seen: BTreeSet<usize> = open.iter().copied().collect();
    while let Some(node) = open.pop() {
        let next = edges[node].iter().filter(|(_, kind)| is_followed(*kind)).map(|(next, _)| *next);
        open.extend(next.filter(|next| seen.insert(*next)));
    }
    seen.iter().map(|node| u32::try_from(nodes[*node].step).unwrap() + 1).collect()
}

/// The line of each step of a recorded run, and whether it is the entry of a function.
fn recorded_steps(player: &mut NativePlayer) -> Vec<(u32, bool)> {
    struct Lines(Vec<(u32, bool)>);
    impl Watch for Lines {
        fn step(&mut self, machine: &NativeMachine) {
            let frame = machine.frame().unwrap();
            self.0.push((frame.place().map_or(0, |place| place.line), frame.statement == 0));
        }
    }
    let mut lines = Lines(Vec::new());
    player.seek(0).unwrap();
    player.play(&mut lines).unwrap();
    lines.0
}

fn check(graph: &Dependences, nodes: &[Node], steps: &[(u32, bool)], text: &str) {
    let backward: Vec<Vec<(usize, Kind)>> = nodes.iter().map(|node| node.on.clone()).collect();
    let mut forward: Vec<Vec<(usize, Kind)>> = vec![Vec::new(); nodes.len()];
    for (user, node) in nodes.iter().enumerate() {
        for (maker, kind) in &node.on {
            forward[*maker].push((user, *kind));
        }
    }
    let line = |step: u32| {
        let (number, _) = steps[step as usize - 1];
        format!("#{step} line {number}: {}", text.lines().nth(number as usize - 1).unwrap().trim())
    };
    let stride = steps.len() / 40 + 1;
    for from in (0..steps.len()).step_by(stride) {
        for (address, control) in [(true, true), (false, false), (true, false)] {
            let kinds = Kinds { address, control, potential: false };
            let is_followed = |kind: Kind| match kind {
                Kind::Data => true,
                Kind::Address => address,
                Kind::Control => control,
            };
            let step = Step(u32::try_from(from).unwrap() + 1);
            for (direction, edges, found) in [
                ("backward", &backward, slice::backward(graph, &[(step, Step(u32::MAX))], kinds)),
                ("forward", &forward, slice::forward(graph, &[step], kinds)),
            ] {
                let expected = reached(edges, nodes, from, is_followed);
                let found: BTreeSet<u32> = found.iter().map(|step| step.0).collect();
                let missing: Vec<String> = expected.difference(&found).copied().map(line).collect();
                let extra: Vec<String> = found.difference(&expected).copied().map(line).collect();
                assert!(
                    missing.is_empty() && extra.is_empty(),
                    "{direction} slice of {} {kinds:?}: missing {missing:#?} too many {extra:#?}\n{text}",
                    line(step.0)
                );
            }
        }
    }
}

#[test]
fn slices_of_random_programs_are_those_of_the_definitions() {
    const INPUT: &[u8] = b"The quick brown fox jumps over the lazy dog 0123456789.";
    let programs: Vec<(u64, Vec<Function>, String)> = (1..=3)
        .map(|seed| {
            let (functions, text) = program(seed);
            (seed, functions, text)
        })
        .collect();
    let mut script = format!("printf '{}' >in\n", String::from_utf8_lossy(INPUT));
    for (seed, _, text) in &programs {
        writeln!(script, "cat >p{seed}.c <<'END'\n{text}END").unwrap();
    }
    script.push_str("commit programs");
    let fixture = Fixture::of(&script);
    for (seed, functions, text) in &programs {
        let build = format!("$CC -o p p{seed}.c");
        let output = fixture.run(&["record", "--once", "--build", &build, "--", "./p <in"]);
        assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
        let place = fixture.sh("find .git/idd -name recording.json | sort | tail -1");
        let place = fixture.repo().join(place.trim());
        let place = place.parent().unwrap();
        let recording = store::read(place).unwrap();
        let traced = &recording.processes[recording.chosen.unwrap()];
        let trace = store::trace(place, &recording, traced).unwrap();
        let mut player = NativePlayer::new(trace, store::units(place, &recording)).unwrap();
        let (nodes, steps) = interpreted(functions, INPUT);
        let recorded = recorded_steps(&mut player);
        let differs = steps.iter().zip(&recorded).position(|(one, other)| one != other);
        let near = differs.map(|at| (at, &steps[at.saturating_sub(3)..=at], &recorded[at.saturating_sub(3)..=at]));
        assert!(
            differs.is_none() && steps.len() == recorded.len(),
            "{near:?} {} {}\n{text}",
            steps.len(),
            recorded.len()
        );
        let graph = dependences(&mut player, Step(u32::MAX)).unwrap();
        check(&graph, &nodes, &steps, text);
    }
}
