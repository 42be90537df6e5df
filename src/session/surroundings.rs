//! Where the commands of recordings and measurements see their checkout, and what of the user's files they see there.

use crate::Context;
use idd_world::place::ProbePlace;
use idd_world::place::surroundings::Surroundings;
use idd_world::place::untracked::untracked;
use idd_world::repo::Location;
use std::path::Path;
use std::sync::Arc;

/// The surroundings of checkouts below `root`, which exists.
///
/// - `environment`: the paths that a hunt found the test to need. Those that git does not ignore are part of its trees.
pub fn surroundings(location: &Location, context: &Context, root: &Path, environment: &[Vec<u8>]) -> Surroundings {
    let place = ProbePlace::try_out(location, root, &context.environment).ok().map(Arc::new);
    let is_needed = |path: &[u8]| environment.iter().any(|needed| needed == path);
    let candidates = if environment.is_empty() {
        Vec::new()
    } else {
        untracked(location, &context.environment, &|path| !is_needed(path)).candidates
    };
    let shown = candidates.iter().filter_map(|candidate| candidate.shown().cloned()).collect();
    Surroundings { place, shown, ..Surroundings::default() }
}
