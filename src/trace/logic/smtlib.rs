//! Terms as text of SMT-LIB 2, for an external solver.

use crate::logic::term::{BinaryTerm, TermId, TermNode, Terms, UnaryTerm};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The question whether some truths can hold together, between `(push)` and `(pop)`. The solver answers `sat`,
/// `unsat` or
/// `unknown`.
///
/// Each part of a term has a name of its own, so the text is as long as the terms are many.
pub fn question(terms: &Terms, truths: &[TermId]) -> String {
    let parts = terms.parts(truths);
    let mut text = String::from("(push)\n");
    let variables: BTreeSet<(u32, u32)> = parts.iter().filter_map(|part| variable(terms, *part)).collect();
    for (number, width) in variables {
        put(&mut text, format_args!("(declare-const v{number}_{width} (_ BitVec {width}))\n"));
    }
    for part in parts.into_iter().filter(|part| variable(terms, *part).is_none()) {
        let (width, definition) = (terms.width(part), definition(terms, part));
        put(&mut text, format_args!("(define-fun t{} () (_ BitVec {width}) {definition})\n", part.0));
    }
    for truth in truths {
        put(&mut text, format_args!("(assert (= {} #b1))\n", name(terms, *truth)));
    }
    text + "(check-sat)\n(pop)\n"
}

fn put(text: &mut String, line: std::fmt::Arguments<'_>) {
    text.write_fmt(line).expect("a string takes all");
}

fn variable(terms: &Terms, term: TermId) -> Option<(u32, u32)> {
    match terms.node(term) {
        TermNode::Variable(number) => Some((number, terms.width(term))),
        _ => None,
    }
}

fn name(terms: &Terms, term: TermId) -> String {
    match variable(terms, term) {
        Some((number, width)) => format!("v{number}_{width}"),
        None => format!("t{}", term.0),
    }
}

fn definition(terms: &Terms, term: TermId) -> String {
    let width = terms.width(term);
    let name = |part: TermId| name(terms, part);
    match terms.node(term) {
        TermNode::Constant(bits) => format!("(_ bv{bits} {width})"),
        TermNode::Variable(_) => name(term),
        TermNode::Unary(op, operand) => {
            let op = match op {
                UnaryTerm::Not => "bvnot",
                UnaryTerm::Neg => "bvneg",
            };
            format!("({op} {})", name(operand))
        }
        TermNode::Binary(op, first, second) => {
            let applied = format!("({} {} {})", word(op), name(first), name(second));
            if op.is_comparison() { format!("(ite {applied} #b1 #b0)") } else { applied }
        }
        TermNode::Extract(operand, low) => format!("((_ extract {} {low}) {})", low + width - 1, name(operand)),
        TermNode::ZeroExtend(operand) => {
            format!("((_ zero_extend {}) {})", width - terms.width(operand), name(operand))
        }
        TermNode::SignExtend(operand) => {
            format!("((_ sign_extend {}) {})", width - terms.width(operand), name(operand))
        }
        TermNode::Concat(upper, lower) => format!("(concat {} {})", name(upper), name(lower)),
        TermNode::If(condition, yes, no) => format!("(ite (= {} #b1) {} {})", name(condition), name(yes), name(no)),
    }
}

fn word(op: BinaryTerm) -> &'static str {
    match op {
        BinaryTerm::And => "bvand",
        BinaryTerm::Or => "bvor",
        BinaryTerm::Xor => "bvxor",
        BinaryTerm::Add => "bvadd",
        BinaryTerm::Sub => "bvsub",
        BinaryTerm::Mul => "bvmul",
        BinaryTerm::UDiv => "bvudiv",
        BinaryTerm::URem => "bvurem",
        BinaryTerm::SDiv => "bvsdiv",
        BinaryTerm::SRem => "bvsrem",
        BinaryTerm::Shl => "bvshl",
        BinaryTerm::LShr => "bvlshr",
        BinaryTerm::AShr => "bvashr",
        BinaryTerm::Eq => "=",
        BinaryTerm::Ult => "bvult",
        BinaryTerm::Ule => "bvule",
        BinaryTerm::Slt => "bvslt",
        BinaryTerm::Sle => "bvsle",
    }
}
