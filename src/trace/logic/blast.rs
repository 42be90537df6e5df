//! Terms as clauses of a SAT solver, a variable of the solver for each bit (*bit-blasting*).
//!
//! Circuits are the plain ones: ripple carry, shift and add, restoring division, barrel shifter. A division by zero
//! needs no case of its own: restoring division gives what SMT-LIB says.

use crate::logic::term::{BinaryTerm, TermId, TermNode, Terms, UnaryTerm};
use batsat::{Lit, SolverInterface};
use std::collections::HashMap;

/// Gates whose output was computed before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    And(Lit, Lit),
    Xor(Lit, Lit),
    If(Lit, Lit, Lit),
}

/// The bits of terms in a solver, the lowest first.
pub struct Blaster<'s, S> {
    solver: &'s mut S,
    /// The literal that is true.
    top: Lit,
    gates: HashMap<Gate, Lit>,
    bits: HashMap<TermId, Vec<Lit>>,
}

impl<'s, S: SolverInterface> Blaster<'s, S> {
    /// In a solver that has no clauses yet.
    pub fn new(solver: &'s mut S) -> Self {
        let top = Lit::new(solver.new_var_default(), true);
        solver.add_clause_reuse(&mut vec![top]);
        Self { solver, top, gates: HashMap::new(), bits: HashMap::new() }
    }

    /// The bits of a term; adds the clauses that it needs.
    ///
    /// Cost: clauses by the width for sums and comparisons, by its square for products, quotients and remainders.
    pub fn bits(&mut self, terms: &Terms, term: TermId) -> &[Lit] {
        if !self.bits.contains_key(&term) {
            for part in terms.parts(&[term]) {
                if !self.bits.contains_key(&part) {
                    let bits = self.translate(terms, part);
                    debug_assert_eq!(bits.len(), terms.width(part) as usize);
                    self.bits.insert(part, bits);
                }
            }
        }
        &self.bits[&term]
    }

    fn translate(&mut self, terms: &Terms, term: TermId) -> Vec<Lit> {
        let width = terms.width(term) as usize;
        let known = |part: TermId| self.bits[&part].clone();
        match terms.node(term) {
            TermNode::Constant(bits) => (0..width).map(|at| self.fixed(bits >> at & 1 == 1)).collect(),
            TermNode::Variable(_) => (0..width).map(|_| self.fresh()).collect(),
            TermNode::Unary(UnaryTerm::Not, operand) => inverted(&known(operand)),
            TermNode::Unary(UnaryTerm::Neg, operand) => {
                let operand = known(operand);
                self.negated(&operand)
            }
            TermNode::Extract(operand, low) => known(operand)[low as usize..low as usize + width].to_vec(),
            TermNode::ZeroExtend(operand) => extended(&known(operand), !self.top, width),
            TermNode::SignExtend(operand) => {
                let operand = known(operand);
                extended(&operand, operand[operand.len() - 1], width)
            }
            TermNode::Concat(upper, lower) => [known(lower), known(upper)].concat(),
            TermNode::If(condition, yes, no) => {
                let (condition, yes, no) = (known(condition)[0], known(yes), known(no));
                self.choice(condition, &yes, &no)
            }
            TermNode::Binary(op, first, second) => {
                let (first, second) = (known(first), known(second));
                self.binary(op, &first, &second)
            }
        }
    }

