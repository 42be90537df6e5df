//! The names in changed lines.

use std::collections::BTreeSet;

/// The names in some changed lines, in groups: created, dropped, declared, used (in inserted lines), unused (in deleted
/// lines).
#[derive(Debug, Clone, Default)]
pub(super) struct LineNames {
    /// Names that the lines create.
    pub(super) created: BTreeSet<Vec<u8>>,
    /// Names that are no longer defined after the change.
    pub(super) dropped: BTreeSet<Vec<u8>>,
    /// Names that are declared in the lines, on either side, outside of bodies.
    pub(super) declared: BTreeSet<Vec<u8>>,
    /// Names in the inserted lines.
    pub(super) used: BTreeSet<Vec<u8>>,
    /// Names in the deleted lines.
    pub(super) unused: BTreeSet<Vec<u8>>,
}
