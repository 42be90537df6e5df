//! A method as the machine runs it.

use crate::instrument::Unsupported;
use crate::instrument::java::blocks::Blocks;
use crate::instrument::java::class_file::{ClassFile, ClassMethod as Declared};
use crate::instrument::java::code::{Code, SourceVariable};
use crate::instrument::java::descriptor::{MethodTypes, ValueKind};
use crate::instrument::java::layout::is_of_entry;
use crate::instrument::java::operation::{Invoke, Operation};
use crate::instrument::java::pool::{Constant, Pool, PoolMember};
use crate::instrument::java::sites::Site;
use crate::instrument::java::stack::constant_kind;
use crate::java::library;
use crate::{BlockId, Keys, Place};
use std::collections::HashMap;
use std::sync::Arc;

/// No instruction.
pub const NONE: u32 = u32::MAX;

/// A field, by its number in the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldId(pub u32);

/// A call in the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodCallee {
    /// What is called.
    pub member: PoolMember,
    /// The kinds of its parameters, without the object.
    pub parameters: Vec<ValueKind>,
    /// Whether it is called on an object.
    pub has_object: bool,
    /// The kind of its result.
    pub result: Option<ValueKind>,
    /// Whether it leaves the object as it is on which it is called, if it is of the library.
    pub only_reads: bool,
}

impl MethodCallee {
    /// Whether it is a constructor.
    pub fn is_constructor(&self) -> bool {
        &*self.member.name == "<init>"
    }
}

/// What an instruction names.
#[derive(Debug, Clone, PartialEq)]
pub enum MethodOperand {
    /// Nothing that the machine needs.
    None,
    /// A number: its bits, and the slots that it takes.
    Number(u64, u16),
    /// The kind of a constant that the machine makes when it is needed.
    Made(ValueKind),
    /// A field, and the kind of its values.
    Field(FieldId, ValueKind),
    /// A call.
    Call(Arc<MethodCallee>),
}

/// A method as the machine runs it.
#[derive(Debug, Clone)]
pub struct MachineMethod {
    /// Its number among those that were met.
    pub number: u32,
    /// Its class: `org/example/Main`.
    pub class: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub descriptor: Arc<str>,
    /// Its name for people: `Main.run`.
    pub function: Arc<str>,
    /// The source file, below the directory of the packages.
    pub file: Arc<str>,
    /// Whether it has no `this`.
    pub is_static: bool,
    /// The slots of its locals.
    pub n_locals: u16,
    /// The instructions.
    pub operations: Vec<Operation>,
    /// What each one names.
    pub operands: Vec<MethodOperand>,
    /// The variables of the source.
    pub variables: Vec<SourceVariable>,
    /// The blocks.
    pub blocks: Blocks,
    /// For each instruction: the statement that begins there, from 1; 0 if none does.
    pub starts: Vec<u32>,
    /// The places of the statements; the first one is that of the entry.
    pub places: Vec<Place>,
    /// For each instruction whether it is the only decision of its line.
    is_sole: Vec<bool>,
    /// For each instruction the one that follows without a choice; [`NONE`] if there is none.
    pub next: Vec<u32>,
    /// For each instruction: the first one from there on after which a record follows, or which ends the method.
    /// [`NONE`] if the code goes round without end before.
    pub stops: Vec<u32>,
    /// For each instruction whether a record follows it.
    pub is_recorded: Vec<bool>,
    /// For each instruction whether a record is before it, beside those of the entry.
    pub is_announced: Vec<bool>,
    /// The sites.
    pub sites: Vec<Site>,
    /// The number of the first one.
    pub first_site: u32,
    /// What the method and its statements are called in other versions.
    pub keys: Keys,
}

/// Gives numbers to fields: by the class for static ones, by name and type for others.
pub type FieldNumbers<'f> = dyn FnMut(&PoolMember, bool) -> FieldId + 'f;

