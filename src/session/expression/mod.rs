//! Expressions of C, or Java, on a recorded state, without calls and assignments.
//!
//! [`parse`] reads an expression, [`evaluate`] computes it. What a name means, and what is in a variable, comes from
//! [`StateVariables`]; so this file knows nothing of a run. [`arithmetic`] computes with numbers, [`state`] and [`java`] are processes
//! of recordings as expressions see them, [`states`] those before the steps of a run, and a [`condition`] is tested before
//! many of these.

use crate::expression::arithmetic::{BinaryOperator, IntegerType, Number, UnaryOperator};

pub mod arithmetic;
pub mod condition;
pub mod java;
mod read;
pub mod state;
pub mod states;
#[cfg(test)]
mod tests;

pub use crate::expression::read::parse;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// A number.
    Number(Number),
    /// A variable, or a constant.
    Name(String),
    /// A member of a structure; through a pointer to it if the flag is set.
    Member(Box<Expression>, bool, String),
    /// An element.
    Element(Box<Expression>, Box<Expression>),
    /// What a pointer points to.
    Target(Box<Expression>),
    /// The address of a variable.
    Address(Box<Expression>),
    /// An operator with one operand.
    Unary(UnaryOperator, Box<Expression>),
    /// An operator with two operands.
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
    /// `&&`, or `||` if the flag is set.
    Logic(bool, Box<Expression>, Box<Expression>),
    /// `?:`.
    Conditional(Box<[Expression; 3]>),
    /// A cast.
    Cast(Cast, Box<Expression>),
    /// The bytes that an operand takes.
    SizeOf(Box<Expression>),
}

impl Expression {
    /// The variables, or parts of them, whose values it uses; of `p->n` that as a whole. In the order of the text.
    pub fn named(&self) -> Vec<&Self> {
        match self {
            Self::Number(_) | Self::Address(_) | Self::SizeOf(_) => Vec::new(),
            Self::Name(_) | Self::Member(..) | Self::Target(_) => vec![self],
            Self::Element(_, index) => [vec![self], index.named()].concat(),
            Self::Unary(_, inner) | Self::Cast(_, inner) => inner.named(),
            Self::Binary(_, one, other) | Self::Logic(_, one, other) => [one.named(), other.named()].concat(),
            Self::Conditional(parts) => parts.iter().flat_map(Self::named).collect(),
        }
    }

    /// A variable, or a part of one, as it is written; `None` if its place is computed.
    pub fn written(&self) -> Option<String> {
        match self {
            Self::Name(name) => Some(name.clone()),
            Self::Member(inner, is_pointer, name) => {
                Some(format!("{}{}{name}", inner.written()?, if *is_pointer { "->" } else { "." }))
            }
            Self::Element(inner, index) => match **index {
                Self::Number(Number::Integer(index, _)) => Some(format!("{}[{index}]", inner.written()?)),
                _ => None,
            },
            Self::Target(inner) => Some(format!("*{}", inner.written()?)),
            _ => None,
        }
    }
}

/// The type of a cast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cast {
    /// An integer.
    Integer(IntegerType),
    /// A floating-point number, and whether it is a `float`.
    Float(bool),
}

/// What a variable holds.
#[derive(Debug, Clone, PartialEq)]
pub enum VariableContent {
    /// A number.
    Number(Number),
    /// A pointer, or the address of an array; and the bytes of what is there, if they are known.
    Pointer(u64, Option<u64>),
    /// A value with which nothing is computed.
    Other,
}

/// The variables of a state.
pub trait StateVariables {
    /// A variable, or a part of one.
    type Place: Clone;

    /// The variable of a name.
    fn variable(&self, name: &str) -> Option<Self::Place>;

    /// A member of a structure.
    fn member(&self, place: &Self::Place, name: &str) -> Option<Self::Place>;

    /// An element of an array, or what is so many elements after the target of a pointer.
    fn element(&self, place: &Self::Place, index: i64) -> Option<Self::Place>;

    /// What a variable holds.
    ///
    /// Errors: the recording does not know it.
    fn held(&self, place: &Self::Place) -> Result<VariableContent, String>;

