//! Values and places as Java shows them.

use crate::java::memory::ValueLocation;
use crate::java::{JavaFrame, JavaMachine, JavaValue, ObjectKind};
use std::fmt::Write as _;
use std::sync::Arc;

/// Characters of a string that are shown.
const MAX_TEXT: usize = 80;

/// A value of a type: `7`, `'x'`, `"text"`, `Point#12`.
pub fn value(machine: &JavaMachine, descriptor: &str, value: JavaValue) -> String {
    if !value.is_known {
        return "?".to_owned();
    }
    let int = value.int().unwrap_or_default();
    match descriptor.as_bytes().first() {
        Some(b'Z') => (int != 0).to_string(),
        Some(b'C') => match char::from_u32(int.cast_unsigned()) {
            Some(character) => quoted(character.encode_utf8(&mut [0; 4]), '\''),
            // Half of a pair.
            None => format!("'\\u{int:04x}'"),
        },
        Some(b'B' | b'S' | b'I') => int.to_string(),
        Some(b'J') => value.bits.cast_signed().to_string(),
        Some(b'F') => format!("{:?}", f32::from_bits(int.cast_unsigned())).replace("inf", "Infinity"),
        Some(b'D') => format!("{:?}", f64::from_bits(value.bits)).replace("inf", "Infinity"),
        _ => value.object().map_or_else(|| "?".to_owned(), |id| object(machine, id)),
    }
}

/// An object: `null`, `"text"`, `int[3]#9`, `Point#12`.
pub fn object(machine: &JavaMachine, id: u32) -> String {
    if id == 0 {
        return "null".to_owned();
    }
    let Some(object) = machine.objects.get(id) else { return format!("object#{id}") };
    match object.kind {
        ObjectKind::String => {
            let shown: String = object.text.chars().take(MAX_TEXT).collect();
            let n_shown = u32::try_from(shown.encode_utf16().count()).unwrap_or(u32::MAX);
            let text = quoted(&shown, '"');
            if n_shown < object.length { format!("{text}... ({} characters)", object.length) } else { text }
        }
        ObjectKind::Array => {
            let element = object.class.strip_prefix('[').unwrap_or(&object.class);
            let (element, rest) = array(element);
            format!("{element}[{}]{rest}#{id}", object.length)
        }
        ObjectKind::Boxed if &*object.class == "java.lang.Character" => quoted(&object.text, '\''),
        ObjectKind::Boxed | ObjectKind::Constant => object.text.to_string(),
        ObjectKind::Class => format!("{}.class", simple(&object.text)),
        ObjectKind::Exception if !object.text.is_empty() => {
            format!("{}#{id} ({})", simple(&object.class), quoted(&object.text, '"'))
        }
        ObjectKind::Exception | ObjectKind::Other => format!("{}#{id}", simple(&object.class)),
    }
}

/// A text in quotes, as Java writes it: what would not be seen is escaped.
fn quoted(text: &str, quote: char) -> String {
    let mut shown = String::from(quote);
    for character in text.chars() {
        match character {
            '\u{8}' => shown.push_str("\\b"),
            '\t' => shown.push_str("\\t"),
            '\n' => shown.push_str("\\n"),
            '\u{c}' => shown.push_str("\\f"),
            '\r' => shown.push_str("\\r"),
            '\\' => shown.push_str("\\\\"),
            character if character == quote => shown.extend(['\\', quote]),
            '\'' | '"' => shown.push(character),
            character if character.escape_debug().len() == 1 => shown.push(character),
            character => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(shown, "\\u{unit:04x}").expect("a string takes all");
                }
            }
        }
    }
    shown.push(quote);
    shown
}

/// The elements of an array of arrays, and the brackets of the inner dimensions.
fn array(descriptor: &str) -> (String, String) {
    let n_inner = descriptor.bytes().take_while(|byte| *byte == b'[').count();
    (of_type(&descriptor[n_inner..]), "[]".repeat(n_inner))
}

/// A type, from its descriptor.
fn of_type(descriptor: &str) -> String {
    match descriptor.as_bytes().first() {
        Some(b'Z') => "boolean".to_owned(),
        Some(b'B') => "byte".to_owned(),
        Some(b'C') => "char".to_owned(),
        Some(b'S') => "short".to_owned(),
        Some(b'I') => "int".to_owned(),
        Some(b'J') => "long".to_owned(),
        Some(b'F') => "float".to_owned(),
        Some(b'D') => "double".to_owned(),
        _ => simple(descriptor.trim_start_matches('L').trim_end_matches(';')).to_owned(),
    }
}

/// The name of a class without its package.
///
/// A class that was made at run time has an address behind a slash in place of a package.
pub fn simple(class: &str) -> &str {
    let class = class.find("/0x").map_or(class, |end| &class[..end]);
    class.rsplit(['.', '/']).next().unwrap_or(class)
}

