//! The report as a `JUnit` document: one case for the hunt, and one for each claim of the finding.
//!
//! Source: there is no standard; the form is the schema that Jenkins uses (`tests/schemas/junit-10.xsd`). The hunted
//! test fails, so its case fails. A claim fails if its outcome is not the expected one.

use std::io::{self, Write};

use crate::{Report, Untrusted, Xml, summary};

/// Writes `report`; `test` is the test command of the hunt.
pub fn write(report: &Report, test: &Untrusted, out: &mut dyn Write) -> io::Result<()> {
    let n_wrong = report.evidence.iter().filter(|evidence| evidence.expected != evidence.outcome).count();
    let (n_cases, n_errors) = (1 + report.evidence.len(), usize::from(report.error.is_some()));
    let n_failures = n_wrong + 1 - n_errors;
    let (name, seconds) = (Xml.attribute(test), format!("{:.3}", report.seconds));
    let counts = format!("tests=\"{n_cases}\" failures=\"{n_failures}\" errors=\"{n_errors}\" skipped=\"0\"");
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>")?;
    writeln!(out, "<testsuite name=\"git idd\" {counts} time=\"{seconds}\">")?;
    writeln!(out, "<testcase classname=\"git-idd\" name=\"{name}\" time=\"{seconds}\">")?;
    let element = if report.error.is_some() { "error" } else { "failure" };
    let title = Xml.attribute(&summary::title(report, test));
    let message = Xml.text(&summary::message(report));
    writeln!(
        out,
        "<{element} type=\"{}\" message=\"{title}\">{message}</{element}>\n</testcase>",
        report.status.word()
    )?;
    for evidence in &report.evidence {
        let claim = Xml.attribute(&evidence.claim);
        write!(out, "<testcase classname=\"git-idd.evidence\" name=\"{claim}\" time=\"0\"")?;
        if evidence.expected == evidence.outcome {
            writeln!(out, "/>")?;
        } else {
            let seen = format!("expected {}, seen {}", evidence.expected, evidence.outcome);
            writeln!(out, "><failure type=\"claim\" message=\"{seen}\"/></testcase>")?;
        }
    }
    writeln!(out, "</testsuite>\n</testsuites>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_claim_that_does_not_hold_is_a_failure() {
        let mut out = Vec::new();
        write(&samples::found(), &"./t.sh <x>".into(), &mut out).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap());
    }
}
