use serde_json::Value;

use super::*;
use crate::{ReportedScope, Status, Suite, samples};
use idd_base::Outcome;

fn json(report: &Report) -> Value {
    let mut out = Vec::new();
    write(report, &mut out).unwrap();
    assert_eq!(out.iter().position(|byte| *byte == b'\n'), Some(out.len() - 1), "one line");
    serde_json::from_slice(&out).unwrap()
}

fn samples() -> Vec<Report> {
    let mut samples = vec![
        samples::found(),
        samples::range(),
        samples::never_passed(),
        samples::not_reproducible(),
        samples::error(),
    ];
    samples.extend(crate::status::TABLE.map(|row| Report::new(row.status, row.meaning)));
    samples
}

/// The fields of `value` with their types, in the order written.
fn shape(value: &Value, path: &str, lines: &mut Vec<String>) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    lines.push(format!("{path}: {kind}"));
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| shape(value, &format!("{path}.{name}"), lines));
        }
        Value::Array(items) => items.first().into_iter().for_each(|item| shape(item, &format!("{path}[]"), lines)),
        _ => {}
    }
}

/// Checks the part of JSON Schema that our schema uses; returns the violations.
fn complaints(schema: &Value, root: &Value, value: &Value, path: &str) -> Vec<String> {
    if let Some(reference) = schema.get("$ref") {
        let target = root.pointer(reference.as_str().unwrap().strip_prefix('#').unwrap()).unwrap();
        return complaints(target, root, value, path);
    }
    if let Some(options) = schema.get("anyOf") {
        let results: Vec<_> = options.as_array().unwrap().iter().map(|o| complaints(o, root, value, path)).collect();
        return if results.iter().any(Vec::is_empty) { Vec::new() } else { results.concat() };
    }
    let mut found = Vec::new();
    if schema.get("const").is_some_and(|expected| expected != value) {
        found.push(format!("{path}: not the constant"));
    }
    if schema.get("enum").is_some_and(|words| !words.as_array().unwrap().contains(value)) {
        found.push(format!("{path}: {value} is not in the list"));
    }
    let is_of_type = match schema.get("type").and_then(Value::as_str) {
        None => true,
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_u64(),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some(other) => panic!("the schema uses the type {other}"),
    };
    if !is_of_type {
        found.push(format!("{path}: {value} has another type"));
    }
    if let (Some(pattern), Some(text)) = (schema.get("pattern"), value.as_str())
        && !regex::Regex::new(pattern.as_str().unwrap()).unwrap().is_match(text)
    {
        found.push(format!("{path}: {text} does not match"));
    }
    if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
        found.extend(values.iter().flat_map(|value| complaints(items, root, value, &format!("{path}[]"))));
    }
    if let (Some(properties), Some(fields)) = (schema.get("properties"), value.as_object()) {
        let required = schema["required"].as_array().unwrap();
        assert_eq!(required.len(), properties.as_object().unwrap().len(), "{path}: every field is required");
        for name in required.iter().map(|name| name.as_str().unwrap()).filter(|name| !fields.contains_key(*name)) {
            found.push(format!("{path}.{name}: missing"));
        }
        for (name, value) in fields {
            match properties.get(name) {
                Some(schema) => found.extend(complaints(schema, root, value, &format!("{path}.{name}"))),
                None => found.push(format!("{path}.{name}: not in the schema")),
            }
        }
    }
    found
}

#[test]
fn the_set_of_fields_is_frozen() {
    let mut lines = Vec::new();
    shape(&json(&samples::found()), "$", &mut lines);
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn the_object_is_written_as_documented() {
    let mut out = Vec::new();
    write(&samples::range(), &mut out).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap());
}

#[test]
fn every_field_is_there_in_every_report() {
    let names = |report: &Report| json(report).as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for sample in samples() {
        assert_eq!(names(&sample), names(&samples::found()));
    }
}

#[test]
fn every_report_satisfies_the_schema() {
    let schema: Value = serde_json::from_str(include_str!("../../../docs/schema/git-idd-2.json")).unwrap();
    for sample in samples() {
        assert_eq!(complaints(&schema, &schema, &json(&sample), "$"), Vec::<String>::new());
    }
}

#[test]
fn the_schema_refuses_what_is_missing_added_or_of_another_type() {
    let schema: Value = serde_json::from_str(include_str!("../../../docs/schema/git-idd-2.json")).unwrap();
    let mut value = json(&samples::found());
    value["exit"] = "zero".into();
    value["surprise"] = 1.into();
    value["fix"].as_object_mut().unwrap().remove("tested");
    let found = complaints(&schema, &schema, &value, "$").join("\n");
    for expected in ["$.exit:", "$.surprise:", "$.fix.tested: missing"] {
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn a_report_reads_back_as_it_was() {
    for sample in samples() {
        let mut out = Vec::new();
        write(&sample, &mut out).unwrap();
        assert_eq!(read(&out).unwrap(), sample);
    }
    assert!(read(br#"{"schema": "git-idd/3", "status": "found"}"#).is_err());
}

#[test]
fn status_and_exit_agree() {
    for row in crate::status::TABLE {
        let value = json(&Report::new(row.status, row.meaning));
        assert_eq!((value["status"].as_str(), value["exit"].as_u64()), (Some(row.word), Some(u64::from(row.code))));
        assert_eq!(value["schema"], "git-idd/2");
    }
    assert_eq!(Status::Interrupted.code(), 130);
}

#[test]
fn the_revert_to_apply_is_that_of_the_whole_commit_if_it_holds() {
    let mut report = samples::found();
    let fix = report.fix.take().unwrap();
    report.reverts = [ReportedScope::Merge, ReportedScope::Code, ReportedScope::Revert]
        .map(|scope| crate::ReportedFix { scope, ..fix.clone() })
        .into();
    assert_eq!(report.sound_revert().map(|revert| revert.scope), Some(ReportedScope::Revert));
    report.reverts[2].suite = Suite::Worse;
    assert_eq!(report.sound_revert().map(|revert| revert.scope), Some(ReportedScope::Code));
    report.reverts[1].tested = Outcome::Fail;
    assert_eq!(report.sound_revert().map(|revert| revert.scope), Some(ReportedScope::Merge));
}

#[test]
fn fixes_stand_in_the_order_of_their_size() {
    let fix = samples::found().fix.unwrap();
    let of = |scope, lines| crate::ReportedFix { lines, scope, ..fix.clone() };
    let fixes = [
        (ReportedScope::Lines, 5),
        (ReportedScope::Statements, 2),
        (ReportedScope::Files, 5),
        (ReportedScope::Declarations, 2),
    ];
    let fixes = crate::by_size(fixes.map(|(scope, lines)| of(scope, lines)).to_vec());
    let scopes: Vec<ReportedScope> = fixes.iter().map(|fix| fix.scope).collect();
    assert_eq!(
        scopes,
        [ReportedScope::Statements, ReportedScope::Declarations, ReportedScope::Lines, ReportedScope::Files]
    );
}
