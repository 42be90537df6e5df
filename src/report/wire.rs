//! The form of vocabulary types in a report.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Untrusted;
use data_encoding::BASE64;

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WireBytes {
    Text(String),
    Encoded { base64: String },
}

/// As a string, or as `{"base64": "..."}` if it is not UTF-8.
impl Serialize for Untrusted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match str::from_utf8(self.as_bytes()) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => WireBytes::Encoded { base64: BASE64.encode(self.as_bytes()) }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Untrusted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match WireBytes::deserialize(deserializer)? {
            WireBytes::Text(text) => Ok(text.into()),
            WireBytes::Encoded { base64 } => BASE64.decode(base64.as_bytes()).map(Self::from).map_err(D::Error::custom),
        }
    }
}
