//! Terms of bit vectors, each kept once.
//!
//! A truth value is a bit vector of one bit. A term has a higher number than its parts, so a pass in ascending order
//! meets the parts first.

use crate::logic::evaluate::{apply_binary, apply_unary, sign_extended, signed};
use std::collections::{HashMap, HashSet};

/// The widest term, in bits.
pub const MAX_WIDTH: u32 = 64;

/// A term, by its number in its [`Terms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TermId(pub u32);

/// What is done with one operand; the result has its width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryTerm {
    /// All bits inverted.
    Not,
    /// Two's complement.
    Neg,
}

/// What is done with two operands of the same width. The result has their width, that of a comparison has one bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryTerm {
    /// Bits of both.
    And,
    /// Bits of any.
    Or,
    /// Bits of one only.
    Xor,
    /// The sum without its carry.
    Add,
    /// The difference without its borrow.
    Sub,
    /// The lower half of the product.
    Mul,
    /// Unsigned; all ones if the divisor is 0.
    UDiv,
    /// Unsigned; the dividend if the divisor is 0.
    URem,
    /// Signed, toward 0; 1 or -1 if the divisor is 0.
    SDiv,
    /// Signed, with the sign of the dividend; the dividend if the divisor is 0.
    SRem,
    /// To the left; 0 if the amount is the width or more.
    Shl,
    /// To the right, with zeros; 0 if the amount is the width or more.
    LShr,
    /// To the right, with the sign; all bits the sign if the amount is the width or more.
    AShr,
    /// Whether both are equal.
    Eq,
    /// Whether the first is less, unsigned.
    Ult,
    /// Whether the first is less or equal, unsigned.
    Ule,
    /// Whether the first is less, signed.
    Slt,
    /// Whether the first is less or equal, signed.
    Sle,
}

impl BinaryTerm {
    /// All of them.
    pub const ALL: [Self; 18] = [
        Self::And,
        Self::Or,
        Self::Xor,
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::UDiv,
        Self::URem,
        Self::SDiv,
        Self::SRem,
        Self::Shl,
        Self::LShr,
        Self::AShr,
        Self::Eq,
        Self::Ult,
        Self::Ule,
        Self::Slt,
        Self::Sle,
    ];

    /// Whether the result is a truth value.
    pub fn is_comparison(self) -> bool {
        matches!(self, Self::Eq | Self::Ult | Self::Ule | Self::Slt | Self::Sle)
    }
}

/// How a term is made of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TermNode {
    /// A number, without bits above the width.
    Constant(u64),
    /// A variable, by a number that its user chooses. The same number with another width is another variable.
    Variable(u32),
    /// Of one operand.
    Unary(UnaryTerm, TermId),
    /// Of two operands.
    Binary(BinaryTerm, TermId, TermId),
    /// The bits of the operand from this one on.
    Extract(TermId, u32),
    /// The operand with zeros before it.
    ZeroExtend(TermId),
    /// The operand with its sign before it.
    SignExtend(TermId),
    /// The first operand above the second.
    Concat(TermId, TermId),
    /// The second operand if the first, of one bit, is 1; else the third.
    If(TermId, TermId, TermId),
}

impl TermNode {
    /// The parts, in order.
    pub fn parts(self) -> impl Iterator<Item = TermId> {
        let parts = match self {
            Self::Constant(_) | Self::Variable(_) => [None; 3],
            Self::Unary(_, only) | Self::Extract(only, _) | Self::ZeroExtend(only) | Self::SignExtend(only) => {
                [Some(only), None, None]
            }
            Self::Binary(_, first, second) | Self::Concat(first, second) => [Some(first), Some(second), None],
            Self::If(condition, yes, no) => [Some(condition), Some(yes), Some(no)],
        };
        parts.into_iter().flatten()
    }
}

/// The bits of a width.
pub fn mask(width: u32) -> u64 {
    u64::MAX >> (MAX_WIDTH - width)
}

/// Terms, each once.
///
/// # Panics
///
/// Functions that build terms panic if a width is not 1 to [`MAX_WIDTH`], or if the widths of operands do not fit.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    nodes: Vec<(TermNode, u32)>,
    known: HashMap<(TermNode, u32), TermId>,
}

impl Terms {
    /// How a term is made.
    pub fn node(&self, term: TermId) -> TermNode {
        self.nodes[term.0 as usize].0
    }

