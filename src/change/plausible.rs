//! Predicts, without a compiler, which subsets can compile.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::file::EntryContent;
use crate::set::ChangeSet;
use crate::subset::Subset;

/// The maximum number of stored answers; then all are dropped.
const MAX_REMEMBERED: usize = 100_000;

/// The answers so far: by file and digest of the units that are applied there.
#[derive(Debug, Clone, Default)]
pub(super) struct Plausible {
    known: RefCell<HashMap<(usize, u64), bool>>,
}

impl ChangeSet {
    /// Whether a closed subset can be expected to compile.
    ///
    /// False only if some file has more syntax errors than on either side. It costs no probe, but parses each file that
    /// equals neither side, once for each choice of its units.
    pub fn is_plausible(&self, subset: &Subset) -> bool {
        (0..self.files().len()).all(|file| self.is_file_plausible(file, subset))
    }

    fn is_file_plausible(&self, file: usize, subset: &Subset) -> bool {
        let Some(check) = self.text(file).check else { return true };
        let span = self.units_of(file);
        let mut hasher = DefaultHasher::new();
        let mut n_taken = 0;
        for unit in subset.within(&span) {
            unit.hash(&mut hasher);
            n_taken += 1;
        }
        if n_taken == 0 || n_taken == span.len() {
            return true;
        }
        let key = (file, hasher.finish());
        if let Some(known) = self.plausible().known.borrow().get(&key) {
            return *known;
        }
        let is_plausible = match self.applied(file, subset).map(|side| side.content) {
            Some(EntryContent::Bytes(text)) => {
                check.language.n_errors(&text).is_none_or(|n_errors| n_errors <= check.max_errors)
            }
            _ => true,
        };
        let mut known = self.plausible().known.borrow_mut();
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        known.insert(key, is_plausible);
        is_plausible
    }
}
