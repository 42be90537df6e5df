//! Garbage collection of old segments.

use std::fs::{Metadata, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use crate::journal::{ExplanationKind, FileLock, JournalError, Replay};
use crate::{journal, tools};

use super::{CacheError, Observations};

/// The limits of garbage collection. It removes only hunts that have ended and that no process has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeepLimits {
    /// Segments (and damaged files that were set aside) that were not written for longer than this are removed.
    pub max_age: Duration,
    /// While the segments take more than this, the one that was not written for the longest time is removed.
    pub max_bytes: u64,
}

/// What garbage collection removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Freed {
    /// Bytes of segments and of files that had been set aside.
    pub bytes: u64,
    /// Number of segments.
    pub segments: usize,
}

struct GcCandidate {
    path: PathBuf,
    age: Duration,
    bytes: u64,
}

pub(super) fn collect(idd_directory: &Path, keep: &KeepLimits, now: SystemTime) -> Result<Freed, CacheError> {
    let mut freed = Freed::default();
    let mut candidates = Vec::new();
    for (_, path) in journal::segments(idd_directory)? {
        if let Some(metadata) = metadata(&path)? {
            candidates.push(GcCandidate { age: age(&metadata, now), bytes: metadata.len(), path });
        }
    }
    candidates.sort_by(|one, other| other.age.cmp(&one.age).then_with(|| one.path.cmp(&other.path)));
    let mut n_bytes: u64 = candidates.iter().map(|candidate| candidate.bytes).sum();
    for candidate in candidates {
        if (candidate.age > keep.max_age || n_bytes > keep.max_bytes) && remove_ended(&candidate.path)? {
            freed.bytes += remove_explanations(&candidate.path)?;
            n_bytes -= candidate.bytes;
            freed.bytes += candidate.bytes;
            freed.segments += 1;
        }
    }
    let now_unused = |path: &Path| {
        metadata(path).is_ok_and(|metadata| metadata.is_some_and(|metadata| age(&metadata, now) > keep.max_age))
    };
    for toolset in list(&tools::directory(idd_directory))?.into_iter().filter(|path| now_unused(path)) {
        freed.bytes += metadata(&toolset)?.map_or(0, |metadata| metadata.len());
        fs::remove_file(&toolset).map_err(CacheError::io("remove", &toolset))?;
    }
    for directory in [idd_directory.to_owned(), journal::segments_directory(idd_directory)] {
        freed.bytes += remove_set_aside(&directory, keep.max_age, now)?;
    }
    if freed.segments > 0 {
        // Entries without a segment make `open` rebuild the index. Events belong to the next hunt.
        Observations::open(idd_directory)?.0.flush();
    }
    Ok(freed)
}

/// Removes the segment if its hunt has ended and no process has it open; returns whether it did.
fn remove_ended(path: &Path) -> Result<bool, CacheError> {
    let file = match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(CacheError::io("open the journal", path)(error)),
    };
    // The lock is held until the file is removed, so that no process resumes the hunt.
    let Some(_lock) = FileLock::try_new(file).map_err(CacheError::io("lock the journal", path))? else {
        return Ok(false);
    };
    match Replay::read(path) {
        Ok(replay) if replay.status.is_some() => {
            fs::remove_file(path).map_err(CacheError::io("remove the journal", path))?;
            Ok(true)
        }
        Ok(_) | Err(JournalError::NoPlan { .. } | JournalError::Version { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Removes the files beside a segment that have its explanations; returns their size.
fn remove_explanations(segment: &Path) -> Result<u64, CacheError> {
    let mut n_bytes = 0;
    for path in ExplanationKind::ALL.map(|kind| journal::explanation_of(segment, kind)) {
        if let Some(metadata) = metadata(&path)? {
            fs::remove_file(&path).map_err(CacheError::io("remove", &path))?;
            n_bytes += metadata.len();
        }
    }
    Ok(n_bytes)
}

/// Removes files and directories `*.damaged-<n>` that are older than `max_age`; returns their size.
fn remove_set_aside(directory: &Path, max_age: Duration, now: SystemTime) -> Result<u64, CacheError> {
    let mut n_bytes = 0;
    for path in list(directory)? {
        let is_set_aside = path
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.rsplit_once(".damaged-").is_some_and(|(_, n)| n.parse::<u32>().is_ok()));
        if !is_set_aside {
            continue;
        }
        let Some(metadata) = metadata(&path)? else { continue };
        if age(&metadata, now) > max_age {
            n_bytes += size(&path, &metadata)?;
            let removed = if metadata.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(CacheError::io("remove", &path))?;
        }
    }
    Ok(n_bytes)
}

fn size(path: &Path, metadata: &Metadata) -> Result<u64, CacheError> {
    if !metadata.is_dir() {
        return Ok(metadata.len());
    }
    let mut n_bytes = 0;
    for path in list(path)? {
        if let Some(metadata) = self::metadata(&path)? {
            n_bytes += size(&path, &metadata)?;
        }
    }
    Ok(n_bytes)
}

fn list(directory: &Path) -> Result<Vec<PathBuf>, CacheError> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(CacheError::io("list", directory)(error)),
    };
    let paths: io::Result<Vec<PathBuf>> = entries.map(|entry| Ok(entry?.path())).collect();
    paths.map_err(CacheError::io("list", directory))
}

