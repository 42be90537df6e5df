//! The state of the checks for new warnings.

use idd_base::TreeId;
use idd_world::repo::touched::TouchedIncludes;
use idd_world::run::complaints::TreeComplaints;
use idd_world::run::complaints::compiles::Compiles;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

/// The state of the checks for new warnings.
#[derive(Debug, Default)]
pub struct Complaining {
    /// Changed files that could not be checked, as sentences for the report.
    pub unchecked: BTreeSet<&'static str>,
    /// The program that replaces compilers while a build is watched; `None` for this one.
    pub program: Option<PathBuf>,
    pub(super) touched: TouchedIncludes,
    /// How the build compiles, empty if that could not be seen; `None` before the first attempt.
    pub(super) compiles: Option<Arc<Compiles>>,
    pub(super) heard: HashMap<(TreeId, CheckedFiles), Arc<TreeComplaints>>,
}

/// The files that are checked, relative to the top.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct CheckedFiles {
    pub(super) c: Vec<Vec<u8>>,
    /// The number of changed files; they come first.
    pub(super) n_changed_c: usize,
    pub(super) java: Vec<Vec<u8>>,
    pub(super) python: Vec<Vec<u8>>,
    /// Whether there are files that only the build can check.
    pub(super) has_built: bool,
}

impl Complaining {
    /// Whether a compiler or an interpreter has checked anything.
    pub fn has_checked(&self) -> bool {
        !self.heard.is_empty()
    }
}

impl CheckedFiles {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
