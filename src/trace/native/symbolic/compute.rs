//! Operations of LLVM as terms.

use std::cmp::Ordering;

use crate::instrument::types::Type;
use crate::instrument::{BinaryOp, CastOp, FloatPredicate, Predicate};
use crate::logic::term::{BinaryTerm, TermId, Terms, mask};

/// The bits of a type that a term can have.
pub fn width(ty: &Type) -> Option<u32> {
    match ty {
        Type::Int(n_bits) if *n_bits <= 64 => Some(*n_bits),
        Type::Ptr | Type::Double => Some(64),
        Type::Float => Some(32),
        _ => None,
    }
}

/// An operation with integers; `None` if terms do not have it, or not cheaply.
pub fn binary(terms: &mut Terms, op: BinaryOp, first: TermId, second: TermId) -> Option<TermId> {
    let is_constant = terms.constant_of(second).is_some();
    let is_any = is_constant || terms.constant_of(first).is_some();
    let op = match op {
        BinaryOp::Add => BinaryTerm::Add,
        BinaryOp::Sub => BinaryTerm::Sub,
        BinaryOp::Mul if is_any => BinaryTerm::Mul,
        BinaryOp::UDiv if is_constant => BinaryTerm::UDiv,
        BinaryOp::SDiv if is_constant => BinaryTerm::SDiv,
        BinaryOp::URem if is_constant => BinaryTerm::URem,
        BinaryOp::SRem if is_constant => BinaryTerm::SRem,
        BinaryOp::Shl if is_constant => BinaryTerm::Shl,
        BinaryOp::LShr if is_constant => BinaryTerm::LShr,
        BinaryOp::AShr if is_constant => BinaryTerm::AShr,
        BinaryOp::And => BinaryTerm::And,
        BinaryOp::Or => BinaryTerm::Or,
        BinaryOp::Xor => BinaryTerm::Xor,
        _ => return None,
    };
    let is_division = matches!(op, BinaryTerm::UDiv | BinaryTerm::SDiv | BinaryTerm::URem | BinaryTerm::SRem);
    if is_division {
        let divisor = terms.constant_of(second)?;
        let width = terms.width(second);
        if divisor == 0 || (divisor == mask(width) && matches!(op, BinaryTerm::SDiv | BinaryTerm::SRem)) {
            return None;
        }
        if width > 32 && !divisor.is_power_of_two() {
            return None;
        }
    }
    Some(terms.binary(op, first, second))
}

/// What an operation that may not overflow promises; `None` for operations of which it costs too much to say.
pub fn no_signed_wrap(terms: &mut Terms, op: BinaryOp, first: TermId, second: TermId) -> Option<TermId> {
    let width = terms.width(first);
    let is_negative = |terms: &mut Terms, term: TermId| terms.extract(term, width - 1, 1);
    match op {
        BinaryOp::Add | BinaryOp::Sub => {
            let wide = if op == BinaryOp::Add { BinaryTerm::Add } else { BinaryTerm::Sub };
            let result = terms.binary(wide, first, second);
            let signs = [first, second, result].map(|term| is_negative(terms, term));
            // Overflow: the operands (the second one negated for a difference) have one sign, and the result the other.
            let other = if op == BinaryOp::Add { signs[1] } else { terms.not(signs[1]) };
            let differs = terms.binary(BinaryTerm::Xor, signs[0], other);
            let same = terms.binary(BinaryTerm::Eq, signs[0], signs[2]);
            Some(terms.binary(BinaryTerm::Or, differs, same))
        }
        BinaryOp::Mul if width <= 32 => {
            let (one, other) = (terms.sign_extend(first, 2 * width), terms.sign_extend(second, 2 * width));
            let product = terms.binary(BinaryTerm::Mul, one, other);
            let narrow = terms.extract(product, 0, width);
            let again = terms.sign_extend(narrow, 2 * width);
            Some(terms.binary(BinaryTerm::Eq, product, again))
        }
        _ => None,
    }
}

/// A comparison of integers or pointers.
pub fn compare(terms: &mut Terms, predicate: Predicate, first: TermId, second: TermId) -> Option<TermId> {
    Some(match predicate {
        Predicate::Eq => terms.binary(BinaryTerm::Eq, first, second),
        Predicate::Ne => {
            let is_equal = terms.binary(BinaryTerm::Eq, first, second);
            terms.not(is_equal)
        }
        Predicate::Ult => terms.binary(BinaryTerm::Ult, first, second),
        Predicate::Ule => terms.binary(BinaryTerm::Ule, first, second),
        Predicate::Ugt => terms.binary(BinaryTerm::Ult, second, first),
        Predicate::Uge => terms.binary(BinaryTerm::Ule, second, first),
        Predicate::Slt => terms.binary(BinaryTerm::Slt, first, second),
        Predicate::Sle => terms.binary(BinaryTerm::Sle, first, second),
        Predicate::Sgt => terms.binary(BinaryTerm::Slt, second, first),
        Predicate::Sge => terms.binary(BinaryTerm::Sle, second, first),
        Predicate::Float(_) => return None,
    })
}

