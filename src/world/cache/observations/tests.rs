use std::fs;
use std::time::Duration;

use crate::cache::{IndexPosition, SledCache};
use crate::journal::PlanRecord;
use idd_base::{Ending, Stage, TimeLimits};

use super::*;

const ANY: Want = Want { clean: false, limits: TimeLimits::both(LIMIT) };
const CLEAN: Want = Want { clean: true, limits: TimeLimits::both(LIMIT) };
const LIMIT: Duration = Duration::from_secs(20);

fn key(n: u8) -> Key {
    Key([n; 32])
}

fn observation(code: i32, is_clean: bool) -> Observation {
    Observation {
        stage: Stage::Test,
        ending: Ending::Exit(code),
        duration: Duration::from_millis(7),
        limit: LIMIT,
        output: format!("exit {code}\n"),
        reported: String::new(),
        is_clean,
        is_tampered: false,
        place: None,
    }
}

fn start(idd: &Path, hunt: &str) -> JournalSegment {
    let path = journal::segment_path(idd, hunt).unwrap();
    JournalSegment::create(&path, &PlanRecord::new(serde_json::json!({}), "d".to_owned(), 0)).unwrap()
}

fn observe(segment: &mut JournalSegment, n: u8, observation: Observation) {
    let record =
        Record::Observed { sequence: 0, key: key(n).to_string(), nth: 0, product: None, toolset: None, observation };
    segment.append_durable(&record).unwrap();
}

fn observe_product(segment: &mut JournalSegment, n: u8, product: u8, observation: Observation) {
    let product = Some(key(product).to_string());
    let key = key(n).to_string();
    let record = Record::Observed { sequence: 0, key, nth: 0, product, toolset: None, observation };
    segment.append_durable(&record).unwrap();
}

fn open(idd: &Path) -> Observations {
    let (observations, events) = Observations::open(idd).unwrap();
    assert_eq!(events, []);
    observations
}

#[track_caller]
fn check_code(observations: &mut Observations, n: u8, want: Want, expected: Option<i32>) {
    let expected = expected.map(Ending::Exit);
    assert_eq!(observations.lookup(&key(n), want).map(|observation| observation.ending), expected);
}

#[test]
fn an_observation_is_found_under_its_key_as_it_was_made() {
    let idd = tempfile::tempdir().unwrap();
    let mut segment = start(idd.path(), "a");
    let mut observations = open(idd.path());
    assert_eq!(observations.lookup(&key(1), ANY), None);
    observe(&mut segment, 1, observation(3, true));
    observations.record(&segment);
    assert_eq!(observations.lookup(&key(1), CLEAN), Some(observation(3, true)));
    assert_eq!(observations.lookup(&key(2), ANY), None);
    assert_eq!(observations.take_events(), []);
}

#[test]
fn a_clean_observation_is_preferred_and_the_last_among_equals() {
    let idd = tempfile::tempdir().unwrap();
    let (mut older, mut newer) = (start(idd.path(), "1"), start(idd.path(), "2"));
    observe(&mut newer, 1, observation(10, false));
    observe(&mut newer, 1, observation(11, false));
    observe(&mut older, 1, observation(12, false));
    let mut observations = open(idd.path());
    check_code(&mut observations, 1, ANY, Some(11));
    check_code(&mut observations, 1, CLEAN, None);
    observe(&mut older, 1, observation(13, true));
    check_code(&mut observations, 1, CLEAN, Some(13));
    check_code(&mut observations, 1, ANY, Some(13));
}

#[test]
fn an_index_that_was_stored_answers_after_it_is_opened_again() {
    let idd = tempfile::tempdir().unwrap();
    let mut segment = start(idd.path(), "a");
    for n in 0..50 {
        observe(&mut segment, n, observation(i32::from(n), true));
    }
    open(idd.path()).flush();
    observe(&mut segment, 50, observation(50, true));
    let mut observations = open(idd.path());
    for n in 0..51 {
        check_code(&mut observations, n, CLEAN, Some(i32::from(n)));
    }
}

#[test]
fn two_hunts_at_once_share_what_they_observe_although_one_has_the_index() {
    let idd = tempfile::tempdir().unwrap();
    let mut first_segment = start(idd.path(), "a");
    observe(&mut first_segment, 1, observation(1, true));
    let mut first = open(idd.path());
    let (mut second, events) = Observations::open(idd.path()).unwrap();
    assert_eq!(events, [CacheEvent::IndexBusy]);
    check_code(&mut second, 1, CLEAN, Some(1));
    observe(&mut first_segment, 2, observation(2, true));
    first.record(&first_segment);
    check_code(&mut second, 2, CLEAN, Some(2));
    let mut second_segment = start(idd.path(), "b");
    observe(&mut second_segment, 3, observation(3, true));
    second.record(&second_segment);
    check_code(&mut first, 3, CLEAN, Some(3));
    drop(first);
    let mut third = open(idd.path());
    for n in 1..4 {
        check_code(&mut third, n, CLEAN, Some(i32::from(n)));
    }
}