    /// The number of a constant of the enumeration that a variable is of.
    fn constant(&self, place: &Self::Place, name: &str) -> Option<Number>;

    /// The address of a variable, and the bytes that it takes.
    fn extent(&self, place: &Self::Place) -> (u64, u64);

    /// What a variable holds, as it is written.
    fn shown(&self, place: &Self::Place) -> String;
}

/// What an expression means.
#[derive(Debug, Clone, PartialEq)]
pub enum ExpressionValue<P> {
    /// A variable, or a part of one.
    Place(P),
    /// A number.
    Number(Number),
    /// An address, the bytes of what is there, and where the way to it begins: a pointer or array, and an index.
    Pointer(u64, Option<u64>, Option<(P, i64)>),
}

/// Computes an expression.
///
/// Errors: a name or a value is not known, or C does not define the result.
pub fn evaluate<O: StateVariables>(objects: &O, expression: &Expression) -> Result<ExpressionValue<O::Place>, String> {
    match expression {
        Expression::Number(number) => Ok(ExpressionValue::Number(*number)),
        Expression::Name(name) => match objects.variable(name) {
            Some(place) => Ok(ExpressionValue::Place(place)),
            None => match &**name {
                "NULL" | "nullptr" | "null" => Ok(ExpressionValue::Pointer(0, None, None)),
                "true" => Ok(ExpressionValue::Number(Number::truth(true))),
                "false" => Ok(ExpressionValue::Number(Number::truth(false))),
                _ => Err(format!("no variable `{name}` is visible here")),
            },
        },
        Expression::Member(inner, is_pointer, name) => {
            let whole = if *is_pointer { target(objects, inner)? } else { a_place(evaluate(objects, inner)?)? };
            let found = objects.member(&whole, name).map(ExpressionValue::Place);
            found.ok_or_else(|| format!("there is no member `{name}`"))
        }
        Expression::Element(array, index) => {
            let (array, index) = (evaluate(objects, array)?, evaluate(objects, index)?);
            // `2[a]` is `a[2]`.
            let (pointer, index) = match (loaded(objects, array)?, loaded(objects, index)?) {
                (pointer @ ExpressionValue::Pointer(..), index) | (index, pointer) => (pointer, index),
            };
            let moved = moved(pointer, integer(&index)?)?;
            element(objects, moved)
        }
        Expression::Target(inner) => target(objects, inner).map(ExpressionValue::Place),
        Expression::Address(inner) => {
            let (address, size) = objects.extent(&a_place(evaluate(objects, inner)?)?);
            Ok(ExpressionValue::Pointer(address, Some(size), None))
        }
        Expression::Unary(operator, inner) => match (operator, loaded(objects, evaluate(objects, inner)?)?) {
            (UnaryOperator::Not, ExpressionValue::Pointer(address, ..)) => {
                Ok(ExpressionValue::Number(Number::truth(address == 0)))
            }
            (_, value) => arithmetic::unary(*operator, number(&value)?).map(ExpressionValue::Number),
        },
        Expression::Binary(operator, one, other) => operate(objects, *operator, one, other),
        Expression::Logic(is_or, one, other) => {
            let is_true = is_true(objects, one)?;
            let is_true = if is_true == *is_or { is_true } else { self::is_true(objects, other)? };
            Ok(ExpressionValue::Number(Number::truth(is_true)))
        }
        Expression::Conditional(parts) => {
            let [condition, one, other] = &**parts;
            let is_first = is_true(objects, condition)?;
            let (taken, left) = if is_first { (one, other) } else { (other, one) };
            let taken = evaluate(objects, taken)?;
            // The other operand is not evaluated, but its type counts.
            match (&taken, evaluate(objects, left).and_then(|left| loaded(objects, left))) {
                (ExpressionValue::Place(_) | ExpressionValue::Number(_), Ok(ExpressionValue::Number(left))) => {
                    let taken = number(&loaded(objects, taken)?)?;
                    Ok(ExpressionValue::Number(taken.converted_with(left)))
                }
                _ => Ok(taken),
            }
        }
        Expression::Cast(cast, inner) => {
            let value = match loaded(objects, evaluate(objects, inner)?)? {
                ExpressionValue::Pointer(address, ..) => {
                    Number::Integer(i128::from(address), IntegerType::UNSIGNED_LONG)
                }
                value => number(&value)?,
            };
            match cast {
                Cast::Integer(ty) => value.cast(*ty).map(ExpressionValue::Number),
                Cast::Float(is_single) => Ok(ExpressionValue::Number(value.to_float(*is_single))),
            }
        }
        Expression::SizeOf(inner) => {
            let bytes = match evaluate(objects, inner)? {
                ExpressionValue::Place(place) => objects.extent(&place).1,
                ExpressionValue::Number(Number::Integer(_, ty)) => u64::from(ty.bits.div_ceil(8)),
                ExpressionValue::Number(Number::Float(_, is_single)) => {
                    if is_single {
                        4
                    } else {
                        8
                    }
                }
                ExpressionValue::Pointer(..) => 8,
            };
            Ok(ExpressionValue::Number(Number::Integer(i128::from(bytes), IntegerType::UNSIGNED_LONG)))
        }
    }
}

