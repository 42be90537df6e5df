//! The value of a term for given values of its variables.

use crate::logic::term::{Binary, Node, TermId, Terms, Unary, mask};
use std::collections::HashMap;

/// The value of a term.
///
/// - `value`: the bits of a variable, by its number and width; those above the width do not count.
///
/// Cost: one pass over the terms up to this one.
pub fn evaluate(terms: &Terms, term: TermId, mut value: impl FnMut(u32, u32) -> u64) -> u64 {
    let mut known: HashMap<TermId, u64> = HashMap::new();
    for part in terms.parts(&[term]) {
        let width = terms.width(part);
        let of = |operand: TermId| known[&operand];
        let bits = match terms.node(part) {
            Node::Constant(bits) => bits,
            Node::Variable(number) => value(number, width),
            Node::Unary(op, operand) => apply_unary(op, of(operand)),
            Node::Binary(op, first, second) => apply_binary(op, of(first), of(second), terms.width(first)),
            Node::Extract(operand, low) => of(operand) >> low,
            Node::ZeroExtend(operand) => of(operand),
            Node::SignExtend(operand) => sign_extended(of(operand), terms.width(operand)),
            Node::Concat(upper, lower) => of(upper) << terms.width(lower) | of(lower),
            Node::If(condition, yes, no) => of(if of(condition) == 1 { yes } else { no }),
        };
        known.insert(part, bits & mask(width));
    }
    known[&term]
}

/// Bits with the sign of this width in all higher ones.
pub fn sign_extended(bits: u64, width: u32) -> u64 {
    signed(bits, width).cast_unsigned()
}

/// Bits of this width as a number with a sign.
pub fn signed(bits: u64, width: u32) -> i64 {
    let unused = u64::BITS - width;
    (bits << unused).cast_signed() >> unused
}

/// An operation with one operand; the result may have bits above the width.
pub fn apply_unary(op: Unary, bits: u64) -> u64 {
    match op {
        Unary::Not => !bits,
        Unary::Neg => bits.wrapping_neg(),
    }
}

/// An operation with two operands of a width, without bits above it. The result has none, either.
pub fn apply_binary(op: Binary, first: u64, second: u64, width: u32) -> u64 {
    let (one, other) = (signed(first, width), signed(second, width));
    let is_wide = second >= u64::from(width);
    let result = match op {
        Binary::And => first & second,
        Binary::Or => first | second,
        Binary::Xor => first ^ second,
        Binary::Add => first.wrapping_add(second),
        Binary::Sub => first.wrapping_sub(second),
        Binary::Mul => first.wrapping_mul(second),
        Binary::UDiv => first.checked_div(second).unwrap_or(u64::MAX),
        Binary::URem => first.checked_rem(second).unwrap_or(first),
        Binary::SDiv if other == 0 => (if one < 0 { 1_i64 } else { -1 }).cast_unsigned(),
        Binary::SDiv => one.wrapping_div(other).cast_unsigned(),
        Binary::SRem if other == 0 => first,
        Binary::SRem => one.wrapping_rem(other).cast_unsigned(),
        Binary::Shl | Binary::LShr if is_wide => 0,
        Binary::Shl => first << second,
        Binary::LShr => first >> second,
        Binary::AShr => (one >> second.min(u64::from(width) - 1)).cast_unsigned(),
        Binary::Eq => u64::from(first == second),
        Binary::Ult => u64::from(first < second),
        Binary::Ule => u64::from(first <= second),
        Binary::Slt => u64::from(one < other),
        Binary::Sle => u64::from(one <= other),
    };
    result & mask(width)
}
