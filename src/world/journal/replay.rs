//! The state of an unfinished hunt: known results, and unfinished work.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::process::ProcessGroup;
use idd_base::Observation;

use super::JournalError;
use super::read::{RecordLocation, SegmentReader, read_at};
use super::record::{PlanRecord, Record};

/// The data of a segment that resuming needs. Outputs are read from disk when they are needed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Replay {
    /// The plan of the hunt.
    pub plan: PlanRecord,
    /// The processes that wrote the segment, in order; see [`Record::Process`].
    pub processes: Vec<ProcessGroup>,
    /// Probes without an observation, ordered by number.
    pub open_intents: Vec<OpenIntent>,
    /// The probes whose answers the search used, in that order.
    pub consumed: Vec<u64>,
    /// The number of the next probe: above every number in the segment.
    pub next_sequence: u64,
    /// Whether incremental observations were voided at some point.
    pub is_voided: bool,
    /// Whether all observations were voided, because probes disturbed each other.
    pub is_alone: bool,
    /// The last finding.
    pub finding: Option<serde_json::Value>,
    /// The status with which the hunt ended, unless it was resumed later.
    pub status: Option<String>,
    /// How many probes were completed.
    pub n_completed: u64,
    /// The name of the last set of programs, which contains all that were executed; `None` if unknown.
    pub toolset: Option<String>,
    /// See [`Record::Environment`]; `None` if it is not known.
    pub environment: Option<Vec<String>>,
    /// See [`Record::Copied`].
    pub copied: Vec<String>,
    /// The counters, see [`Record::Ran`].
    pub counts: BTreeMap<String, u64>,
    /// The time of the hunt until the end of its last probe.
    pub elapsed: Duration,
    path: PathBuf,
    observed: HashMap<(String, u32), Observed>,
}

/// A probe that was started and not completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenIntent {
    /// Its number.
    pub sequence: u64,
    /// The key of the probe, as hex.
    pub key: String,
    /// Its worktree; the content is unknown now.
    pub worktree: PathBuf,
    /// Whether it was to run in a freshly written worktree.
    pub clean: bool,
    /// The process groups that it started, which can still be alive.
    pub groups: Vec<ProcessGroup>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Observed {
    location: RecordLocation,
    is_clean: bool,
}

impl Replay {
    /// Reads the valid part of a segment.
    ///
    /// Errors: [`JournalError::NoPlan`], [`JournalError::Version`].
    pub fn read(path: &Path) -> Result<Self, JournalError> {
        let mut reader = SegmentReader::open(path, 0)?;
        let Some((_, Record::Plan(plan))) = reader.next_record()? else {
            return Err(JournalError::NoPlan { path: path.to_owned() });
        };
        let mut replay = Self { plan, path: path.to_owned(), ..Self::default() };
        let mut open = BTreeMap::new();
        while let Some((location, record)) = reader.next_record()? {
            replay.take_in(location, record, &mut open);
        }
        replay.open_intents = open.into_values().collect();
        Ok(replay)
    }

    fn take_in(&mut self, location: RecordLocation, record: Record, open: &mut BTreeMap<u64, OpenIntent>) {
        if let Record::Intent { sequence, .. } = record {
            self.next_sequence = self.next_sequence.max(sequence.saturating_add(1));
        }
        self.status = None;
        match record {
            Record::Process { pid, start_time } => self.processes.push(ProcessGroup { pid, start_time }),
            Record::Intent { sequence, key, worktree, clean, .. } => {
                open.insert(sequence, OpenIntent { sequence, key, worktree, clean, groups: Vec::new() });
            }
            Record::Started { sequence, pid, start_time } => {
                if let Some(intent) = open.get_mut(&sequence) {
                    intent.groups.push(ProcessGroup { pid, start_time });
                }
            }
            Record::Observed { sequence, key, nth, toolset, observation, .. } => {
                self.toolset = toolset.or_else(|| self.toolset.take());
                open.remove(&sequence);
                self.n_completed += 1;
                self.observed.insert((key, nth), Observed { location, is_clean: observation.is_clean });
            }
            Record::Ran { counts, elapsed, .. } => {
                self.elapsed = elapsed;
                for word in counts {
                    *self.counts.entry(word).or_default() += 1;
                }
            }
            Record::Consumed { sequence } => self.consumed.push(sequence),
            Record::Voided => self.void_incremental(),
            Record::VoidedAll => self.void_all(),
            Record::Environment { paths } => self.environment = Some(paths),
            Record::Copied { paths } => self.copied = paths,
            Record::Finding { value } => self.finding = Some(value).filter(|value| !value.is_null()),
            // What it led to is withdrawn with it.
            Record::Withdrawn => self.finding = None,
            Record::Ended { status } => self.status = Some(status),
            // The hunt's own state.
            _ => {}
        }
    }

    /// The hunt's own `nth` observation of `key` (hex), counted from 0; `None` if there is none, or it was voided.
    ///
    /// If two were recorded under one number, the later one counts.
    pub fn observation(&self, key: &str, nth: u32) -> Result<Option<Observation>, JournalError> {
        let Some(observed) = self.observed.get(&(key.to_owned(), nth)) else {
            return Ok(None);
        };
        match read_at(&self.path, observed.location)? {
            Some(Record::Observed { observation, .. }) => Ok(Some(observation)),
            _ => Ok(None),
        }
    }