/// Two hunts: the first has an incremental observation with code 1 and a clean one with code 2, the second an incremental
/// one with code 3. Returns the segment of the first.
fn start_two(idd: &Path) -> JournalSegment {
    let (mut segment, mut other) = (start(idd, "a"), start(idd, "b"));
    observe(&mut segment, 1, observation(1, false));
    observe(&mut segment, 2, observation(2, true));
    observe(&mut other, 3, observation(3, false));
    segment
}

#[test]
fn voided_incremental_observations_answer_no_process_and_no_later_hunt() {
    let idd = tempfile::tempdir().unwrap();
    let mut segment = start_two(idd.path());
    let mut observations = open(idd.path());
    let (mut other, _) = Observations::open(idd.path()).unwrap();
    check_code(&mut other, 1, ANY, Some(1));
    observations.void_incremental(&mut segment).unwrap();
    observe(&mut segment, 4, observation(4, false));
    observations.flush();
    for observations in [&mut observations, &mut other] {
        check_code(observations, 1, ANY, None);
        check_code(observations, 2, ANY, Some(2));
        check_code(observations, 3, ANY, Some(3));
        check_code(observations, 4, ANY, Some(4));
    }
    drop(observations);
    let mut later = open(idd.path());
    check_code(&mut later, 1, ANY, None);
    check_code(&mut later, 4, ANY, Some(4));
}

#[test]
fn after_probes_that_disturbed_each_other_no_earlier_observation_of_the_hunt_answers() {
    let idd = tempfile::tempdir().unwrap();
    let mut segment = start_two(idd.path());
    let mut observations = open(idd.path());
    observations.void_all(&mut segment).unwrap();
    observe(&mut segment, 4, observation(4, true));
    observations.flush();
    drop(observations);
    let mut later = open(idd.path());
    for (n, expected) in [(1, None), (2, None), (3, Some(3)), (4, Some(4))] {
        check_code(&mut later, n, ANY, expected);
    }
}

/// Fills an index, calls `harm` with its directory, and checks that every answer is still right.
fn after_harm(harm: impl FnOnce(&Path)) -> Vec<CacheEvent> {
    let idd = tempfile::tempdir().unwrap();
    let mut segment = start(idd.path(), "a");
    for n in 0..20 {
        observe(&mut segment, n, observation(i32::from(n), true));
    }
    open(idd.path()).flush();
    harm(&index::directory(idd.path()));
    let (mut observations, mut events) = Observations::open(idd.path()).unwrap();
    for n in 0..20 {
        check_code(&mut observations, n, CLEAN, Some(i32::from(n)));
    }
    observe(&mut segment, 20, observation(20, true));
    check_code(&mut observations, 20, CLEAN, Some(20));
    observations.flush();
    events.extend(observations.take_events());
    events
}

#[track_caller]
fn check_rebuilt(events: &[CacheEvent], expected_reason: &str) {
    match events {
        [CacheEvent::IndexRebuilt { kept, reason }] => {
            assert!(kept.ends_with("cache.sled.damaged-0"), "{}", kept.display());
            assert!(reason.contains(expected_reason), "{reason}");
        }
        _ => panic!("{events:?}"),
    }
}

/// Overwrites a part of every file below `directory`.
fn overwrite(directory: &Path, part: impl Fn(usize) -> std::ops::Range<usize> + Copy) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            overwrite(&path, part);
            continue;
        }
        let mut bytes = fs::read(&path).unwrap();
        let part = part(bytes.len());
        for (index, byte) in bytes[part].iter_mut().enumerate() {
            *byte ^= u8::try_from(index % 251).unwrap() ^ 0x5a;
        }
        fs::write(&path, bytes).unwrap();
    }
}

#[test]
fn an_index_of_garbage_is_set_aside_and_rebuilt() {
    check_rebuilt(&after_harm(|directory| overwrite(directory, |length| 0..length)), "");
}

#[test]
fn an_index_that_is_damaged_anywhere_never_costs_an_answer() {
    for eighth in 0..8 {
        after_harm(|directory| overwrite(directory, |length| length * eighth / 8..length * (eighth + 1) / 8));
        after_harm(|directory| {
            overwrite(directory, |length| length * eighth / 64..length * eighth / 64 + length / 512);
        });
    }
}

