//! Arguments of requests, checked.

use crate::Failure;
use crate::dap::recordings::complaint;
use serde_json::Value;

/// A whole number from 0; `None` if there is none.
///
/// Some clients write it as `2.0`. One that is too large is the largest.
///
/// Errors: it is something else.
pub fn whole(arguments: &Value, name: &str) -> Result<Option<u64>, Failure> {
    let value = &arguments[name];
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole, and not negative")]
    let float = || value.as_f64().filter(|number| *number >= 0.0 && number.fract() == 0.0).map(|number| number as u64);
    match value.as_u64().or_else(float) {
        None if !value.is_null() => Err(complaint(format!("`{name}` is a whole number, from 0"))),
        number => Ok(number),
    }
}

/// The level of the activation that a client means, from 0; the innermost one if it does not say.
///
/// Errors: the number of the frame is none.
pub fn level(arguments: &Value) -> Result<usize, Failure> {
    let level = whole(arguments, "frameId")?.unwrap_or(1).saturating_sub(1);
    Ok(usize::try_from(level).unwrap_or(usize::MAX))
}

/// A text that is not empty; `None` if there is none.
///
/// - `what`: the name for the error.
///
/// Errors: it is no text.
pub fn text<'v>(value: &'v Value, what: &str) -> Result<Option<&'v str>, String> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(&**text).filter(|text| !text.trim().is_empty())),
        _ => Err(format!("{what} is a text")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_and_texts_of_other_types_are_errors() {
        for (value, expected) in [(json!(3), 3), (json!(3.0), 3), (json!(u64::MAX), u64::MAX), (json!(1e300), u64::MAX)]
        {
            assert_eq!(whole(&json!({"n": value}), "n"), Ok(Some(expected)), "{value}");
        }
        for value in [json!(-1), json!(1.5), json!("3"), json!([]), json!({}), json!(true)] {
            assert!(whole(&json!({"n": value}), "n").is_err(), "{value}");
            assert!(level(&json!({"frameId": value})).is_err(), "{value}");
        }
        assert_eq!((whole(&json!({}), "n"), whole(&json!(3), "n")), (Ok(None), Ok(None)));
        assert_eq!((level(&json!({})), level(&json!({"frameId": 2}))), (Ok(0), Ok(1)));
        assert_eq!((text(&json!(" "), "x"), text(&json!("a"), "x")), (Ok(None), Ok(Some("a"))));
        assert_eq!(text(&json!(3), "a condition"), Err("a condition is a text".to_owned()));
    }
}
