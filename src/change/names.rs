//! What changed lines do with names.

use std::collections::BTreeSet;

/// The names in some changed lines, by what happens to them there.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    /// Names that the lines bring into being.
    pub(super) created: BTreeSet<Vec<u8>>,
    /// Names that cease to be defined with them.
    pub(super) dropped: BTreeSet<Vec<u8>>,
    /// Names that are declared in them, on either side, outside of bodies.
    pub(super) declared: BTreeSet<Vec<u8>>,
    /// Names in the lines that are inserted.
    pub(super) used: BTreeSet<Vec<u8>>,
    /// Names in the lines that are deleted.
    pub(super) unused: BTreeSet<Vec<u8>>,
}
