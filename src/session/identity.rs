//! The identity of a hunt: a versioned form; two hunts with the same form are the same hunt.
//!
//! Its digest is stored in the journal of every hunt. So it must not depend on how types of the program are printed, on
//! the order of their fields, or on unused options.

use crate::hold::stored;
use crate::plan::Overlay;
use idd_change::EntryMode;
use idd_world::cache::Key;
use idd_world::files::OnDisk;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The version of this form. Hunts of another version are not continued.
const VERSION: u32 = 1;

/// The stored digest of a plan.
///
/// - `plan`: the order of the user, without options that only limit the amount of work.
/// - `probes`: the digest of everything that the probes depend on.
pub fn of_plan(plan: &impl Serialize, probes: [u8; 32]) -> Result<Key, serde_json::Error> {
    let mut form = VERSION.to_le_bytes().to_vec();
    add(&mut form, &probes);
    add(&mut form, canonical(serde_json::to_value(plan)?).to_string().as_bytes());
    Ok(Key(Sha256::digest(form).into()))
}

/// A value with its keys in order, and without unset values: an unused option is not part of it.
fn canonical(value: Value) -> Value {
    let is_set = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(values) => !values.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    };
    match value {
        Value::Array(values) => values.into_iter().map(canonical).collect(),
        Value::Object(fields) => {
            let mut fields: Vec<(String, Value)> =
                fields.into_iter().map(|(name, value)| (name, canonical(value))).filter(|(_, it)| is_set(it)).collect();
            fields.sort_by(|one, other| one.0.cmp(&other.0));
            fields.into_iter().collect()
        }
        other => other,
    }
}

/// The form of a file in the user's working tree.
pub fn of_file(file: &OnDisk) -> Vec<u8> {
    let (mode, bytes) = stored(file);
    of_stored(mode, &bytes)
}

/// The form of a file in a tree.
pub fn of_stored(mode: EntryMode, bytes: &[u8]) -> Vec<u8> {
    let mut form = Vec::new();
    add(&mut form, mode.octal().as_bytes());
    add(&mut form, bytes);
    form
}

/// The form of the files over every revision.
pub fn of_overlay(overlay: Option<&Overlay>) -> Vec<u8> {
    let mut form = Vec::new();
    match overlay {
        None => add(&mut form, b"none"),
        Some(Overlay::Patch(patch)) => {
            add(&mut form, b"patch");
            add(&mut form, patch);
        }
        Some(Overlay::Files(files)) => {
            add(&mut form, b"files");
            for (path, file) in files {
                add(&mut form, path);
                add(&mut form, &of_file(file));
            }
        }
    }
    form
}

/// Adds bytes after their length, so that different lists of parts have different forms.
fn add(form: &mut Vec<u8>, bytes: &[u8]) {
    form.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    form.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    fn file(bytes: &[u8], is_executable: bool) -> OnDisk {
        OnDisk::File { is_executable, bytes: bytes.to_vec() }
    }

    #[test]
    fn the_form_is_stable() {
        let plan = json!({"test": {"build": "make", "clean": true}, "good": ["v1"], "repeat": 1});
        insta::assert_snapshot!(of_plan(&plan, [7; 32]).unwrap(), @"a4282d16787f8520b69befa64ece690ce28f99dd24cd8a23babc5014c89c989d");
        insta::assert_snapshot!(of_file(&file(b"ab", true)).escape_ascii(), @r"\x06\x00\x00\x00\x00\x00\x00\x00100755\x02\x00\x00\x00\x00\x00\x00\x00ab");
    }

    #[test]
    fn neither_the_order_of_fields_nor_an_option_that_is_not_used_makes_another_hunt() {
        let digest = |text: &str| of_plan(&serde_json::from_str::<Value>(text).unwrap(), [7; 32]).unwrap();
        let one = digest(r#"{"a": 1, "b": {"c": true, "d": [{"e": 0}]}}"#);
        assert_eq!(
            one,
            digest(r#"{"b": {"d": [{"e": 0, "g": []}], "f": null, "c": true}, "h": {"i": false}, "a": 1}"#)
        );
        for other in [r#"{"a": 1, "b": {"c": true, "d": [{"e": 1}]}}"#, r#"{"a": 1, "b": {"d": [{"e": 0}]}}"#] {
            assert_ne!(one, digest(other));
        }
        assert_ne!(one, of_plan(&json!({"a": 1, "b": {"c": true, "d": [{"e": 0}]}}), [8; 32]).unwrap());
    }

    #[test]
    fn overlays_that_differ_have_different_forms() {
        let files = |files: &[(&str, OnDisk)]| {
            let files = files.iter().map(|(path, file)| (path.as_bytes().to_vec(), file.clone()));
            Some(Overlay::Files(files.collect::<BTreeMap<_, _>>()))
        };
        let overlays = [
            None,
            files(&[]),
            Some(Overlay::Patch(Vec::new())),
            Some(Overlay::Patch(b"ab".to_vec())),
            files(&[("a", file(b"b", false))]),
            files(&[("a", file(b"b", true))]),
            files(&[("a", OnDisk::Link { target: b"b".to_vec() })]),
            files(&[("a", file(b"", false)), ("b", file(b"", false))]),
            files(&[("ab", file(b"", false))]),
        ];
        let forms: std::collections::BTreeSet<Vec<u8>> = overlays.iter().map(|it| of_overlay(it.as_ref())).collect();
        assert_eq!(forms.len(), overlays.len());
    }
}
