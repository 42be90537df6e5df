//! A commit and its date in reports.

use std::fmt;

use jiff::fmt::strtime;
use jiff::fmt::temporal::Pieces;
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Untrusted;
use idd_base::{CommitId, Revision};

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Its id, 40 digits.
    pub commit: CommitId,
    /// First line of its message.
    pub subject: Untrusted,
    /// `Name <email>`.
    pub author: Untrusted,
    /// When it was written.
    pub date: Date,
}

impl From<&Revision> for Commit {
    fn from(revision: &Revision) -> Self {
        let (seconds, offset_minutes) = revision.author_time;
        Self {
            commit: revision.id,
            subject: revision.subject.as_str().into(),
            author: revision.author.as_str().into(),
            date: Date::new(seconds, offset_minutes),
        }
    }
}

/// A point in time, with the time zone of its author; in JSON `2026-03-01T09:30:00+01:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Date {
    timestamp: Timestamp,
    offset: Offset,
}

impl Date {
    /// - `seconds`: since 1970; a time outside of the years -9999 to 9999 becomes 1970.
    /// - `offset_minutes`: east of UTC; an offset of more than a day becomes 0.
    pub fn new(seconds: i64, offset_minutes: i32) -> Self {
        let timestamp = Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH);
        let offset = offset_minutes.checked_mul(60).and_then(|seconds| Offset::from_seconds(seconds).ok());
        Self { timestamp, offset: offset.unwrap_or(Offset::UTC) }
    }

    /// Whether a number of seconds since 1970 is in the supported years.
    pub fn is_told(seconds: i64) -> bool {
        Timestamp::from_second(seconds).is_ok()
    }

    fn format(self, format: &str) -> String {
        let zoned = self.timestamp.to_zoned(TimeZone::fixed(self.offset));
        strtime::format(format, &zoned).unwrap_or_else(|_| self.timestamp.to_string())
    }

    /// Only the day: `2026-03-01`.
    pub fn day(self) -> String {
        self.format("%Y-%m-%d")
    }
}

/// A starting time, in the time zone of this machine; in JSON and in full `2026-03-01T09:30:00+01:00`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started(Zoned);

impl Started {
    /// - `seconds`: since 1970; a time outside of the years -9999 to 9999 becomes 1970.
    pub fn new(seconds: i64) -> Self {
        Self(Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(TimeZone::system()))
    }

    /// Day, hour and minute: `2026-03-01 09:30`.
    pub fn minute(&self) -> String {
        strtime::format("%Y-%m-%d %H:%M", &self.0).unwrap_or_else(|_| self.to_string())
    }
}

impl fmt::Display for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = strtime::format("%Y-%m-%dT%H:%M:%S%:z", &self.0);
        f.write_str(&text.unwrap_or_else(|_| self.0.timestamp().to_string()))
    }
}

/// As git prints it: `Sun Mar 1 09:30:00 2026 +0100`.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.format("%a %b %-d %H:%M:%S %Y %z"))
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.format("%Y-%m-%dT%H:%M:%S%:z"))
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let timestamp: Timestamp = text.parse().map_err(D::Error::custom)?;
        let pieces = Pieces::parse(text.as_str()).map_err(D::Error::custom)?;
        Ok(Self { timestamp, offset: pieces.to_numeric_offset().unwrap_or(Offset::UTC) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_printed_as_git_does_and_survives_json() {
        let date = Date::new(1_772_353_800, 60);
        assert_eq!(date.to_string(), "Sun Mar 1 09:30:00 2026 +0100");
        assert_eq!(date.day(), "2026-03-01");
        let json = serde_json::to_string(&date).unwrap();
        assert_eq!(json, "\"2026-03-01T09:30:00+01:00\"");
        assert_eq!(serde_json::from_str::<Date>(&json).unwrap(), date);
    }

    #[test]
    fn an_absurd_date_is_no_panic() {
        assert_eq!(Date::new(i64::MAX, i32::MIN).to_string(), "Thu Jan 1 00:00:00 1970 +0000");
        assert_eq!(Date::new(i64::MIN, i32::MAX).day(), "1970-01-01");
        Date::new(253_402_207_200, 24 * 60).to_string();
    }
}
