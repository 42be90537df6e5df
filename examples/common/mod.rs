//! A line of revisions whose trees hold their positions, and the order of a hunt for the commit in it.

use idd_base::{CommitId, HuntStage, ObjectId, Revision, TreeId};
use idd_change::reduce::Reducer;
use idd_change::trees::{Favor, Merged, Rung, Trees, TreesError};
use idd_change::{ChangeSet, EntryContent, EntryMode, FilePair, FileSide, Level, Subset};
use idd_hunt::{Artifacts, History, HistoryWalk, HuntWishes};
use std::collections::HashSet;
use std::rc::Rc;

/// The object of a position, 0 for the oldest; objects are ordered as their positions are.
pub fn id(position: usize) -> ObjectId {
    let mut bytes = [1; 20];
    bytes[..8].copy_from_slice(&(position as u64).to_be_bytes());
    ObjectId::Sha1(bytes)
}

/// The position of a revision.
pub fn position(id: CommitId) -> usize {
    id.0.as_bytes()[..8].iter().fold(0, |position, byte| 256 * position + usize::from(*byte))
}

/// Trees of one file that holds the position of the revision.
pub struct Numbers;

impl Trees for Numbers {
    fn change_set(&self, older: TreeId, newer: TreeId) -> Result<Rc<ChangeSet>, TreesError> {
        let side = |tree: TreeId| {
            let text = format!("{tree}\n").into_bytes();
            Some(FileSide {
                path: b"number".to_vec(),
                mode: EntryMode::Regular,
                content: EntryContent::Bytes(text.into()),
            })
        };
        Ok(Rc::new(ChangeSet::new(vec![FilePair { older: side(older), newer: side(newer) }])))
    }

    fn compose(&self, _: &ChangeSet, _: TreeId, _: &Subset) -> Result<Option<TreeId>, TreesError> {
        Ok(None)
    }

    fn merge(&self, _: TreeId, ours: TreeId, _: TreeId, _: Favor) -> Result<Merged, TreesError> {
        Ok(Merged::Clean(ours, Rung::Merge))
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

/// A line of this many revisions and one more, with the newest in front.
pub fn history(n_revisions: usize) -> History {
    let revisions = (0..=n_revisions).rev().map(|position| Revision {
        id: CommitId(id(position)),
        parents: if position == 0 { Vec::new() } else { vec![CommitId(id(position - 1))] },
        tree: TreeId(id(position)),
        author: "a".to_owned(),
        author_time: (0, 0),
        commit_time: 86_400 * i64::try_from(position).unwrap_or_default(),
        subject: String::new(),
    });
    History::new(revisions.collect::<Vec<_>>(), HashSet::new())
}

/// A hunt for the first commit of a line that fails.
///
/// - `is_bounded`: whether the oldest revision is given as good.
pub fn order(n_revisions: usize, is_bounded: bool) -> HuntWishes {
    let bad = CommitId(id(n_revisions));
    HuntWishes {
        sought: idd_base::Sought::Failure,
        bad,
        artifacts: Artifacts::Unused,
        goods: if is_bounded { vec![CommitId(id(0))] } else { Vec::new() },
        target: bad,
        walk: HistoryWalk::Auto,
        first_parent: false,
        reducer: Reducer::Hierarchical,
        level: Level::Line,
        is_retried: false,
        is_audited: false,
        until: HuntStage::Commit,
        port: false,
        check_vacuous: false,
        may_release: false,
        may_widen: false,
        is_clean: false,
        has_precheck: false,
        asks_complaints: false,
        has_suite: false,
        covered: idd_hunt::own_tests::Covered::Unknown,
        runnable: idd_hunt::own_tests::RunnableFiles::default(),
        could_ask_suite: false,
        known: Vec::new(),
        noisy: None,
        bounds_repairs: false,
    }
}
