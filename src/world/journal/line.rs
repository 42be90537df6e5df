//! One record as one line: eight hex digits of CRC-32, a space, JSON, LF.

use super::record::Record;

/// The damage of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DamageKind {
    /// The line has no end: its write was interrupted, or is still running.
    Torn,
    /// The checksum does not match the line, or the line is too long.
    Checksum,
    /// The line is intact, but is no record of this format.
    Format,
}

/// The maximum length of a line, in bytes with its LF.
pub(super) const MAX_LINE_BYTES: u64 = 256 << 20;

const CHECKSUM_DIGITS: usize = 8;

pub(super) fn encode(record: &Record) -> Vec<u8> {
    let json = serde_json::to_vec(record).expect("a record has only string keys and no writer that fails");
    let mut line = Vec::with_capacity(json.len() + CHECKSUM_DIGITS + 2);
    line.extend_from_slice(checksum(&json).as_bytes());
    line.push(b' ');
    line.extend_from_slice(&json);
    line.push(b'\n');
    line
}

/// Reads a line, which is given without its LF.
pub(super) fn decode(line: &[u8]) -> Result<Record, DamageKind> {
    serde_json::from_slice(checked(line)?).map_err(|_| DamageKind::Format)
}

/// The format version of a line with a plan of any version.
pub(super) fn plan_version(line: &[u8]) -> Option<u32> {
    let value: serde_json::Value = serde_json::from_slice(checked(line).ok()?).ok()?;
    value.get("plan")?.get("version")?.as_u64()?.try_into().ok()
}

/// The JSON of a line. The digits are compared as text, so only one spelling of the number is accepted.
fn checked(line: &[u8]) -> Result<&[u8], DamageKind> {
    let (head, json) = line.split_at_checked(CHECKSUM_DIGITS + 1).ok_or(DamageKind::Checksum)?;
    let expected = checksum(json);
    if &head[..CHECKSUM_DIGITS] == expected.as_bytes() && head[CHECKSUM_DIGITS] == b' ' {
        Ok(json)
    } else {
        Err(DamageKind::Checksum)
    }
}

fn checksum(json: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(json))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::journal::record::tests::any_record;

    proptest! {
        #[test]
        fn every_record_comes_back(record in any_record()) {
            let line = encode(&record);
            let (end, body) = line.split_last().unwrap();
            prop_assert_eq!(*end, b'\n');
            prop_assert!(!body.contains(&b'\n'));
            prop_assert_eq!(decode(body), Ok(record));
        }
    }

    #[test]
    fn a_flipped_bit_anywhere_is_detected() {
        let line = encode(&Record::Ended { status: "a flipped bit".to_owned() });
        let body = &line[..line.len() - 1];
        for index in 0..body.len() * 8 {
            let mut damaged = body.to_vec();
            damaged[index / 8] ^= 1 << (index % 8);
            assert_eq!(decode(&damaged), Err(DamageKind::Checksum), "bit {index}");
        }
    }

    #[test]
    fn a_line_of_an_unknown_kind_is_not_taken_for_a_damaged_one() {
        let json = br#"{"dreamt":{"of":1}}"#;
        let line = [checksum(json).as_bytes(), b" ", json].concat();
        assert_eq!(decode(&line), Err(DamageKind::Format));
        assert_eq!(decode(b"short"), Err(DamageKind::Checksum));
    }
}
