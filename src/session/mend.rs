//! Damaged data in the git directory.

use crate::{Failure, Talk};
use idd_base::count;
use idd_world::repo::{Location, private};
use idd_world::tidy::{SetAside, tidy};
use std::collections::BTreeSet;
use std::path::Path;

/// Sets aside damaged data of the program in the git directory, and reports it.
///
/// - `uses_store`: whether the caller needs the objects of the private repository.
///
/// Cost: lists all directories below `idd/`.
pub fn mend(location: &Location, uses_store: bool, talk: &mut dyn Talk) -> Result<(), Failure> {
    let idd = location.idd_directory();
    for directory in BTreeSet::from([&idd, &location.session_directory()]) {
        for SetAside { path, what, kept } in tidy(directory)? {
            let (path, kept) = (path.display(), kept.display());
            talk.say(&format!("`{path}` was {what}; it is set aside as `{kept}`."));
        }
    }
    if uses_store && let Some(said) = clear_store(&idd) {
        talk.say(&said);
    }
    Ok(())
}

/// Removes damaged candidates; returns a message if there were any.
pub fn clear_store(idd_directory: &Path) -> Option<String> {
    let n_removed = private::clear(idd_directory);
    (n_removed > 0)
        .then(|| format!("Removed {} that will be made again.", count(n_removed, "damaged candidate object")))
}