    fn binary(&mut self, op: BinaryTerm, first: &[Lit], second: &[Lit]) -> Vec<Lit> {
        let sign = first.len() - 1;
        match op {
            BinaryTerm::And => self.each(first, second, Self::and),
            BinaryTerm::Or => self.each(first, second, Self::or),
            BinaryTerm::Xor => self.each(first, second, Self::xor),
            BinaryTerm::Add => self.sum(first, second, !self.top).0,
            BinaryTerm::Sub => self.sum(first, &inverted(second), self.top).0,
            BinaryTerm::Mul => self.product(first, second),
            BinaryTerm::UDiv => self.divided(first, second).0,
            BinaryTerm::URem => self.divided(first, second).1,
            BinaryTerm::SDiv => {
                let (quotient, _) = self.divided_signed(first, second);
                let differ = self.xor(first[sign], second[sign]);
                self.negated_if(differ, &quotient)
            }
            BinaryTerm::SRem => {
                let (_, rest) = self.divided_signed(first, second);
                self.negated_if(first[sign], &rest)
            }
            BinaryTerm::Shl => {
                // To the left is to the right from the other end.
                let mut shifted = first.to_vec();
                shifted.reverse();
                let mut shifted = self.shifted(&shifted, second, !self.top);
                shifted.reverse();
                shifted
            }
            BinaryTerm::LShr => self.shifted(first, second, !self.top),
            BinaryTerm::AShr => self.shifted(first, second, first[sign]),
            BinaryTerm::Eq => {
                let differing = self.each(first, second, Self::xor);
                vec![!self.any(&differing)]
            }
            BinaryTerm::Ult => vec![self.is_less(first, second)],
            BinaryTerm::Ule => vec![!self.is_less(second, first)],
            BinaryTerm::Slt => vec![self.is_less(&turned(first), &turned(second))],
            BinaryTerm::Sle => vec![!self.is_less(&turned(second), &turned(first))],
        }
    }

    fn fixed(&self, is_true: bool) -> Lit {
        if is_true { self.top } else { !self.top }
    }

    fn fresh(&mut self) -> Lit {
        Lit::new(self.solver.new_var_default(), true)
    }

    fn clause<const N: usize>(&mut self, literals: [Lit; N]) {
        self.solver.add_clause_reuse(&mut literals.to_vec());
    }

    fn and(&mut self, one: Lit, other: Lit) -> Lit {
        match () {
            () if one == other || other == self.top => return one,
            () if one == self.top => return other,
            () if one == !other || one == !self.top || other == !self.top => return !self.top,
            () => {}
        }
        let gate = Gate::And(one.min(other), one.max(other));
        if let Some(known) = self.gates.get(&gate) {
            return *known;
        }
        let both = self.fresh();
        self.clause([!both, one]);
        self.clause([!both, other]);
        self.clause([both, !one, !other]);
        self.gates.insert(gate, both);
        both
    }

    fn or(&mut self, one: Lit, other: Lit) -> Lit {
        !self.and(!one, !other)
    }

    fn any(&mut self, literals: &[Lit]) -> Lit {
        let none = !self.top;
        literals.iter().fold(none, |any, literal| self.or(any, *literal))
    }

    fn xor(&mut self, one: Lit, other: Lit) -> Lit {
        match () {
            () if one == other => return !self.top,
            () if one == !other => return self.top,
            () if one == !self.top => return other,
            () if other == !self.top => return one,
            () if one == self.top => return !other,
            () if other == self.top => return !one,
            () => {}
        }
        let gate = Gate::Xor(one.min(other), one.max(other));
        if let Some(known) = self.gates.get(&gate) {
            return *known;
        }
        let differ = self.fresh();
        self.clause([!differ, one, other]);
        self.clause([!differ, !one, !other]);
        self.clause([differ, !one, other]);
        self.clause([differ, one, !other]);
        self.gates.insert(gate, differ);
        differ
    }

    fn if_else(&mut self, condition: Lit, yes: Lit, no: Lit) -> Lit {
        match () {
            () if condition == self.top || yes == no => return yes,
            () if condition == !self.top => return no,
            () if yes == self.top => return self.or(condition, no),
            () if yes == !self.top => return self.and(!condition, no),
            () if no == self.top => return self.or(!condition, yes),
            () if no == !self.top => return self.and(condition, yes),
            () => {}
        }
        let gate = Gate::If(condition, yes, no);
        if let Some(known) = self.gates.get(&gate) {
            return *known;
        }
        let chosen = self.fresh();
        self.clause([!condition, !yes, chosen]);
        self.clause([!condition, yes, !chosen]);
        self.clause([condition, !no, chosen]);
        self.clause([condition, no, !chosen]);
        self.gates.insert(gate, chosen);
        chosen
    }

    fn each(&mut self, first: &[Lit], second: &[Lit], gate: impl Fn(&mut Self, Lit, Lit) -> Lit) -> Vec<Lit> {
        first.iter().zip(second).map(|(one, other)| gate(self, *one, *other)).collect()
    }

