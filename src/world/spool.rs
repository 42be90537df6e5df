//! Temporary files for what is too large for memory.

use crate::system;
use idd_trace::spool::{Mapped, Spool, Store};
use memmap2::Mmap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

/// The available memory, if the system does not say how much that is.
const USUAL_MEMORY: u64 = 4 << 30;

/// Uses files in `directory` for more bytes than half of the available memory. The files have no name, and are gone when
/// the program ends.
pub fn spool(directory: &Path) -> Spool {
    let limit_bytes = usize::try_from(available_memory() / 2).unwrap_or(usize::MAX);
    with_limit(directory, limit_bytes)
}

/// Uses files in `directory` for more than `limit_bytes`.
pub fn with_limit(directory: &Path, limit_bytes: usize) -> Spool {
    let directory = directory.to_owned();
    let open = move || Ok(Box::new(Temporary(tempfile::tempfile_in(&directory)?)) as Box<dyn Store>);
    Spool { limit_bytes, open: Arc::new(open) }
}

/// Bytes of memory that can be used without making the machine slow.
fn available_memory() -> u64 {
    system::available_memory().unwrap_or(USUAL_MEMORY)
}

struct Temporary(File);

impl Store for Temporary {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    #[expect(unsafe_code, reason = "a file that changed under its map would be unsound; this one has no name")]
    fn finish(self: Box<Self>) -> io::Result<Mapped> {
        // SAFETY: no other program can open the file, and this one no longer writes to it.
        let mapped = unsafe { Mmap::map(&self.0)? };
        Ok(Arc::new(mapped))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use idd_trace::slice::{Kinds, backward, forward};
    use idd_trace::{DependenceKind, Notes, Step};

    #[test]
    fn a_graph_on_disk_has_the_same_slices_as_one_in_memory() {
        let place = tempfile::tempdir().unwrap();
        let make = |limit_bytes: usize| {
            let mut notes = Notes::new(Some(with_limit(place.path(), limit_bytes)));
            for step in 1..=300_000_u32 {
                notes.step(Step(step / 3));
                notes.uses(Step(step), Step(step / 2), DependenceKind::Data);
                notes.uses(Step(step), Step(step.saturating_sub(step % 100)), DependenceKind::Address);
                // A step that waited.
                notes.uses(Step(step.saturating_sub(step % 7)), Step(step), DependenceKind::Data);
            }
            notes.pack().unwrap()
        };
        let (memory, disk) = (make(usize::MAX), make(5));
        assert!(disk.is_on_disk() && !memory.is_on_disk());
        assert_eq!(disk.n_bytes(), memory.n_bytes());
        let kinds = Kinds { address: false, control: false, potential: false };
        let criteria = [(Step(299_999), Step(u32::MAX))];
        let slice = backward(&memory, &criteria, kinds);
        assert!(slice.len() > 10);
        assert_eq!(backward(&disk, &criteria, kinds), slice);
        assert_eq!(forward(&disk, &[Step(77)], Kinds::ALL), forward(&memory, &[Step(77)], Kinds::ALL));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "the file has no name");
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_an_error() {
        let mut notes = Notes::new(Some(with_limit(Path::new("/nonexistent"), 5)));
        (0..100).for_each(|_| notes.step(Step::START));
        assert!(notes.pack().is_err());
    }
}
