//! What the instructions compute.
//!
//! Source: "The Java Virtual Machine Specification", chapter 6. Floating-point numbers are those of IEEE 754, as the
//! machine has them since Java 17 and as all 64-bit processors had them before.

use crate::instrument::java::descriptor::ValueKind;
use crate::instrument::java::operation::{Arithmetic, JumpCondition, Narrow};
use crate::java::value::of_int;

fn int(bits: u64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "an int has the lower 32 bits")]
    let bits = bits as u32;
    bits.cast_signed()
}

fn float(bits: u64) -> f32 {
    f32::from_bits(int(bits).cast_unsigned())
}

fn of_float(value: f32) -> u64 {
    u64::from(value.to_bits())
}

/// The bits of the result of an operator; `None` for a division of integers by zero.
pub fn binary(operator: Arithmetic, kind: ValueKind, left: u64, right: u64) -> Option<u64> {
    Some(match kind {
        ValueKind::Int => {
            let (left, right) = (int(left), int(right));
            let distance = right.cast_unsigned() & 31;
            of_int(match operator {
                Arithmetic::Add => left.wrapping_add(right),
                Arithmetic::Subtract => left.wrapping_sub(right),
                Arithmetic::Multiply => left.wrapping_mul(right),
                Arithmetic::Divide | Arithmetic::Remainder if right == 0 => return None,
                Arithmetic::Divide => left.wrapping_div(right),
                Arithmetic::Remainder => left.wrapping_rem(right),
                Arithmetic::ShiftLeft => left << distance,
                Arithmetic::ShiftRight => left >> distance,
                Arithmetic::ShiftRightUnsigned => (left.cast_unsigned() >> distance).cast_signed(),
                Arithmetic::And => left & right,
                Arithmetic::Or => left | right,
                Arithmetic::Xor => left ^ right,
            })
        }
        ValueKind::Long => {
            let (left, wide) = (left.cast_signed(), right.cast_signed());
            let distance = int(right).cast_unsigned() & 63;
            match operator {
                Arithmetic::Add => left.wrapping_add(wide),
                Arithmetic::Subtract => left.wrapping_sub(wide),
                Arithmetic::Multiply => left.wrapping_mul(wide),
                Arithmetic::Divide | Arithmetic::Remainder if wide == 0 => return None,
                Arithmetic::Divide => left.wrapping_div(wide),
                Arithmetic::Remainder => left.wrapping_rem(wide),
                Arithmetic::ShiftLeft => left << distance,
                Arithmetic::ShiftRight => left >> distance,
                Arithmetic::ShiftRightUnsigned => (left.cast_unsigned() >> distance).cast_signed(),
                Arithmetic::And => left & wide,
                Arithmetic::Or => left | wide,
                Arithmetic::Xor => left ^ wide,
            }
            .cast_unsigned()
        }
        ValueKind::Float => {
            let (left, right) = (float(left), float(right));
            of_float(match operator {
                Arithmetic::Add => left + right,
                Arithmetic::Subtract => left - right,
                Arithmetic::Multiply => left * right,
                Arithmetic::Divide => left / right,
                Arithmetic::Remainder => left % right,
                _ => return None,
            })
        }
        ValueKind::Double => {
            let (left, right) = (f64::from_bits(left), f64::from_bits(right));
            match operator {
                Arithmetic::Add => left + right,
                Arithmetic::Subtract => left - right,
                Arithmetic::Multiply => left * right,
                Arithmetic::Divide => left / right,
                Arithmetic::Remainder => left % right,
                _ => return None,
            }
            .to_bits()
        }
        ValueKind::Reference => return None,
    })
}

/// The negative value.
pub fn negate(kind: ValueKind, bits: u64) -> u64 {
    match kind {
        ValueKind::Int => of_int(int(bits).wrapping_neg()),
        ValueKind::Long => bits.wrapping_neg(),
        ValueKind::Float => of_float(-float(bits)),
        ValueKind::Double => (-f64::from_bits(bits)).to_bits(),
        ValueKind::Reference => bits,
    }
}

