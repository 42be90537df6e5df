//! Finds the files that a probe may have changed.
//!
//! Every file is examined, by all processors. After a probe that changed nothing, almost nothing is left to do one by
//! one.

use std::collections::HashSet;
use std::os::fd::{AsFd as _, BorrowedFd};

use rayon::iter::{IndexedParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _};

use crate::processors;
use crate::repo::files;
use crate::repo::stat::{Directory, TrackedEntry};

/// The number of entries for one thread.
const FEW: usize = 512;

/// The paths of files that may have changed, of directories whose names may have changed, and of all directories above
/// them.
///
/// A path is in the result if its `lstat` differs or fails, or if it was written after `last_ctime_ns`, the last clock
/// tick that is known to have passed when the probe began: a later change may not be visible. Nothing is changed here.
///
/// Cost: one `lstat` for each file, one `open` for each directory, over all processors.
pub fn attention(root: BorrowedFd<'_>, written: &Directory, last_ctime_ns: i128) -> HashSet<Vec<u8>> {
    let pool = processors::pool().filter(|_| written.totals.n_entries >= FEW);
    let look = AttentionLook { last_ctime_ns, is_shared: pool.is_some() };
    let looked = match pool {
        Some(pool) => pool.install(|| look.directory(root, &[], written)),
        None => look.directory(root, &[], written),
    };
    let mut found = HashSet::new();
    for mut path in looked {
        while found.insert(path.clone()) && !path.is_empty() {
            path.truncate(path.iter().rposition(|byte| *byte == b'/').unwrap_or(0));
        }
    }
    found
}

#[derive(Clone, Copy)]
struct AttentionLook {
    last_ctime_ns: i128,
    /// Whether it shares the work with other threads.
    is_shared: bool,
}

impl AttentionLook {
    /// Examines a directory, and the entries below it.
    fn directory(self, handle: BorrowedFd<'_>, path: &[u8], written: &Directory) -> Vec<Vec<u8>> {
        let is_known = files::look_at(handle)
            .is_ok_and(|looks| written.settled == Some(looks) && looks.ctime_ns < self.last_ctime_ns);
        let mut found = if !self.is_shared || written.totals.n_entries < FEW {
            written.entries.iter().flat_map(|(name, node)| self.entry(handle, path, name, node)).collect()
        } else {
            let entries: Vec<_> = written.entries.iter().collect();
            let looked = entries.par_iter().with_min_len(FEW.min(entries.len() / 8));
            looked.flat_map_iter(|(name, node)| self.entry(handle, path, name, node)).collect::<Vec<_>>()
        };
        if !is_known {
            found.push(path.to_vec());
        }
        found
    }

    fn entry(self, parent: BorrowedFd<'_>, path: &[u8], name: &[u8], node: &TrackedEntry) -> Vec<Vec<u8>> {
        let whole = || [path, if path.is_empty() { b"" } else { b"/" }, name].concat();
        match node {
            TrackedEntry::File(record)
                if record.stat.ctime_ns < self.last_ctime_ns
                    && files::look(parent, name).is_ok_and(|found| found == Some(record.stat)) =>
            {
                Vec::new()
            }
            TrackedEntry::Directory(below) => match files::open_as_it_is(parent, name) {
                Ok(handle) => self.directory(handle.as_fd(), &whole(), below),
                Err(_) => all_below(whole(), below),
            },
            TrackedEntry::File(_) | TrackedEntry::Submodule(_) => vec![whole()],
        }
    }
}

/// There is another entry at `path`, or none: everything below has changed.
fn all_below(path: Vec<u8>, written: &Directory) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for (name, node) in &written.entries {
        let path = [&path[..], b"/", name].concat();
        match node {
            TrackedEntry::Directory(below) => found.extend(all_below(path, below)),
            TrackedEntry::File(_) | TrackedEntry::Submodule(_) => found.push(path),
        }
    }
    found.push(path);
    found
}