impl MachineMethod {
    /// Prepares a method.
    ///
    /// - `number`: its number.
    /// - `first_site`: the number of its first site.
    pub fn new(
        class: &ClassFile<'_>,
        declared: &Declared,
        code: Code<'_>,
        sites: Vec<Site>,
        number: u32,
        first_site: u32,
        fields: &mut FieldNumbers<'_>,
    ) -> Result<Self, Unsupported> {
        let blocks = Blocks::of(&code);
        let n = code.instructions.len();
        let operations: Vec<Operation> =
            code.instructions.iter().map(|instruction| instruction.operation.clone()).collect();
        let operands = operations.iter().map(|operation| operand(operation, &class.pool, fields));
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        let mut is_recorded = vec![false; n];
        let mut is_announced = vec![false; n];
        for site in &sites {
            if is_of_entry(site.probe) {
                continue;
            }
            let of = if site.probe.is_before() { &mut is_announced } else { &mut is_recorded };
            // The one for exceptions is behind the last instruction.
            if let Some(is_there) = of.get_mut(site.instruction as usize) {
                *is_there = true;
            }
        }
        let next: Vec<u32> = (0..code.end())
            .map(|number| match &operations[number as usize] {
                Operation::Goto(way) => *way,
                operation if operation.is_decision() || !operation.goes_on() => NONE,
                _ if number + 1 < code.end() => number + 1,
                _ => NONE,
            })
            .collect();
        let is_stop =
            |number: usize| is_recorded[number] || next[number] == NONE || is_announced[next[number] as usize];
        let stops = stops(&next, is_stop);
        let lines = code.line_of_each();
        let file: Arc<str> = class.source_path().into();
        let place = |line: u16| {
            let line = u32::from(class.stratum.line(line));
            Place { file: Arc::clone(&file), line, column: 0 }
        };
        let mut starts = vec![0; n];
        for (begin, _) in &code.lines {
            if let Some(start) = starts.get_mut(*begin as usize) {
                *start = 1;
            }
        }
        for range in &blocks.ranges {
            starts[range.start as usize] = 1;
        }
        let mut places = vec![place(lines.first().copied().unwrap_or(0))];
        for (start, line) in starts.iter_mut().zip(&lines).filter(|(start, _)| **start == 1) {
            *start = u32::try_from(places.len()).expect("statements are fewer than instructions");
            places.push(place(*line));
        }
        let is_sole = sole(&operations, &lines);
        let function = function(&class.name, &declared.name);
        let keys = Keys::of(&file, &key(&class.name, &declared.name, &declared.descriptor), places.len());
        Ok(Self {
            number,
            class: Arc::clone(&class.name),
            name: Arc::clone(&declared.name),
            descriptor: Arc::clone(&declared.descriptor),
            function,
            file,
            is_static: declared.is_static(),
            n_locals: code.max_locals,
            operations,
            operands,
            variables: code.variables,
            blocks,
            starts,
            places,
            is_sole,
            next,
            stops,
            is_recorded,
            is_announced,
            sites,
            first_site,
            keys,
        })
    }

    /// What tells it apart from other methods: its class, its name and its type.
    pub fn key(&self) -> String {
        key(&self.class, &self.name, &self.descriptor)
    }

    /// The block that begins at an instruction.
    #[inline]
    pub fn block_at(&self, instruction: u32) -> Option<BlockId> {
        let block = self.blocks.of[instruction as usize];
        (self.blocks.ranges[block.0 as usize].start == instruction).then_some(block)
    }

    /// The decision at the end of the statement that begins at an instruction; `None` if it decides nothing.
    pub fn decision(&self, begin: u32) -> Option<u32> {
        let block = self.blocks.of[begin as usize];
        let last = self.blocks.ranges[block.0 as usize].end - 1;
        let is_last = self.starts[begin as usize + 1..=last as usize].iter().all(|start| *start == 0);
        (is_last && self.operations[last as usize].is_decision()).then_some(last)
    }

    /// Whether the condition of a decision held that led to an instruction.
    ///
    /// A compiler jumps over what follows if a condition does not hold, and back to a loop if it holds. In a line with several
    /// decisions (`&&`, `?:`) it may be otherwise, and in an operator over several lines: `a ||` and `a && b ||` jump behind
    /// the next operand in the same way. So nothing is said there, nor of a `switch`.
    pub fn truth(&self, decision: u32, to: u32) -> Option<bool> {
        let is_operand = |target: u32| {
            let before = self.operations.get(target.wrapping_sub(1) as usize).filter(|before| before.is_decision());
            target > decision && matches!(before, Some(Operation::Jump(_, further)) if *further > target)
        };
        match &self.operations[decision as usize] {
            Operation::Jump(_, target)
                if self.is_sole[decision as usize] && *target != decision + 1 && !is_operand(*target) =>
            {
                Some((to == *target) == (*target <= decision))
            }
            _ => None,
        }
    }

