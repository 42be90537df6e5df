//! Expressions that should hold at a line, as conditions.

use crate::Failure;
use crate::debug::expect::Expectation;
use crate::expression::Expression;
use crate::expression::arithmetic::{BinaryOperator, Number, UnaryOperator};
use crate::expression::condition::Condition;
use crate::expression::state::ProcessState;
use idd_base::count;
use idd_explain::native::invariant::Native;
use idd_report::Status;
use idd_trace::instrument::SourceType;
use idd_trace::logic::term::{self, TermId, Terms};

use crate::recorded::failed;
use crate::slice::criterion::is_in_line;
use idd_trace::native::visit::before_step;
use idd_trace::native::{NativeFrame, NativeMachine, NativePlayer, View};
use idd_trace::{Place, Step};

/// Finds the first step of the line at which the expression does not hold.
///
/// Errors: there is none.
///
/// Cost: one pass over the trace.
pub fn violated(assertion: &Expectation, player: &mut NativePlayer) -> Result<Step, Failure> {
    let (mut found, mut unknown, mut n_steps) = (None, None, 0);
    let look = |machine: &NativeMachine, frame: &NativeFrame| {
        let is_there = |at: &Place| is_in_line(at, &assertion.file, assertion.line);
        if frame.statement != 0 && frame.place().is_some_and(is_there) {
            n_steps += 1;
            match assertion.condition.holds(&ProcessState { view: View::without_words(machine), frame }) {
                Ok(true) => {}
                Ok(false) => found = Some(frame.step),
                Err(error) => unknown = Some(error),
            }
        }
        found.is_none()
    };
    player.look_from(Step(1), look).map_err(|error| failed(&error))?;
    let place = assertion.place();
    match (found, unknown, n_steps) {
        (Some(step), ..) => Ok(step),
        (None, _, 0) => Err(Failure::error(format!("no statement of {place} ran"))
            .with_hint("a statement is in the line in which it begins; `git idd trace tree` shows what ran")),
        (None, Some(error), _) => Err(Failure::error(format!("`{}` is not known at {place}: {error}", assertion.text))),
        (None, None, n) => Err(Failure::new(
            Status::BadPasses,
            format!("`{}` holds each time that {place} runs ({})", assertion.text, count(n, "time")),
        )),
    }
}

/// That the expression does not hold before a step.
pub fn condition(
    assertion: &Expectation,
    step: Step,
    native: &mut Native<'_>,
    terms: &mut Terms,
) -> Result<TermId, Failure> {
    let mut translator = Translator { step, native, terms };
    let Condition::Expression(expression) = &assertion.condition else {
        return Translator::unsupported("a text");
    };
    let value = translator.term(expression)?;
    let truth = translator.truth(value);
    Ok(translator.terms.not(truth))
}

/// A number of 64 bits, and whether it has a sign.
#[derive(Clone, Copy)]
struct SignedNumber {
    term: TermId,
    is_signed: bool,
}

struct Translator<'t, 'n> {
    step: Step,
    native: &'t mut Native<'n>,
    terms: &'t mut Terms,
}

impl Translator<'_, '_> {
    fn unsupported<T>(what: &str) -> Result<T, Failure> {
        Err(Failure::usage(format!("{what} cannot be part of `--assert`"))
            .with_hint("variables, numbers, comparisons, `&&`, `||`, `!`, `+`, `-`, `*` and bit operators can"))
    }

    fn truth(&mut self, operand: SignedNumber) -> TermId {
        let zero = self.terms.constant(0, 64);
        let is_zero = self.terms.binary(term::BinaryTerm::Eq, operand.term, zero);
        self.terms.not(is_zero)
    }

    fn number(&mut self, truth: TermId) -> SignedNumber {
        SignedNumber { term: self.terms.zero_extend(truth, 64), is_signed: true }
    }

