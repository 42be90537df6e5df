//! The arguments of a tool: a table of them says what a client may give, and is its JSON schema, too.

use idd_report::{Terminal, Untrusted};
use idd_session::Failure;
use serde_json::{Map, Value, json};

/// The length of a text, in bytes.
const MAX_TEXT: usize = 4096;

/// The length of a patch, in bytes.
const MAX_PATCH: usize = 1 << 19;

/// The number of texts in a list.
const MAX_TEXTS: usize = 64;

/// Bytes of a name or a value in an error.
const MAX_SHOWN: usize = 60;

/// What an argument can be.
#[derive(Debug, Clone, Copy)]
pub enum ArgumentKind {
    /// A text without NUL.
    Text,
    /// A text that may be long.
    Patch,
    /// A text, or a list of texts.
    Texts,
    /// A revision: a text that does not begin with `-`.
    Revision,
    /// Revisions.
    Revisions,
    /// A number in this range, with both ends.
    Number(u64, u64),
    /// True or false.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// An argument of a tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolArgument {
    /// Its name.
    pub name: &'static str,
    /// What it can be.
    pub kind: ArgumentKind,
    /// What it is for.
    pub meaning: &'static str,
    /// Whether it must be given.
    pub is_required: bool,
}

impl ToolArgument {
    /// One that may be left out.
    pub const fn new(name: &'static str, kind: ArgumentKind, meaning: &'static str) -> Self {
        Self { name, kind, meaning, is_required: false }
    }

    /// One that must be given.
    pub const fn required(name: &'static str, kind: ArgumentKind, meaning: &'static str) -> Self {
        Self { name, kind, meaning, is_required: true }
    }

    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            ArgumentKind::Text | ArgumentKind::Patch | ArgumentKind::Revision => json!({ "type": "string" }),
            ArgumentKind::Texts | ArgumentKind::Revisions => {
                json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
            }
            ArgumentKind::Number(min, max) if max > u64::from(u32::MAX) => json!({ "type": "integer", "minimum": min }),
            ArgumentKind::Number(min, max) => json!({ "type": "integer", "minimum": min, "maximum": max }),
            ArgumentKind::Flag => json!({ "type": "boolean" }),
            ArgumentKind::Word(words) => json!({ "enum": words }),
        };
        if !self.meaning.is_empty() {
            schema["description"] = json!(self.meaning);
        }
        schema
    }
}

/// The JSON schema of these arguments.
pub fn schema<'a>(arguments: impl Iterator<Item = &'a ToolArgument> + Clone) -> Map<String, Value> {
    let properties: Map<String, Value> =
        arguments.clone().map(|argument| (argument.name.to_owned(), argument.schema())).collect();
    let required: Vec<&str> = arguments.filter(|argument| argument.is_required).map(|it| it.name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

/// Checked arguments.
#[derive(Debug, Default)]
pub struct Arguments(Map<String, Value>);

fn wrong(message: impl Into<String>) -> Failure {
    Failure::usage(message.into())
}

fn shown(text: &str) -> String {
    Terminal.line(&Untrusted::from(text).cut(MAX_SHOWN))
}

impl Arguments {
    /// Checks what a client gives. A `null` counts as not given.
    pub fn read<'a>(
        mut given: Map<String, Value>,
        known: &(impl Iterator<Item = &'a ToolArgument> + Clone),
    ) -> Result<Self, Failure> {
        given.retain(|_, value| !value.is_null());
        for (name, value) in &mut given {
            let argument = known.clone().find(|argument| argument.name == name).ok_or_else(|| {
                let names: Vec<String> = known.clone().map(|argument| format!("`{}`", argument.name)).collect();
                let names = if names.is_empty() { "no argument".to_owned() } else { names.join(", ") };
                wrong(format!("there is no argument `{}`", shown(name))).with_hint(format!("the tool takes {names}"))
            })?;
            // An id may look like a number.
            if let (ArgumentKind::Text | ArgumentKind::Revision, Value::Number(number)) = (argument.kind, &*value) {
                *value = Value::String(number.to_string());
            }
            check(argument, value)?;
        }
        if let Some(missing) = known.clone().find(|argument| argument.is_required && !given.contains_key(argument.name))
        {
            return Err(wrong(format!("the argument `{}` is missing", missing.name)));
        }
        Ok(Self(given))
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// A list of texts; one text is a list, too.
    pub fn texts(&self, name: &str) -> Vec<&str> {
        match self.0.get(name) {
            Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(text)) => vec![text],
            _ => Vec::new(),
        }
    }

    /// A number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.as_u64()
    }

    /// Whether a flag is given as true.
    pub fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }
}

