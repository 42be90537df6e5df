//! What the statements of Java methods do, in words that are the same in both versions.

use std::fmt::Write as _;

use crate::align::statements::{NO_EFFECT, StatementEffect, VersionFunction};
use idd_trace::instrument::java::operation::Operation;
use idd_trace::java::{JavaProgram, MachineMethod, MethodOperand};

pub fn function(method: &MachineMethod, program: &JavaProgram) -> VersionFunction {
    let mut statements: Vec<StatementEffect> = method.places.iter().map(|_| done(NO_EFFECT)).collect();
    if let Some(entry) = statements.first_mut() {
        *entry = done("entry");
    }
    let mut current = 0;
    for (at, begins) in (0_u32..).zip(&method.starts) {
        if *begins != 0 {
            current = *begins as usize;
        }
        if let Some(done) = statements.get_mut(current) {
            add(done, method, at, program);
        }
    }
    VersionFunction { file: method.file.clone(), name: method.key().into(), statements }
}

fn done(effect: &str) -> StatementEffect {
    StatementEffect { exactly: String::new(), roughly: String::new(), effect: effect.to_owned() }
}

/// Adds an instruction to what its statement does. Jumps are left out: where code lies says nothing.
fn add(done: &mut StatementEffect, method: &MachineMethod, at: u32, program: &JavaProgram) {
    let operation = &method.operations[at as usize];
    let (mut roughly, mut constant) = (String::new(), String::new());
    let local = |local: u16| match method.variable(local, at) {
        Some(variable) => variable.name.to_string(),
        None => "local".to_owned(),
    };
    match operation {
        Operation::Goto(_) | Operation::Nothing => return,
        Operation::Int(number) => constant = number.to_string(),
        Operation::Long(number) => constant = number.to_string(),
        Operation::Float(number) => constant = number.to_string(),
        Operation::Double(number) => constant = number.to_string(),
        Operation::Load(_, slot) => roughly = format!("load {}", local(*slot)),
        Operation::Store(_, slot) => roughly = format!("store {}", local(*slot)),
        Operation::Increment(slot, by) => (roughly, constant) = (format!("add to {}", local(*slot)), by.to_string()),
        Operation::Jump(test, _) => (roughly, constant) = ("branch".to_owned(), format!("{test:?}")),
        Operation::Switch(_) => "switch".clone_into(&mut roughly),
        Operation::Arithmetic(..) | Operation::Negate(_) | Operation::Convert(..) | Operation::Compare(..) => {
            roughly = format!("{operation:?}");
        }
        other => {
            let text = format!("{other:?}");
            text.split(['(', ' ', '{']).next().unwrap_or_default().clone_into(&mut roughly);
        }
    }
    match &method.operands[at as usize] {
        MethodOperand::None | MethodOperand::Made(_) => {}
        MethodOperand::Number(bits, _) => constant = bits.to_string(),
        MethodOperand::Field(field, _) => roughly = format!("{roughly} {}", program.field(*field).name),
        MethodOperand::Call(callee) => roughly = format!("call {}.{}", callee.member.class, callee.member.name),
    }
    write!(done.roughly, "{roughly};").expect("a string takes all");
    write!(done.exactly, "{roughly} {constant};").expect("a string takes all");
    let is_effect = match operation {
        Operation::Store(..)
        | Operation::StoreElement(_)
        | Operation::StoreField(_)
        | Operation::StoreStatic(_)
        | Operation::Increment(..)
        | Operation::Jump(..)
        | Operation::Switch(_)
        | Operation::Return(_)
        | Operation::Throw => true,
        Operation::Invoke(..) => done.effect == NO_EFFECT || done.effect.starts_with("call"),
        _ => false,
    };
    if is_effect {
        done.effect = roughly;
    }
}