/// Whether an expression is another number than 0, or a pointer that is not null.
pub fn is_true<O: StateVariables>(objects: &O, expression: &Expression) -> Result<bool, String> {
    Ok(match loaded(objects, evaluate(objects, expression)?)? {
        ExpressionValue::Pointer(address, ..) => address != 0,
        value => number(&value)?.is_true(),
    })
}

/// The variable, or the part of one, that an expression names.
pub fn place<O: StateVariables>(objects: &O, expression: &Expression) -> Option<O::Place> {
    match evaluate(objects, expression) {
        Ok(ExpressionValue::Place(place)) => Some(place),
        _ => None,
    }
}

fn a_place<P>(value: ExpressionValue<P>) -> Result<P, String> {
    match value {
        ExpressionValue::Place(place) => Ok(place),
        _ => Err("this is no variable, and no part of one".to_owned()),
    }
}

/// A value with what a variable holds in place of the variable.
fn loaded<O: StateVariables>(
    objects: &O,
    value: ExpressionValue<O::Place>,
) -> Result<ExpressionValue<O::Place>, String> {
    let ExpressionValue::Place(place) = value else { return Ok(value) };
    match objects.held(&place)? {
        VariableContent::Number(number) => Ok(ExpressionValue::Number(number)),
        VariableContent::Pointer(address, size) => Ok(ExpressionValue::Pointer(address, size, Some((place, 0)))),
        VariableContent::Other => Err("a structure is no number".to_owned()),
    }
}

fn number<P>(value: &ExpressionValue<P>) -> Result<Number, String> {
    match value {
        ExpressionValue::Number(number) => Ok(*number),
        _ => Err("the operator takes numbers, and this is a pointer".to_owned()),
    }
}

fn integer<P>(value: &ExpressionValue<P>) -> Result<i64, String> {
    match number(value)? {
        Number::Integer(number, _) => i64::try_from(number).map_err(|_| "the index is too large".to_owned()),
        Number::Float(..) => Err("an index is an integer".to_owned()),
    }
}

/// A pointer to the element so many elements later.
fn moved<P>(pointer: ExpressionValue<P>, by: i64) -> Result<ExpressionValue<P>, String> {
    let ExpressionValue::Pointer(address, size, way) = pointer else {
        return Err("this is no array, and no pointer".to_owned());
    };
    let bytes = size.ok_or("the size of what the pointer points to is not known")?;
    let offset = i64::try_from(bytes).ok().and_then(|bytes| bytes.checked_mul(by)).ok_or("the index is too large")?;
    let way = way.and_then(|(place, index)| Some((place, index.checked_add(by)?)));
    Ok(ExpressionValue::Pointer(address.wrapping_add_signed(offset), size, way))
}

/// What a pointer points to.
fn element<O: StateVariables>(
    objects: &O,
    pointer: ExpressionValue<O::Place>,
) -> Result<ExpressionValue<O::Place>, String> {
    match pointer {
        ExpressionValue::Pointer(0, ..) => Err("the pointer is null".to_owned()),
        ExpressionValue::Pointer(_, _, Some((place, index))) => {
            let found = objects.element(&place, index).map(ExpressionValue::Place);
            found.ok_or_else(|| "what the pointer points to is not known".to_owned())
        }
        ExpressionValue::Pointer(..) => Err("what is at a computed address is not known".to_owned()),
        _ => Err("this is no array, and no pointer".to_owned()),
    }
}

