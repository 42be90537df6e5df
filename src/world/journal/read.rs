//! Reads segments, also while another process writes them.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::line::{DamageKind, MAX_LINE_BYTES};
use super::record::{FORMAT_VERSION, Record};
use super::{JournalError, line};

/// The place of a record in its segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordLocation {
    /// Its first byte, from 0.
    pub offset: u64,
    /// Its length in bytes, LF included.
    pub length: u64,
}

impl RecordLocation {
    /// The offset after the record.
    pub fn end(self) -> u64 {
        self.offset.saturating_add(self.length)
    }
}

/// The end of the valid part of a segment, if there is more in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    /// The first byte of the first line that is not a record, from 0.
    pub offset: u64,
    /// The damage of that line. A reader also sees `Torn` while the line is being written.
    pub kind: DamageKind,
}

/// All of a segment, see [`read()`].
#[derive(Debug, Clone, PartialEq)]
pub struct ReadSegment {
    /// The records before the damage, in the order written; the first is the plan.
    pub records: Vec<Record>,
    /// Their size in bytes.
    pub valid_bytes: u64,
    /// The damage after them, if they do not reach the end of the file.
    pub damage: Option<Damage>,
}

/// Reads a whole segment up to the first damaged line.
///
/// All outputs are in memory: use [`SegmentReader`] and [`super::Replay`] for segments of any size.
pub fn read(path: &Path) -> Result<ReadSegment, JournalError> {
    let mut reader = SegmentReader::open(path, 0)?;
    let mut records = Vec::new();
    while let Some((_, record)) = reader.next_record()? {
        records.push(record);
    }
    Ok(ReadSegment { records, valid_bytes: reader.offset(), damage: reader.damage() })
}

/// Reads the record at `location`; `None` if there is no file or no intact record.
pub fn read_at(path: &Path, location: RecordLocation) -> Result<Option<Record>, JournalError> {
    let Some(length) = usize::try_from(location.length).ok().filter(|_| location.length <= MAX_LINE_BYTES) else {
        return Ok(None);
    };
    let mut bytes = vec![0; length];
    match File::open(path).and_then(|file| file.read_exact_at(&mut bytes, location.offset)) {
        Ok(()) => {}
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof) => {
            return Ok(None);
        }
        Err(error) => return Err(JournalError::io("read the journal", path)(error)),
    }
    Ok(bytes.strip_suffix(b"\n").and_then(|line| line::decode(line).ok()))
}

/// Reads a segment record by record.
#[derive(Debug)]
pub struct SegmentReader {
    path: PathBuf,
    input: BufReader<File>,
    offset: u64,
    damage: Option<Damage>,
}

impl SegmentReader {
    /// Opens the segment at `offset`, which is 0 or the end of a record read earlier.
    pub fn open(path: &Path, offset: u64) -> Result<Self, JournalError> {
        let mut file = File::open(path).map_err(JournalError::io("open the journal", path))?;
        file.seek(SeekFrom::Start(offset)).map_err(JournalError::io("read the journal", path))?;
        Ok(Self { path: path.to_owned(), input: BufReader::new(file), offset, damage: None })
    }

