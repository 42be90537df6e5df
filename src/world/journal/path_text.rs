//! Paths as text, without loss: a path is bytes, JSON is UTF-8.
//!
//! Valid UTF-8 stays readable; `%` and every byte outside of valid UTF-8 become `%` and two hex digits.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer, Serializer};

pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&encode(path))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    let text = String::deserialize(deserializer)?;
    decode(&text).ok_or_else(|| D::Error::custom("a `%` that is not followed by two hex digits"))
}

fn encode(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace('%', "%25"));
        for byte in chunk.invalid() {
            write!(text, "%{byte:02x}").expect("writing to a string does not fail");
        }
    }
    text
}

fn decode(text: &str) -> Option<PathBuf> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.as_bytes().split(|byte| *byte == b'%');
    bytes.extend_from_slice(parts.next().unwrap_or_default());
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        let digits = str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        bytes.push(u8::from_str_radix(digits?, 16).ok()?);
        bytes.extend_from_slice(rest);
    }
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_json_cannot_hold_is_escaped() {
        assert_eq!(encode(Path::new("/tmp/ä 1")), "/tmp/ä 1");
        assert_eq!(encode(Path::new(OsStr::from_bytes(b"/50%/\xff"))), "/50%25/%ff");
    }

    #[test]
    fn a_broken_escape_is_refused() {
        for text in ["%", "%2", "a%zz", "%+1", "%é"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(bytes: Vec<u8>) {
            let path = PathBuf::from(OsString::from_vec(bytes));
            prop_assert_eq!(decode(&encode(&path)), Some(path));
        }
    }
}
