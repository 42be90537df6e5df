//! A world in memory for tests of the engines: trees of small files, and a runner that computes the outcome of each
//! tree.

use crate::drive::{ProbeRunner, RunnerReply};
use crate::{Artifacts, Event, HistoryWalk, HuntWishes, Phase, Probe};
use idd_base::{CommitId, HuntStage, Outcome, Sought, TreeId};
use idd_change::reduce::Reducer;
use idd_change::trees::{Favor, Merged, Rung, Trees, TreesError};
use idd_change::{ChangeSet, EntryContent, EntryMode, FilePair, FileSide, Level, Subset};
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;
use std::rc::Rc;

/// Path -> content of one tree.
pub type Files = BTreeMap<Vec<u8>, Vec<u8>>;

/// Trees by content id, all in memory.
#[derive(Default)]
pub struct MemoryTrees {
    trees: RefCell<HashMap<TreeId, Files>>,
    /// A file that every change set deletes and adds again, as a division that is not the shortest does with lines.
    pub rewritten: Option<Vec<u8>>,
}

impl MemoryTrees {
    /// Stores a tree.
    pub fn add(&self, files: Files) -> TreeId {
        let mut digest = Sha256::new();
        for (path, content) in &files {
            digest.update((path.len() as u64).to_le_bytes());
            digest.update(path);
            digest.update((content.len() as u64).to_le_bytes());
            digest.update(content);
        }
        let id = TreeId::sha1(digest.finalize()[..20].try_into().unwrap());
        self.trees.borrow_mut().insert(id, files);
        id
    }

    /// A stored tree.
    pub fn files(&self, id: TreeId) -> Files {
        self.trees.borrow()[&id].clone()
    }
}

fn side(path: &[u8], content: &[u8]) -> FileSide {
    FileSide { path: path.to_vec(), mode: EntryMode::Regular, content: EntryContent::Bytes(content.into()) }
}

/// Merges line by line if no side adds or removes lines; otherwise by hunks.
///
/// A merge by hunks (git's, diffy's) reports a conflict for edits of adjacent lines. The files here are lists of facts:
/// with such a merge, repairs would not fit, and the tests would cover less.
fn merge_file(base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    if base == theirs || ours == theirs {
        return Some(ours.to_vec());
    }
    if base == ours {
        return Some(theirs.to_vec());
    }
    let lines = |text: &[u8]| text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let (base, ours, theirs) = (lines(base), lines(ours), lines(theirs));
    if base.len() != ours.len() || base.len() != theirs.len() {
        return diffy::merge_bytes(&base.concat(), &ours.concat(), &theirs.concat()).ok();
    }
    let mut merged = Vec::new();
    for ((base, ours), theirs) in base.iter().zip(&ours).zip(&theirs) {
        let line = if base == theirs || ours == theirs {
            ours
        } else if base == ours {
            theirs
        } else {
            return None;
        };
        merged.extend_from_slice(line);
    }
    Some(merged)
}

impl Trees for MemoryTrees {
    fn change_set(&self, older: TreeId, newer: TreeId) -> Result<Rc<ChangeSet>, TreesError> {
        let (older, newer) = (self.files(older), self.files(newer));
        let paths: BTreeSet<&Vec<u8>> = older.keys().chain(newer.keys()).collect();
        let pairs = paths.into_iter().filter(|path| older.get(*path) != newer.get(*path)).map(|path| FilePair {
            older: older.get(path).map(|content| side(path, content)),
            newer: newer.get(path).map(|content| side(path, content)),
        });
        let rewritten = self.rewritten.iter().flat_map(|path| {
            let gone = FilePair { older: older.get(path).map(|content| side(path, content)), newer: None };
            let back = FilePair { older: None, newer: newer.get(path).map(|content| side(path, content)) };
            [gone, back]
        });
        Ok(Rc::new(ChangeSet::new(pairs.chain(rewritten).collect())))
    }

    fn compose(&self, set: &ChangeSet, older: TreeId, subset: &Subset) -> Result<Option<TreeId>, TreesError> {
        let Ok(edits) = set.render(subset) else { return Ok(None) };
        let mut files = self.files(older);
        for edit in edits {
            match edit.result {
                Some((_, EntryContent::Bytes(bytes))) => files.insert(edit.path, bytes.to_vec()),
                Some((_, EntryContent::Submodule(_))) | None => files.remove(&edit.path),
            };
        }
        Ok(Some(self.add(files)))
    }