/// A conversion between integers and pointers.
pub fn cast(terms: &mut Terms, op: CastOp, operand: TermId, width: u32) -> Option<TermId> {
    let from = terms.width(operand);
    match op {
        CastOp::ZExt if from <= width => Some(terms.zero_extend(operand, width)),
        CastOp::SExt if from <= width => Some(terms.sign_extend(operand, width)),
        CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Trunc | CastOp::BitCast if from >= width => {
            Some(terms.extract(operand, 0, width))
        }
        CastOp::PtrToInt | CastOp::IntToPtr => Some(terms.zero_extend(operand, width)),
        _ => None,
    }
}

/// An operation that terms do not have, on numbers. The types are those of the operands.
pub fn binary_bits(op: BinaryOp, ty: &Type, first: u64, second: u64) -> Option<u64> {
    let float = |op: fn(f64, f64) -> f64| match ty {
        Type::Double => Some(op(f64::from_bits(first), f64::from_bits(second)).to_bits()),
        Type::Float => {
            let [first, second] = [first, second].map(single);
            // The double of a result of two singles is rounded to that of the single: no bit is lost before.
            #[expect(clippy::cast_possible_truncation, reason = "that is what the operation does")]
            let result = op(f64::from(first), f64::from(second)) as f32;
            Some(u64::from(result.to_bits()))
        }
        _ => None,
    };
    match op {
        BinaryOp::FAdd => float(|one, other| one + other),
        BinaryOp::FSub => float(|one, other| one - other),
        BinaryOp::FMul => float(|one, other| one * other),
        BinaryOp::FDiv => float(|one, other| one / other),
        BinaryOp::FRem => float(|one, other| one % other),
        _ => {
            let width = width(ty)?;
            let plain = match op {
                BinaryOp::Mul => BinaryTerm::Mul,
                BinaryOp::UDiv => BinaryTerm::UDiv,
                BinaryOp::SDiv => BinaryTerm::SDiv,
                BinaryOp::URem => BinaryTerm::URem,
                BinaryOp::SRem => BinaryTerm::SRem,
                BinaryOp::Shl => BinaryTerm::Shl,
                BinaryOp::LShr => BinaryTerm::LShr,
                BinaryOp::AShr => BinaryTerm::AShr,
                _ => return None,
            };
            Some(crate::logic::evaluate::apply_binary(plain, first, second, width))
        }
    }
}

fn single(bits: u64) -> f32 {
    f32::from_bits(u32::try_from(bits & 0xffff_ffff).unwrap_or(0))
}

fn float(ty: &Type, bits: u64) -> Option<f64> {
    match ty {
        Type::Double => Some(f64::from_bits(bits)),
        Type::Float => Some(f64::from(single(bits))),
        _ => None,
    }
}

/// A comparison of floating-point numbers.
pub fn compare_floats(predicate: FloatPredicate, ty: &Type, first: u64, second: u64) -> Option<bool> {
    let order = float(ty, first)?.partial_cmp(&float(ty, second)?);
    let is_unordered = order.is_none();
    let [is_equal, is_less, is_greater] =
        [Ordering::Equal, Ordering::Less, Ordering::Greater].map(|wanted| order == Some(wanted));
    Some(match predicate {
        FloatPredicate::False => false,
        FloatPredicate::Oeq => is_equal,
        FloatPredicate::Ogt => is_greater,
        FloatPredicate::Oge => is_greater || is_equal,
        FloatPredicate::Olt => is_less,
        FloatPredicate::Ole => is_less || is_equal,
        FloatPredicate::One => is_less || is_greater,
        FloatPredicate::Ord => !is_unordered,
        FloatPredicate::Ueq => is_unordered || is_equal,
        FloatPredicate::Ugt => is_unordered || is_greater,
        FloatPredicate::Uge => !is_less,
        FloatPredicate::Ult => is_unordered || is_less,
        FloatPredicate::Ule => !is_greater,
        FloatPredicate::Une => !is_equal,
        FloatPredicate::Uno => is_unordered,
        FloatPredicate::True => true,
    })
}

