//! The report as a code quality report of GitLab: a list of issues, each at a line.
//!
//! Source: "Code Quality report format" in the documentation of GitLab: `description`, `check_name`, `fingerprint`,
//! `severity` and `location` are required. A failing test without a known place has the place `.`.

use std::io::{self, Write};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::json::write_line;
use crate::places::{ReplacedLines, places};
use crate::{Report, Status, Terminal, Untrusted, summary};
use data_encoding::BASE64;

/// Writes `report`; `test` is the test command of the hunt.
pub fn write(report: &Report, test: &Untrusted, out: &mut dyn Write) -> io::Result<()> {
    let places = places(report).map(|places| places.places).unwrap_or_default();
    let mut issues: Vec<Value> = places.iter().map(|place| issue(report, test, place)).collect();
    if issues.is_empty() && report.status != Status::BadPasses {
        let nowhere = ReplacedLines { file: ".".into(), lines: None, whole: Untrusted::default() };
        issues.push(issue(report, test, &nowhere));
    }
    write_line(&issues, out)
}

fn issue(report: &Report, test: &Untrusted, ReplacedLines { file, lines, .. }: &ReplacedLines) -> Value {
    let (title, file) = (Terminal.line(&summary::title(report, test)), Terminal.line(file));
    let begin = lines.as_ref().map_or(1, |lines| lines.begin);
    json!({
        "description": title,
        "check_name": "git-idd",
        "fingerprint": fingerprint(&[&title, &file, &begin.to_string()]),
        "severity": "major",
        "location": { "path": file, "lines": { "begin": begin } },
    })
}

/// Equal for the same finding at the same place.
fn fingerprint(parts: &[&str]) -> String {
    let digest = parts.iter().fold(Sha256::new(), |digest, part| digest.chain_update(part).chain_update([0]));
    BASE64.encode(&digest.finalize()[..16])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn written(report: &Report) -> Value {
        let mut out = Vec::new();
        write(report, &"./t.sh".into(), &mut out).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn each_place_is_an_issue_with_the_fields_that_are_required() {
        insta::assert_snapshot!(serde_json::to_string_pretty(&written(&samples::found())).unwrap());
    }

    #[test]
    fn a_failure_without_a_place_is_an_issue_all_the_same() {
        assert_eq!(written(&samples::range())[0]["location"], json!({ "path": ".", "lines": { "begin": 1 } }));
        let passes = Report { status: Status::BadPasses, ..samples::range() };
        assert_eq!(written(&passes), json!([]));
    }
}