/// A text without the numbers of objects, which differ between two runs.
pub fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    let mut characters = text.chars().peekable();
    let mut is_quoted = false;
    while let Some(character) = characters.next() {
        match character {
            '\\' if is_quoted => {
                out.push(character);
                out.extend(characters.next());
                continue;
            }
            '"' => is_quoted = !is_quoted,
            '#' if !is_quoted => {
                while characters.next_if(char::is_ascii_digit).is_some() {}
                continue;
            }
            _ => {}
        }
        out.push(character);
    }
    out
}

/// A place in the program and the type of what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceName {
    /// `total`, `this.count`, `Main.limit`, `a[2]`, `contents of list`.
    pub text: String,
    /// The type: `I`, `Ljava/lang/String;`.
    pub descriptor: Arc<str>,
}

/// Names a place, as seen from an activation.
pub fn name(machine: &JavaMachine, frame: &JavaFrame, location: ValueLocation) -> PlaceName {
    match location {
        ValueLocation::Local(local) => match frame.method.variable(local, frame.at) {
            Some(variable) => {
                PlaceName { text: variable.name.to_string(), descriptor: Arc::clone(&variable.descriptor) }
            }
            None if local == 0 && !frame.method.is_static => {
                PlaceName { text: "this".to_owned(), descriptor: format!("L{};", frame.method.class).into() }
            }
            None => PlaceName { text: format!("local {local}"), descriptor: unknown(frame, local) },
        },
        ValueLocation::Field(object, field) => {
            let field = machine.program.field(field);
            let text = format!("{}.{}", holder(machine, frame, object), field.name);
            PlaceName { text, descriptor: Arc::clone(&field.descriptor) }
        }
        ValueLocation::Static(field) => {
            let field = machine.program.field(field);
            PlaceName {
                text: format!("{}.{}", simple(&field.class), field.name),
                descriptor: Arc::clone(&field.descriptor),
            }
        }
        ValueLocation::Element(array, index) => {
            let class = machine.objects.get(array).map_or("[?", |object| &*object.class);
            let descriptor = class.strip_prefix('[').unwrap_or(class).into();
            PlaceName { text: format!("{}[{index}]", holder(machine, frame, array)), descriptor }
        }
        ValueLocation::State(object) => {
            PlaceName { text: format!("contents of {}", holder(machine, frame, object)), descriptor: "L;".into() }
        }
    }
}

/// The type of a local without a name: that of the value is not known, so it is a number or an object by what it holds.
fn unknown(frame: &JavaFrame, local: u16) -> Arc<str> {
    use crate::instrument::java::descriptor::ValueKind as Type;
    use crate::instrument::java::operation::Operation;
    let present = frame.method.operations.get(frame.at as usize);
    let kind = present.into_iter().chain(&frame.method.operations).find_map(|operation| match operation {
        Operation::Load(kind, of) | Operation::Store(kind, of) if *of == local => Some(*kind),
        _ => None,
    });
    let descriptor = match kind {
        Some(Type::Int) | None => "I",
        Some(Type::Long) => "J",
        Some(Type::Float) => "F",
        Some(Type::Double) => "D",
        Some(Type::Reference) => "L;",
    };
    descriptor.into()
}

/// An object, by the first variable of an activation that holds it.
fn holder(machine: &JavaMachine, frame: &JavaFrame, object: u32) -> String {
    let holds = |local: &u16| frame.locals[usize::from(*local)].object() == Some(object) && is_reference(frame, *local);
    let mut locals = (0..u16::try_from(frame.locals.len()).unwrap_or(u16::MAX)).filter(holds);
    let named = locals.find_map(|local| match frame.method.variable(local, frame.at) {
        Some(variable) => Some(variable.name.to_string()),
        None => (local == 0 && !frame.method.is_static).then(|| "this".to_owned()),
    });
    named.filter(|_| object != 0).unwrap_or_else(|| self::object(machine, object))
}

fn is_reference(frame: &JavaFrame, local: u16) -> bool {
    let is = |descriptor: &str| descriptor.starts_with(['L', '[']);
    match frame.method.variable(local, frame.at) {
        Some(variable) => is(&variable.descriptor),
        None => local == 0 && !frame.method.is_static,
    }
}

/// The visible variables of an activation before its next instruction: name and value.
pub fn variables(machine: &JavaMachine, frame: &JavaFrame) -> Vec<(Arc<str>, String)> {
    let mut found = Vec::new();
    let visible = frame.method.variables.iter().filter(|variable| variable.visible.contains(&frame.at));
    for variable in visible {
        let held = frame.locals.get(usize::from(variable.local)).copied().unwrap_or(JavaValue::UNKNOWN);
        found.push((Arc::clone(&variable.name), value(machine, &variable.descriptor, held)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_as_java_writes_them() {
        let check = |text: &str, quote: char, expected: &str| assert_eq!(quoted(text, quote), expected);
        check("x", '\'', "'x'");
        check("\u{8}", '\'', r"'\b'");
        check("'", '\'', r"'\''");
        check("\"", '\'', "'\"'");
        check("\u{7}\u{200b}", '"', r#""\u0007\u200b""#);
        check("a\"b\\\n'é", '"', r#""a\"b\\\n'é""#);
        check("\u{e0001}", '"', r#""\udb40\udc01""#);
    }
}
