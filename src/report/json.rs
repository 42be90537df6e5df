//! The report as one JSON object.

use std::io;

use serde::Serialize;
use serde_json::Serializer;

use crate::report::Report;
use crate::report::escape::Json;

/// Writes `report` as one line, with a newline at its end.
pub fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    report.serialize(&mut Serializer::with_formatter(&mut *out, Json)).map_err(io::Error::from)?;
    out.write_all(b"\n")
}

/// Reads the output of [`write`](fn@write), to print it again.
///
/// Errors: not JSON, another schema, a missing field.
pub fn read(bytes: &[u8]) -> Result<Report, serde_json::Error> {
    serde_json::from_slice(bytes)
}

#[cfg(test)]
mod tests;
