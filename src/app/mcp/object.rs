//! Answers for programs: the object beside the text of an answer, and its schema.

use idd_report::Report;
use idd_report::escape::safe;
use idd_session::Failure;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The fields of a [report](Report) that an answer has; the resource `report.json` has all.
const FIELDS: [&str; 10] =
    ["hunt", "status", "sentence", "error", "bad", "last_good", "first_bad", "proved", "culprits", "no_fix"];

/// The schema of the objects of a tool, or `None` if its answers are only text.
pub fn schema(tool: &str) -> Option<Map<String, Value>> {
    let (required, properties) = match tool {
        "hunt_status" | "hunt_finding" => (
            "status",
            json!({
                "hunt": {"type": ["string", "null"]}, "status": {"type": "string"}, "sentence": {"type": "string"},
                "first_bad": {"type": ["object", "null"]}, "proved": {"type": "boolean"},
            }),
        ),
        "hunt_list" => ("hunts", json!({"hunts": {"type": "array"}})),
        "judge_start" | "judge" => (
            "status",
            json!({
                "status": {"type": "string"}, "commit": {"type": "string"}, "directory": {"type": "string"},
                "n_left": {"type": ["integer", "null"]}, "first_bad": {"type": ["object", "null"]},
            }),
        ),
        _ => return None,
    };
    let schema = json!({"type": "object", "properties": properties, "required": [required]});
    schema.as_object().cloned()
}

/// The object of a hunt.
pub fn of_report(report: &Report) -> Result<Value, Failure> {
    let mut object = of(report)?;
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|name, _| FIELDS.contains(&name.as_str()));
    }
    Ok(object)
}

/// The object of what is no hunt, or of one that has no report yet.
pub fn of_status(status: &str) -> Value {
    json!({"status": status})
}

/// Any object; its texts are escaped as for a terminal.
pub fn of(value: &impl Serialize) -> Result<Value, Failure> {
    Ok(escaped(serde_json::to_value(value)?))
}

fn escaped(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(safe(&text)),
        Value::Array(values) => values.into_iter().map(escaped).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, escaped(value))).collect(),
        other => other,
    }
}
