//! Numbers as C computes with them: integer promotion, the usual arithmetic conversions, signedness.
//!
//! `int` has 32 bits and `long` 64, as on all systems that are recorded. A result that a signed type cannot hold wraps.

use std::cmp::Ordering;

/// The type of an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntegerType {
    /// Its bits: 1 for `_Bool`, else 8 to 64.
    pub bits: u32,
    /// Whether it has negative numbers.
    pub is_signed: bool,
}

impl IntegerType {
    /// `int`.
    pub const INT: Self = Self { bits: 32, is_signed: true };
    /// `unsigned int`.
    pub const UNSIGNED: Self = Self { bits: 32, is_signed: false };
    /// `long`.
    pub const LONG: Self = Self { bits: 64, is_signed: true };
    /// `unsigned long`.
    pub const UNSIGNED_LONG: Self = Self { bits: 64, is_signed: false };

    /// The type after integer promotion.
    #[must_use]
    pub fn promoted(self) -> Self {
        if self.bits < 32 { Self::INT } else { self }
    }

    /// The number of this type that a number becomes.
    pub fn wrap(self, number: i128) -> i128 {
        if self.bits == 1 {
            return i128::from(number != 0);
        }
        let shift = 128 - self.bits.clamp(1, 128);
        if self.is_signed { number << shift >> shift } else { (number.cast_unsigned() << shift >> shift).cast_signed() }
    }

    fn common(self, other: Self) -> Self {
        let (one, other) = (self.promoted(), other.promoted());
        match one.bits.cmp(&other.bits) {
            Ordering::Less => other,
            Ordering::Greater => one,
            Ordering::Equal => Self { bits: one.bits, is_signed: one.is_signed && other.is_signed },
        }
    }
}

/// A number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// An integer; it is one that the type has.
    Integer(i128, IntegerType),
    /// A floating-point number, and whether it is a `float`.
    Float(f64, bool),
}

/// An operator with two operands that computes both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are those of C")]
pub enum BinaryOperator {
    Multiply,
    Divide,
    Remainder,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    Less,
    Greater,
    LessOrEqual,
    GreaterOrEqual,
    Equal,
    Unequal,
    And,
    Xor,
    Or,
}

/// An operator with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are those of C")]
pub enum UnaryOperator {
    Plus,
    Minus,
    Complement,
    Not,
}

impl Number {
    /// An `int`.
    pub fn int(number: i128) -> Self {
        Self::Integer(IntegerType::INT.wrap(number), IntegerType::INT)
    }

    /// 1 or 0, as an `int`.
    pub fn truth(is_true: bool) -> Self {
        Self::int(i128::from(is_true))
    }

    /// Whether it is another number than 0.
    pub fn is_true(self) -> bool {
        match self {
            Self::Integer(number, _) => number != 0,
            Self::Float(number, _) => number != 0.0,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "as C does it")]
    fn float(self) -> f64 {
        match self {
            Self::Integer(number, _) => number as f64,
            Self::Float(number, _) => number,
        }
    }

    /// The number as one of a type.
    ///
    /// Errors: it is a floating-point number that the type cannot hold.
    pub fn cast(self, ty: IntegerType) -> Result<Self, String> {
        match self {
            Self::Integer(number, _) => Ok(Self::Integer(ty.wrap(number), ty)),
            Self::Float(number, _) if ty.bits == 1 => Ok(Self::Integer(i128::from(number != 0.0), ty)),
            Self::Float(number, _) => {
                #[expect(clippy::cast_possible_truncation, reason = "what does not fit is an error")]
                let whole = number.trunc() as i128;
                if number.is_nan() || ty.wrap(whole) != whole {
                    return Err("the number is outside of the type that it is cast to".to_owned());
                }
                Ok(Self::Integer(whole, ty))
            }
        }
    }

    /// The number as a `double`, or a `float`.
    #[must_use]
    pub fn to_float(self, is_single: bool) -> Self {
        Self::Float(rounded(self.float(), is_single), is_single)
    }

    /// The type that both operands of the conditional operator get.
    #[must_use]
    pub fn converted_with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Integer(number, ty), Self::Integer(_, other)) => {
                let ty = ty.common(other);
                Self::Integer(ty.wrap(number), ty)
            }
            _ => self.to_float(is_single(self, other)),
        }
    }

    /// How it is written.
    pub fn shown(self) -> String {
        match self {
            Self::Integer(number, _) => number.to_string(),
            #[expect(clippy::cast_possible_truncation, reason = "it is a `float`")]
            Self::Float(number, true) => format!("{}", number as f32),
            Self::Float(number, false) => format!("{number}"),
        }
    }
}

fn is_single(one: Number, other: Number) -> bool {
    let is_double = |number| matches!(number, Number::Float(_, false));
    !is_double(one) && !is_double(other)
}