/// `None` if the file was removed in the meantime.
fn metadata(path: &Path) -> Result<Option<Metadata>, CacheError> {
    match path.symlink_metadata() {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CacheError::io("examine", path)(error)),
    }
}

/// The time since it was written; zero if that is in the future.
fn age(metadata: &Metadata, now: SystemTime) -> Duration {
    metadata.modified().ok().and_then(|modified| now.duration_since(modified).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::journal::{JournalSegment, PlanRecord, Record};

    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn start(idd: &Path, hunt: &str, age_days: u32, has_ended: bool) -> (JournalSegment, u64) {
        let path = journal::segment_path(idd, hunt).unwrap();
        let plan = PlanRecord::new(serde_json::json!({}), "d".to_owned(), 0);
        let mut segment = JournalSegment::create(&path, &plan).unwrap();
        if has_ended {
            segment.append_durable(&Record::Ended { status: "found".to_owned() }).unwrap();
        }
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.set_modified(now() - DAY * age_days).unwrap();
        (segment, path.metadata().unwrap().len())
    }

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + DAY * 20_000
    }

    fn hunts(idd: &Path) -> Vec<String> {
        journal::segments(idd).unwrap().into_iter().map(|(hunt, _)| hunt).collect()
    }

    #[test]
    fn old_segments_of_ended_hunts_are_removed_and_no_others() {
        let directory = tempfile::tempdir().unwrap();
        let idd = directory.path();
        let (ended, bytes) = start(idd, "ended", 31, true);
        drop(ended);
        drop(start(idd, "recent", 29, true));
        let n_kept = 5 * ExplanationKind::ALL.len() as u64;
        for hunt in ["ended", "recent"] {
            let segment = journal::segment_path(idd, hunt).unwrap();
            for kind in ExplanationKind::ALL {
                fs::write(journal::explanation_of(&segment, kind), "12345").unwrap();
            }
        }
        drop(start(idd, "resumable", 99, false));
        let (_running, _) = start(idd, "running", 99, true);
        let keep = KeepLimits { max_age: DAY * 30, max_bytes: u64::MAX };
        assert_eq!(Observations::gc(idd, &keep, now()).unwrap(), Freed { bytes: bytes + n_kept, segments: 1 });
        assert_eq!(hunts(idd), ["recent", "resumable", "running"]);
        for kind in ExplanationKind::ALL {
            let explanation = |hunt: &str| journal::explanation_of(&journal::segment_path(idd, hunt).unwrap(), kind);
            assert!(!explanation("ended").exists() && explanation("recent").exists());
        }
    }

    #[test]
    fn the_oldest_segments_go_until_the_rest_is_small_enough() {
        let directory = tempfile::tempdir().unwrap();
        let idd = directory.path();
        let mut n_bytes = 0;
        for (hunt, age_days) in [("b", 3), ("a", 1), ("c", 2)] {
            n_bytes = start(idd, hunt, age_days, true).1;
        }
        let keep = KeepLimits { max_age: DAY * 30, max_bytes: 2 * n_bytes };
        assert_eq!(Observations::gc(idd, &keep, now()).unwrap(), Freed { bytes: n_bytes, segments: 1 });
        assert_eq!(hunts(idd), ["a", "c"]);
        assert_eq!(Observations::gc(idd, &keep, now()).unwrap(), Freed::default());
    }

    #[test]
    fn what_was_set_aside_goes_with_its_age() {
        let directory = tempfile::tempdir().unwrap();
        let idd = directory.path();
        fs::create_dir_all(idd.join("cache.sled.damaged-0").join("blobs")).unwrap();
        fs::write(idd.join("cache.sled.damaged-0").join("db"), "12345").unwrap();
        fs::create_dir(idd.join("segments")).unwrap();
        fs::write(idd.join("segments").join("a.log.damaged-12"), "123").unwrap();
        fs::write(idd.join("segments").join("a.log.damaged-x"), "123").unwrap();
        let keep = KeepLimits { max_age: DAY, max_bytes: 0 };
        assert_eq!(Observations::gc(idd, &keep, SystemTime::now()).unwrap(), Freed::default());
        let freed = Observations::gc(idd, &keep, SystemTime::now() + 2 * DAY).unwrap();
        assert_eq!(freed, Freed { bytes: 8, segments: 0 });
        assert!(idd.join("segments").join("a.log.damaged-x").exists());
        assert!(!idd.join("cache.sled.damaged-0").exists());
    }

    #[test]
    fn nothing_to_remove_is_not_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let keep = KeepLimits { max_age: DAY, max_bytes: 0 };
        assert_eq!(Observations::gc(directory.path(), &keep, now()).unwrap(), Freed::default());
    }
}
