//! Potential dependences of a Java program, see [`potential`].

use crate::dependence::{Dependences, Kind};
use crate::flow::BlockId;
use crate::instrument::java::descriptor::Signature;
use crate::instrument::java::operation::{Element, Operation};
use crate::java::machine::{Frame, Location, Machine, Value, Watch, What};
use crate::java::method::{Callee, FieldId, Method, Operand};
use crate::java::player::Player;
use crate::java::{library, output};
use crate::potential::At;
use crate::step::Step;
use crate::{TraceError, potential};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Something that a statement may write, in any object.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Variable {
    /// A local variable of the method.
    Local(u16),
    /// A field of an object or of a class.
    Field(FieldId),
    /// An element of an array, by the letter of its type; objects have `L`.
    Element(char),
    /// What an object of the library holds, by the class that the code names.
    State(Arc<str>),
    /// The output of the program.
    Output,
}

impl potential::Variable for Variable {
    const OUTPUT: Self = Self::Output;

    fn is_local(&self) -> bool {
        matches!(self, Self::Local(_))
    }
}

fn element(element: Element) -> Variable {
    Variable::Element(match element {
        Element::Int => 'I',
        Element::Long => 'J',
        Element::Float => 'F',
        Element::Double => 'D',
        Element::Reference => 'L',
        Element::Byte => 'B',
        Element::Char => 'C',
        Element::Short => 'S',
    })
}

/// By a method that may be called: the variables that it may write and its callers may read, its callees included.
///
/// A method is known by its name and its type, whatever class has it, a constructor by its class, too.
#[derive(Default)]
struct WrittenBy(HashMap<Key, BTreeSet<Variable>>);

/// The class of a constructor, or nothing; the name, and the type.
type Key = (Arc<str>, Arc<str>, Arc<str>);

fn key(class: &Arc<str>, name: &Arc<str>, descriptor: &Arc<str>) -> Key {
    let class = if &**name == "<init>" { Arc::clone(class) } else { "".into() };
    (class, Arc::clone(name), Arc::clone(descriptor))
}

impl WrittenBy {
    /// Cost: the instructions of all methods, as often as calls are nested.
    fn of(methods: &[Arc<Method>]) -> Self {
        let mut found = Self::default();
        let keys = methods.iter().map(|method| key(&method.class, &method.name, &method.descriptor));
        found.0.extend(keys.map(|key| (key, BTreeSet::new())));
        loop {
            let mut is_changed = false;
            for method in methods {
                let mut all = BTreeSet::new();
                for at in 0..method.operations.len() {
                    found.written(method, at, &mut all);
                }
                all.retain(|variable| !potential::Variable::is_local(variable));
                let known = found.0.entry(key(&method.class, &method.name, &method.descriptor)).or_default();
                let n_before = known.len();
                known.extend(all);
                is_changed |= known.len() > n_before;
            }
            if !is_changed {
                return found;
            }
        }
    }

    /// The variables that an instruction may write.
    fn written(&self, method: &Method, at: usize, into: &mut BTreeSet<Variable>) {
        match (&method.operations[at], &method.operands[at]) {
            (Operation::Store(_, local) | Operation::Increment(local, _), _) => {
                _ = into.insert(Variable::Local(*local));
            }
            (Operation::StoreField(_) | Operation::StoreStatic(_), Operand::Field(field, _)) => {
                into.insert(Variable::Field(*field));
            }
            (Operation::StoreElement(of), _) => _ = into.insert(element(*of)),
            (_, Operand::Call(callee)) => {
                let member = &callee.member;
                match self.0.get(&key(&member.class, &member.name, &member.descriptor)) {
                    Some(written) => into.extend(written.iter().cloned()),
                    None => by_library(callee, into),
                }
            }
            _ => {}
        }
    }
}

/// What a call of the library may write.
fn by_library(callee: &Callee, into: &mut BTreeSet<Variable>) {
    let member = &callee.member;
    if &*member.class == "java/io/PrintStream" && output::prints(&member.name) {
        into.insert(Variable::Output);
        return;
    }
    if callee.only_reads || callee.is_constructor() || member.class.is_empty() {
        return;
    }
    if callee.has_object {
        into.extend(state(&member.class));
        return;
    }
    let signature = Signature::of(&member.descriptor);
    for parameter in signature.into_iter().flat_map(|signature| signature.parameters) {
        match parameter.as_bytes() {
            [b'L', ..] => into.extend(state(&parameter[1..parameter.len() - 1].into())),
            [b'[', b'[' | b'L', ..] => _ = into.insert(Variable::Element('L')),
            [b'[', b'Z', ..] => _ = into.insert(Variable::Element('B')),
            [b'[', of, ..] => _ = into.insert(Variable::Element(char::from(*of))),
            _ => {}
        }
    }
}