    /// The next record, or `None` at the end of the file or at damage.
    ///
    /// Errors: [`JournalError::Version`] at the first record of a segment in another format.
    pub fn next_record(&mut self) -> Result<Option<(RecordLocation, Record)>, JournalError> {
        if self.damage.is_some() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let length = (&mut self.input)
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut bytes)
            .map_err(JournalError::io("read the journal", &self.path))? as u64;
        let Some(line) = bytes.strip_suffix(b"\n") else {
            let kind = if length == MAX_LINE_BYTES { DamageKind::Checksum } else { DamageKind::Torn };
            self.damage = (length > 0).then_some(Damage { offset: self.offset, kind });
            return Ok(None);
        };
        match self.decode(line)? {
            Ok(record) => {
                let location = RecordLocation { offset: self.offset, length };
                self.offset = location.end();
                Ok(Some((location, record)))
            }
            Err(kind) => {
                self.damage = Some(Damage { offset: self.offset, kind });
                Ok(None)
            }
        }
    }

    fn decode(&self, line: &[u8]) -> Result<Result<Record, DamageKind>, JournalError> {
        let is_first = self.offset == 0;
        let decoded = line::decode(line);
        if is_first
            && let Some(version) = line::plan_version(line)
            && version != FORMAT_VERSION
        {
            return Err(JournalError::Version { path: self.path.clone(), version });
        }
        Ok(decoded.and_then(|record| match record {
            Record::Plan(_) if is_first => Ok(record),
            Record::Plan(_) => Err(DamageKind::Format),
            _ if is_first => Err(DamageKind::Format),
            _ => Ok(record),
        }))
    }

    /// The end of the last record that was read, in bytes from the start of the file.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The damage that stopped the reader.
    pub fn damage(&self) -> Option<Damage> {
        self.damage
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::journal::PlanRecord;

    fn plan() -> Record {
        Record::Plan(PlanRecord::new(serde_json::json!({}), "d".to_owned(), 0))
    }

    fn note(text: &str) -> Record {
        Record::Ended { status: text.to_owned() }
    }

    fn bytes_of(records: &[Record]) -> Vec<u8> {
        records.iter().flat_map(line::encode).collect()
    }

    fn n_lines(bytes: &[u8]) -> usize {
        bytes.split(|byte| *byte == b'\n').count() - 1
    }

    #[track_caller]
    fn check(bytes: &[u8], expected_records: &[Record], expected_kind: Option<DamageKind>) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.log");
        fs::write(&path, bytes).unwrap();
        let read = read(&path).unwrap();
        assert_eq!(read.records, expected_records);
        assert_eq!(read.valid_bytes, bytes_of(expected_records).len() as u64);
        assert_eq!(read.damage.map(|damage| damage.kind), expected_kind);
        assert!(read.damage.is_none_or(|damage| damage.offset == read.valid_bytes));
    }

    #[test]
    fn a_segment_cut_at_any_byte_gives_the_records_before_the_cut() {
        let records = [plan(), note("one"), note("two\n"), Record::Consumed { sequence: 1 }];
        let bytes = bytes_of(&records);
        for length in 0..=bytes.len() {
            let n_complete = n_lines(&bytes[..length]);
            let is_torn = length > 0 && bytes[length - 1] != b'\n';
            check(&bytes[..length], &records[..n_complete], is_torn.then_some(DamageKind::Torn));
        }
    }

    #[test]
    fn a_flipped_bit_hides_its_line_and_what_follows_but_nothing_before() {
        let records = [plan(), note("one"), note("two")];
        let bytes = bytes_of(&records);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.log");
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, damaged).unwrap();
            let n_before = n_lines(&bytes[..bit / 8]);
            let read = read(&path).unwrap();
            assert_eq!(read.records, records[..n_before], "bit {bit}");
            assert!(read.damage.is_some(), "bit {bit}");
        }
    }

    #[test]
    fn a_plan_stands_first_and_only_first() {
        check(&bytes_of(&[note("one")]), &[], Some(DamageKind::Format));
        check(&bytes_of(&[plan(), note("one"), plan()]), &[plan(), note("one")], Some(DamageKind::Format));
    }

    #[test]
    fn a_segment_of_another_format_is_an_error_and_not_damage() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.log");
        let json = br#"{"plan":{"version":99,"other":"fields"}}"#;
        fs::write(&path, [format!("{:08x} ", crc32fast::hash(json)).as_bytes(), json, b"\n"].concat()).unwrap();
        assert!(matches!(read(&path), Err(JournalError::Version { version: 99, .. })));
    }

    #[test]
    fn a_record_is_read_at_its_location_and_nowhere_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.log");
        fs::write(&path, bytes_of(&[plan(), note("one")])).unwrap();
        let offset = line::encode(&plan()).len() as u64;
        let length = line::encode(&note("one")).len() as u64;
        assert_eq!(read_at(&path, RecordLocation { offset, length }).unwrap(), Some(note("one")));
        for (offset, length) in [(offset + 1, length), (offset, length - 1), (offset, length + 1), (0, u64::MAX)] {
            assert_eq!(read_at(&path, RecordLocation { offset, length }).unwrap(), None);
        }
        assert_eq!(read_at(&directory.path().join("b.log"), RecordLocation { offset, length }).unwrap(), None);
    }
}
