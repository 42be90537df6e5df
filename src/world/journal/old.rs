//! Segments of format 1. That format had no records for the hunt's own state; it stored notes instead, each a word
//! followed by its value as text.
//!
//! All other records are the same. Notes of unknown kinds are skipped.

use serde::Deserialize;

use crate::revision::CommitId;

use super::line::DamageKind;
use super::record::Record;

/// The oldest readable format.
pub(super) const OLDEST_VERSION: u32 = 1;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Old {
    Note { text: String },
}

/// The present record for a line with a note; `None` for a note of an unknown kind.
///
/// Errors: [`DamageKind::Format`] if it is no note.
pub(super) fn read(json: &[u8]) -> Result<Option<Record>, DamageKind> {
    let Old::Note { text } = serde_json::from_slice(json).map_err(|_| DamageKind::Format)?;
    Ok(meaning(&text))
}

fn meaning(note: &str) -> Option<Record> {
    let (word, value) = note.split_once(' ')?;
    match word {
        "told" => serde_json::from_slice(value.as_bytes()).ok(),
        "tested" => {
            let mut words = value.split(' ');
            let (revision, outcome): (CommitId, _) = (words.next()?.parse().ok()?, words.next()?);
            Some(Record::Tested {
                revision,
                outcome: outcome.to_owned(),
                is_repaired: words.next() == Some("repaired"),
            })
        }
        "asked" | "ahead" | "spent" => serde_json::from_slice(format!("{{\"{word}\":{value}}}").as_bytes()).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::revision::TreeId;
    use crate::world::journal::{AheadRecord, AskedRecord, BoundRecord, UntilRecord};

    use super::*;

    #[track_caller]
    fn check(note: &str, expected: Option<Record>) {
        let json = serde_json::json!({"note": {"text": note}}).to_string();
        assert_eq!(read(json.as_bytes()), Ok(expected), "{note}");
    }

    #[test]
    fn notes_of_format_1_are_read_as_records() {
        let (id, revision) = ("01".repeat(20), CommitId::sha1([1; 20]));
        check(
            &format!("tested {id} unresolved(build) repaired"),
            Some(Record::Tested { revision, outcome: "unresolved(build)".to_owned(), is_repaired: true }),
        );
        check(
            &format!("tested {id} pass"),
            Some(Record::Tested { revision, outcome: "pass".to_owned(), is_repaired: false }),
        );
        check(
            r#"asked {"until":"Change","reduction":{"Within":{"secs":5,"nanos":0}}}"#,
            Some(Record::Asked(AskedRecord {
                until: UntilRecord::Change,
                reduction: Some(BoundRecord::Within(Duration::from_secs(5))),
            })),
        );
        check(
            r#"asked {"until":"Fix","reduction":"Unlimited"}"#,
            Some(Record::Asked(AskedRecord { until: UntilRecord::Fix, reduction: Some(BoundRecord::Unlimited) })),
        );
        check(
            r#"ahead [{"bisecting":{"n_candidates":4}},2]"#,
            Some(Record::Ahead(AheadRecord::Bisecting { n_candidates: 4 }, 2)),
        );
        check(
            r#"spent {"search":null,"reduction":{"secs":0,"nanos":7}}"#,
            Some(Record::Spent { search: None, reduction: Duration::from_nanos(7) }),
        );
        check(&format!(r#"told {{"carried":{{"revision":"{id}"}}}}"#), Some(Record::Carried { revision }));
        check(
            &format!(
                r#"told {{"answer":{{"phase":"reduce","revision":"{id}","tree":"{}","key":"ab","sequence":7,"outcome":"fail"}}}}"#,
                "02".repeat(20)
            ),
            Some(Record::Answer {
                phase: "reduce".to_owned(),
                revision,
                tree: TreeId::sha1([2; 20]),
                key: "ab".to_owned(),
                sequence: Some(7),
                outcome: "fail".to_owned(),
            }),
        );
    }

    #[test]
    fn a_note_that_says_nothing_known_is_left_out_and_what_is_no_note_is_not_read() {
        for note in ["", "tested", "tested x pass", "ahead 1", "told {}", "dreamt of it"] {
            check(note, None);
        }
        assert_eq!(read(br#"{"dreamt":{"of":1}}"#), Err(DamageKind::Format));
    }
}
