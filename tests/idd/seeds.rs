//! The seeds of the fuzz targets, each given to its reader: what was found once stays mended.

use std::fs;
use std::path::PathBuf;

use crate::fixture;

#[path = "../../fuzz/readers.rs"]
mod readers;

/// Reads bytes, whatever they are.
type Reader = fn(&[u8]);

/// The readers, by the names of their targets.
const READERS: [(&str, Reader); 11] = [
    ("attributes", readers::attributes),
    ("certificate", readers::certificate),
    ("class_file", readers::class_file),
    ("compile_database", readers::compile_database),
    ("journal", readers::journal),
    ("objects", readers::objects),
    ("output", readers::output),
    ("patch", readers::patch),
    ("report", readers::report),
    ("trace", readers::trace),
    ("trace_file", readers::trace_file),
];

fn seeds(target: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(fixture::root().join("fuzz/seeds").join(target)).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn every_reader_returns_from_its_seeds() {
    for (target, reader) in READERS {
        let seeds = seeds(target);
        assert!(!seeds.is_empty(), "{target}");
        for seed in seeds {
            let bytes = fs::read(&seed).unwrap();
            reader(&bytes);
            // Cut anywhere, too.
            (1..8).for_each(|eighths| reader(&bytes[..bytes.len() * eighths / 8]));
        }
    }
}

#[test]
fn every_fuzz_target_has_a_reader_and_seeds_of_bounded_size() {
    let targets = fs::read_dir(fixture::root().join("fuzz/fuzz_targets")).unwrap();
    let name = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut targets: Vec<String> = targets.map(|entry| name(entry.unwrap().path())).collect();
    targets.sort();
    assert_eq!(targets, READERS.map(|(target, _)| target));
    let sizes = targets.iter().flat_map(|target| seeds(target)).map(|seed| seed.metadata().unwrap().len());
    assert!(sizes.sum::<u64>() <= 200 << 10);
}
