//! The form of vocabulary types in a report.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::base64;
use crate::escape::Untrusted;

/// An outcome in words: `pass`, `fail`, `unresolved(build)`.
pub mod outcome {
    use super::{Deserialize, Deserializer, Serializer};

    use serde::de::Error as _;

    use idd_base::outcome::{Outcome, Reason};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub fn serialize<S: Serializer>(outcome: &Outcome, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(outcome)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Outcome, D::Error> {
        let text = String::deserialize(deserializer)?;
        let unresolved = Reason::ALL.into_iter().map(Outcome::Unresolved);
        [Outcome::Pass, Outcome::Fail]
            .into_iter()
            .chain(unresolved)
            .find(|outcome| outcome.to_string() == text)
            .ok_or_else(|| D::Error::custom("an unknown outcome"))
    }
}

/// An outcome in words, or null.
pub mod known_outcome {
    use super::{Deserialize, Deserializer, Serialize, Serializer};

    use idd_base::outcome::Outcome;

    #[derive(Serialize, Deserialize)]
    struct Words(#[serde(with = "super::outcome")] Outcome);

    #[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub fn serialize<S: Serializer>(outcome: &Option<Outcome>, serializer: S) -> Result<S::Ok, S::Error> {
        outcome.map(Words).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Outcome>, D::Error> {
        Ok(Option::<Words>::deserialize(deserializer)?.map(|Words(outcome)| outcome))
    }
}

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
            Err(_) => WireBytes::Encoded { base64: base64::encode(self.as_bytes()) }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Untrusted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match WireBytes::deserialize(deserializer)? {
            WireBytes::Text(text) => Ok(text.into()),
            WireBytes::Encoded { base64 } => {
                base64::decode(&base64).map(Self::from).ok_or_else(|| D::Error::custom("no base64"))
            }
        }
    }
}
