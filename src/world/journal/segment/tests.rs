use std::fs;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use crate::journal::record::tests::any_record;
use crate::journal::{read, read_at};

use super::*;

fn plan() -> PlanRecord {
    PlanRecord::new(serde_json::json!({"test": "./test.sh"}), "d".to_owned(), 1)
}

fn note(text: &str) -> Record {
    Record::Ended { status: text.to_owned() }
}

/// The failure of one append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// Only this many bytes reach the disk.
    Full(usize),
    /// As `Full`, and the rest cannot be removed either.
    FullAndStuck(usize),
    /// Everything is written, but cannot be made durable.
    NoSync,
}

struct FaultyDisk {
    file: File,
    fault: Arc<Mutex<Fault>>,
}

impl Medium for FaultyDisk {
    fn write(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        match *self.fault.lock().unwrap() {
            Fault::Full(n) | Fault::FullAndStuck(n) => {
                self.file.write_all_at(&bytes[..n.min(bytes.len() - 1)], offset)?;
                Err(io::ErrorKind::StorageFull.into())
            }
            Fault::None | Fault::NoSync => self.file.write_all_at(bytes, offset),
        }
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        match *self.fault.lock().unwrap() {
            Fault::FullAndStuck(_) => Err(io::ErrorKind::Other.into()),
            _ => self.file.set_len(length),
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        match *self.fault.lock().unwrap() {
            Fault::NoSync => Err(io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }
}

fn any_fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        4 => Just(Fault::None),
        1 => (0..60_usize).prop_map(Fault::Full),
        1 => (0..60_usize).prop_map(Fault::FullAndStuck),
        1 => Just(Fault::NoSync),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn after_any_faults_reading_gives_what_was_durably_appended(
        steps in proptest::collection::vec((any_record(), any_fault()), 0..12),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.log");
        drop(JournalSegment::create(&path, &plan()).unwrap());
        let (mut segment, _) = JournalSegment::reopen(&path).unwrap();
        let file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let fault = Arc::new(Mutex::new(Fault::None));
        segment.medium = Box::new(FaultyDisk { file, fault: Arc::clone(&fault) });
        let mut expected = vec![Record::Plan(plan())];
        for (record, step_fault) in steps {
            *fault.lock().unwrap() = step_fault;
            let appended = segment.append_durable(&record);
            prop_assert_eq!(appended.is_ok(), step_fault == Fault::None);
            if appended.is_ok() {
                expected.push(record);
            }
            prop_assert_eq!(&read(&path).unwrap().records, &expected);
        }
        drop(segment);
        let (mut segment, _) = JournalSegment::reopen(&path).unwrap();
        segment.append_durable(&note("resumed")).unwrap();
        expected.push(note("resumed"));
        let read = read(&path).unwrap();
        prop_assert_eq!(read.records, expected);
        prop_assert_eq!(read.damage, None);
    }
}

#[test]
fn a_segment_cut_at_any_byte_is_reopened_and_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let whole_path = directory.path().join("whole.log");
    let mut segment = JournalSegment::create(&whole_path, &plan()).unwrap();
    let plan_bytes = whole_path.metadata().unwrap().len();
    segment.append(&note("one")).unwrap();
    segment.append_durable(&note("two")).unwrap();
    let bytes = fs::read(&whole_path).unwrap();
    let whole = read(&whole_path).unwrap().records;
    for length in 0..=bytes.len() {
        let path = directory.path().join(format!("{length}.log"));
        fs::write(&path, &bytes[..length]).unwrap();
        if (length as u64) < plan_bytes {
            assert!(matches!(JournalSegment::reopen(&path), Err(JournalError::NoPlan { .. })));
            assert_eq!(path.metadata().unwrap().len(), length as u64, "nothing is cut from what is not resumed");
            continue;
        }
        let before = read(&path).unwrap();
        let (mut segment, cut) = JournalSegment::reopen(&path).unwrap();
        let expected_cut = length as u64 - before.valid_bytes;
        assert_eq!(cut.as_ref().map_or(0, |cut| cut.bytes), expected_cut);
        if let Some(cut) = cut {
            assert_eq!(fs::read(cut.kept).unwrap(), bytes[length - usize::try_from(expected_cut).unwrap()..length]);
        }
        segment.append_durable(&note("more")).unwrap();
        let after = read(&path).unwrap();
        assert_eq!(after.damage, None);
        assert_eq!(after.records.split_last(), Some((&note("more"), &before.records[..])));
        assert_eq!(before.records, whole[..before.records.len()]);
    }
}

#[test]
fn damaged_tails_are_set_aside_under_names_of_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.log");
    drop(JournalSegment::create(&path, &plan()).unwrap());
    for n in 0..3 {
        let tail = format!("garbage {n}");
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend_from_slice(tail.as_bytes());
        fs::write(&path, bytes).unwrap();
        let (_, cut) = JournalSegment::reopen(&path).unwrap();
        let kept = directory.path().join(format!("a.log.damaged-{n}"));
        assert_eq!(cut, Some(CutTail { bytes: tail.len() as u64, kept: kept.clone() }));
        assert_eq!(fs::read_to_string(kept).unwrap(), tail);
    }
}

#[test]
fn a_second_writer_is_told_that_the_hunt_is_busy() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.log");
    let segment = JournalSegment::create(&path, &plan()).unwrap();
    let from_thread = std::thread::spawn({
        let path = path.clone();
        move || JournalSegment::reopen(&path).err()
    });
    assert!(matches!(from_thread.join().unwrap(), Some(JournalError::Busy { .. })));
    assert!(matches!(JournalSegment::create(&path, &plan()), Err(JournalError::Busy { .. })));
    drop(segment);
    assert!(matches!(JournalSegment::create(&path, &plan()), Err(JournalError::Exists { .. })));
    assert!(JournalSegment::reopen(&path).is_ok());
}

#[test]
fn a_segment_whose_writer_was_killed_before_the_plan_is_started_over() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("new").join("a.log");
    drop(JournalSegment::create(&path, &plan()).unwrap());
    let bytes = fs::read(&path).unwrap();
    for length in [0, 1, bytes.len() - 1] {
        fs::write(&path, &bytes[..length]).unwrap();
        drop(JournalSegment::create(&path, &plan()).unwrap());
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

#[test]
fn a_segment_of_another_format_is_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.log");
    let json = br#"{"plan":{"version":99}}"#;
    let bytes = [format!("{:08x} ", crc32fast::hash(json)).as_bytes(), json, b"\nrest"].concat();
    fs::write(&path, &bytes).unwrap();
    assert!(matches!(JournalSegment::reopen(&path), Err(JournalError::Version { version: 99, .. })));
    assert!(matches!(JournalSegment::create(&path, &plan()), Err(JournalError::Version { version: 99, .. })));
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn an_append_tells_where_the_record_stands() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.log");
    let mut segment = JournalSegment::create(&path, &plan()).unwrap();
    let one = segment.append(&note("one")).unwrap();
    let two = segment.append_durable(&note("two")).unwrap();
    assert_eq!(one.end(), two.offset);
    assert_eq!(read_at(&path, two).unwrap(), Some(note("two")));
}