    fn term(&mut self, expression: &Expression) -> Result<SignedNumber, Failure> {
        match expression {
            Expression::Number(Number::Integer(number, ty)) => {
                let bits = u64::try_from(*number & i128::from(u64::MAX)).unwrap_or(0);
                Ok(SignedNumber { term: self.terms.constant(bits, 64), is_signed: ty.is_signed })
            }
            Expression::Name(name) if name == "NULL" => {
                Ok(SignedNumber { term: self.terms.constant(0, 64), is_signed: false })
            }
            Expression::Name(_) | Expression::Member(..) | Expression::Element(..) | Expression::Target(_) => {
                self.variable(expression)
            }
            Expression::Unary(operator, inner) => {
                let SignedNumber { term, is_signed } = self.term(inner)?;
                Ok(match operator {
                    UnaryOperator::Plus => SignedNumber { term, is_signed },
                    UnaryOperator::Minus => {
                        SignedNumber { term: self.terms.unary(term::UnaryTerm::Neg, term), is_signed }
                    }
                    UnaryOperator::Complement => SignedNumber { term: self.terms.not(term), is_signed },
                    UnaryOperator::Not => {
                        let truth = self.truth(SignedNumber { term, is_signed });
                        let contrary = self.terms.not(truth);
                        self.number(contrary)
                    }
                })
            }
            Expression::Logic(is_or, one, other) => {
                let (one, other) = (self.term(one)?, self.term(other)?);
                let (one, other) = (self.truth(one), self.truth(other));
                let op = if *is_or { term::BinaryTerm::Or } else { term::BinaryTerm::And };
                let both = self.terms.binary(op, one, other);
                Ok(self.number(both))
            }
            Expression::Binary(operator, one, other) => {
                let (one, other) = (self.term(one)?, self.term(other)?);
                self.binary(*operator, one, other)
            }
            _ => Self::unsupported("this expression"),
        }
    }

    fn binary(
        &mut self,
        operator: BinaryOperator,
        one: SignedNumber,
        other: SignedNumber,
    ) -> Result<SignedNumber, Failure> {
        let is_signed = one.is_signed && other.is_signed;
        let (mut first, mut second) = (one.term, other.term);
        let (less, at_most) = if is_signed {
            (term::BinaryTerm::Slt, term::BinaryTerm::Sle)
        } else {
            (term::BinaryTerm::Ult, term::BinaryTerm::Ule)
        };
        let op = match operator {
            BinaryOperator::Multiply => term::BinaryTerm::Mul,
            BinaryOperator::Add => term::BinaryTerm::Add,
            BinaryOperator::Subtract => term::BinaryTerm::Sub,
            BinaryOperator::ShiftLeft => term::BinaryTerm::Shl,
            BinaryOperator::And => term::BinaryTerm::And,
            BinaryOperator::Xor => term::BinaryTerm::Xor,
            BinaryOperator::Or => term::BinaryTerm::Or,
            BinaryOperator::Less => less,
            BinaryOperator::LessOrEqual => at_most,
            BinaryOperator::Greater => {
                std::mem::swap(&mut first, &mut second);
                less
            }
            BinaryOperator::GreaterOrEqual => {
                std::mem::swap(&mut first, &mut second);
                at_most
            }
            BinaryOperator::Equal | BinaryOperator::Unequal => term::BinaryTerm::Eq,
            BinaryOperator::Divide | BinaryOperator::Remainder | BinaryOperator::ShiftRight => {
                return Self::unsupported("`/`, `%` and `>>`");
            }
        };
        let result = self.terms.binary(op, first, second);
        if !op.is_comparison() {
            return Ok(SignedNumber { term: result, is_signed });
        }
        let result = if operator == BinaryOperator::Unequal { self.terms.not(result) } else { result };
        Ok(self.number(result))
    }

    fn variable(&mut self, expression: &Expression) -> Result<SignedNumber, Failure> {
        let player = &mut *self.native.symbolic.tape.player;
        let (mut found, mut is_float) = (None, false);
        let look = |machine: &NativeMachine| {
            let Some(frame) = machine.frame() else { return };
            let state = ProcessState { view: View::without_words(machine), frame };
            let Some(place) = state.place(expression) else { return };
            let ty = place.ty.and_then(|ty| place.debug.plain_ty(ty)).map(|(_, ty)| ty);
            let is_signed = match ty {
                Some(SourceType::Base(_, _, encoding)) if &*encoding == "DW_ATE_float" => {
                    is_float = true;
                    return;
                }
                Some(SourceType::Base(_, _, encoding)) => encoding.starts_with("DW_ATE_signed"),
                Some(SourceType::Enum(_, _, constants)) => constants.iter().any(|(_, constant)| *constant < 0),
                Some(SourceType::Pointer(_)) => false,
                _ => return,
            };
            if place.part.is_none() && (1..=8).contains(&place.size) {
                found = Some((place.address, place.size, is_signed));
            }
        };
        before_step(player, self.step, look).map_err(|error| failed(&error))?;
        if is_float {
            return Self::unsupported("a floating-point number");
        }
        let unknown = || {
            let name = expression.written().unwrap_or_else(|| "a variable".to_owned());
            Failure::error(format!("`{name}` is no number that is known at step {}", self.step.0))
        };
        let (address, size, is_signed) = found.ok_or_else(unknown)?;
        let held = self.native.held(self.terms, self.step, address, size).map_err(|error| failed(&error))?;
        let held = held.ok_or_else(unknown)?;
        let term = if is_signed { self.terms.sign_extend(held, 64) } else { self.terms.zero_extend(held, 64) };
        Ok(SignedNumber { term, is_signed: is_signed || size < 4 })
    }
}
