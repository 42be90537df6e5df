//! Where the input of a Java program enters it: the calls of the library that bring something from outside.
//!
//! A recording has the class and the name of the method of each such call, the objects that it was given, and its result.
//! The [`table`] says what calls do. A file is known by the name that the program gave to the constructor or method that
//! made the object from which it reads; a reader that was made of another one goes on with the same file.
//!
//! How far a call read is not recorded. It follows from its result, and from the content of the file if that is known.

mod extent;
mod table;

use crate::input::{Contents, InputEntry, InputSource, Landing};
use crate::instrument::java::descriptor::result_type;
use crate::java::detail::call_name;
use crate::java::input::extent::InputCursor;
use crate::java::input::table::{InputEffect, InputExtent, effect};
use crate::java::{
    JavaFrame, JavaMachine, JavaPlayer, JavaValue, LibraryCall, MethodCallee, ObjectKind, ValueLocation, Watch,
};
use crate::{Place, Step, TraceError};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// What an object of the library stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum InputHandle {
    /// A reader of memory.
    Memory,
    Name(String),
    /// Something that is open, by its number.
    Open(usize),
}

/// What a call gave back.
#[derive(Debug, Clone, PartialEq, Eq)]
enum GivenBytes {
    /// Nothing that is known.
    Unknown,
    /// `null`, or a negative number: nothing is left.
    End,
    /// A text, and whether it is all of it.
    Text(Arc<str>, bool),
    Number(u64),
}

/// A read before its bytes are known.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PendingRead {
    /// The number of what is open; `None` for what has no bytes in an order.
    open: Option<usize>,
    source: InputSource,
    extent: InputExtent,
    /// Whether the call returns a single byte or character.
    is_single: bool,
    given: GivenBytes,
    step: Step,
    function: Option<Arc<str>>,
    place: Option<Place>,
}

impl PendingRead {
    /// Whether something was read, and not only the place changed.
    fn is_read(&self) -> bool {
        !matches!(self.extent, InputExtent::Mark | InputExtent::Reset)
    }
}

/// Takes down what a program reads while it is played.
#[derive(Debug, Default)]
pub struct JavaInputReader {
    handles: HashMap<u32, InputHandle>,
    open: Vec<InputSource>,
    /// The number of standard input.
    standard: Option<usize>,
    /// The array of the arguments of the program.
    arguments: Option<u32>,
    /// What calls do, by their addresses in memory.
    effects: HashMap<usize, Option<InputEffect>>,
    seen: Vec<PendingRead>,
    n_reads: usize,
}

/// The number of classes that the machine knows is small, but calls are many: this is asked only of a new reader.
fn is_recorded(machine: &JavaMachine, class: &str) -> bool {
    let class = class.replace('.', "/");
    machine.program.methods().iter().any(|method| *method.class == class)
}

impl JavaInputReader {
    /// The number of reads so far.
    pub fn n_reads(&self) -> usize {
        self.n_reads
    }

    fn push(&mut self, seen: PendingRead) {
        self.n_reads += usize::from(seen.is_read());
        self.seen.push(seen);
    }

    /// What was read, in order.
    fn entries(self, contents: &mut Contents<'_>) -> Vec<InputEntry> {
        let mut cursors: HashMap<usize, InputCursor> = HashMap::new();
        let mut entry = |seen: PendingRead| {
            let is_read = seen.is_read();
            let (begin, length, is_exact) = match seen.open {
                Some(open) => {
                    let cursor = cursors.entry(open).or_insert_with(|| InputCursor::new(contents(&seen.source)));
                    cursor.read(&seen)
                }
                None => extent::whole(&seen.given),
            };
            let PendingRead { source, step, function, place, .. } = seen;
            let landing = Landing::Nowhere;
            is_read.then_some(InputEntry { source, begin, length, is_exact, step, function, place, landing })
        };
        self.seen.into_iter().filter_map(&mut entry).collect()
    }

    fn opened(&mut self, source: InputSource) -> usize {
        self.open.push(source);
        self.open.len() - 1
    }

    fn handle(&self, value: JavaValue) -> Option<&InputHandle> {
        self.handles.get(&value.object()?)
    }

    /// The name of a file that a value is, or names, or the parts of which it has.
    fn name(&self, machine: &JavaMachine, value: JavaValue) -> Option<String> {
        let id = value.object().filter(|id| *id != 0)?;
        match self.handles.get(&id) {
            Some(InputHandle::Name(name)) => return Some(name.clone()),
            Some(InputHandle::Open(open)) => {
                return match &self.open[*open] {
                    InputSource::File(name) => Some(name.clone()),
                    _ => None,
                };
            }
            Some(InputHandle::Memory) => return None,
            None => {}
        }
        let object = machine.objects.get(id)?;
        match object.kind {
            ObjectKind::String => Some(object.text.to_string()),
            ObjectKind::Array if &*object.class == "[Ljava.lang.String;" => {
                let part = |index| self.name(machine, machine.memory.get(ValueLocation::Element(id, index))?);
                (object.length > 0).then(|| join((0..object.length).map_while(part)))
            }
            _ => None,
        }
    }

