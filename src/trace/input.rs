//! Where the input of a program enters it: which step brought which bytes of which file.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::{Detail, Place, Step};

/// What a program reads from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InputSource {
    /// A file, by the name that the program used.
    File(String),
    /// Standard input.
    Standard,
    /// Another descriptor: a socket, a pipe, an inherited file.
    Descriptor(u64),
    /// A stream that was not seen when it was opened.
    Stream,
    /// An argument of the program; 0 is the name of the program.
    Argument(usize),
    /// All arguments of the program, and how many there are.
    Arguments,
    /// A variable of the environment.
    Environment(String),
    /// A property of the virtual machine.
    Property(String),
    /// What has no known name: the call that reads it, or that opened it.
    Call(Arc<str>),
    /// The system: the time, a number of a process, a random number. The function is named.
    System(Arc<str>),
}

impl fmt::Display for InputSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(name) => f.write_str(name),
            Self::Standard => f.write_str("standard input"),
            Self::Descriptor(number) => write!(f, "descriptor {number}"),
            Self::Stream => f.write_str("a stream without a known name"),
            Self::Argument(number) => write!(f, "argument {number}"),
            Self::Arguments => f.write_str("the arguments"),
            Self::Environment(name) => write!(f, "the environment variable {name}"),
            Self::Property(name) => write!(f, "the system property {name}"),
            Self::Call(call) => write!(f, "the call {call}"),
            Self::System(function) => write!(f, "the system ({function})"),
        }
    }
}

/// The content of a source, if it is known.
pub type Contents<'c> = dyn FnMut(&InputSource) -> Option<Vec<u8>> + 'c;

/// Where the bytes of an entry are in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Landing {
    /// Nowhere: the call returned the byte, or only a part of it is known.
    Nowhere,
    /// From this address on.
    At(u64),
    /// At the beginning of a block of the heap that the program never read.
    Block,
}

/// Bytes that entered the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputEntry {
    /// The source.
    pub source: InputSource,
    /// The offset of the first byte in the source; `None` if it is not known.
    pub begin: Option<u64>,
    /// The number of bytes; `None` if it is not known.
    pub length: Option<u64>,
    /// Whether offset and length are certain. If not, they follow from the bytes that the program looked at.
    pub is_exact: bool,
    /// The step.
    pub step: Step,
    /// The function that was called; `None` for a read of memory.
    pub function: Option<Arc<str>>,
    /// The place of the statement.
    pub place: Option<Place>,
    /// The bytes in memory.
    pub landing: Landing,
}

impl InputEntry {
    /// The bytes of the source; `None` if they are not known.
    pub fn range(&self) -> Option<Range<u64>> {
        let begin = self.begin?;
        Some(begin..begin.saturating_add(self.length?))
    }

    /// The bytes of the source that are in a part of memory; `None` if that is not known.
    pub fn part(&self, address: u64, length: u64) -> Option<Range<u64>> {
        let Landing::At(base) = self.landing else { return None };
        let first = self.begin?.checked_add(address.checked_sub(base)?)?;
        let end = first.saturating_add(length);
        let last = self.range().map_or(u64::MAX, |range| range.end);
        (first < last).then(|| first..end.min(last))
    }

    /// Its bytes in words: `bytes 3 to 7`.
    pub fn bytes(&self) -> String {
        let about = if self.is_exact { "" } else { "about " };
        match (self.range(), self.begin) {
            (Some(range), _) if range.is_empty() => "no bytes".to_owned(),
            (Some(range), _) => format!("{about}{}", bytes(&range)),
            (None, Some(begin)) => format!("{about}bytes from {begin} on"),
            (None, None) => "bytes whose place is not known".to_owned(),
        }
    }
}

/// `byte 3` or `bytes 3 to 7`.
pub fn bytes(range: &Range<u64>) -> String {
    match range.end - range.start {
        1 => format!("byte {}", range.start),
        _ => format!("bytes {} to {}", range.start, range.end - 1),
    }
}

/// Names the bytes of input that steps read, and that calls brought.
pub fn name(details: &mut [Detail], entries: &[InputEntry]) {
    let mut by_step: HashMap<Step, Vec<&InputEntry>> = HashMap::new();
    for entry in entries {
        by_step.entry(entry.step).or_default().push(entry);
    }
    for detail in details {
        for access in &mut detail.reads {
            let mut makers = access.makers.iter().filter_map(|maker| by_step.get(maker)).flatten();
            let part = |entry: &&InputEntry| {
                let about = if entry.is_exact { "" } else { "about " };
                let range = entry.part(access.address, access.size)?;
                Some(format!("{about}{} of {}", bytes(&range), entry.source))
            };
            let named = makers.find_map(part);
            access.origin = access.origin.take().or(named);
        }
        let mut of_calls =
            by_step.get(&detail.standing.step).into_iter().flatten().filter(|entry| entry.function.is_some());
        for call in detail.calls.iter_mut().filter(|call| call.is_input) {
            call.input = of_calls.next().map(|entry| match entry.source {
                InputSource::Environment(_)
                | InputSource::Property(_)
                | InputSource::Call(_)
                | InputSource::System(_) => entry.source.to_string(),
                _ => format!("{} of {}", entry.bytes(), entry.source),
            });
        }
    }
}
