//! The time that the workers of several jobs have taken together: a line for each probe, in a file of a directory that the
//! jobs share.

use crate::files;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The name of the file.
const NAME: &str = "cost";

/// A line has some five bytes, and a night has not a million probes.
const MAX_BYTES: u64 = 16 << 20;

/// The cost of all jobs with one directory.
#[derive(Debug)]
pub struct SharedCost {
    file: PathBuf,
    total: Duration,
}

impl SharedCost {
    /// That of the jobs with this directory.
    pub fn new(directory: &Path) -> Self {
        let file = directory.join(NAME);
        let total = total(&file).unwrap_or_default();
        Self { file, total }
    }

    /// Adds what a probe took, and reads what others have added.
    ///
    /// Errors: the file cannot be read or written.
    pub fn add(&mut self, cost: Duration) -> io::Result<()> {
        self.total = total(&self.file)?.saturating_add(cost);
        files::append(&self.file, format!("{}\n", cost.as_millis()).as_bytes())
    }

    /// The cost as it was last read.
    pub fn total(&self) -> Duration {
        self.total
    }
}

/// The sum of the lines of a file, in milliseconds; zero if there is none. What is no number counts nothing.
fn total(file: &Path) -> io::Result<Duration> {
    let bytes = files::plain_up_to(file, MAX_BYTES)?.unwrap_or_default();
    let numbers = bytes.split(|byte| *byte == b'\n').filter_map(|line| str::from_utf8(line).ok()?.parse::<u64>().ok());
    Ok(Duration::from_millis(numbers.fold(0, u64::saturating_add)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_see_what_others_have_added() {
        let directory = tempfile::tempdir().unwrap();
        let mut first = SharedCost::new(directory.path());
        let mut second = SharedCost::new(directory.path());
        first.add(Duration::from_millis(1500)).unwrap();
        second.add(Duration::from_millis(20)).unwrap();
        assert_eq!(second.total(), Duration::from_millis(1520));
        assert_eq!(first.total(), Duration::from_millis(1500));
        std::fs::write(directory.path().join(NAME), "7\n-1\nx\n18446744073709551615\n9").unwrap();
        assert_eq!(SharedCost::new(directory.path()).total(), Duration::from_millis(u64::MAX));
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_an_error() {
        let mut cost = SharedCost::new(Path::new("/dev/null/absent"));
        assert!(cost.add(Duration::from_secs(1)).is_err());
    }
}
