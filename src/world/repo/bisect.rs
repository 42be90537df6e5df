//! A `git bisect` that is under way in the user's worktree.

use crate::revision::ObjectId;
use crate::world::repo::locate::Location;
use crate::world::repo::refs;
use std::fs;

/// The marks of a `git bisect`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bisect {
    /// The bad revision, if one is marked.
    pub bad: Option<ObjectId>,
    /// The good revisions.
    pub goods: Vec<ObjectId>,
}

/// The marks of the `git bisect` that is under way; `None` if there is none.
///
/// Cost: looks for one file; if there is a bisection, reads another one and runs git.
pub fn under_way(location: &Location) -> Option<Bisect> {
    let directory = &location.git_directory;
    if !directory.join("BISECT_START").is_file() {
        return None;
    }
    // The user may have chosen other words, bad first.
    let terms = fs::read_to_string(directory.join("BISECT_TERMS")).unwrap_or_default();
    let mut terms = terms.lines();
    let (bad, good) = (terms.next().unwrap_or("bad"), terms.next().unwrap_or("good"));
    let mut bisect = Bisect::default();
    for (name, id) in refs::of_bisect(location) {
        if name == bad {
            bisect.bad = Some(id);
        } else if name.strip_prefix(good).is_some_and(|rest| rest.starts_with('-')) {
            bisect.goods.push(id);
        }
    }
    Some(bisect)
}