/// A value of another kind. Conversions to integers stop at the smallest and the largest, as `as` does.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "that is what they are for")]
pub fn convert(from: ValueKind, to: ValueKind, bits: u64) -> u64 {
    match (from, to) {
        (ValueKind::Int, ValueKind::Long) => i64::from(int(bits)).cast_unsigned(),
        (ValueKind::Int, ValueKind::Float) => of_float(int(bits) as f32),
        (ValueKind::Int, ValueKind::Double) => f64::from(int(bits)).to_bits(),
        (ValueKind::Long, ValueKind::Int) => of_int(int(bits)),
        (ValueKind::Long, ValueKind::Float) => of_float(bits.cast_signed() as f32),
        (ValueKind::Long, ValueKind::Double) => (bits.cast_signed() as f64).to_bits(),
        (ValueKind::Float, ValueKind::Int) => of_int(float(bits) as i32),
        (ValueKind::Float, ValueKind::Long) => (float(bits) as i64).cast_unsigned(),
        (ValueKind::Float, ValueKind::Double) => f64::from(float(bits)).to_bits(),
        (ValueKind::Double, ValueKind::Int) => of_int(f64::from_bits(bits) as i32),
        (ValueKind::Double, ValueKind::Long) => (f64::from_bits(bits) as i64).cast_unsigned(),
        (ValueKind::Double, ValueKind::Float) => of_float(f64::from_bits(bits) as f32),
        _ => bits,
    }
}

/// An `int` cut to a smaller type.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "that is what they are for")]
pub fn narrow(to: Narrow, bits: u64) -> u64 {
    let value = int(bits);
    of_int(match to {
        Narrow::Byte => i32::from(value as i8),
        Narrow::Char => i32::from(value as u16),
        Narrow::Short => i32::from(value as i16),
    })
}

/// -1, 0 or 1.
///
/// - `otherwise`: the result if one of them is no number.
pub fn compare(kind: ValueKind, left: u64, right: u64, otherwise: i32) -> u64 {
    let order = match kind {
        ValueKind::Long => Some(left.cast_signed().cmp(&right.cast_signed())),
        ValueKind::Float => float(left).partial_cmp(&float(right)),
        _ => f64::from_bits(left).partial_cmp(&f64::from_bits(right)),
    };
    of_int(order.map_or(otherwise, |order| order as i32))
}

/// Whether a condition holds for two `int`s.
pub fn holds(condition: JumpCondition, left: i32, right: i32) -> bool {
    match condition {
        JumpCondition::Equal => left == right,
        JumpCondition::Different => left != right,
        JumpCondition::Less => left < right,
        JumpCondition::NotLess => left >= right,
        JumpCondition::Greater => left > right,
        JumpCondition::NotGreater => left <= right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_and_shifts_use_the_lowest_bits_of_the_distance() {
        let bits = |operator, left, right| binary(operator, ValueKind::Int, of_int(left), of_int(right)).map(int);
        assert_eq!(bits(Arithmetic::Add, i32::MAX, 1), Some(i32::MIN));
        assert_eq!(bits(Arithmetic::Divide, i32::MIN, -1), Some(i32::MIN));
        assert_eq!(bits(Arithmetic::Remainder, -7, 3), Some(-1));
        assert_eq!(bits(Arithmetic::Divide, 1, 0), None);
        assert_eq!(bits(Arithmetic::ShiftLeft, 1, 33), Some(2));
        assert_eq!(bits(Arithmetic::ShiftRightUnsigned, -1, 28), Some(15));
        let wide = binary(Arithmetic::ShiftRight, ValueKind::Long, (-8_i64).cast_unsigned(), of_int(65));
        assert_eq!(wide.map(u64::cast_signed), Some(-4));
    }

    #[test]
    fn conversions_stop_at_the_bounds_and_no_number_is_zero() {
        let to_int = |value: f64| int(convert(ValueKind::Double, ValueKind::Int, value.to_bits()));
        assert_eq!((to_int(1e20), to_int(-1e20), to_int(f64::NAN), to_int(-1.9)), (i32::MAX, i32::MIN, 0, -1));
        assert_eq!(int(narrow(Narrow::Byte, of_int(200))), -56);
        assert_eq!(int(narrow(Narrow::Char, of_int(-1))), 65535);
        assert_eq!(convert(ValueKind::Int, ValueKind::Long, of_int(-5)).cast_signed(), -5);
    }

    #[test]
    fn what_is_no_number_compares_as_the_instruction_says() {
        let nan = f64::NAN.to_bits();
        assert_eq!(int(compare(ValueKind::Double, nan, 1.0_f64.to_bits(), -1)), -1);
        assert_eq!(int(compare(ValueKind::Double, 2.0_f64.to_bits(), 1.0_f64.to_bits(), -1)), 1);
        assert_eq!(int(compare(ValueKind::Long, 3, 3, 0)), 0);
        assert!(holds(JumpCondition::NotGreater, 3, 3) && !holds(JumpCondition::Less, 3, 3));
    }
}