    /// The variable of the source in a local, at an instruction.
    pub fn variable(&self, local: u16, at: u32) -> Option<&SourceVariable> {
        let of_local = || self.variables.iter().filter(|variable| variable.local == local);
        // A variable is visible from the instruction after the one that sets it first.
        of_local()
            .find(|variable| variable.visible.contains(&at))
            .or_else(|| of_local().find(|variable| variable.visible.start == at + 1))
    }
}

/// For each instruction whether it is the only decision of its line.
fn sole(operations: &[Operation], lines: &[u16]) -> Vec<bool> {
    let mut n_decisions: HashMap<u16, usize> = HashMap::new();
    for (_, line) in operations.iter().zip(lines).filter(|(operation, _)| operation.is_decision()) {
        *n_decisions.entry(*line).or_insert(0) += 1;
    }
    lines.iter().map(|line| n_decisions.get(line) == Some(&1)).collect()
}

fn key(class: &str, name: &str, descriptor: &str) -> String {
    format!("{class}.{name}{descriptor}")
}

/// The name of a method for people: the class without its package, and the name.
fn function(class: &str, name: &str) -> Arc<str> {
    let simple = class.rsplit('/').next().unwrap_or(class);
    format!("{simple}.{name}").into()
}

fn stops(next: &[u32], is_stop: impl Fn(usize) -> bool) -> Vec<u32> {
    /// Not found yet.
    const OPEN: u32 = u32::MAX - 1;
    let mut stops = vec![OPEN; next.len()];
    for first in 0..next.len() {
        let mut way = Vec::new();
        let mut at = first;
        let found = loop {
            if stops[at] != OPEN {
                break stops[at];
            }
            if is_stop(at) {
                break u32::try_from(at).unwrap_or(NONE);
            }
            way.push(at);
            // While it is open, it leads to no stop: a way that comes back here never ends.
            stops[at] = NONE;
            at = next[at] as usize;
        };
        stops[first] = found;
        for at in way {
            stops[at] = found;
        }
    }
    stops
}

fn operand(operation: &Operation, pool: &Pool, fields: &mut FieldNumbers<'_>) -> Result<MethodOperand, Unsupported> {
    let mut field = |number: u16, is_static: bool| {
        let member = pool.member(number)?;
        let kind = ValueKind::of(&member.descriptor)?.ok_or_else(|| Unsupported::new("a field without a type"))?;
        Ok(MethodOperand::Field(fields(&member, is_static), kind))
    };
    match operation {
        Operation::Constant(number) => Ok(match pool.get(*number)? {
            Constant::Int(value) => MethodOperand::Number(u64::from(value.cast_unsigned()), 1),
            Constant::Float(bits) => MethodOperand::Number(u64::from(*bits), 1),
            Constant::Long(value) => MethodOperand::Number(value.cast_unsigned(), 2),
            Constant::Double(bits) => MethodOperand::Number(*bits, 2),
            _ => MethodOperand::Made(constant_kind(pool, *number)?),
        }),
        Operation::LoadStatic(number) | Operation::StoreStatic(number) => field(*number, true),
        Operation::LoadField(number) | Operation::StoreField(number) => field(*number, false),
        Operation::Invoke(invoke, number) => {
            let member = pool.member(*number)?;
            let signature = MethodTypes::of(&member.descriptor)?;
            let (parameters, result) = (signature.kinds()?, signature.result_kind()?);
            let has_object = !matches!(invoke, Invoke::Static | Invoke::Dynamic);
            let only_reads = library::only_reads(&member.name);
            Ok(MethodOperand::Call(Arc::new(MethodCallee { member, parameters, has_object, result, only_reads })))
        }
        _ => Ok(MethodOperand::None),
    }
}