fn check(argument: &ToolArgument, value: &Value) -> Result<(), Failure> {
    let name = argument.name;
    match (argument.kind, value) {
        (ArgumentKind::Text | ArgumentKind::Texts, Value::String(text)) => check_text(name, text, MAX_TEXT),
        (ArgumentKind::Patch, Value::String(text)) => check_text(name, text, MAX_PATCH),
        (ArgumentKind::Revision | ArgumentKind::Revisions, Value::String(text)) => check_revision(name, text),
        (ArgumentKind::Texts | ArgumentKind::Revisions, Value::Array(texts)) if texts.len() <= MAX_TEXTS => {
            texts.iter().try_for_each(|text| match (argument.kind, text) {
                (ArgumentKind::Texts, Value::String(text)) => check_text(name, text, MAX_TEXT),
                (ArgumentKind::Revisions, Value::String(text)) => check_revision(name, text),
                _ => Err(wrong(format!("`{name}` is a text, or a list of texts"))),
            })
        }
        (ArgumentKind::Texts | ArgumentKind::Revisions, _) => {
            Err(wrong(format!("`{name}` is a text, or a list of at most {MAX_TEXTS} texts")))
        }
        (ArgumentKind::Text | ArgumentKind::Patch | ArgumentKind::Revision, _) => {
            Err(wrong(format!("`{name}` is a text")))
        }
        (ArgumentKind::Number(min, max), number) => match number.as_u64() {
            Some(number) if (min..=max).contains(&number) => Ok(()),
            _ => Err(wrong(format!("`{name}` is a number from {min} to {max}"))),
        },
        (ArgumentKind::Flag, Value::Bool(_)) => Ok(()),
        (ArgumentKind::Flag, _) => Err(wrong(format!("`{name}` is true or false"))),
        (ArgumentKind::Word(words), Value::String(word)) if words.contains(&word.as_str()) => Ok(()),
        (ArgumentKind::Word(words), _) => Err(wrong(format!("`{name}` is one of {}", words.join(", ")))),
    }
}

fn check_text(name: &str, text: &str, max_bytes: usize) -> Result<(), Failure> {
    if text.len() > max_bytes {
        return Err(wrong(format!("`{name}` is longer than {max_bytes} bytes")));
    }
    if text.contains('\0') {
        return Err(wrong(format!("`{name}` contains a NUL")));
    }
    Ok(())
}

fn check_revision(name: &str, text: &str) -> Result<(), Failure> {
    check_text(name, text, MAX_TEXT)?;
    if text.starts_with('-') || text.trim().is_empty() {
        return Err(wrong(format!("`{name}` is a revision, and `{}` is none", shown(text))));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [ToolArgument; 6] = [
        ToolArgument::required("at", ArgumentKind::Revision, "A revision."),
        ToolArgument::new("good", ArgumentKind::Revisions, ""),
        ToolArgument::new("test", ArgumentKind::Texts, ""),
        ToolArgument::new("step", ArgumentKind::Number(1, 9), ""),
        ToolArgument::new("full", ArgumentKind::Flag, ""),
        ToolArgument::new("until", ArgumentKind::Word(&["commit", "fix"]), ""),
    ];

    fn read(value: Value) -> Result<Arguments, String> {
        let Value::Object(map) = value else { panic!("no object") };
        Arguments::read(map, &KNOWN.iter())
            .map_err(|failure| String::from_utf8(failure.message.as_bytes().to_vec()).unwrap())
    }

    #[test]
    fn what_fits_the_table_is_taken() {
        let given =
            read(json!({"at": "HEAD", "good": ["a", "b"], "test": "x y", "step": 9, "full": true, "until": null}));
        let given = given.unwrap();
        assert_eq!((given.text("at"), given.texts("good")), (Some("HEAD"), vec!["a", "b"]));
        assert_eq!((given.texts("test"), given.number("step"), given.flag("full")), (vec!["x y"], Some(9), true));
        assert_eq!((given.text("until"), given.number("at"), given.flag("at")), (None, None, false));
    }

    #[test]
    fn everything_else_is_an_error_that_names_the_argument() {
        let long = "x".repeat(MAX_TEXT + 1);
        let many = vec!["x"; MAX_TEXTS + 1];
        for (given, expected) in [
            (json!({}), "the argument `at` is missing"),
            (json!({"at": null}), "the argument `at` is missing"),
            (json!({"at": "-x"}), "`at` is a revision, and `-x` is none"),
            (json!({"at": "--exec=\u{1b}"}), "`at` is a revision, and `--exec=\\x1b` is none"),
            (json!({"at": " "}), "`at` is a revision, and ` ` is none"),
            (json!({"at": "a\u{0}b"}), "`at` contains a NUL"),
            (json!({"at": long}), "`at` is longer than 4096 bytes"),
            (json!({"at": -3}), "`at` is a revision, and `-3` is none"),
            (json!({"at": true}), "`at` is a text"),
            (json!({"at": "a", "good": ["b", "-c"]}), "`good` is a revision, and `-c` is none"),
            (json!({"at": "a", "good": ["b", 3]}), "`good` is a text, or a list of texts"),
            (json!({"at": "a", "test": many}), "`test` is a text, or a list of at most 64 texts"),
            (json!({"at": "a", "test": {}}), "`test` is a text, or a list of at most 64 texts"),
            (json!({"at": "a", "step": 0}), "`step` is a number from 1 to 9"),
            (json!({"at": "a", "step": 1.5}), "`step` is a number from 1 to 9"),
            (json!({"at": "a", "step": -1}), "`step` is a number from 1 to 9"),
            (json!({"at": "a", "full": "yes"}), "`full` is true or false"),
            (json!({"at": "a", "until": "now"}), "`until` is one of commit, fix"),
            (json!({"at": "a", "--build": "x"}), "there is no argument `--build`"),
        ] {
            assert_eq!(read(given).unwrap_err(), expected);
        }
    }

    #[test]
    fn the_table_is_the_schema() {
        let schema = Value::Object(schema(KNOWN[..1].iter()));
        let at = json!({"type": "string", "description": "A revision."});
        let expected =
            json!({"type": "object", "properties": {"at": at}, "required": ["at"], "additionalProperties": false});
        assert_eq!(schema, expected);
    }
}