    /// The width of a term in bits.
    pub fn width(&self, term: TermId) -> u32 {
        self.nodes[term.0 as usize].1
    }

    /// The value of a constant; `None` for other terms.
    pub fn constant_of(&self, term: TermId) -> Option<u64> {
        match self.node(term) {
            TermNode::Constant(bits) => Some(bits),
            _ => None,
        }
    }

    /// The terms that some terms are made of, and these, ascending.
    ///
    /// Cost: in the number of these terms, however many others there are.
    pub fn parts(&self, roots: &[TermId]) -> Vec<TermId> {
        let mut found: HashSet<TermId> = roots.iter().copied().collect();
        let mut open: Vec<TermId> = found.iter().copied().collect();
        while let Some(term) = open.pop() {
            open.extend(self.node(term).parts().filter(|part| found.insert(*part)));
        }
        let mut parts: Vec<TermId> = found.into_iter().collect();
        parts.sort_unstable();
        parts
    }

    fn keep(&mut self, node: TermNode, width: u32) -> TermId {
        assert!((1..=MAX_WIDTH).contains(&width), "a term has 1 to 64 bits, not {width}");
        let Self { nodes, known } = self;
        *known.entry((node, width)).or_insert_with(|| {
            nodes.push((node, width));
            TermId(u32::try_from(nodes.len() - 1).expect("terms fit into memory"))
        })
    }

    /// A number, cut to the width.
    pub fn constant(&mut self, bits: u64, width: u32) -> TermId {
        self.keep(TermNode::Constant(bits & mask(width)), width)
    }

    /// A truth value.
    pub fn truth(&mut self, is_true: bool) -> TermId {
        self.constant(u64::from(is_true), 1)
    }

    /// A variable.
    pub fn variable(&mut self, number: u32, width: u32) -> TermId {
        self.keep(TermNode::Variable(number), width)
    }

    /// Of one operand.
    pub fn unary(&mut self, op: UnaryTerm, operand: TermId) -> TermId {
        let width = self.width(operand);
        match self.node(operand) {
            TermNode::Constant(bits) => self.constant(apply_unary(op, bits), width),
            TermNode::Unary(inner, twice) if inner == op => twice,
            _ => self.keep(TermNode::Unary(op, operand), width),
        }
    }

    /// The inverse of a truth value, or of all bits.
    pub fn not(&mut self, operand: TermId) -> TermId {
        self.unary(UnaryTerm::Not, operand)
    }

    /// Of two operands.
    pub fn binary(&mut self, op: BinaryTerm, first: TermId, second: TermId) -> TermId {
        let width = self.width(first);
        assert_eq!(width, self.width(second), "operands of {op:?} have the same width");
        let result = if op.is_comparison() { 1 } else { width };
        // A constant is the second operand, others are in the order of their numbers.
        let is_swapped = matches!(
            op,
            BinaryTerm::And | BinaryTerm::Or | BinaryTerm::Xor | BinaryTerm::Add | BinaryTerm::Mul | BinaryTerm::Eq
        ) && (self.constant_of(first).is_some(), first.0)
            > (self.constant_of(second).is_some(), second.0);
        let (first, second) = if is_swapped { (second, first) } else { (first, second) };
        if let (Some(one), Some(other)) = (self.constant_of(first), self.constant_of(second)) {
            return self.constant(apply_binary(op, one, other, width), result);
        }
        let simple = self.of_same(op, first, second, result).or_else(|| self.of_constant(op, first, second));
        let simple = simple.or_else(|| self.difference(op, first, second));
        let simple = match simple {
            None if op == BinaryTerm::Eq => self.equal_sums(first, second),
            simple => simple,
        };
        let simple = simple.or_else(|| {
            let constant = self.constant_of(first).filter(|_| op.is_comparison())?;
            self.compared(op, second, constant, true)
        });
        simple.unwrap_or_else(|| self.keep(TermNode::Binary(op, first, second), result))
    }

    /// What two equal operands give.
    fn of_same(&mut self, op: BinaryTerm, first: TermId, second: TermId, width: u32) -> Option<TermId> {
        if first != second {
            return None;
        }
        match op {
            BinaryTerm::And | BinaryTerm::Or => Some(first),
            BinaryTerm::Xor | BinaryTerm::Sub => Some(self.constant(0, width)),
            BinaryTerm::Eq | BinaryTerm::Ule | BinaryTerm::Sle => Some(self.truth(true)),
            BinaryTerm::Ult | BinaryTerm::Slt => Some(self.truth(false)),
            _ => None,
        }
    }

