//! The forms of a report for other programs, from a history whose every name and text is hostile.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::fixture::{self, Fixture};

const HUNT: [&str; 4] = ["--build", "make", "--", "./test.sh"];

fn printed(fixture: &Fixture, format: &str) -> String {
    let output = fixture.run(&["report", "--format", format]);
    assert_eq!(output.status.code(), Some(0), "{format}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_hostile_history_reaches_no_form_with_its_meaning() {
    let fixture = Fixture::make("escape-sequences");
    fixture.report(&HUNT);

    for format in ["markdown", "sarif", "github", "gitlab", "junit", "json"] {
        let text = printed(&fixture, format);
        let is_harmless = |letter: char| !letter.is_control() || "\n\t".contains(letter);
        assert!(text.chars().all(|letter| is_harmless(letter) && letter != '\u{202e}'), "{format}:\n{text}");
    }
    let github = printed(&fixture, "github");
    for line in github.lines() {
        let properties = line.strip_prefix("::error ").unwrap().split("::").next().unwrap();
        let keys: Vec<&str> = properties.split(',').map(|property| property.split('=').next().unwrap()).collect();
        assert_eq!(keys, ["file", "line", "endLine", "title"], "{line}");
        assert!(properties.starts_with(r"file=rates/\x1b[2J\x1b[Hred.txt,"), "{line}");
    }
    let markdown = printed(&fixture, "markdown");
    let outside_code: Vec<&str> = markdown.split("```").step_by(2).collect();
    let outside_spans: String = outside_code.iter().flat_map(|text| text.split('`').step_by(2)).collect();
    assert!(!outside_spans.contains("<b>") && !outside_spans.contains("<img"), "{outside_spans}");
}

#[test]
fn junit_is_what_the_schema_of_jenkins_allows() {
    let fixture = Fixture::make("escape-sequences");
    fixture.report(&HUNT);
    let schema = fixture::root().join("tests/schemas/junit-10.xsd");
    let file = fixture.place().join("junit.xml");
    let check = |text: &str| {
        fs::write(&file, text).unwrap();
        // xmllint is in the package libxml2-utils.
        Command::new("xmllint").arg("--noout").arg("--schema").arg(&schema).arg(&file).output().unwrap()
    };
    let text = printed(&fixture, "junit");
    let output = check(&text);
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
    assert!(!check(&text.replace("<testcase ", "<testcase surprise=\"1\" ")).status.success());
}

#[test]
fn sarif_names_the_repository_without_its_secrets() {
    let fixture = Fixture::of(
        "seq 1 9 > value; commit init; git remote add origin https://me:secret@example.com/value.git
         sed -i s/^5$/five/ value; commit 'break it'; echo > log; commit log",
    );
    fixture.report(&["! grep -q five value"]);
    let text = printed(&fixture, "sarif");
    let run = &serde_json::from_str::<Value>(&text).unwrap()["runs"][0];
    let head = String::from_utf8(fixture.git(&["rev-parse", "HEAD"])).unwrap();
    let provenance = &run["versionControlProvenance"][0];
    assert_eq!(provenance["repositoryUri"], "https://example.com/value.git");
    assert_eq!(provenance["revisionId"], head.trim());
    let location = &run["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!((&location["artifactLocation"]["uri"], &location["region"]["startLine"]), (&"value".into(), &5.into()));
    assert!(!text.contains("secret"), "{text}");
}

#[test]
fn without_a_finding_there_is_no_report() {
    let fixture = Fixture::of("echo > value; commit init");
    let output = fixture.run(&["report", "--format", "sarif"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("hint: "));
}
