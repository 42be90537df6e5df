//! What the instructions compute.
//!
//! Source: "The Java Virtual Machine Specification", chapter 6. Floating-point numbers are those of IEEE 754, as the
//! machine has them since Java 17 and as all 64-bit processors had them before.

use crate::instrument::java::descriptor::Kind;
use crate::instrument::java::operation::{Arithmetic, Condition, Narrow};
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
pub fn binary(operator: Arithmetic, kind: Kind, left: u64, right: u64) -> Option<u64> {
    Some(match kind {
        Kind::Int => {
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
        Kind::Long => {
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
        Kind::Float => {
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
        Kind::Double => {
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
        Kind::Reference => return None,
    })
}

/// The negative value.
pub fn negate(kind: Kind, bits: u64) -> u64 {
    match kind {
        Kind::Int => of_int(int(bits).wrapping_neg()),
        Kind::Long => bits.wrapping_neg(),
        Kind::Float => of_float(-float(bits)),
        Kind::Double => (-f64::from_bits(bits)).to_bits(),
        Kind::Reference => bits,
    }
}

/// A value of another kind. Conversions to integers stop at the smallest and the largest, as `as` does.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "that is what they are for")]
pub fn convert(from: Kind, to: Kind, bits: u64) -> u64 {
    match (from, to) {
        (Kind::Int, Kind::Long) => i64::from(int(bits)).cast_unsigned(),
        (Kind::Int, Kind::Float) => of_float(int(bits) as f32),
        (Kind::Int, Kind::Double) => f64::from(int(bits)).to_bits(),
        (Kind::Long, Kind::Int) => of_int(int(bits)),
        (Kind::Long, Kind::Float) => of_float(bits.cast_signed() as f32),
        (Kind::Long, Kind::Double) => (bits.cast_signed() as f64).to_bits(),
        (Kind::Float, Kind::Int) => of_int(float(bits) as i32),
        (Kind::Float, Kind::Long) => (float(bits) as i64).cast_unsigned(),
        (Kind::Float, Kind::Double) => f64::from(float(bits)).to_bits(),
        (Kind::Double, Kind::Int) => of_int(f64::from_bits(bits) as i32),
        (Kind::Double, Kind::Long) => (f64::from_bits(bits) as i64).cast_unsigned(),
        (Kind::Double, Kind::Float) => of_float(f64::from_bits(bits) as f32),
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
pub fn compare(kind: Kind, left: u64, right: u64, otherwise: i32) -> u64 {
    let order = match kind {
        Kind::Long => Some(left.cast_signed().cmp(&right.cast_signed())),
        Kind::Float => float(left).partial_cmp(&float(right)),
        _ => f64::from_bits(left).partial_cmp(&f64::from_bits(right)),
    };
    of_int(order.map_or(otherwise, |order| order as i32))
}

/// Whether a condition holds for two `int`s.
pub fn holds(condition: Condition, left: i32, right: i32) -> bool {
    match condition {
        Condition::Equal => left == right,
        Condition::Different => left != right,
        Condition::Less => left < right,
        Condition::NotLess => left >= right,
        Condition::Greater => left > right,
        Condition::NotGreater => left <= right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_and_shifts_use_the_lowest_bits_of_the_distance() {
        let bits = |operator, left, right| binary(operator, Kind::Int, of_int(left), of_int(right)).map(int);
        assert_eq!(bits(Arithmetic::Add, i32::MAX, 1), Some(i32::MIN));
        assert_eq!(bits(Arithmetic::Divide, i32::MIN, -1), Some(i32::MIN));
        assert_eq!(bits(Arithmetic::Remainder, -7, 3), Some(-1));
        assert_eq!(bits(Arithmetic::Divide, 1, 0), None);
        assert_eq!(bits(Arithmetic::ShiftLeft, 1, 33), Some(2));
        assert_eq!(bits(Arithmetic::ShiftRightUnsigned, -1, 28), Some(15));
        let wide = binary(Arithmetic::ShiftRight, Kind::Long, (-8_i64).cast_unsigned(), of_int(65));
        assert_eq!(wide.map(u64::cast_signed), Some(-4));
    }

    #[test]
    fn conversions_stop_at_the_bounds_and_no_number_is_zero() {
        let to_int = |value: f64| int(convert(Kind::Double, Kind::Int, value.to_bits()));
        assert_eq!((to_int(1e20), to_int(-1e20), to_int(f64::NAN), to_int(-1.9)), (i32::MAX, i32::MIN, 0, -1));
        assert_eq!(int(narrow(Narrow::Byte, of_int(200))), -56);
        assert_eq!(int(narrow(Narrow::Char, of_int(-1))), 65535);
        assert_eq!(convert(Kind::Int, Kind::Long, of_int(-5)).cast_signed(), -5);
    }

    #[test]
    fn what_is_no_number_compares_as_the_instruction_says() {
        let nan = f64::NAN.to_bits();
        assert_eq!(int(compare(Kind::Double, nan, 1.0_f64.to_bits(), -1)), -1);
        assert_eq!(int(compare(Kind::Double, 2.0_f64.to_bits(), 1.0_f64.to_bits(), -1)), 1);
        assert_eq!(int(compare(Kind::Long, 3, 3, 0)), 0);
        assert!(holds(Condition::NotGreater, 3, 3) && !holds(Condition::Less, 3, 3));
    }
}
