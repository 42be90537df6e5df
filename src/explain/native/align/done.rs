//! What the statements of C functions do, in words that are the same in both versions.

use std::collections::HashMap;
use std::sync::Arc;

use crate::align::statements::{NO_EFFECT, StatementEffect, VersionFunction};
use idd_trace::instrument::statement::is_nothing;
use idd_trace::instrument::{FunctionStatement, Instruction, Op, OperandValue, ValueId};
use idd_trace::native::FunctionShape;

/// What a function does.
pub fn function(shape: &FunctionShape) -> VersionFunction {
    let names = names(shape);
    let done = |(number, statement): (usize, &FunctionStatement)| {
        done(shape, statement, &names, if number == 0 { "entry" } else { NO_EFFECT })
    };
    let statements = shape.statements.iter().enumerate().map(done).collect();
    VersionFunction {
        file: Arc::clone(&shape.map.module.source),
        name: Arc::clone(&shape.body.function.name),
        statements,
    }
}

/// The names of the variables of a function.
fn names(shape: &FunctionShape) -> HashMap<ValueId, Arc<str>> {
    let debug = shape.debug();
    let declarations = shape.body.function.declarations.iter();
    declarations
        .filter_map(|declaration| Some((declaration.address, debug.variable(declaration.variable)?.name)))
        .collect()
}

/// All that a statement does, with constants, in words that are the same in both versions.
///
/// Cost: looks at each declaration of the function.
pub fn exactly(shape: &FunctionShape, statement: u32) -> Option<String> {
    let statement = shape.statements.get(statement as usize)?;
    Some(done(shape, statement, &names(shape), NO_EFFECT).exactly)
}

fn done(
    shape: &FunctionShape,
    statement: &FunctionStatement,
    names: &HashMap<ValueId, Arc<str>>,
    effect: &str,
) -> StatementEffect {
    let mut done = StatementEffect { exactly: String::new(), roughly: String::new(), effect: effect.to_owned() };
    for instruction in shape.instructions(statement).iter().filter(|instruction| !is_nothing(instruction)) {
        add(&mut done, instruction, names);
    }
    done
}

fn add(done: &mut StatementEffect, instruction: &Instruction, names: &HashMap<ValueId, Arc<str>>) {
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
        op => {
            let text = format!("{op:?}");
            text.split(['(', ' ']).next().unwrap_or_default().to_lowercase()
        }
    };
    done.roughly.push_str(&op);
    done.exactly.push_str(&op);
    for operand in &instruction.operands {
        let (word, is_rough) = match &operand.value {
            OperandValue::Local(id) => match names.get(id) {
                Some(name) => (format!(" {name}"), true),
                None => continue,
            },
            // Constants are numbered in the order of the text.
            OperandValue::Global(name) => (format!(" @{}", if name.starts_with(".str") { "text" } else { name }), true),
            OperandValue::Int(number) => (format!(" {number}"), false),
            OperandValue::Constant(text) => (format!(" {text}"), false),
        };
        done.exactly.push_str(&word);
        done.roughly.push_str(if is_rough { &word } else { "" });
    }
    done.roughly.push(';');
    done.exactly.push(';');
    let target = || {
        let to = instruction.operands.get(1).map(|operand| &operand.value);
        match to {
            Some(OperandValue::Local(id)) => names.get(id).map(ToString::to_string).unwrap_or_default(),
            Some(OperandValue::Global(name)) => format!("@{name}"),
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
