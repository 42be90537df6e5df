//! What a hunt learns beside the outcomes of its test.

use crate::hunt::probe::Ends;
use crate::outcome::Observation;
use crate::revision::TreeId;
use crate::world::run::exact::Exact;
use crate::world::run::exact::Exactness;
use std::collections::BTreeSet;
use std::collections::HashMap;
use std::sync::Arc;

/// What was learned beside the outcomes of the test.
#[derive(Debug, Default)]
pub struct Beside {
    /// The exact failures of changes, by their ends.
    pub(super) exact: HashMap<Ends, Option<Arc<Exact>>>,
    /// The loosest level at which failures were compared in a reduction.
    pub exactness: Option<Exactness>,
    /// Whether the test was seen to print nothing in failing that it does not print in passing.
    pub is_mute: bool,
    /// What the suite showed, by tree and whether it was run in a fresh worktree.
    pub(super) suites: HashMap<(TreeId, bool), Observation>,
    /// What compiler or interpreter complain of anew, by tree.
    pub complaints: HashMap<TreeId, Vec<String>>,
    /// Lines of the suite that a tree added to all that it was compared with.
    pub suite_lines: HashMap<TreeId, Vec<String>>,
    /// What was said of revisions where the suite cannot be asked.
    pub silent_suites: BTreeSet<String>,
    /// What was said of borders between revisions that can be tested and those that cannot.
    pub borders: Vec<String>,
    /// Failure lines other than the hunted one that were told already.
    pub(super) told_lines: BTreeSet<String>,
}