    /// Two sums with a constant each are equal if the rests differ by a constant.
    fn equal_sums(&mut self, first: TermId, second: TermId) -> Option<TermId> {
        let parts = |terms: &Self, sum: TermId| match terms.node(sum) {
            TermNode::Binary(BinaryTerm::Add, rest, constant) => Some((rest, terms.constant_of(constant)?)),
            _ => None,
        };
        let ((one, by), (other, other_by)) = (parts(self, first)?, parts(self, second)?);
        let moved = self.sum(one, by.wrapping_sub(other_by));
        Some(self.binary(BinaryTerm::Eq, moved, other))
    }

    /// What a sum without one of its parts is.
    fn difference(&mut self, op: BinaryTerm, first: TermId, second: TermId) -> Option<TermId> {
        let TermNode::Binary(BinaryTerm::Add, one, other) = self.node(first) else { return None };
        match op {
            BinaryTerm::Sub if one == second => Some(other),
            BinaryTerm::Sub if other == second => Some(one),
            BinaryTerm::Sub if self.constant_of(other).is_some() => {
                let rest = self.binary(BinaryTerm::Sub, one, second);
                Some(self.binary(BinaryTerm::Add, rest, other))
            }
            _ => None,
        }
    }

    /// What a constant second operand leaves.
    fn of_constant(&mut self, op: BinaryTerm, first: TermId, second: TermId) -> Option<TermId> {
        let constant = self.constant_of(second)?;
        let width = self.width(first);
        let is_all = constant == mask(width);
        match (op, constant) {
            (BinaryTerm::And | BinaryTerm::Mul, 0) => Some(second),
            (
                BinaryTerm::Or
                | BinaryTerm::Xor
                | BinaryTerm::Add
                | BinaryTerm::Sub
                | BinaryTerm::Shl
                | BinaryTerm::LShr
                | BinaryTerm::AShr,
                0,
            )
            | (BinaryTerm::Mul | BinaryTerm::UDiv, 1) => Some(first),
            (BinaryTerm::SDiv, 1) if width > 1 => Some(first),
            (BinaryTerm::URem, 1) => Some(self.constant(0, width)),
            (BinaryTerm::Ult, 0) => Some(self.truth(false)),
            (BinaryTerm::Eq, 1) if width == 1 => Some(first),
            (BinaryTerm::Eq, 0) if width == 1 => Some(self.not(first)),
            (BinaryTerm::And, _) if is_all => Some(first),
            (BinaryTerm::Or, _) if is_all => Some(second),
            (BinaryTerm::Xor, _) if is_all => Some(self.not(first)),
            (BinaryTerm::Ule, _) if is_all => Some(self.truth(true)),
            (BinaryTerm::Sub, _) => Some(self.sum(first, constant.wrapping_neg())),
            (BinaryTerm::Add, _) => match self.node(first) {
                TermNode::Binary(BinaryTerm::Add, inner, other) if self.constant_of(other).is_some() => {
                    let other = self.constant_of(other).unwrap_or_default();
                    Some(self.sum(inner, other.wrapping_add(constant)))
                }
                _ => None,
            },
            (BinaryTerm::Eq | BinaryTerm::Ult | BinaryTerm::Ule | BinaryTerm::Slt | BinaryTerm::Sle, _) => {
                self.compared(op, first, constant, false)
            }
            _ => None,
        }
    }

    fn sum(&mut self, term: TermId, constant: u64) -> TermId {
        let constant = self.constant(constant, self.width(term));
        self.binary(BinaryTerm::Add, term, constant)
    }