fn target<O: StateVariables>(objects: &O, pointer: &Expression) -> Result<O::Place, String> {
    // `*&x` is `x`.
    if let Expression::Address(inner) = pointer {
        return a_place(evaluate(objects, inner)?);
    }
    let pointer = loaded(objects, evaluate(objects, pointer)?)?;
    a_place(element(objects, pointer)?)
}

/// A name that is no variable may be a constant of the enumeration on the other side.
fn constant<O: StateVariables>(objects: &O, name: &Expression, other: &Expression) -> Option<Number> {
    let Expression::Name(name) = name else { return None };
    // Others would be computed twice at each level.
    if !is_plain(other) {
        return None;
    }
    if objects.variable(name).is_some() {
        return None;
    }
    match evaluate(objects, other) {
        Ok(ExpressionValue::Place(place)) => objects.constant(&place, name),
        _ => None,
    }
}

fn is_plain(expression: &Expression) -> bool {
    match expression {
        Expression::Name(_) => true,
        Expression::Member(inner, _, _) | Expression::Target(inner) => is_plain(inner),
        Expression::Element(inner, index) => {
            is_plain(inner) && matches!(**index, Expression::Number(_) | Expression::Name(_))
        }
        _ => false,
    }
}

fn operate<O: StateVariables>(
    objects: &O,
    operator: BinaryOperator,
    one: &Expression,
    other: &Expression,
) -> Result<ExpressionValue<O::Place>, String> {
    let side = |this: &Expression, other: &Expression| match constant(objects, this, other) {
        Some(number) => Ok(ExpressionValue::Number(number)),
        None => loaded(objects, evaluate(objects, this)?),
    };
    match (side(one, other)?, side(other, one)?) {
        (ExpressionValue::Number(one), ExpressionValue::Number(other)) => {
            arithmetic::binary(operator, one, other).map(ExpressionValue::Number)
        }
        (pointer @ ExpressionValue::Pointer(..), ExpressionValue::Number(by)) if operator == BinaryOperator::Add => {
            moved(pointer, integer::<O::Place>(&ExpressionValue::Number(by))?)
        }
        (ExpressionValue::Number(by), pointer @ ExpressionValue::Pointer(..)) if operator == BinaryOperator::Add => {
            moved(pointer, integer::<O::Place>(&ExpressionValue::Number(by))?)
        }
        (pointer @ ExpressionValue::Pointer(..), ExpressionValue::Number(by))
            if operator == BinaryOperator::Subtract =>
        {
            let by = integer::<O::Place>(&ExpressionValue::Number(by))?;
            moved(pointer, by.checked_neg().ok_or("the index is too large")?)
        }
        (ExpressionValue::Pointer(one, Some(bytes), _), ExpressionValue::Pointer(other, ..))
            if operator == BinaryOperator::Subtract && bytes > 0 =>
        {
            let distance = one.wrapping_sub(other).cast_signed() / i64::try_from(bytes).unwrap_or(i64::MAX);
            Ok(ExpressionValue::Number(Number::Integer(i128::from(distance), IntegerType::LONG)))
        }
        (one, other) if arithmetic::is_comparison(operator) => {
            let (one, other) = (address(&one)?, address(&other)?);
            Ok(ExpressionValue::Number(Number::truth(arithmetic::holds(operator, Some(one.cmp(&other))))))
        }
        _ => Err("the operator takes numbers, and this is a pointer".to_owned()),
    }
}

/// A pointer, or a number that is compared with one.
fn address<P>(value: &ExpressionValue<P>) -> Result<u64, String> {
    match value {
        ExpressionValue::Pointer(address, ..) => Ok(*address),
        ExpressionValue::Number(Number::Integer(number, _)) => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the bits are compared")]
            let address = *number as u64;
            Ok(address)
        }
        _ => Err("a pointer is compared with a pointer".to_owned()),
    }
}
