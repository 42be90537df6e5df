//! Expressions that should hold at a line, as conditions.

use crate::debug::expect::Expectation;
use crate::expression::Expression;
use crate::expression::arithmetic::{Binary, Number, Unary};
use crate::expression::condition::Condition;
use crate::expression::state::State;
use crate::failure::Failure;
use idd_base::plural::count;
use idd_explain::native::invariant::Native;
use idd_report::Status;
use idd_trace::instrument::debug::SourceType;
use idd_trace::logic::term;
use idd_trace::logic::term::{TermId, Terms};

use crate::recorded::failed;
use crate::slice::criterion::is_in_line;
use idd_trace::native::frame::Frame;
use idd_trace::native::machine::Machine;
use idd_trace::native::object::View;
use idd_trace::native::play::Player;
use idd_trace::native::visit::before_step;
use idd_trace::place::Place;
use idd_trace::step::Step;

/// Finds the first step of the line at which the expression does not hold.
///
/// Errors: there is none.
///
/// Cost: one pass over the trace.
pub fn violated(assertion: &Expectation, player: &mut Player) -> Result<Step, Failure> {
    let (mut found, mut unknown, mut n_steps) = (None, None, 0);
    let look = |machine: &Machine, frame: &Frame| {
        let is_there = |at: &Place| is_in_line(at, (&*assertion.file, assertion.line));
        if frame.statement != 0 && frame.place().is_some_and(is_there) {
            n_steps += 1;
            match assertion.condition.holds(&State { view: View::without_words(machine), frame }) {
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
struct Operand {
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

    fn truth(&mut self, operand: Operand) -> TermId {
        let zero = self.terms.constant(0, 64);
        let is_zero = self.terms.binary(term::Binary::Eq, operand.term, zero);
        self.terms.not(is_zero)
    }

    fn number(&mut self, truth: TermId) -> Operand {
        Operand { term: self.terms.zero_extend(truth, 64), is_signed: true }
    }

    fn term(&mut self, expression: &Expression) -> Result<Operand, Failure> {
        match expression {
            Expression::Number(Number::Integer(number, ty)) => {
                let bits = u64::try_from(*number & i128::from(u64::MAX)).unwrap_or(0);
                Ok(Operand { term: self.terms.constant(bits, 64), is_signed: ty.is_signed })
            }
            Expression::Name(name) if name == "NULL" => {
                Ok(Operand { term: self.terms.constant(0, 64), is_signed: false })
            }
            Expression::Name(_) | Expression::Member(..) | Expression::Element(..) | Expression::Target(_) => {
                self.variable(expression)
            }
            Expression::Unary(operator, inner) => {
                let Operand { term, is_signed } = self.term(inner)?;
                Ok(match operator {
                    Unary::Plus => Operand { term, is_signed },
                    Unary::Minus => Operand { term: self.terms.unary(term::Unary::Neg, term), is_signed },
                    Unary::Complement => Operand { term: self.terms.not(term), is_signed },
                    Unary::Not => {
                        let truth = self.truth(Operand { term, is_signed });
                        let contrary = self.terms.not(truth);
                        self.number(contrary)
                    }
                })
            }
            Expression::Logic(is_or, one, other) => {
                let (one, other) = (self.term(one)?, self.term(other)?);
                let (one, other) = (self.truth(one), self.truth(other));
                let op = if *is_or { term::Binary::Or } else { term::Binary::And };
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

    fn binary(&mut self, operator: Binary, one: Operand, other: Operand) -> Result<Operand, Failure> {
        let is_signed = one.is_signed && other.is_signed;
        let (mut first, mut second) = (one.term, other.term);
        let (less, at_most) =
            if is_signed { (term::Binary::Slt, term::Binary::Sle) } else { (term::Binary::Ult, term::Binary::Ule) };
        let op = match operator {
            Binary::Multiply => term::Binary::Mul,
            Binary::Add => term::Binary::Add,
            Binary::Subtract => term::Binary::Sub,
            Binary::ShiftLeft => term::Binary::Shl,
            Binary::And => term::Binary::And,
            Binary::Xor => term::Binary::Xor,
            Binary::Or => term::Binary::Or,
            Binary::Less => less,
            Binary::LessOrEqual => at_most,
            Binary::Greater => {
                std::mem::swap(&mut first, &mut second);
                less
            }
            Binary::GreaterOrEqual => {
                std::mem::swap(&mut first, &mut second);
                at_most
            }
            Binary::Equal | Binary::Unequal => term::Binary::Eq,
            Binary::Divide | Binary::Remainder | Binary::ShiftRight => {
                return Self::unsupported("`/`, `%` and `>>`");
            }
        };
        let result = self.terms.binary(op, first, second);
        if !op.is_comparison() {
            return Ok(Operand { term: result, is_signed });
        }
        let result = if operator == Binary::Unequal { self.terms.not(result) } else { result };
        Ok(self.number(result))
    }

    fn variable(&mut self, expression: &Expression) -> Result<Operand, Failure> {
        let player = &mut *self.native.symbolic.tape.player;
        let (mut found, mut is_float) = (None, false);
        let look = |machine: &Machine| {
            let Some(frame) = machine.frame() else { return };
            let state = State { view: View::without_words(machine), frame };
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
        let held = self.native.held(self.terms, self.step, (address, size)).map_err(|error| failed(&error))?;
        let held = held.ok_or_else(unknown)?;
        let term = if is_signed { self.terms.sign_extend(held, 64) } else { self.terms.zero_extend(held, 64) };
        Ok(Operand { term, is_signed: is_signed || size < 4 })
    }
}
