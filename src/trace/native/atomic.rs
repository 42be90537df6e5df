//! Atomic updates.

/// What an atomic update leaves; `None` if LLVM's name for it is not known.
pub fn updated(kind: &str, before: u64, operand: u64, size: u32) -> Option<u64> {
    let bits = 8 * size.min(8);
    let signed = |number: u64| (number << (64 - bits)).cast_signed() >> (64 - bits);
    let mask = u64::MAX >> (64 - bits);
    let (one, other) = (before & mask, operand & mask);
    Some(match kind {
        "xchg" => other,
        "add" => one.wrapping_add(other),
        "sub" => one.wrapping_sub(other),
        "and" => one & other,
        "nand" => !(one & other),
        "or" => one | other,
        "xor" => one ^ other,
        "umax" => one.max(other),
        "umin" => one.min(other),
        "max" => {
            if signed(one) >= signed(other) {
                one
            } else {
                other
            }
        }
        "min" => {
            if signed(one) <= signed(other) {
                one
            } else {
                other
            }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_are_of_as_many_bytes_as_they_say() {
        assert_eq!(updated("add", 250, 10, 1), Some(260));
        assert_eq!(updated("nand", 6, 3, 4), Some(!2));
        // As signed bytes, 255 is -1.
        assert_eq!(updated("max", 255, 3, 1), Some(3));
        assert_eq!(updated("umax", 255, 3, 1), Some(255));
        assert_eq!(updated("min", 255, 3, 1), Some(255));
        assert_eq!(updated("fadd", 1, 2, 8), None);
    }
}
