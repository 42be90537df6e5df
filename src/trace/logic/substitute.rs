//! Terms with other terms in the place of variables.

use crate::logic::term::{TermId, TermNode, Terms};
use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasher;

/// A variable: its number and its width.
pub type TermVariable = (u32, u32);

/// The variables of some terms.
pub fn variables(terms: &Terms, roots: &[TermId]) -> BTreeSet<TermVariable> {
    let parts = terms.parts(roots).into_iter();
    let variable = |part: TermId| match terms.node(part) {
        TermNode::Variable(number) => Some((number, terms.width(part))),
        _ => None,
    };
    parts.filter_map(variable).collect()
}

/// A term in which variables are replaced, all at once.
///
/// - `values`: terms of the same width as the variable.
///
/// Cost: one pass over the parts of the term.
pub fn substitute<H: BuildHasher>(terms: &mut Terms, term: TermId, values: &HashMap<u32, TermId, H>) -> TermId {
    let mut known: HashMap<TermId, TermId> = HashMap::new();
    for part in terms.parts(&[term]) {
        let width = terms.width(part);
        let of = |operand: TermId| known[&operand];
        let new = match terms.node(part) {
            TermNode::Constant(_) => part,
            TermNode::Variable(number) => match values.get(&number) {
                Some(value) if terms.width(*value) == width => *value,
                _ => part,
            },
            TermNode::Unary(op, operand) => terms.unary(op, of(operand)),
            TermNode::Binary(op, first, second) => terms.binary(op, of(first), of(second)),
            TermNode::Extract(operand, low) => terms.extract(of(operand), low, width),
            TermNode::ZeroExtend(operand) => terms.zero_extend(of(operand), width),
            TermNode::SignExtend(operand) => terms.sign_extend(of(operand), width),
            TermNode::Concat(upper, lower) => terms.concat(of(upper), of(lower)),
            TermNode::If(condition, yes, no) => terms.if_else(of(condition), of(yes), of(no)),
        };
        known.insert(part, new);
    }
    known[&term]
}
