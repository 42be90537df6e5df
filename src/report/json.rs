//! The report as one JSON object.

use std::io;

use serde::Serialize;
use serde_json::Serializer;

use crate::{Explained, Explanation, Json, Report};

/// Writes `report` as one line, with a newline at its end.
pub fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    write_explained(report, &[], out)
}

/// The form of a report with explanations.
#[derive(Serialize)]
struct Explaining<'r> {
    #[serde(flatten)]
    report: &'r Report,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    explanations: Vec<&'r Explanation>,
}

/// The same as [`write`](fn@write), with explanations of the finding, if there are any.
pub fn write_explained(report: &Report, explanations: &[Explained], out: &mut dyn io::Write) -> io::Result<()> {
    let explanations = explanations.iter().map(|explained| &explained.explanation).collect();
    write_line(&Explaining { report, explanations }, out)
}

/// Writes any value as one line.
pub(crate) fn write_line(value: &impl Serialize, out: &mut dyn io::Write) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut *out, Json)).map_err(io::Error::from)?;
    out.write_all(b"\n")
}

/// Reads the output of [`write`](fn@write), to print it again.
///
/// Errors: not JSON, another schema, a missing field.
pub fn read(bytes: &[u8]) -> Result<Report, serde_json::Error> {
    serde_json::from_slice(bytes)
}

/// One object in one line, with its names in alphabetical order, and with everything escaped.
pub fn json_line(value: &impl Serialize) -> Vec<u8> {
    let value = serde_json::to_value(value).expect("the names of an object are texts");
    let mut bytes = Vec::new();
    write_line(&value, &mut bytes).expect("a value in memory can always be written");
    bytes
}

#[cfg(test)]
mod tests;