    fn choice(&mut self, condition: Lit, yes: &[Lit], no: &[Lit]) -> Vec<Lit> {
        yes.iter().zip(no).map(|(yes, no)| self.if_else(condition, *yes, *no)).collect()
    }

    /// The sum, and its carry.
    fn sum(&mut self, first: &[Lit], second: &[Lit], carry: Lit) -> (Vec<Lit>, Lit) {
        let mut carry = carry;
        let mut sum = Vec::with_capacity(first.len());
        for (one, other) in first.iter().zip(second) {
            let differ = self.xor(*one, *other);
            sum.push(self.xor(differ, carry));
            let (made, passed) = (self.and(*one, *other), self.and(differ, carry));
            carry = self.or(made, passed);
        }
        (sum, carry)
    }

    fn negated(&mut self, bits: &[Lit]) -> Vec<Lit> {
        let zero = vec![!self.top; bits.len()];
        self.sum(&zero, &inverted(bits), self.top).0
    }

    fn negated_if(&mut self, condition: Lit, bits: &[Lit]) -> Vec<Lit> {
        let negated = self.negated(bits);
        self.choice(condition, &negated, bits)
    }

    fn product(&mut self, first: &[Lit], second: &[Lit]) -> Vec<Lit> {
        let width = first.len();
        let mut product = vec![!self.top; width];
        for (at, factor) in second.iter().enumerate() {
            let row: Vec<Lit> = first[..width - at].iter().map(|bit| self.and(*bit, *factor)).collect();
            let (upper, _) = self.sum(&product[at..], &row, !self.top);
            product.splice(at.., upper);
        }
        product
    }

    /// The quotient and the remainder, unsigned.
    fn divided(&mut self, first: &[Lit], second: &[Lit]) -> (Vec<Lit>, Vec<Lit>) {
        let width = first.len();
        // One bit more, which the remainder may take before the divisor is subtracted.
        let divisor = extended(second, !self.top, width + 1);
        let mut rest = vec![!self.top; width + 1];
        let mut quotient = vec![!self.top; width];
        for at in (0..width).rev() {
            rest.pop();
            rest.insert(0, first[at]);
            let (less, is_enough) = self.sum(&rest, &inverted(&divisor), self.top);
            rest = self.choice(is_enough, &less, &rest);
            quotient[at] = is_enough;
        }
        rest.pop();
        (quotient, rest)
    }

    /// The quotient and the remainder of both without their signs.
    fn divided_signed(&mut self, first: &[Lit], second: &[Lit]) -> (Vec<Lit>, Vec<Lit>) {
        let sign = first.len() - 1;
        let (first, second) = (self.negated_if(first[sign], first), self.negated_if(second[sign], second));
        self.divided(&first, &second)
    }

    /// To the right.
    fn shifted(&mut self, bits: &[Lit], amount: &[Lit], filler: Lit) -> Vec<Lit> {
        let width = bits.len();
        let mut shifted = bits.to_vec();
        let n_stages = amount.iter().zip(0_u32..).take_while(|(_, stage)| 1_usize << stage < width).count();
        for (stage, by) in amount[..n_stages].iter().enumerate() {
            let moved: Vec<Lit> =
                (0..width).map(|at| shifted.get(at + (1 << stage)).copied().unwrap_or(filler)).collect();
            shifted = self.choice(*by, &moved, &shifted);
        }
        let is_wide = self.any(&amount[n_stages..]);
        self.choice(is_wide, &vec![filler; width], &shifted)
    }

    /// Whether the first is less, unsigned.
    fn is_less(&mut self, first: &[Lit], second: &[Lit]) -> Lit {
        !self.sum(first, &inverted(second), self.top).1
    }
}

fn extended(bits: &[Lit], by: Lit, width: usize) -> Vec<Lit> {
    let mut bits = bits.to_vec();
    bits.resize(width, by);
    bits
}

fn inverted(bits: &[Lit]) -> Vec<Lit> {
    bits.iter().map(|bit| !*bit).collect()
}

/// With the sign inverted, so that the order of signed numbers is that of unsigned ones.
fn turned(bits: &[Lit]) -> Vec<Lit> {
    let mut bits = bits.to_vec();
    if let Some(sign) = bits.last_mut() {
        *sign = !*sign;
    }
    bits
}
