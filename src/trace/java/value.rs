//! Values on the stack, in locals and in objects.

use crate::Step;

/// A value and where it comes from. The second slot of a `long` or `double` holds nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JavaValue {
    /// Its bits: an `int` or `float` has 32 of them, a reference is the number of its object.
    pub bits: u64,
    /// The step that put it where it is; [`Step::START`] if it was there before the run.
    pub maker: Step,
    /// Whether the bits are known. Those of a new object before its constructor has run only say which one it is.
    pub is_known: bool,
}

impl JavaValue {
    /// A value that is not known.
    pub const UNKNOWN: Self = Self { bits: 0, maker: Step::START, is_known: false };

    /// A known value.
    pub fn of(bits: u64, maker: Step) -> Self {
        Self { bits, maker, is_known: true }
    }

    /// As an `int`, if it is known.
    pub fn int(self) -> Option<i32> {
        #[expect(clippy::cast_possible_truncation, reason = "an int has the lower 32 bits")]
        let bits = self.bits as u32;
        self.is_known.then_some(bits.cast_signed())
    }

    /// As the number of an object, if it is known; 0 is `null`.
    pub fn object(self) -> Option<u32> {
        self.is_known.then(|| u32::try_from(self.bits).unwrap_or(0))
    }
}

/// The bits of an `int`.
pub fn of_int(value: i32) -> u64 {
    u64::from(value.cast_unsigned())
}