/// A conversion of a floating-point number, or to one.
pub fn cast_bits(op: CastOp, from: &Type, to: &Type, bits: u64) -> Option<u64> {
    let to_float = |number: f64| match to {
        Type::Double => Some(number.to_bits()),
        #[expect(clippy::cast_possible_truncation, reason = "that is what the conversion does")]
        Type::Float => Some(u64::from((number as f32).to_bits())),
        _ => None,
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "that is what the conversions do"
    )]
    match op {
        CastOp::FpTrunc | CastOp::FpExt => to_float(float(from, bits)?),
        CastOp::FpToSi => Some((float(from, bits)? as i64).cast_unsigned() & mask(width(to)?)),
        CastOp::FpToUi => Some(float(from, bits)? as u64 & mask(width(to)?)),
        CastOp::SiToFp => {
            let number = crate::logic::evaluate::signed(bits, width(from)?);
            match to {
                Type::Float => Some(u64::from((number as f32).to_bits())),
                _ => to_float(number as f64),
            }
        }
        CastOp::UiToFp => match to {
            Type::Float => Some(u64::from((bits as f32).to_bits())),
            _ => to_float(bits as f64),
        },
        _ => None,
    }
}

/// What a function of the compiler gives that computes with numbers, such as `llvm.fmuladd.f64`; `None` for others.
///
/// - `ty`: the type of the operands.
pub fn intrinsic_bits(name: &str, ty: &Type, operands: &[u64]) -> Option<u64> {
    let is_named = |start: &str| name.strip_prefix("llvm.").is_some_and(|rest| rest.starts_with(start));
    let numbers: Vec<f64> = operands.iter().map(|bits| float(ty, *bits)).collect::<Option<_>>()?;
    let number = match numbers[..] {
        // Without a fused instruction, which no option of the recorder asks for.
        [one, two, three] if is_named("fmuladd.") => match ty {
            Type::Float => {
                let product = binary_bits(BinaryOp::FMul, ty, operands[0], operands[1])?;
                return binary_bits(BinaryOp::FAdd, ty, product, operands[2]);
            }
            _ => one * two + three,
        },
        [one, two, three] if is_named("fma.") && matches!(ty, Type::Double) => one.mul_add(two, three),
        [one] if is_named("fabs.") => one.abs(),
        [one] if is_named("sqrt.") => one.sqrt(),
        [one] if is_named("floor.") => one.floor(),
        [one] if is_named("ceil.") => one.ceil(),
        [one] if is_named("trunc.") => one.trunc(),
        [one] if is_named("round.") => one.round(),
        [one] if is_named("rint.") || is_named("nearbyint.") => one.round_ties_even(),
        [one, two] if is_named("copysign.") => one.copysign(two),
        _ => return None,
    };
    match ty {
        #[expect(clippy::cast_possible_truncation, reason = "these functions of singles give singles")]
        Type::Float => Some(u64::from((number as f32).to_bits())),
        _ => Some(number.to_bits()),
    }
}

/// The bits of a constant that is written as a floating-point number.
pub fn constant_bits(text: &str, ty: &Type) -> Option<u64> {
    let text = text.trim();
    let number = match text.strip_prefix("0x") {
        Some(digits) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            f64::from_bits(u64::from_str_radix(digits, 16).ok()?)
        }
        Some(_) => return None,
        None if text == "zeroinitializer" => 0.0,
        None => text.parse().ok()?,
    };
    match ty {
        Type::Double => Some(number.to_bits()),
        #[expect(clippy::cast_possible_truncation, reason = "the text is that of a double with the value of a single")]
        Type::Float => Some(u64::from((number as f32).to_bits())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_compiler_compute_with_numbers() {
        let of = |name: &str, operands: &[f64]| {
            let bits: Vec<u64> = operands.iter().map(|number| number.to_bits()).collect();
            intrinsic_bits(name, &Type::Double, &bits).map(f64::from_bits)
        };
        assert_eq!(of("llvm.fmuladd.f64", &[2.0, 3.0, 4.0]), Some(10.0));
        assert_eq!(of("llvm.fabs.f64", &[-1.5]), Some(1.5));
        assert_eq!(of("llvm.floor.f64", &[-1.5]), Some(-2.0));
        assert_eq!(of("llvm.rint.f64", &[2.5]), Some(2.0));
        assert_eq!(of("llvm.copysign.f64", &[3.0, -0.0]), Some(-3.0));
        assert_eq!(of("llvm.sin.f64", &[1.0]), None);
        assert_eq!(of("llvm.fmuladd.f64", &[2.0]), None, "too few operands");
        let single = |number: f32| u64::from(number.to_bits());
        // In single precision, the product is rounded before the sum.
        let (factor, sum) = (1.000_000_1_f32, -1.000_000_2_f32);
        let found = intrinsic_bits("llvm.fmuladd.f32", &Type::Float, &[single(factor), single(factor), single(sum)]);
        assert_eq!(found, Some(single(factor * factor + sum)));
        assert_eq!(intrinsic_bits("llvm.fabs.i32", &Type::Int(32), &[1]), None, "no number of this kind");
    }
}
