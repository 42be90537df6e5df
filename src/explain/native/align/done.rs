//! What the statements of C functions do, in words that are the same in both versions.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::align::statements::{Done, Function, NO_EFFECT};
use idd_trace::instrument::instruction::{Instruction, Op, Value, ValueId};
use idd_trace::instrument::statement::Statement;
use idd_trace::native::shape::Shape;

/// What a function does.
pub fn function(shape: &Shape) -> Function {
    let names = names(shape);
    let done = |(number, statement): (usize, &Statement)| {
        done(shape, statement, &names, if number == 0 { "entry" } else { NO_EFFECT })
    };
    let statements = shape.statements.iter().enumerate().map(done).collect();
    Function { file: Arc::clone(&shape.map.module.source), name: Arc::clone(&shape.body.function.name), statements }
}

/// The names of the variables of a function.
fn names(shape: &Shape) -> HashMap<ValueId, Arc<str>> {
    let debug = shape.debug();
    let declarations = shape.body.function.declarations.iter();
    declarations
        .filter_map(|declaration| Some((declaration.address, debug.variable(declaration.variable)?.name)))
        .collect()
}

/// All that a statement does, with constants, in words that are the same in both versions.
///
/// Cost: looks at each declaration of the function.
pub fn exactly(shape: &Shape, statement: u32) -> Option<String> {
    let statement = shape.statements.get(statement as usize)?;
    Some(done(shape, statement, &names(shape), NO_EFFECT).exactly)
}

fn done(shape: &Shape, statement: &Statement, names: &HashMap<ValueId, Arc<str>>, effect: &str) -> Done {
    let mut done = Done { exactly: String::new(), roughly: String::new(), effect: effect.to_owned() };
    let block = shape.body.function.block(statement.block);
    for instruction in &block.instructions[statement.first..statement.end] {
        add(&mut done, instruction, names);
    }
    done
}

fn add(done: &mut Done, instruction: &Instruction, names: &HashMap<ValueId, Arc<str>>) {
    let op = match &instruction.op {
        Op::Binary(op, _) => op.name().to_owned(),
        Op::Cast(op) => op.name().to_owned(),
        Op::AtomicUpdate(name) => (*name).to_owned(),
        Op::Compare(predicate) => format!("compare {}", predicate.name()),
        Op::Alloca(_) => "room".to_owned(),
        Op::Element(_) => "element".to_owned(),
        Op::Call(..) => format!("call {}", instruction.called().unwrap_or("*")),
        Op::Branch(..) => "branch".to_owned(),
        Op::Switch(..) => "switch".to_owned(),
        Op::Jump(_) => return,
        op => {
            let text = format!("{op:?}");
            text.split(['(', ' ']).next().unwrap_or_default().to_lowercase()
        }
    };
    if op.starts_with("call llvm.dbg") || op.starts_with("call llvm.lifetime") {
        return;
    }
    write!(done.roughly, "{op}").expect("a string takes all");
    write!(done.exactly, "{op}").expect("a string takes all");
    for operand in &instruction.operands {
        match &operand.value {
            Value::Local(id) => {
                if let Some(name) = names.get(id) {
                    write!(done.roughly, " {name}").expect("a string takes all");
                    write!(done.exactly, " {name}").expect("a string takes all");
                }
            }
            Value::Global(name) => {
                // Constants are numbered in the order of the text.
                let name = if name.starts_with(".str") { "text" } else { name };
                write!(done.roughly, " @{name}").expect("a string takes all");
                write!(done.exactly, " @{name}").expect("a string takes all");
            }
            Value::Int(number) => write!(done.exactly, " {number}").expect("a string takes all"),
            Value::Constant(text) => write!(done.exactly, " {text}").expect("a string takes all"),
        }
    }
    done.roughly.push(';');
    done.exactly.push(';');
    let target = || {
        let to = instruction.operands.get(1).map(|operand| &operand.value);
        match to {
            Some(Value::Local(id)) => names.get(id).map(ToString::to_string).unwrap_or_default(),
            Some(Value::Global(name)) => format!("@{name}"),
            _ => String::new(),
        }
    };
    match &instruction.op {
        Op::Store => done.effect = format!("store {}", target()),
        Op::Call(..) if done.effect == NO_EFFECT || done.effect.starts_with("call") => {
            done.effect = format!("call {}", instruction.called().unwrap_or("*"));
        }
        Op::Branch(..) | Op::Switch(..) | Op::Return | Op::IndirectJump(_) => done.effect = op,
        _ => {}
    }
}
