//! Reads the `JUnit` files of test runners: XML without a standard, whose test cases all look alike.

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

/// What a line about a failing test begins with.
pub const FAILED: &str = "JUnit failed: ";
/// What the line after that of a failing test begins with, if the file says why it failed.
const REASON: &str = "JUnit reason: ";
/// What a line about a passing test begins with.
const PASSED: &str = "JUnit passed: ";

/// Characters of a reason that are kept.
const MAX_REASON: usize = 300;

/// Why the first failing test failed, in what [`TestCase::lines`] said.
pub fn reason(reported: &str) -> Option<&str> {
    reported.lines().find_map(|line| line.strip_prefix(REASON))
}

/// A test case in a `JUnit` file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestCase {
    /// Its class, module or package; empty if the file has none.
    pub class: String,
    /// Its name; never empty.
    pub name: String,
    /// Its source file; empty if the file has none.
    pub file: String,
    /// Whether it has a failure or an error.
    pub is_failed: bool,
    /// Whether it was not run.
    pub is_skipped: bool,
    /// The first line of the message of its failure; empty if the file has none.
    pub reason: String,
}

/// The attributes of an element. Double ones are not looked for.
fn attributes<'e>(element: &'e BytesStart<'_>) -> impl Iterator<Item = (String, String)> + 'e {
    let mut attributes = element.attributes();
    attributes.with_checks(false);
    attributes.flatten().map(|attribute| {
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).unwrap_or(attribute.value.clone());
        (attribute.key.as_ref().to_owned(), value.into_owned())
    })
}

impl TestCase {
    fn of(element: &BytesStart<'_>) -> Self {
        let mut case = Self::default();
        for (key, value) in attributes(element) {
            match key.as_str() {
                "classname" => case.class = value,
                "name" => case.name = value,
                "file" => case.file = value,
                "status" | "result" => case.is_skipped |= ["notrun", "skipped", "disabled"].contains(&value.as_str()),
                _ => {}
            }
        }
        case
    }

    fn fail(&mut self, element: &BytesStart<'_>) {
        self.is_failed = true;
        let message = attributes(element).find(|(key, _)| key == "message").map(|(_, message)| message);
        let line = message.iter().flat_map(|message| message.lines()).find(|line| !line.trim().is_empty());
        if let (true, Some(line)) = (self.reason.is_empty(), line) {
            self.reason = line.trim().chars().take(MAX_REASON).collect();
        }
    }

    /// Class and name, as one name.
    pub fn whole_name(&self) -> String {
        if self.class.is_empty() || self.class == self.name {
            self.name.clone()
        } else {
            format!("{}.{}", self.class, self.name)
        }
    }

    /// What it says about the test, as a line that the patterns of [`FORMATS`](super::FORMATS) read, and one that
    /// [`reason`] reads; `None` if it was not run.
    pub fn lines(&self) -> Option<String> {
        let begin = if self.is_failed { FAILED } else { PASSED };
        let name = self.whole_name().split_whitespace().collect::<Vec<_>>().join(" ");
        let reason = if self.reason.is_empty() { String::new() } else { format!("\n{REASON}{}", self.reason) };
        (self.is_failed || !self.is_skipped).then(|| format!("{begin}{name}{reason}"))
    }
}

/// The test cases of a `JUnit` file, in its order; none if the file is other XML.
///
/// Errors: the file is no XML, or ends early.
///
/// Cost: linear in the length of the text.
pub fn cases(text: &str) -> Result<Vec<TestCase>, String> {
    let mut reader = Reader::from_str(text);
    let mut cases: Vec<TestCase> = Vec::new();
    let mut case: Option<TestCase> = None;
    let mut depth = 0_usize;
    loop {
        let event = reader.read_event().map_err(|error| error.to_string())?;
        let is_start = matches!(event, Event::Start(_));
        match &event {
            Event::Start(element) | Event::Empty(element) => {
                match element.local_name().as_ref() {
                    "testsuites" | "testsuite" => {}
                    _ if depth == 0 => return Ok(Vec::new()),
                    "testcase" => {
                        cases.extend(case.take());
                        case = Some(TestCase::of(element));
                    }
                    "failure" | "error" => case.iter_mut().for_each(|case| case.fail(element)),
                    "skipped" => case.iter_mut().for_each(|case| case.is_skipped = true),
                    _ => {}
                }
                depth += usize::from(is_start);
            }
            Event::End(element) => {
                depth = depth.saturating_sub(1);
                if element.local_name().as_ref() == "testcase" {
                    cases.extend(case.take());
                }
            }
            Event::Eof if depth > 0 => return Err("it ends within an element".to_owned()),
            Event::Eof => break,
            _ => {}
        }
    }
    cases.extend(case);
    cases.retain(|case| !case.name.is_empty());
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_have_a_name_and_whether_they_failed_or_were_skipped() {
        let text = r#"<?xml version="1.0"?><testsuites><testsuite name="s">
            <properties><property name="x" value="y"/></properties><testsuite>
            <testcase classname="p.A" name="one" file="a.py" time="0.1"><failure message="m">a &lt; b</failure></testcase>
            <testcase name="two &lt;x&gt; &bad;"/><testcase name="five" classname="five" status="notrun"/></testsuite>
            <testcase classname="p.A" name="three"><error/></testcase><testcase/>
            <testcase classname="p.A" name="four"><system-out><![CDATA[<failure/>]]></system-out><skipped/></testcase>
            <error message="of the suite"/></testsuite></testsuites>"#;
        let cases = cases(text).unwrap();
        let shown: Vec<_> = cases.iter().map(|case| (case.whole_name(), case.is_failed, case.is_skipped)).collect();
        let expected = [
            ("p.A.one", true, false),
            ("two &lt;x&gt; &bad;", false, false),
            ("five", false, true),
            ("p.A.three", true, false),
            ("p.A.four", false, true),
        ];
        assert_eq!(shown, expected.map(|(name, is_failed, is_skipped)| (name.to_owned(), is_failed, is_skipped)));
        assert_eq!((cases[0].file.as_str(), cases[0].reason.as_str()), ("a.py", "m"));
        let lines: Vec<_> = cases.iter().filter_map(TestCase::lines).collect();
        assert_eq!(lines[..2], ["JUnit failed: p.A.one\nJUnit reason: m", "JUnit passed: two &lt;x&gt; &bad;"]);
        assert_eq!(reason(&lines.join("\n")), Some("m"));
    }

    #[test]
    fn other_files_have_no_cases_and_broken_ones_are_errors() {
        assert_eq!(cases("<project><testsuite><testcase name='x'/></testsuite></project>"), Ok(Vec::new()));
        assert_eq!(cases("no xml"), Ok(Vec::new()));
        for text in ["<testsuite><testcase name='x'/>", "<testsuite></x>", "<testsuite><testcase name='x"] {
            assert!(cases(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_hostile_file_takes_no_more_time_than_another_one_of_its_length() {
        let attributes = (0..200_000).map(|n| format!(" a{n}=''")).collect::<Vec<_>>().concat();
        let deep = format!("{}{}", "<testsuite>".repeat(100_000), "</testsuite>".repeat(100_000));
        assert_eq!(cases(&format!("<testsuite><testcase{attributes} name='x'/></testsuite>")).unwrap().len(), 1);
        assert_eq!(cases(&deep), Ok(Vec::new()));
        let entities =
            "<!DOCTYPE x [<!ENTITY a 'aaa'><!ENTITY b '&a;&a;'>]><testsuite><testcase name='&b;'/></testsuite>";
        assert_eq!(cases(entities).unwrap()[0].name, "&b;");
    }
}