    /// A comparison with a constant that can be one of a narrower term. The constant is the first operand if
    /// `is_swapped`.
    fn compared(&mut self, op: BinaryTerm, term: TermId, constant: u64, is_swapped: bool) -> Option<TermId> {
        let width = self.width(term);
        let (inner, has_sign) = match self.node(term) {
            TermNode::ZeroExtend(inner) => (inner, false),
            TermNode::SignExtend(inner) => (inner, true),
            TermNode::Binary(BinaryTerm::Add, inner, other) if op == BinaryTerm::Eq => {
                let other = self.constant_of(other)?;
                let constant = self.constant(constant.wrapping_sub(other), width);
                return Some(self.binary(BinaryTerm::Eq, inner, constant));
            }
            _ => return None,
        };
        let narrow = self.width(inner);
        let is_signed = matches!(op, BinaryTerm::Slt | BinaryTerm::Sle);
        if op != BinaryTerm::Eq && has_sign != is_signed {
            return None;
        }
        let cut = constant & mask(narrow);
        let again = if has_sign { sign_extended(cut, narrow) & mask(width) } else { cut };
        if again == constant {
            let constant = self.constant(cut, narrow);
            return Some(if is_swapped { self.binary(op, constant, inner) } else { self.binary(op, inner, constant) });
        }
        // The constant is above or below all values of the term.
        let is_above = !is_signed || signed(constant, width) > 0;
        Some(self.truth(op != BinaryTerm::Eq && is_above != is_swapped))
    }

    /// `width` bits of a term, from bit `low` on.
    pub fn extract(&mut self, operand: TermId, low: u32, width: u32) -> TermId {
        let whole = self.width(operand);
        assert!(low + width <= whole, "bits {low} to {} of a term of {whole}", low + width);
        match self.node(operand) {
            _ if width == whole => operand,
            TermNode::Constant(bits) => self.constant(bits >> low, width),
            TermNode::Extract(inner, begin) => self.extract(inner, begin + low, width),
            TermNode::ZeroExtend(inner) | TermNode::SignExtend(inner) if low + width <= self.width(inner) => {
                self.extract(inner, low, width)
            }
            TermNode::Concat(_, lower) if low + width <= self.width(lower) => self.extract(lower, low, width),
            TermNode::Concat(upper, lower) if low >= self.width(lower) => {
                let begin = low - self.width(lower);
                self.extract(upper, begin, width)
            }
            _ => self.keep(TermNode::Extract(operand, low), width),
        }
    }

    /// A term with zeros before it, up to a width.
    pub fn zero_extend(&mut self, operand: TermId, width: u32) -> TermId {
        assert!(width >= self.width(operand), "an extension is no cut");
        match self.node(operand) {
            _ if width == self.width(operand) => operand,
            TermNode::Constant(bits) => self.constant(bits, width),
            TermNode::ZeroExtend(inner) => self.zero_extend(inner, width),
            _ => self.keep(TermNode::ZeroExtend(operand), width),
        }
    }

    /// A term with its sign before it, up to a width.
    pub fn sign_extend(&mut self, operand: TermId, width: u32) -> TermId {
        let inner_width = self.width(operand);
        assert!(width >= inner_width, "an extension is no cut");
        match self.node(operand) {
            _ if width == inner_width => operand,
            TermNode::Constant(bits) => self.constant(sign_extended(bits, inner_width), width),
            TermNode::SignExtend(inner) => self.sign_extend(inner, width),
            // Its sign is 0.
            TermNode::ZeroExtend(inner) => self.zero_extend(inner, width),
            _ => self.keep(TermNode::SignExtend(operand), width),
        }
    }

    /// The first term above the second.
    pub fn concat(&mut self, upper: TermId, lower: TermId) -> TermId {
        let lower_width = self.width(lower);
        let width = self.width(upper) + lower_width;
        match (self.constant_of(upper), self.constant_of(lower)) {
            (Some(upper), Some(lower)) => self.constant(upper << lower_width | lower, width),
            (Some(0), None) => self.zero_extend(lower, width),
            _ => self.keep(TermNode::Concat(upper, lower), width),
        }
    }

    /// `yes` if the condition, of one bit, is 1; else `no`.
    pub fn if_else(&mut self, condition: TermId, yes: TermId, no: TermId) -> TermId {
        let width = self.width(yes);
        assert_eq!(
            (self.width(condition), width),
            (1, self.width(no)),
            "a condition has one bit, and both cases one width"
        );
        match (self.constant_of(condition), self.constant_of(yes), self.constant_of(no)) {
            (Some(1), ..) => yes,
            (Some(_), ..) => no,
            _ if yes == no => yes,
            (_, Some(1), Some(0)) if width == 1 => condition,
            (_, Some(0), Some(1)) if width == 1 => self.not(condition),
            _ => self.keep(TermNode::If(condition, yes, no), width),
        }
    }
}
