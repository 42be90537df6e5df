//! Whether two runs did the same: one number for the segments that a thread went through.

use crate::native::records::Records;
use crate::native::units::RecordedUnits;
use crate::{ChunkKind, Trace, TraceError};
use std::collections::BTreeSet;

/// FNV-1a.
const PRIME: u64 = 0x0100_0000_01b3;

const BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// Stands for the segments of all threads in order; a unit that was compiled again counts as the same. Values do not count.
///
/// Cost: one look at each record.
pub fn digest(trace: &mut Trace, units: &mut RecordedUnits) -> Result<u64, TraceError> {
    let records = trace.chunks().iter().filter(|chunk| chunk.kind == ChunkKind::Records);
    let threads: BTreeSet<u32> = records.map(|chunk| chunk.thread).collect();
    let mut sum = BASIS;
    let mut bases: Vec<Option<(u32, u64)>> = Vec::new();
    for thread in threads {
        sum = (sum ^ u64::from(thread)).wrapping_mul(PRIME);
        let mut records = Records::of(trace, |chunk| chunk.thread == thread);
        while let Some(record) = records.next(trace, units)? {
            let (segment, body) = (record.segment, record.entry.body as usize);
            if bases.len() <= body {
                bases.resize(body + 1, None);
            }
            let (first, base) = if let Some(known) = bases[body] {
                known
            } else {
                let found = units.body(record.entry.body);
                let (first, unit, index) = (found.first, found.unit, found.index as u64);
                let source = crc32fast::hash(units.map(unit)?.module.source.as_bytes());
                *bases[body].insert((first, u64::from(source) << 32 ^ index << 16))
            };
            sum = (sum ^ base ^ u64::from(segment - first)).wrapping_mul(PRIME);
        }
    }
    Ok(sum)
}
