//! What a program printed, and the exception that ended it.

use crate::java::{JavaFrame, JavaMachine, JavaPlayer, JavaValue, LibraryCall, ObjectKind, ValueLocation, Watch, text};
use crate::output::{Escape, OutputStream, Outputs, WrittenOutput};
use crate::{Step, TraceError};
use std::collections::HashMap;
use std::sync::Arc;

/// Takes down what a program prints while it is played.
#[derive(Debug, Default)]
pub struct JavaOutput {
    /// The streams, by their objects.
    streams: HashMap<u32, OutputStream>,
    /// What was printed so far.
    pub found: Outputs,
    /// The step that threw first since an exception was caught last, and the exception, if it is known.
    threw: Option<(Step, Option<String>)>,
    /// The steps that threw exceptions first, by their objects. One that was caught can be thrown again.
    origins: HashMap<u32, Step>,
}

impl JavaOutput {
    /// What the program printed, and how it ended.
    pub fn end(self) -> Outputs {
        self.found
    }
}

/// The step that threw what ended the first method of a thread is the crash.
impl Watch for JavaOutput {
    fn step(&mut self, _machine: &JavaMachine, frame: &JavaFrame) {
        self.found.last = Some(frame.step);
    }

    fn reads(&mut self, machine: &JavaMachine, _frame: &JavaFrame, location: ValueLocation, value: JavaValue) {
        let (ValueLocation::Static(field), Some(object)) = (location, value.object()) else { return };
        let field = machine.program.field(field);
        if &*field.class == "java/lang/System" {
            match &*field.name {
                "out" => self.streams.insert(object, OutputStream::Output),
                "err" => self.streams.insert(object, OutputStream::Errors),
                _ => None,
            };
        }
    }

    fn called(&mut self, machine: &JavaMachine, frame: &JavaFrame, call: &LibraryCall<'_>) {
        let LibraryCall { callee, given, .. } = *call;
        let stream = given.first().and_then(|object| self.streams.get(&object.object()?));
        let Some(stream) = stream.copied().filter(|_| callee.has_object) else { return };
        let name = &*callee.member.name;
        if !prints(name) {
            return;
        }
        let printed = match (name, given.get(1)) {
            ("println", None) => Some(String::new()),
            ("print" | "println", Some(value)) => printed(machine, &callee.member.descriptor, *value),
            _ => None,
        };
        let end = if name == "println" { "\n" } else { "" };
        let bytes = printed.map(|text| format!("{text}{end}").into_bytes());
        let length = bytes.as_ref().map(|bytes| bytes.len() as u64);
        self.found.written.push(WrittenOutput { step: frame.step, stream, length, bytes });
    }

    fn throws(&mut self, machine: &JavaMachine, frame: &JavaFrame, exception: JavaValue) {
        let (step, known) = self.threw.get_or_insert((frame.step, None));
        if known.is_none()
            && let Some(object) = exception.object().filter(|object| *object != 0)
        {
            *known = Some(text::without_numbers(&text::object(machine, object)));
            *step = *self.origins.entry(object).or_insert(*step);
        }
    }

    fn catches(&mut self, _machine: &JavaMachine, _frame: &JavaFrame, exception: JavaValue) {
        if let Some(object) = exception.object() {
            self.origins.entry(object).or_insert(exception.maker);
        }
        self.threw = None;
    }

    fn leaves(&mut self, machine: &JavaMachine, frame: &JavaFrame, is_return: bool, _result: Option<JavaValue>) {
        if !is_return && machine.frames().is_empty() {
            let escape = self.threw.take().map(|(step, exception)| Escape {
                step,
                exception: exception.unwrap_or_else(|| "an exception".to_owned()),
                function: Arc::clone(&frame.method.function),
            });
            self.found.crash = escape.as_ref().map(|escape| escape.step);
            self.found.escapes.extend(escape);
        }
    }
}

/// Whether a method of a stream writes to it.
pub fn prints(method: &str) -> bool {
    ["print", "println", "printf", "format", "write", "append"].contains(&method)
}

/// The text of a value as `print` writes it; `None` if that is not known.
fn printed(machine: &JavaMachine, descriptor: &str, value: JavaValue) -> Option<String> {
    let parameter = descriptor.strip_prefix('(').unwrap_or(descriptor);
    if !value.is_known {
        return None;
    }
    match parameter.as_bytes().first() {
        Some(b'I' | b'J' | b'Z') => Some(text::value(machine, parameter, value)),
        Some(b'C') => char::from_u32(value.int()?.cast_unsigned()).map(String::from),
        Some(b'L') => {
            let id = value.object()?;
            if id == 0 {
                return Some("null".to_owned());
            }
            let object = machine.objects.get(id)?;
            let is_whole = match object.kind {
                ObjectKind::String => object.text.encode_utf16().count() == object.length as usize,
                ObjectKind::Boxed => true,
                _ => false,
            };
            is_whole.then(|| object.text.to_string())
        }
        _ => None,
    }
}

/// What the program printed, and how it ended.
///
/// Cost: one pass over the trace.
pub fn outputs(player: &mut JavaPlayer) -> Result<Outputs, TraceError> {
    let mut printed = JavaOutput::default();
    player.replay(&mut printed)?;
    Ok(printed.end())
}
