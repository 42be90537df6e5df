//! Points in the classes of `tests/classes`, each at every instruction that has a value.

use crate::instrument::java::class_file::ClassFile;
use crate::instrument::java::code::Code;
use crate::instrument::java::descriptor::ValueKind;
use crate::instrument::java::operation::{Invoke, Operation};
use crate::instrument::java::replace::{REPLACER, ReplacementPoint, ValueHolder, replace};

const EVERY: &[u8] = include_bytes!("../../../../tests/classes/Every.class");
const TEXT: &[u8] = include_bytes!("../../../../tests/classes/Text.class");

/// The type that a value of a kind is given in these tests.
fn type_of(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Int => "I",
        ValueKind::Long => "J",
        ValueKind::Float => "F",
        ValueKind::Double => "D",
        ValueKind::Reference => "Ljava/lang/String;",
    }
}

/// A point for each store, return and decision of a class.
fn points(bytes: &[u8]) -> Vec<ReplacementPoint> {
    let class = ClassFile::read(bytes).unwrap();
    let mut points = Vec::new();
    for method in &class.methods {
        // One that cannot be read is left as it is by the recorder, too.
        let Ok(Some(code)) = Code::of(&class, method) else { continue };
        for (number, instruction) in (0_u32..).zip(&code.instructions) {
            let (holder, of) = match instruction.operation {
                Operation::Store(kind, local) => (ValueHolder::Local(local), type_of(kind)),
                Operation::Increment(local, _) => (ValueHolder::Local(local), "I"),
                Operation::StoreElement(element) => (ValueHolder::Operand, type_of(element.kind())),
                Operation::Return(Some(kind)) => (ValueHolder::Operand, type_of(kind)),
                Operation::Switch(_) => (ValueHolder::Operand, "I"),
                _ => continue,
            };
            points.push(ReplacementPoint {
                class: class.name.to_string(),
                method: method.name.to_string(),
                descriptor: method.descriptor.to_string(),
                instruction: number,
                holder,
                of: of.to_owned(),
            });
        }
    }
    points
}

/// The calls of the replacer in a class.
fn n_calls(bytes: &[u8]) -> usize {
    let class = ClassFile::read(bytes).unwrap();
    let codes = class.methods.iter().filter_map(|method| Code::of(&class, method).ok().flatten());
    let is_call = |operation: &Operation| match operation {
        Operation::Invoke(Invoke::Static, number) => &*class.pool.member(*number).unwrap().class == REPLACER,
        _ => false,
    };
    codes.flat_map(|code| code.instructions).filter(|instruction| is_call(&instruction.operation)).count()
}

#[test]
fn a_replaced_class_is_read_again_and_calls_the_replacer_once_for_each_point() {
    for bytes in [EVERY, TEXT] {
        let points = points(bytes);
        assert!(!points.is_empty());
        let replaced = replace(bytes, &points).unwrap().unwrap();
        assert_eq!(n_calls(&replaced), points.len());
        // The code between is as it was.
        let (class, other) = (ClassFile::read(bytes).unwrap(), ClassFile::read(&replaced).unwrap());
        assert_eq!(class.bytes[class.after_methods..], other.bytes[other.after_methods..]);
        for nth in 0..points.len() {
            assert_eq!(n_calls(&replace(bytes, &points[nth..=nth]).unwrap().unwrap()), 1, "{:?}", points[nth]);
        }
    }
}

#[test]
fn a_class_without_points_stays_and_an_instruction_that_is_not_there_is_an_error() {
    let points = points(TEXT);
    assert_eq!(replace(EVERY, &points), Ok(None));
    assert_eq!(replace(TEXT, &[]), Ok(None));
    let far = ReplacementPoint { instruction: 1 << 20, ..points[0].clone() };
    assert!(replace(TEXT, &[far]).is_err());
    let untyped = ReplacementPoint { of: "V".to_owned(), ..points[0].clone() };
    assert!(replace(TEXT, &[untyped]).is_err());
}