#[test]
fn an_index_with_truncated_or_missing_files_never_costs_an_answer() {
    for name in ["db", "conf"] {
        after_harm(|directory| fs::remove_file(directory.join(name)).unwrap());
        for part in 0..4 {
            after_harm(|directory| {
                let file = fs::OpenOptions::new().write(true).open(directory.join(name)).unwrap();
                file.set_len(file.metadata().unwrap().len() * part / 4).unwrap();
            });
        }
    }
    assert_eq!(after_harm(|directory| fs::remove_dir_all(directory).unwrap()), []);
}

#[test]
fn an_index_that_is_no_directory_is_set_aside() {
    let events = after_harm(|directory| {
        fs::remove_dir_all(directory).unwrap();
        fs::write(directory, "not a directory").unwrap();
    });
    check_rebuilt(&events, "");
}

#[test]
fn an_index_of_another_format_is_set_aside_and_rebuilt() {
    let events = after_harm(|directory| {
        fs::remove_dir_all(directory).unwrap();
        SledCache::write_foreign(directory);
    });
    check_rebuilt(&events, "another format");
}

#[test]
fn an_index_that_cannot_be_stored_is_replaced_by_one_in_memory() {
    let idd = tempfile::tempdir().unwrap();
    let mut segment = start(idd.path(), "a");
    observe(&mut segment, 1, observation(1, true));
    fs::create_dir(idd.path().join("cache.lock")).unwrap();
    let (mut observations, events) = Observations::open(idd.path()).unwrap();
    assert!(matches!(&events[..], [CacheEvent::IndexLost { .. }]), "{events:?}");
    check_code(&mut observations, 1, CLEAN, Some(1));
}

/// An index that returns wrong entries, or none.
struct Liar {
    entries: Vec<CacheEntry>,
    fails: bool,
}

impl ResultCache for Liar {
    fn get(&self, _: &Key) -> Result<Vec<CacheEntry>, CacheError> {
        if self.fails {
            return Err(CacheError::Index { reason: "a page is gone".to_owned() });
        }
        Ok(self.entries.clone())
    }

    fn put(&mut self, _: &str, _: &[(Key, journal::RecordLocation)], _: IndexPosition) -> Result<(), CacheError> {
        Ok(())
    }

    fn position(&self, _: &str) -> Result<IndexPosition, CacheError> {
        Ok(IndexPosition::default())
    }

    fn hunts(&self) -> Result<Vec<String>, CacheError> {
        Ok(Vec::new())
    }

    fn flush(&self) -> Result<(), CacheError> {
        Ok(())
    }
}

#[test]
fn an_index_that_fails_in_use_is_rebuilt_and_the_query_answered() {
    let idd = tempfile::tempdir().unwrap();
    let mut segment = start(idd.path(), "a");
    observe(&mut segment, 1, observation(1, true));
    let mut observations = open(idd.path());
    observations.index.cache = Box::new(Liar { entries: Vec::new(), fails: true });
    check_code(&mut observations, 1, CLEAN, Some(1));
    check_rebuilt(&observations.take_events(), "a page is gone");
}

#[test]
fn an_entry_that_points_to_anything_else_is_no_answer() {
    let idd = tempfile::tempdir().unwrap();
    let mut segment = start(idd.path(), "a");
    observe(&mut segment, 1, observation(1, true));
    let before = segment.path().metadata().unwrap().len();
    observe(&mut segment, 2, observation(2, true));
    let length = segment.path().metadata().unwrap().len() - before;
    let mut observations = open(idd.path());
    let entry = |hunt: &str, offset, length| CacheEntry {
        hunt: hunt.to_owned(),
        location: journal::RecordLocation { offset, length },
    };
    let entries = vec![
        entry("a", before, length),
        entry("a", before + 1, length - 1),
        entry("a", 0, before),
        entry("a", u64::MAX - 1, 9),
        entry("gone", 0, 10),
        entry("../a", 0, 10),
    ];
    observations.index.cache = Box::new(Liar { entries, fails: false });
    check_code(&mut observations, 1, CLEAN, None);
    check_code(&mut observations, 2, CLEAN, Some(2));
}

#[test]
fn a_segment_that_is_shorter_than_the_index_says_is_taken_in_anew() {
    let idd = tempfile::tempdir().unwrap();
    let mut segment = start(idd.path(), "a");
    observe(&mut segment, 1, observation(1, true));
    let kept = segment.path().metadata().unwrap().len();
    observe(&mut segment, 2, observation(2, true));
    open(idd.path()).flush();
    let path = segment.path().to_owned();
    drop(segment);
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(kept).unwrap();
    let (mut segment, _) = JournalSegment::reopen(&path).unwrap();
    let mut observations = open(idd.path());
    check_code(&mut observations, 2, CLEAN, None);
    observe(&mut segment, 3, observation(3, true));
    for (n, code) in [(1, Some(1)), (2, None), (3, Some(3))] {
        check_code(&mut observations, n, CLEAN, code);
    }
}

