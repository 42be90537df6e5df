//! The map of a unit: what is kept of it so that a trace can be read.
//!
//! It is the text that the compiler printed, before it was rewritten, and the numbers that its segments were given. Everything else (instructions, types, names, what a record
//! holds) is read from that text again by the code that read it for the rewriting, function by function when it is asked for. Therefore:
//! **[`VERSION`] changes whenever [`segment`](crate::instrument::segment) cuts or records anything differently**, and a map of another version is refused.
//!
//! On disk, all numbers little-endian:
//!
//! ```text
//! 8  "IDDMAP" and the version in two digits
//! 4  number of the unit
//! 4  how long its segments are: 0 or 1, see Grain
//! 4  number of its first segment
//! 4  number of functions that the text defines; for each
//!     4  how many segments it has
//! 8  length of the text
//! 8  length of what follows
//! .. the text, as zstd has it
//! 4  CRC-32 of everything before
//! ```

use std::io::Read as _;
use std::sync::Arc;

use thiserror::Error;

use crate::instrument::module::Module;
use crate::instrument::rewrite::piece;
use crate::instrument::{Function, SegmentGrain, Segments, Unsupported};

/// The version of the form, and of the rules by which segments are cut.
pub const VERSION: u32 = 4;

/// A text longer than this is taken for damage.
const MAX_TEXT: u64 = 4 << 30;

/// Why a map cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MapError {
    /// The program has to be recorded again.
    #[error("the map was written by another version of git-idd")]
    Version,
    /// It was cut short or changed.
    #[error("the map is damaged ({0})")]
    Damaged(&'static str),
    /// The text is not what it was when it was rewritten.
    #[error("the map is damaged")]
    Text(#[from] Unsupported),
}

/// Writes the map of a unit whose segments begin at `first`.
pub fn write(unit: u32, first: u32, grain: SegmentGrain, n_segments: &[u32], text: &str) -> Vec<u8> {
    let mut bytes = format!("IDDMAP{VERSION:02}").into_bytes();
    let mut number = |number: u32| bytes.extend(number.to_le_bytes());
    number(unit);
    number(grain as u32);
    number(first);
    number(u32::try_from(n_segments.len()).expect("a text has fewer functions than 4 G bytes"));
    n_segments.iter().copied().for_each(number);
    let packed = zstd::bulk::compress(text.as_bytes(), 1).expect("memory is all that it needs");
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend((packed.len() as u64).to_le_bytes());
    bytes.extend(packed);
    let sum = crc32fast::hash(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// A unit, as its map tells it.
#[derive(Debug)]
pub struct UnitMap {
    /// The number of the unit.
    pub unit: u32,
    /// How long its segments are.
    pub grain: SegmentGrain,
    /// The number of the first segment of each function, and behind the last one; ascending.
    pub firsts: Vec<u32>,
    /// The text that the compiler printed.
    pub text: Arc<str>,
    /// Its top level.
    pub module: Module,
}

impl UnitMap {
    /// Reads a map.
    ///
    /// Cost: the text is unpacked and its lines are looked at once; bodies are read by [`function`](Self::function).
    pub fn read(bytes: &[u8]) -> Result<Self, MapError> {
        let cut_short = MapError::Damaged("it is cut short");
        let (content, sum) = bytes.split_last_chunk::<4>().ok_or(cut_short.clone())?;
        let (magic, mut rest) = content.split_first_chunk::<8>().ok_or(cut_short.clone())?;
        if !magic.starts_with(b"IDDMAP") {
            return Err(MapError::Damaged("it does not begin like one"));
        }
        if *magic != *format!("IDDMAP{VERSION:02}").as_bytes() {
            return Err(MapError::Version);
        }
        if crc32fast::hash(content) != u32::from_le_bytes(*sum) {
            return Err(MapError::Damaged("its sum is wrong"));
        }
        let mut number = || {
            let (number, behind) = rest.split_first_chunk::<4>().ok_or(cut_short.clone())?;
            rest = behind;
            Ok::<u32, MapError>(u32::from_le_bytes(*number))
        };
        let unit = number()?;
        let grain =
            SegmentGrain::from_number(number()?).ok_or(MapError::Damaged("its segments are of no known length"))?;
        let mut firsts = vec![number()?];
        for _ in 0..number()? {
            let last = firsts.last().copied().unwrap_or_default();
            let next = last.checked_add(number()?);
            firsts.push(next.ok_or(MapError::Damaged("its segments have no numbers"))?);
        }
        let mut length = || {
            let (number, behind) = rest.split_first_chunk::<8>().ok_or(cut_short.clone())?;
            rest = behind;
            Ok::<u64, MapError>(u64::from_le_bytes(*number))
        };
        let (n_bytes, n_packed) = (length()?, length()?);
        if n_packed != rest.len() as u64 || n_bytes > MAX_TEXT {
            return Err(MapError::Damaged("its length is wrong"));
        }
        // Memory is taken for the text that there is, not for the one that is promised.
        let mut text = Vec::new();
        let unpacked = zstd::Decoder::with_buffer(rest).and_then(|rest| rest.take(n_bytes + 1).read_to_end(&mut text));
        unpacked.map_err(|_| MapError::Damaged("its text cannot be unpacked"))?;
        if text.len() as u64 != n_bytes {
            return Err(MapError::Damaged("its length is wrong"));
        }
        let text = String::from_utf8(text).map_err(|_| MapError::Damaged("its text is no text"))?;
        let module = Module::read(&text)?;
        if module.functions.len() + 1 != firsts.len() {
            return Err(MapError::Damaged("it counts other functions than its text has"));
        }
        Ok(Self { unit, grain, firsts, text: text.into(), module })
    }

    /// The numbers of its segments.
    pub fn segments(&self) -> std::ops::Range<u32> {
        self.firsts[0]..self.firsts[self.firsts.len() - 1]
    }

    /// The index of the function that has this segment.
    pub fn function_of(&self, segment: u32) -> Option<usize> {
        let behind = self.firsts.partition_point(|first| *first <= segment);
        (behind > 0 && behind < self.firsts.len()).then(|| behind - 1)
    }

    /// Reads the body of a function and its segments; `None` if it was left as it is.
    pub fn function(&self, index: usize) -> Result<Option<(Function, Segments)>, MapError> {
        let header = self.module.functions.get(index).ok_or(MapError::Damaged("there is no such function"))?;
        let found = piece(&self.text, &self.module, header, self.grain)?;
        let n_found = found.as_ref().map_or(0, |(_, segments)| segments.segments.len());
        if n_found != (self.firsts[index + 1] - self.firsts[index]) as usize {
            return Err(MapError::Damaged("a function has other segments than it had"));
        }
        Ok(found)
    }
}