/// An iterator is seldom shared: decisions in one loop do not matter for another one.
fn state(class: &Arc<str>) -> Option<Variable> {
    let is_shared = !class.ends_with("/Iterator") && library::is_changing_class(class);
    is_shared.then(|| Variable::State(Arc::clone(class)))
}

/// The variables that an instruction reads.
fn read(method: &Method, at: usize, into: &mut BTreeSet<Variable>) {
    match (&method.operations[at], &method.operands[at]) {
        (Operation::Load(_, local) | Operation::Increment(local, _), _) => _ = into.insert(Variable::Local(*local)),
        (Operation::LoadField(_) | Operation::LoadStatic(_), Operand::Field(field, _)) => {
            into.insert(Variable::Field(*field));
        }
        (Operation::LoadElement(of), _) => _ = into.insert(element(*of)),
        (_, Operand::Call(callee)) if callee.has_object && !callee.is_constructor() => {
            into.extend(state(&callee.member.class));
        }
        _ => {}
    }
}

/// Watches a run of a Java program.
struct Relevant {
    graph: potential::Relevant<Variable>,
    written_by: WrittenBy,
    /// The last block and the last step of each activation.
    last: HashMap<u64, (BlockId, Step)>,
}

impl Relevant {
    fn learn(&mut self, method: &Method) {
        if self.graph.knows(method.number) {
            return;
        }
        let mut reads = vec![BTreeSet::new(); method.places.len()];
        let mut writes = vec![BTreeSet::new(); method.blocks.ranges.len()];
        let mut statement = 0;
        for at in 0..method.operations.len() {
            if method.starts[at] != 0 {
                statement = method.starts[at] as usize;
            }
            read(method, at, &mut reads[statement]);
            self.written_by.written(method, at, &mut writes[method.blocks.of[at].0 as usize]);
        }
        self.graph.learn(method.number, &method.blocks.flow, reads, &writes);
    }
}

fn at(frame: &Frame, step: Step) -> At {
    At { frame: frame.number, function: frame.method.number, step }
}

impl Watch for Relevant {
    fn step(&mut self, _machine: &Machine, frame: &Frame) {
        self.learn(&frame.method);
        let is_entry = frame.step == frame.entry;
        if let Some(block) = frame.block.filter(|_| !is_entry) {
            let before = self.last.insert(frame.number, (block, frame.step));
            if let Some((from, step)) = before.filter(|_| frame.method.block_at(frame.at).is_some()) {
                self.graph.decides(at(frame, step), (from, block));
            }
        }
        let statement = if is_entry { 0 } else { frame.statement };
        self.graph.step(at(frame, frame.step), statement, frame.decider());
    }

    fn uses(&mut self, user: Step, maker: Step, _what: What) {
        self.graph.uses(user, maker, Kind::Data);
    }

    fn writes(&mut self, _machine: &Machine, frame: &Frame, location: Location, _value: Value) {
        if let Location::Local(local) = location {
            self.graph.overwrites(at(frame, frame.step), &Variable::Local(local));
        }
    }

    fn leaves(&mut self, _machine: &Machine, frame: &Frame, _is_return: bool, _result: Option<Value>) {
        self.last.remove(&frame.number);
        self.graph.leaves(frame.number);
    }
}

/// The dependence graph of a run with its potential dependences, and the decisions before a wrong output that could have
/// led to other output.
///
/// - `wrong`: the step of the output, and the last step before it that printed.
///
/// Cost: all methods of the program are read, and one pass over the trace.
pub fn relevant_dependences(player: &mut Player, wrong: (Step, Step)) -> Result<(Dependences, Vec<Step>), TraceError> {
    player.machine.program.meet_all()?;
    let written_by = WrittenBy::of(player.machine.program.methods());
    let graph = potential::Relevant::new(player.spool.clone(), wrong);
    let mut relevant = Relevant { graph, written_by, last: HashMap::new() };
    player.replay(&mut relevant)?;
    relevant.graph.end()
}