fn rounded(number: f64, is_single: bool) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "it is a `float`")]
    if is_single { f64::from(number as f32) } else { number }
}

/// Applies an operator with one operand.
pub fn unary(operator: UnaryOperator, operand: Number) -> Result<Number, String> {
    match (operator, operand) {
        (UnaryOperator::Not, _) => Ok(Number::truth(!operand.is_true())),
        (UnaryOperator::Complement, Number::Float(..)) => Err("`~` takes integers".to_owned()),
        (_, Number::Float(number, is_single)) => {
            Ok(Number::Float(if operator == UnaryOperator::Minus { -number } else { number }, is_single))
        }
        (_, Number::Integer(number, ty)) => {
            let ty = ty.promoted();
            let number = match operator {
                UnaryOperator::Minus => -number,
                UnaryOperator::Complement => !number,
                UnaryOperator::Plus | UnaryOperator::Not => number,
            };
            Ok(Number::Integer(ty.wrap(number), ty))
        }
    }
}

/// Applies an operator with two operands.
///
/// Errors: a division by 0, a shift by more bits than the type has, an operator on integers with another operand.
pub fn binary(operator: BinaryOperator, one: Number, other: Number) -> Result<Number, String> {
    match (one, other) {
        (Number::Integer(one, ty), Number::Integer(other, other_ty)) => {
            if matches!(operator, BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight) {
                return shift(operator, one, ty.promoted(), other);
            }
            integers(operator, one, other, ty.common(other_ty))
        }
        _ => floats(operator, one.float(), other.float(), is_single(one, other)),
    }
}

fn shift(operator: BinaryOperator, number: i128, ty: IntegerType, by: i128) -> Result<Number, String> {
    let by = u32::try_from(by).ok().filter(|by| *by < ty.bits);
    let by = by.ok_or_else(|| format!("a shift of {} bits is by 0 to {} bits", ty.bits, ty.bits - 1))?;
    let number = if operator == BinaryOperator::ShiftLeft { number << by } else { number >> by };
    Ok(Number::Integer(ty.wrap(number), ty))
}

fn integers(operator: BinaryOperator, one: i128, other: i128, ty: IntegerType) -> Result<Number, String> {
    let (one, other) = (ty.wrap(one), ty.wrap(other));
    let number = match operator {
        BinaryOperator::Multiply => one.wrapping_mul(other),
        BinaryOperator::Divide | BinaryOperator::Remainder => {
            if other == 0 {
                return Err("division by zero".to_owned());
            }
            let quotient = one / other;
            if ty.wrap(quotient) != quotient {
                return Err("the quotient is outside of its type".to_owned());
            }
            if operator == BinaryOperator::Divide { quotient } else { one % other }
        }
        BinaryOperator::Add => one + other,
        BinaryOperator::Subtract => one - other,
        BinaryOperator::And => one & other,
        BinaryOperator::Xor => one ^ other,
        BinaryOperator::Or => one | other,
        _ => return Ok(Number::truth(holds(operator, Some(one.cmp(&other))))),
    };
    Ok(Number::Integer(ty.wrap(number), ty))
}

fn floats(operator: BinaryOperator, one: f64, other: f64, is_single: bool) -> Result<Number, String> {
    let number = match operator {
        BinaryOperator::Multiply => one * other,
        // As with the program's own division, the result may be infinite.
        BinaryOperator::Divide => one / other,
        BinaryOperator::Add => one + other,
        BinaryOperator::Subtract => one - other,
        BinaryOperator::Remainder
        | BinaryOperator::ShiftLeft
        | BinaryOperator::ShiftRight
        | BinaryOperator::And
        | BinaryOperator::Xor
        | BinaryOperator::Or => {
            return Err("the operator takes integers".to_owned());
        }
        _ => return Ok(Number::truth(holds(operator, one.partial_cmp(&other)))),
    };
    Ok(Number::Float(rounded(number, is_single), is_single))
}

/// Whether a comparison holds; nothing but `!=` does if there is no order.
pub fn holds(operator: BinaryOperator, order: Option<Ordering>) -> bool {
    match operator {
        BinaryOperator::Less => order == Some(Ordering::Less),
        BinaryOperator::Greater => order == Some(Ordering::Greater),
        BinaryOperator::LessOrEqual => order.is_some_and(Ordering::is_le),
        BinaryOperator::GreaterOrEqual => order.is_some_and(Ordering::is_ge),
        BinaryOperator::Equal => order == Some(Ordering::Equal),
        BinaryOperator::Unequal => order != Some(Ordering::Equal),
        _ => false,
    }
}

/// Whether an operator compares.
pub fn is_comparison(operator: BinaryOperator) -> bool {
    use BinaryOperator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Unequal};
    matches!(operator, Less | Greater | LessOrEqual | GreaterOrEqual | Equal | Unequal)
}