    /// What a new object or a result stands for that is made of the first of some values.
    fn made(&mut self, machine: &JavaMachine, effect: InputEffect, from: &[JavaValue], call: &Arc<str>) -> InputHandle {
        if let Some(handle) = from.iter().find_map(|value| self.handle(*value)) {
            return match handle.clone() {
                InputHandle::Name(name) => InputHandle::Open(self.opened(InputSource::File(name))),
                other => other,
            };
        }
        let first = from.first().and_then(|value| machine.objects.get(value.object()?));
        let Some(first) = first else { return InputHandle::Open(self.opened(InputSource::Call(Arc::clone(call)))) };
        match (effect, first.kind) {
            (InputEffect::Opens, ObjectKind::String) => {
                InputHandle::Open(self.opened(InputSource::File(first.text.to_string())))
            }
            // What is in memory, or what recorded code reads.
            (_, ObjectKind::String | ObjectKind::Array) => InputHandle::Memory,
            _ if is_recorded(machine, &first.class) => InputHandle::Memory,
            _ => InputHandle::Open(self.opened(InputSource::Call(Arc::clone(call)))),
        }
    }

    /// A call that reads from something.
    ///
    /// - `others`: its object and arguments.
    fn reads(&mut self, callee: &MethodCallee, extent: InputExtent, others: &[JavaValue], mut seen: PendingRead) {
        let is_of_console = matches!(&*callee.member.class, "java/io/Console" | "java/lang/IO" | "kotlin/io/ConsoleKt");
        let handle = if is_of_console {
            Some(InputHandle::Open(self.of_standard()))
        } else {
            others.iter().find_map(|value| self.handle(*value)).cloned()
        };
        seen.extent = extent;
        seen.is_single = callee.member.descriptor.starts_with("()");
        match handle {
            Some(InputHandle::Memory) => return,
            Some(InputHandle::Open(open)) => (seen.open, seen.source) = (Some(open), self.open[open].clone()),
            Some(InputHandle::Name(name)) => {
                seen.source = InputSource::File(name);
                seen.open = Some(self.opened(seen.source.clone()));
            }
            None => {}
        }
        self.push(seen);
    }

    fn of_standard(&mut self) -> usize {
        if let Some(standard) = self.standard {
            return standard;
        }
        let standard = self.opened(InputSource::Standard);
        *self.standard.insert(standard)
    }

    fn effect(&mut self, callee: &MethodCallee) -> Option<InputEffect> {
        let known = self.effects.entry(std::ptr::from_ref(callee).addr());
        *known.or_insert_with(|| effect(&callee.member.class, &callee.member.name))
    }
}

/// Parts of the name of a file, joined. A part that begins at the root replaces what is before it.
fn join(parts: impl Iterator<Item = String>) -> String {
    parts.fold(String::new(), |before, part| {
        if before.is_empty() || part.starts_with('/') {
            part
        } else {
            format!("{}/{part}", before.trim_end_matches('/'))
        }
    })
}

/// What a value says of the input that it came with.
fn given_by(machine: &JavaMachine, call: &LibraryCall<'_>) -> GivenBytes {
    let Some(value) = call.result.filter(|value| value.is_known) else { return GivenBytes::Unknown };
    let result = result_type(&call.callee.member.descriptor);
    let number = match result.as_bytes().first() {
        Some(b'J') => value.bits.cast_signed(),
        Some(b'B' | b'C' | b'S' | b'I') => i64::from(value.int().unwrap_or_default()),
        Some(b'L') => {
            let Some(object) = value.object().filter(|id| *id != 0) else { return GivenBytes::End };
            return match machine.objects.get(object).filter(|object| object.kind == ObjectKind::String) {
                Some(object) => {
                    let is_whole = object.text.encode_utf16().count() == object.length as usize;
                    GivenBytes::Text(Arc::clone(&object.text), is_whole)
                }
                None => GivenBytes::Unknown,
            };
        }
        _ => return GivenBytes::Unknown,
    };
    u64::try_from(number).map_or(GivenBytes::End, GivenBytes::Number)
}

impl Watch for JavaInputReader {
    fn reads(&mut self, machine: &JavaMachine, frame: &JavaFrame, location: ValueLocation, value: JavaValue) {
        match location {
            ValueLocation::Static(field) => {
                let field = machine.program.field(field);
                if (&*field.class, &*field.name) == ("java/lang/System", "in")
                    && let Some(object) = value.object()
                    && !self.handles.contains_key(&object)
                {
                    let standard = self.of_standard();
                    self.handles.insert(object, InputHandle::Open(standard));
                }
            }
            ValueLocation::Element(array, index) if self.arguments == Some(array) && value.maker == Step::START => {
                let text = value.object().and_then(|object| machine.objects.get(object));
                let given = text.map_or(GivenBytes::Unknown, |text| GivenBytes::Text(Arc::clone(&text.text), true));
                self.push(PendingRead {
                    given,
                    function: None,
                    ..seen(frame, InputSource::Argument(index as usize + 1), &"".into())
                });
            }
            _ => {}
        }
    }