#[test]
fn a_damaged_segment_answers_with_what_stands_before_the_damage_and_is_reported_once() {
    let idd = tempfile::tempdir().unwrap();
    let mut segment = start(idd.path(), "a");
    observe(&mut segment, 1, observation(1, true));
    let offset = segment.path().metadata().unwrap().len();
    observe(&mut segment, 2, observation(2, true));
    let path = segment.path().to_owned();
    drop(segment);
    let mut bytes = fs::read(&path).unwrap();
    bytes[usize::try_from(offset).unwrap() + 20] ^= 1;
    fs::write(&path, bytes).unwrap();
    let (mut observations, events) = Observations::open(idd.path()).unwrap();
    assert_eq!(events, [CacheEvent::SegmentDamaged { path, offset }]);
    check_code(&mut observations, 1, CLEAN, Some(1));
    check_code(&mut observations, 2, CLEAN, None);
    assert_eq!(observations.take_events(), []);
}

#[test]
fn a_segment_of_another_format_is_skipped_and_reported() {
    let idd = tempfile::tempdir().unwrap();
    drop(start(idd.path(), "a"));
    let path = journal::segment_path(idd.path(), "b").unwrap();
    let json = br#"{"plan":{"version":99}}"#;
    fs::write(&path, [format!("{:08x} ", crc32fast::hash(json)).as_bytes(), json, b"\n"].concat()).unwrap();
    let (_, events) = Observations::open(idd.path()).unwrap();
    match &events[..] {
        [CacheEvent::SegmentSkipped { path: skipped, reason }] => {
            assert_eq!(*skipped, path);
            assert!(reason.contains("format 99"), "{reason}");
        }
        _ => panic!("{events:?}"),
    }
}

#[test]
fn entries_of_removed_segments_leave_the_index() {
    let idd = tempfile::tempdir().unwrap();
    let mut segment = start(idd.path(), "a");
    let mut removed = start(idd.path(), "b");
    observe(&mut segment, 1, observation(1, true));
    observe(&mut removed, 2, observation(2, true));
    let mut observations = open(idd.path());
    fs::remove_file(removed.path()).unwrap();
    check_code(&mut observations, 2, CLEAN, None);
    observations.flush();
    drop(observations);
    let mut observations = open(idd.path());
    assert_eq!(observations.index.cache.hunts().unwrap(), ["a"]);
    check_code(&mut observations, 1, CLEAN, Some(1));
}

#[test]
fn a_product_answers_for_every_tree_until_it_answers_differently() {
    let idd = tempfile::tempdir().unwrap();
    let (mut segment, mut other) = (start(idd.path(), "a"), start(idd.path(), "b"));
    let mut observations = open(idd.path());
    let check = |observations: &mut Observations, product: u8, want: Want, expected: Option<i32>| {
        let found = observations.lookup_product(&key(product), want).map(|observation| observation.ending);
        assert_eq!(found, expected.map(Ending::Exit));
    };
    check(&mut observations, 8, ANY, None);
    observe_product(&mut segment, 1, 8, observation(3, false));
    check(&mut observations, 8, ANY, Some(3));
    check(&mut observations, 8, CLEAN, None);
    // The tree from which it was made has its usual answer.
    check_code(&mut observations, 1, ANY, Some(3));
    observe_product(&mut other, 2, 8, observation(3, true));
    check(&mut observations, 8, CLEAN, Some(3));
    // Even a run whose limit fits no query shows that the test is not steady.
    let cut = Observation { ending: Ending::Timeout, limit: Duration::from_secs(1), ..observation(0, false) };
    observe_product(&mut other, 3, 8, cut);
    check(&mut observations, 8, ANY, None);
    check(&mut observations, 9, ANY, None);
}

#[test]
fn a_product_of_a_void_observation_does_not_answer() {
    let idd = tempfile::tempdir().unwrap();
    let mut segment = start(idd.path(), "a");
    let mut observations = open(idd.path());
    observe_product(&mut segment, 1, 8, observation(3, false));
    observations.void_incremental(&mut segment).unwrap();
    assert_eq!(observations.lookup_product(&key(8), ANY), None);
    observe_product(&mut segment, 2, 8, observation(3, true));
    assert!(observations.lookup_product(&key(8), ANY).is_some());
}