    /// Whether there is an observation with this number and key (hex) that was not voided.
    pub fn holds(&self, key: &str, nth: u32) -> bool {
        self.observed.contains_key(&(key.to_owned(), nth))
    }

    /// Drops observations that were not made in a freshly written worktree.
    pub fn void_incremental(&mut self) {
        self.is_voided = true;
        self.observed.retain(|_, observed| observed.is_clean);
    }

    /// Drops all observations.
    pub fn void_all(&mut self) {
        self.is_alone = true;
        self.observed.clear();
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use crate::journal::JournalSegment;
    use idd_base::{Ending, Stage};

    use super::*;

    fn observation(code: i32, is_clean: bool) -> Observation {
        Observation {
            stage: Stage::Test,
            ending: Ending::Exit(code),
            duration: Duration::from_millis(5),
            limit: Duration::from_secs(20),
            output: format!("code {code}\n"),
            reported: String::new(),
            is_clean,
            is_tampered: false,
            place: None,
        }
    }

    fn intent(sequence: u64) -> Record {
        Record::Intent {
            sequence,
            key: format!("k{sequence}"),
            worktree: PathBuf::from("/w"),
            clean: sequence == 0,
            about: None,
        }
    }

    fn observed(sequence: u64, key: &str, nth: u32, observation: Observation) -> Record {
        Record::Observed { sequence, key: key.to_owned(), nth, product: None, toolset: None, observation }
    }

    /// The directory is returned too, because outputs are read from it later.
    fn replay(records: &[Record]) -> (TempDir, Replay) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.log");
        let mut segment =
            JournalSegment::create(&path, &PlanRecord::new(serde_json::json!({}), "d".to_owned(), 0)).unwrap();
        for record in records {
            segment.append(record).unwrap();
        }
        let replay = Replay::read(&path).unwrap();
        (directory, replay)
    }

    #[test]
    fn an_intent_without_observation_is_open_with_its_groups() {
        let (_directory, replay) = replay(&[
            Record::Process { pid: 9, start_time: 99 },
            intent(0),
            Record::Started { sequence: 0, pid: 10, start_time: 100 },
            intent(1),
            Record::Started { sequence: 1, pid: 11, start_time: 101 },
            observed(1, "k1", 0, observation(0, true)),
            Record::Started { sequence: 0, pid: 12, start_time: 102 },
            Record::Consumed { sequence: 1 },
        ]);
        let groups = vec![ProcessGroup { pid: 10, start_time: 100 }, ProcessGroup { pid: 12, start_time: 102 }];
        let expected =
            OpenIntent { sequence: 0, key: "k0".to_owned(), worktree: PathBuf::from("/w"), clean: true, groups };
        assert_eq!(replay.open_intents, [expected]);
        assert_eq!(replay.processes, [ProcessGroup { pid: 9, start_time: 99 }]);
        assert_eq!(replay.consumed, [1]);
        assert_eq!(replay.next_sequence, 2);
        assert_eq!(replay.status, None);
    }

    #[test]
    fn own_observations_are_found_by_key_and_number() {
        let (_directory, replay) = replay(&[
            observed(0, "a", 0, observation(1, false)),
            observed(1, "a", 1, observation(2, false)),
            observed(2, "b", 0, observation(3, false)),
        ]);
        assert_eq!(replay.observation("a", 1).unwrap(), Some(observation(2, false)));
        assert_eq!(replay.observation("b", 0).unwrap(), Some(observation(3, false)));
        assert_eq!(replay.observation("b", 1).unwrap(), None);
        assert_eq!(replay.n_completed, 3);
    }

    #[test]
    fn voiding_hides_incremental_observations_made_before_it() {
        let (_directory, replay) = replay(&[
            observed(0, "a", 0, observation(1, false)),
            observed(1, "b", 0, observation(2, true)),
            Record::Voided,
            observed(2, "c", 0, observation(3, false)),
        ]);
        assert_eq!(replay.observation("a", 0).unwrap(), None);
        assert_eq!(replay.observation("b", 0).unwrap(), Some(observation(2, true)));
        assert_eq!(replay.observation("c", 0).unwrap(), Some(observation(3, false)));
        assert!(replay.is_voided);
    }

    #[test]
    fn what_was_run_is_counted_over_all_runs_of_the_program() {
        let ran = |sequence, counts: &[&str], elapsed| Record::Ran {
            sequence,
            counts: counts.iter().map(|word| (*word).to_owned()).collect(),
            elapsed: Duration::from_secs(elapsed),
        };
        let (_directory, replay) = replay(&[
            ran(0, &["search"], 1),
            ran(1, &["prechecked", "reduce"], 3),
            Record::Process { pid: 9, start_time: 99 },
            ran(2, &["reduce"], 4),
        ]);
        let counts = [("prechecked", 1), ("reduce", 2), ("search", 1)];
        assert_eq!(replay.counts, counts.map(|(word, n)| (word.to_owned(), n)).into());
        assert_eq!(replay.elapsed, Duration::from_secs(4));
    }

    #[test]
    fn a_hunt_that_was_resumed_has_not_ended() {
        let ended = Record::Ended { status: "budget".to_owned() };
        assert_eq!(replay(std::slice::from_ref(&ended)).1.status.as_deref(), Some("budget"));
        assert_eq!(replay(&[ended, intent(0)]).1.status, None);
    }
}