    fn writes(&mut self, machine: &JavaMachine, frame: &JavaFrame, location: ValueLocation, value: JavaValue) {
        // What is written before the first statement are the parameters.
        let method = &frame.method;
        let is_first = !frame.is_begun && frame.caller == Step::START && location == ValueLocation::Local(0);
        if !is_first || &*method.name != "main" || &*method.descriptor != "([Ljava/lang/String;)V" {
            return;
        }
        let Some(array) = value.object() else { return };
        self.arguments = Some(array);
        if machine.objects.get(array).is_some_and(|array| array.length > 0) {
            self.push(PendingRead { function: None, ..seen(frame, InputSource::Arguments, &"".into()) });
        }
    }

    fn called(&mut self, machine: &JavaMachine, frame: &JavaFrame, call: &LibraryCall<'_>) {
        let LibraryCall { callee, given, result } = *call;
        let Some(effect) = self.effect(callee) else { return };
        let name = call_name(callee);
        let is_constructor = callee.is_constructor();
        let others = given.get(usize::from(is_constructor)..).unwrap_or_default();
        // A constructor that calls the one of the class that is extended has its object already.
        let own = given.first().filter(|_| is_constructor);
        let object = result.or(own.copied()).and_then(JavaValue::object).filter(|object| *object != 0);
        let own =
            PendingRead { given: given_by(machine, call), ..seen(frame, InputSource::Call(Arc::clone(&name)), &name) };
        let text = others.iter().find_map(|value| self.name(machine, *value));
        match effect {
            InputEffect::Memory => {
                object.map(|object| self.handles.insert(object, InputHandle::Memory));
            }
            InputEffect::Names => {
                let name = join(others.iter().filter_map(|value| self.name(machine, *value)));
                object.filter(|_| !name.is_empty()).map(|object| self.handles.insert(object, InputHandle::Name(name)));
            }
            InputEffect::Opens | InputEffect::Wraps => {
                // An object without a handle says nothing, such as the class of a resource.
                let is_known = |value: &JavaValue| self.handle(*value).is_some();
                let skip = usize::from(callee.has_object && !is_constructor && !others.first().is_some_and(is_known));
                let from = others.get(skip..).unwrap_or_default();
                let from = &from[..from.len().min(1)];
                let handle = self.made(machine, effect, from, &name);
                match (object, handle) {
                    (Some(object), handle) => {
                        self.handles.insert(object, handle);
                    }
                    // It could not be opened: that, too, is known from outside.
                    (None, InputHandle::Open(open)) => {
                        let source = self.open[open].clone();
                        self.push(PendingRead { open: Some(open), source, extent: InputExtent::Looks, ..own });
                    }
                    (None, _) => {}
                }
            }
            InputEffect::Reads(extent) => self.reads(callee, extent, others, own),
            InputEffect::ReadsArgument => {
                let rest = others.get(usize::from(callee.has_object && !is_constructor)..).unwrap_or_default();
                if rest.iter().any(|value| matches!(self.handle(*value), Some(InputHandle::Open(_)))) {
                    self.reads(callee, InputExtent::Part, rest, own);
                }
            }
            InputEffect::Environment => {
                let source = text.map_or(own.source.clone(), InputSource::Environment);
                self.push(PendingRead { source, ..own });
            }
            InputEffect::Property => {
                let source = text.map_or(own.source.clone(), InputSource::Property);
                self.push(PendingRead { source, ..own });
            }
            InputEffect::System if is_constructor && !callee.parameters.is_empty() => {}
            InputEffect::System => self.push(PendingRead { source: InputSource::System(name), ..own }),
        }
    }
}

/// A read of the current step.
fn seen(frame: &JavaFrame, source: InputSource, function: &Arc<str>) -> PendingRead {
    PendingRead {
        open: None,
        source,
        extent: InputExtent::Part,
        is_single: false,
        given: GivenBytes::Unknown,
        step: frame.step,
        function: Some(Arc::clone(function)),
        place: Some(frame.place().clone()).filter(|place| place.line != 0),
    }
}

/// What the program read before a step, in order; see [`Execution::inputs`](crate::execution::Execution::inputs).
///
/// Cost: one pass over the trace.
pub fn inputs(
    player: &mut JavaPlayer,
    until: Step,
    contents: &mut Contents<'_>,
) -> Result<Vec<InputEntry>, TraceError> {
    let mut reader = JavaInputReader::default();
    player.replay(&mut reader)?;
    let mut entries = reader.entries(contents);
    entries.retain(|entry| entry.step < until);
    Ok(entries)
}

/// The steps with which a part of an input, or all of it, enters; those whose bytes are not known may bring any part.
pub fn entering(entries: &[&InputEntry], range: Option<&Range<u64>>) -> Vec<Step> {
    let is_in = |entry: &&&InputEntry| match (entry.range(), range) {
        (Some(bytes), Some(range)) => bytes.start < range.end && range.start < bytes.end,
        _ => true,
    };
    let mut steps: Vec<Step> = entries.iter().filter(is_in).map(|entry| entry.step).collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}