    fn merge(&self, base: TreeId, ours: TreeId, patched: TreeId, _: Favor) -> Result<Merged, TreesError> {
        let (base, ours, theirs) = (self.files(base), self.files(ours), self.files(patched));
        let paths: BTreeSet<&Vec<u8>> = base.keys().chain(ours.keys()).chain(theirs.keys()).collect();
        let mut merged = Files::new();
        for path in paths {
            let (base, ours, theirs) = (base.get(path), ours.get(path), theirs.get(path));
            let content = match (base, ours, theirs) {
                (Some(base), Some(ours), Some(theirs)) => merge_file(base, ours, theirs),
                (base, ours, theirs) if base == theirs || ours == theirs => {
                    let Some(ours) = ours else { continue };
                    Some(ours.clone())
                }
                (base, ours, theirs) if base == ours => {
                    let Some(theirs) = theirs else { continue };
                    Some(theirs.clone())
                }
                _ => None,
            };
            let Some(content) = content else { return Ok(Merged::Conflict) };
            merged.insert(path.clone(), content);
        }
        Ok(Merged::Clean(self.add(merged), Rung::Merge))
    }

    fn view(&self, tree: TreeId) -> Result<TreeId, TreesError> {
        Ok(tree)
    }

    fn differ_in_scope(&self, _: TreeId, _: TreeId) -> Result<bool, TreesError> {
        Ok(true)
    }

    fn released(&self, _: TreeId) -> Result<Option<TreeId>, TreesError> {
        Ok(None)
    }
}

/// A runner that computes the outcome of a tree.
pub struct Oracle<'t, J> {
    trees: &'t MemoryTrees,
    judge: J,
    width: usize,
    n_asked: usize,
    /// Whether there is a new warning for a tree.
    pub complains: Option<fn(&Files) -> bool>,
    /// Used probes in order, each tree of a phase once: the probes that a cache would not have answered.
    pub used: Vec<(Phase, TreeId)>,
}

impl<'t, J: Fn(&Files) -> Outcome> Oracle<'t, J> {
    /// Takes up to `width` probes at once, and answers sometimes one, sometimes several, sometimes one out of turn.
    pub fn new(trees: &'t MemoryTrees, judge: J, width: usize) -> Self {
        Self { trees, judge, width, n_asked: 0, complains: None, used: Vec::new() }
    }

    /// Number of different trees that were probed in a phase.
    pub fn n_used(&self, phase: Phase) -> usize {
        self.used.iter().filter(|(used, _)| *used == phase).map(|(_, tree)| tree).collect::<BTreeSet<_>>().len()
    }
}

impl<J: Fn(&Files) -> Outcome> ProbeRunner for Oracle<'_, J> {
    type Error = Infallible;

    fn width(&self) -> usize {
        self.width
    }

    fn answer(&mut self, probes: &[Probe]) -> Result<RunnerReply, Infallible> {
        assert!(!probes.is_empty() && probes.len() <= self.width);
        self.n_asked += 1;
        let answer = |probe: &Probe| {
            let files = self.trees.files(probe.tree);
            match (probe.question.is_of_test(), self.complains) {
                (false, Some(complains)) if complains(&files) => Outcome::Fail,
                (false, _) => Outcome::Pass,
                (true, _) => (self.judge)(&files),
            }
        };
        if let [_, .., last] = probes
            && self.n_asked.is_multiple_of(3)
        {
            return Ok(RunnerReply::Overheard(vec![(*last, answer(last))]));
        }
        let n_answered = 1 + self.n_asked % probes.len();
        Ok(RunnerReply::Outcomes(probes[..n_answered].iter().map(answer).collect()))
    }

    fn used(&mut self, probes: &[Probe], _: &[Outcome]) -> Result<(), Infallible> {
        self.used.extend(probes.iter().map(|probe| (probe.phase, probe.tree)));
        Ok(())
    }

    fn tell(&mut self, _: &[Event]) {}
}

/// The order of a plain hunt: all stages, no special wishes.
pub fn order(bad: CommitId, goods: Vec<CommitId>) -> HuntWishes {
    HuntWishes {
        artifacts: Artifacts::Unused,
        sought: Sought::Failure,
        bad,
        goods,
        target: bad,
        walk: HistoryWalk::Auto,
        first_parent: false,
        bounds_repairs: true,
        reducer: Reducer::Hierarchical,
        level: Level::Line,
        is_retried: false,
        is_audited: false,
        until: HuntStage::Fix,
        port: true,
        check_vacuous: true,
        may_release: true,
        may_widen: true,
        is_clean: false,
        has_precheck: false,
        asks_complaints: false,
        has_suite: false,
        covered: crate::own_tests::Covered::Unknown,
        runnable: crate::own_tests::RunnableFiles::default(),
        could_ask_suite: false,
        known: Vec::new(),
        noisy: None,
    }
}
