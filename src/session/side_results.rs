//! Results of a hunt other than the outcomes of its test.

use crate::plan::Plan;
use crate::suite::with_files;
use idd_base::{CommitId, Observation, TreeId};
use idd_hunt::ChangeEnds;
use idd_world::run::exact::{Exact, Exactness};
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;

/// Results other than the outcomes of the test.
#[derive(Debug, Default)]
pub struct SideResults {
    /// The exact failures of changes, by their ends.
    pub(super) exact: HashMap<ChangeEnds, Option<Arc<Exact>>>,
    /// The loosest level at which failures were compared in a reduction.
    pub exactness: Option<Exactness>,
    /// Whether the failing test prints no line that the passing one does not print.
    pub is_mute: bool,
    /// The runs of the suite, by tree and whether the run was in a fresh worktree.
    pub(super) suites: HashMap<(TreeId, bool), Observation>,
    /// The tests of the culprit that the suite runs, too, if the user has named no suite.
    pub(super) own_tests: Vec<Vec<u8>>,
    /// New warnings of compiler or interpreter, by tree.
    pub complaints: HashMap<TreeId, Vec<String>>,
    /// Lines of the suite that only this tree has, compared with its baseline.
    pub suite_lines: HashMap<TreeId, Vec<String>>,
    /// Messages about revisions where the suite cannot be used.
    pub silent_suites: BTreeSet<String>,
    /// Borders between revisions that can be tested and those that cannot, one for each reason.
    pub borders: Vec<Border>,
    /// Failure lines other than the hunted one that were already reported.
    pub(super) told_lines: BTreeSet<String>,
}

impl SideResults {
    /// The suite runs these tests, too, from now on.
    pub(super) fn ask_with(&mut self, own_tests: &[Vec<u8>]) {
        if self.own_tests != own_tests {
            self.own_tests = own_tests.to_vec();
            self.suites.clear();
        }
    }

    /// The shell line of the suite.
    pub fn suite_line(&self, plan: &Plan) -> Option<OsString> {
        match &self.own_tests[..] {
            [] => plan.suite.clone(),
            own => with_files(&plan.order.command, own, &plan.commands.directory),
        }
    }

    /// The run of the suite in a fresh checkout of this tree.
    pub fn suite(&self, tree: TreeId) -> Option<&Observation> {
        self.suites.get(&(tree, true))
    }
}

/// Where revisions that can be tested begin, after others.
#[derive(Debug)]
pub struct Border {
    /// The first revisions of those that can be tested.
    pub firsts: Vec<CommitId>,
    /// Why the revisions before them cannot be, as the end of a sentence.
    pub why: String,
}

impl fmt::Display for Border {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let firsts: Vec<String> = self.firsts.iter().map(CommitId::short).collect();
        let firsts = match &firsts[..] {
            [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
            firsts => firsts.concat(),
        };
        write!(formatter, "Revisions right before {firsts} {}.", self.why)
    }
}
