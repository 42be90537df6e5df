//! The report as workflow commands of GitHub Actions: annotations at the lines of the finding; the first one has all
//! facts.
//!
//! Source: "Workflow commands for GitHub Actions" in the documentation of GitHub. Lines count from 1 and are those of
//! the commit that is checked out, so only a place at HEAD has one.

use std::io::{self, Write};

use crate::places::{ReplacedLines, places};
use crate::{Report, Untrusted, Workflow, summary};

/// Writes `report`; `test` is the test command of the hunt.
pub fn write(report: &Report, test: &Untrusted, out: &mut dyn Write) -> io::Result<()> {
    let title = Workflow.property(&summary::title(report, test));
    let message = Workflow.message(&summary::message(report));
    let places = places(report).filter(|_| report.reversal().is_some_and(|fix| fix.complete));
    let Some(places) = places.filter(|places| !places.places.is_empty()) else {
        let level = if report.first_bad.is_some() || report.error.is_some() { "error" } else { "warning" };
        return writeln!(out, "::{level} title={title}::{message}");
    };
    for (nth, ReplacedLines { file, lines, .. }) in places.places.iter().enumerate() {
        let message = if nth == 0 { message.as_str() } else { "The change goes on here." };
        let file = Workflow.property(file);
        let range = lines.as_ref().map(|lines| format!(",line={},endLine={}", lines.begin, lines.end()));
        writeln!(out, "::error file={file}{},title={title}::{message}", range.unwrap_or_default())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn written(report: &Report) -> String {
        let mut out = Vec::new();
        write(report, &"./t.sh, 50%".into(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_place_has_an_annotation() {
        insta::assert_snapshot!(written(&samples::found()));
    }

    #[test]
    fn without_a_place_there_is_one_line() {
        insta::assert_snapshot!([samples::range(), samples::error()].map(|report| written(&report)).concat());
    }
}
