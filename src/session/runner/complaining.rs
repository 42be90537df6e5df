//! What is known of complaints in a hunt.

use crate::revision::TreeId;
use crate::world::repo::touched::Touched;
use crate::world::run::complaints::Heard;
use crate::world::run::complaints::compiles::Compiles;
use std::collections::BTreeSet;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// What is known of complaints.
#[derive(Debug, Default)]
pub struct Complaining {
    /// What could not be checked although it changed, as sentences for the report.
    pub unchecked: BTreeSet<&'static str>,
    /// The program that stands for compilers while a build is watched; `None` for this one.
    pub program: Option<PathBuf>,
    pub(super) touched: Touched,
    /// How the build compiles, nothing if that could not be seen; `None` before it was tried.
    pub(super) compiles: Option<Arc<Compiles>>,
    pub(super) heard: HashMap<(TreeId, Files), Arc<Heard>>,
}

/// The files that are checked, relative to the top.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Files {
    pub(super) c: Vec<Vec<u8>>,
    /// How many of them, the first ones, changed themselves.
    pub(super) n_changed_c: usize,
    pub(super) java: Vec<Vec<u8>>,
    pub(super) python: Vec<Vec<u8>>,
    /// Whether there are some that only the build can say something about.
    pub(super) has_built: bool,
}

impl Files {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
