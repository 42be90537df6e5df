//! A `git bisect` that is under way in the user's worktree.

use crate::repo::{Location, graph, private, refs};
use idd_base::{CommitId, ObjectId};
use std::fs;

/// The marks of a `git bisect`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bisect {
    /// The bad revision, if one is marked.
    pub bad: Option<ObjectId>,
    /// The good revisions.
    pub goods: Vec<ObjectId>,
    /// The names of marks that stand for no commit of the repository, such as `refs/bisect/bad`; those of skipped
    /// revisions do not matter.
    pub broken: Vec<String>,
}

/// The marks of the `git bisect` that is under way; `None` if there is none.
///
/// Cost: looks for one file; if there is a bisection, reads another one, lists a directory, runs git and reads commits.
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
    let is_good = |name: &str| name.strip_prefix(good).is_some_and(|rest| rest.starts_with('-'));
    let known = refs::of_bisect(location);
    let user = private::open(directory).ok();
    for (name, id) in &known {
        let is_there = user.as_ref().is_none_or(|user| graph::revision_of(user, CommitId(*id)).is_ok());
        if !is_there && (name == bad || is_good(name)) {
            bisect.broken.push(format!("refs/bisect/{name}"));
        } else if name == bad {
            bisect.bad = Some(*id);
        } else if is_good(name) {
            bisect.goods.push(*id);
        }
    }
    // git leaves out a ref whose file has no id.
    let files = fs::read_dir(directory.join("refs/bisect")).into_iter().flatten().flatten();
    let names = files.filter_map(|entry| entry.file_name().into_string().ok());
    let is_lost = |name: &String| (name == bad || is_good(name)) && known.iter().all(|(known, _)| known != name);
    bisect.broken.extend(names.filter(is_lost).map(|name| format!("refs/bisect/{name}")));
    bisect.broken.sort();
    Some(bisect)
}
