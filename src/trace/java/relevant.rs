//! Potential dependences of a Java program, see [`potential`].

use crate::instrument::java::descriptor::MethodTypes;
use crate::instrument::java::operation::{Element, Operation};
use crate::java::{
    FieldId, JavaFrame, JavaMachine, JavaPlayer, JavaUse, JavaValue, MachineMethod, MethodCallee, MethodOperand,
    ValueLocation, Watch, library, output,
};
use crate::potential::ActivationStep;
use crate::{BlockId, DependenceKind, Dependences, Step, TraceError, potential};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Something that a statement may write, in any object.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum JavaWritable {
    /// A local variable of the method.
    Local(u16),
    /// A field of an object or of a class.
    Field(FieldId),
    /// An element of an array, by the letter of its type; objects have `L`.
    Element(char),
    /// What an object of the library holds, by the class that the code names.
    State(Arc<str>),
    Output,
}

impl potential::WritableVariable for JavaWritable {
    const OUTPUT: Self = Self::Output;

    fn is_local(&self) -> bool {
        matches!(self, Self::Local(_))
    }
}

fn element(element: Element) -> JavaWritable {
    JavaWritable::Element(match element {
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
struct JavaWrittenBy(HashMap<MethodKey, BTreeSet<JavaWritable>>);

/// The class of a constructor, or nothing; the name, and the type.
type MethodKey = (Arc<str>, Arc<str>, Arc<str>);

fn key(class: &Arc<str>, name: &Arc<str>, descriptor: &Arc<str>) -> MethodKey {
    let class = if &**name == "<init>" { Arc::clone(class) } else { "".into() };
    (class, Arc::clone(name), Arc::clone(descriptor))
}

impl JavaWrittenBy {
    /// Cost: the instructions of all methods, as often as calls are nested.
    fn of(methods: &[Arc<MachineMethod>]) -> Self {
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
                all.retain(|variable| !potential::WritableVariable::is_local(variable));
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
    fn written(&self, method: &MachineMethod, at: usize, into: &mut BTreeSet<JavaWritable>) {
        match (&method.operations[at], &method.operands[at]) {
            (Operation::Store(_, local) | Operation::Increment(local, _), _) => {
                _ = into.insert(JavaWritable::Local(*local));
            }
            (Operation::StoreField(_) | Operation::StoreStatic(_), MethodOperand::Field(field, _)) => {
                into.insert(JavaWritable::Field(*field));
            }
            (Operation::StoreElement(of), _) => _ = into.insert(element(*of)),
            (_, MethodOperand::Call(callee)) => {
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
fn by_library(callee: &MethodCallee, into: &mut BTreeSet<JavaWritable>) {
    let member = &callee.member;
    if &*member.class == "java/io/PrintStream" && output::prints(&member.name) {
        into.insert(JavaWritable::Output);
        return;
    }
    if callee.only_reads || callee.is_constructor() || member.class.is_empty() {
        return;
    }
    if callee.has_object {
        into.extend(state(&member.class));
        return;
    }
    let signature = MethodTypes::of(&member.descriptor);
    for parameter in signature.into_iter().flat_map(|signature| signature.parameters) {
        match parameter.as_bytes() {
            [b'L', ..] => into.extend(state(&parameter[1..parameter.len() - 1].into())),
            [b'[', b'[' | b'L', ..] => _ = into.insert(JavaWritable::Element('L')),
            [b'[', b'Z', ..] => _ = into.insert(JavaWritable::Element('B')),
            [b'[', of, ..] => _ = into.insert(JavaWritable::Element(char::from(*of))),
            _ => {}
        }
    }
}

/// An iterator is seldom shared: decisions in one loop do not matter for another one.
fn state(class: &Arc<str>) -> Option<JavaWritable> {
    let is_shared = !class.ends_with("/Iterator") && library::is_changing_class(class);
    is_shared.then(|| JavaWritable::State(Arc::clone(class)))
}

/// The variables that an instruction reads.
fn read(method: &MachineMethod, at: usize, into: &mut BTreeSet<JavaWritable>) {
    match (&method.operations[at], &method.operands[at]) {
        (Operation::Load(_, local) | Operation::Increment(local, _), _) => _ = into.insert(JavaWritable::Local(*local)),
        (Operation::LoadField(_) | Operation::LoadStatic(_), MethodOperand::Field(field, _)) => {
            into.insert(JavaWritable::Field(*field));
        }
        (Operation::LoadElement(of), _) => _ = into.insert(element(*of)),
        (_, MethodOperand::Call(callee)) if callee.has_object && !callee.is_constructor() => {
            into.extend(state(&callee.member.class));
        }
        _ => {}
    }
}

/// Watches a run of a Java program.
struct JavaRelevant {
    graph: potential::PotentialGraph<JavaWritable>,
    written_by: JavaWrittenBy,
    /// The last block and the last step of each activation.
    last: HashMap<u64, (BlockId, Step)>,
}

impl JavaRelevant {
    fn learn(&mut self, method: &MachineMethod) {
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

fn at(frame: &JavaFrame, step: Step) -> ActivationStep {
    ActivationStep { frame: frame.number, function: frame.method.number, step }
}

impl Watch for JavaRelevant {
    fn step(&mut self, _machine: &JavaMachine, frame: &JavaFrame) {
        self.learn(&frame.method);
        let is_entry = frame.step == frame.entry;
        if let Some(block) = frame.block.filter(|_| !is_entry) {
            let before = self.last.insert(frame.number, (block, frame.step));
            if let Some((from, step)) = before.filter(|_| frame.method.block_at(frame.at).is_some()) {
                self.graph.decides(at(frame, step), from, block);
            }
        }
        let statement = if is_entry { 0 } else { frame.statement };
        self.graph.step(at(frame, frame.step), statement, frame.decider());
    }

    fn uses(&mut self, user: Step, maker: Step, _what: JavaUse) {
        self.graph.uses(user, maker, DependenceKind::Data);
    }

    fn writes(&mut self, _machine: &JavaMachine, frame: &JavaFrame, location: ValueLocation, _value: JavaValue) {
        if let ValueLocation::Local(local) = location {
            self.graph.overwrites(at(frame, frame.step), &JavaWritable::Local(local));
        }
    }

    fn leaves(&mut self, _machine: &JavaMachine, frame: &JavaFrame, _is_return: bool, _result: Option<JavaValue>) {
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
pub fn relevant_dependences(
    player: &mut JavaPlayer,
    wrong: (Step, Step),
) -> Result<(Dependences, Vec<Step>), TraceError> {
    player.machine.program.meet_all()?;
    let written_by = JavaWrittenBy::of(player.machine.program.methods());
    let graph = potential::PotentialGraph::new(player.spool.clone(), wrong);
    let mut relevant = JavaRelevant { graph, written_by, last: HashMap::new() };
    player.replay(&mut relevant)?;
    relevant.graph.end()
}
