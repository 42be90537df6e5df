use super::*;
use crate::native::machine::tests::{CHOICE, shape};

#[test]
fn the_values_that_only_say_where_something_is_are_known() {
    let shape = shape(
        "source_filename = \"a.c\"

define i32 @f(ptr %p, i64 %i) {
entry:
  %e = getelementptr i32, ptr %p, i64 %i
  %v = load i32, ptr %e, align 4
  %q = getelementptr i32, ptr %p, i64 1
  store ptr %q, ptr %p, align 8
  ret i32 %v
}
",
    );
    let function = &shape.body.function;
    let e = function.blocks[0].instructions[0].result.unwrap();
    // `%p` is stored as a part of `%q`, too.
    assert_eq!(addresses(function), HashSet::from([e, function.parameters[1].value]));
}

#[test]
fn a_choice_is_two_calls_a_decision_and_a_value() {
    let shape = shape(CHOICE);
    let calls: Vec<_> = shape.calls.iter().map(|call| (call.name.as_deref(), call.result, call.result_size)).collect();
    let int = Some(PrintClass::Integer);
    assert_eq!(calls, [(Some("f"), int, 4), (Some("g"), int, 4)]);
    assert!(shape.calls.iter().all(|call| call.arguments.is_empty() && call.n_named.is_none()));
    let [slot] = shape.slots[..] else { panic!("one slot") };
    assert!(slot.plain.is_some() && slot.size == 4);
    let decided: Vec<_> = shape.pieces.iter().filter(|piece| matches!(piece.next, Next::Decided(_))).collect();
    // The region of the decision ends where both ways come together, and so do its values.
    let [decision] = decided[..] else { panic!("one decision") };
    assert_eq!((decision.next, decision.chooses), (Next::Decided(Some(BlockId(2))), Some(BlockId(2))));
    let last = shape.pieces.last().unwrap();
    assert_eq!((last.block, last.next), (BlockId(2), Next::Returned(true)));
    assert!(last.actions.contains(&RecordAction::Choose), "{last:?}");
    let uses = last.actions.iter().filter(|action| matches!(action, RecordAction::Use { from: Some(BlockId(1)), .. }));
    assert_eq!(uses.count(), 1, "{last:?}");
}

#[test]
fn a_statement_that_ends_with_a_branch_is_a_decision() {
    let shape = shape(CHOICE);
    let statements = 0..u32::try_from(shape.statements.len()).unwrap();
    let decisions: Vec<BlockId> = statements
        .filter(|statement| shape.is_decision(*statement))
        .map(|statement| shape.statements[statement as usize].block)
        .collect();
    assert_eq!(decisions, [BlockId(0)]);
}

#[test]
fn a_value_is_printed_by_the_class_of_its_type() {
    let classes = [Type::Int(1), Type::Int(64), Type::Int(65), Type::Ptr, Type::Float, Type::Double]
        .map(|ty| PrintClass::of(&ty));
    let (integer, float) = (PrintClass::Integer, PrintClass::Float);
    assert_eq!(classes, [integer, integer, PrintClass::Other, integer, float, float]);
}
