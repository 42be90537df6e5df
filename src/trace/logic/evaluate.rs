//! The value of a term for given values of its variables.

use crate::logic::term::{BinaryTerm, TermId, TermNode, Terms, UnaryTerm, mask};
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
            TermNode::Constant(bits) => bits,
            TermNode::Variable(number) => value(number, width),
            TermNode::Unary(op, operand) => apply_unary(op, of(operand)),
            TermNode::Binary(op, first, second) => apply_binary(op, of(first), of(second), terms.width(first)),
            TermNode::Extract(operand, low) => of(operand) >> low,
            TermNode::ZeroExtend(operand) => of(operand),
            TermNode::SignExtend(operand) => sign_extended(of(operand), terms.width(operand)),
            TermNode::Concat(upper, lower) => of(upper) << terms.width(lower) | of(lower),
            TermNode::If(condition, yes, no) => of(if of(condition) == 1 { yes } else { no }),
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
pub fn apply_unary(op: UnaryTerm, bits: u64) -> u64 {
    match op {
        UnaryTerm::Not => !bits,
        UnaryTerm::Neg => bits.wrapping_neg(),
    }
}

/// An operation with two operands of a width, without bits above it. The result has none, either.
pub fn apply_binary(op: BinaryTerm, first: u64, second: u64, width: u32) -> u64 {
    let (one, other) = (signed(first, width), signed(second, width));
    let is_wide = second >= u64::from(width);
    let result = match op {
        BinaryTerm::And => first & second,
        BinaryTerm::Or => first | second,
        BinaryTerm::Xor => first ^ second,
        BinaryTerm::Add => first.wrapping_add(second),
        BinaryTerm::Sub => first.wrapping_sub(second),
        BinaryTerm::Mul => first.wrapping_mul(second),
        BinaryTerm::UDiv => first.checked_div(second).unwrap_or(u64::MAX),
        BinaryTerm::URem => first.checked_rem(second).unwrap_or(first),
        BinaryTerm::SDiv if other == 0 => (if one < 0 { 1_i64 } else { -1 }).cast_unsigned(),
        BinaryTerm::SDiv => one.wrapping_div(other).cast_unsigned(),
        BinaryTerm::SRem if other == 0 => first,
        BinaryTerm::SRem => one.wrapping_rem(other).cast_unsigned(),
        BinaryTerm::Shl | BinaryTerm::LShr if is_wide => 0,
        BinaryTerm::Shl => first << second,
        BinaryTerm::LShr => first >> second,
        BinaryTerm::AShr => (one >> second.min(u64::from(width) - 1)).cast_unsigned(),
        BinaryTerm::Eq => u64::from(first == second),
        BinaryTerm::Ult => u64::from(first < second),
        BinaryTerm::Ule => u64::from(first <= second),
        BinaryTerm::Slt => u64::from(one < other),
        BinaryTerm::Sle => u64::from(one <= other),
    };
    result & mask(width)
}
