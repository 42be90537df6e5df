//! The limits of what a report shows of an explanation, which can be of any size.

use crate::Untrusted;

/// The maximum length of a printed value or name, in bytes.
pub const MAX_TEXT: usize = 600;

/// What has texts.
pub trait Shorten {
    /// Cuts each text at [`MAX_TEXT`], and lists that belong to one item at their maximum length.
    fn shorten(&mut self);
}

/// Shortens several fields.
pub fn shorten<const N: usize>(fields: [&mut dyn Shorten; N]) {
    fields.into_iter().for_each(Shorten::shorten);
}

impl Shorten for Untrusted {
    fn shorten(&mut self) {
        *self = self.cut(MAX_TEXT);
    }
}

impl<T: Shorten> Shorten for Option<T> {
    fn shorten(&mut self) {
        self.iter_mut().for_each(T::shorten);
    }
}

impl<T: Shorten> Shorten for Vec<T> {
    fn shorten(&mut self) {
        self.iter_mut().for_each(T::shorten);
    }
}

/// A text with a number.
impl Shorten for (Untrusted, u64) {
    fn shorten(&mut self) {
        self.0.shorten();
    }
}
