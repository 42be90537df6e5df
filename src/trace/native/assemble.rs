//! A trace from the records of one process that were told at once.

use crate::instrument::segment::HEADER_SIZE;
use crate::native::units::RecordedUnits;
use crate::{ChunkKind, TraceError, TraceWriter, TracedProcess};

/// Chunks become no longer than this and one record.
const CHUNK: usize = 1 << 20;

/// The bytes of a trace: `globals` are the addresses of the global variables of each unit, `records` those of its one thread.
///
/// Errors: a record with a number that no segment has. A last one that is cut short is left out.
pub fn assemble(
    process: &TracedProcess,
    globals: &[(u32, Vec<u8>)],
    records: &[u8],
    units: &mut RecordedUnits,
) -> Result<Vec<u8>, TraceError> {
    let mut writer = TraceWriter::new(Vec::new())?;
    writer.add(ChunkKind::Process, 0, 0, &process.to_bytes())?;
    for (unit, addresses) in globals {
        writer.add(ChunkKind::Globals, *unit, 0, addresses)?;
    }
    let (mut begin, mut at) = (0, 0);
    while let Some(number) = records.get(at..).and_then(<[u8]>::first_chunk::<{ HEADER_SIZE as usize }>) {
        let size = units.entry(u32::from_le_bytes(*number))?.size as usize;
        if records.len() - at < size {
            break;
        }
        at += size;
        if at - begin >= CHUNK {
            writer.add(ChunkKind::Records, 0, begin as u64, &records[begin..at])?;
            begin = at;
        }
    }
    if at > begin {
        writer.add(ChunkKind::Records, 0, begin as u64, &records[begin..at])?;
    }
    Ok(writer.finish()?)
}
