//! What is in an object, as far as the recorded code read or wrote it.

use crate::instrument::java::descriptor::is_reference;
use crate::java::memory::ValueLocation;
use crate::java::{JavaMachine, JavaValue, ObjectKind, text};
use std::sync::Arc;

/// Parts of an object that are shown in one line.
const MAX_SHOWN: usize = 8;

/// Objects in objects are shown so deep.
const MAX_DEPTH: usize = 2;

/// A part of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectPart {
    /// Its name: `count`, `[2]`.
    pub name: String,
    /// Its type.
    pub descriptor: Arc<str>,
    /// Where it is.
    pub location: ValueLocation,
    /// Its value.
    pub value: JavaValue,
}

/// The number of parts of an object, and how many elements those are, if it is an array.
pub fn count(machine: &JavaMachine, object: u32) -> (usize, Option<u32>) {
    let known = machine.objects.get(object);
    match known.filter(|known| known.kind == ObjectKind::Array) {
        Some(array) => (array.length as usize, Some(array.length)),
        None if object == 0 => (0, None),
        None => (fields(machine, object).count(), None),
    }
}

fn fields(machine: &JavaMachine, object: u32) -> impl Iterator<Item = ObjectPart> {
    machine.program.fields().filter_map(move |(id, field)| {
        let location = ValueLocation::Field(object, id);
        let value = machine.memory.get(location)?;
        Some(ObjectPart { name: field.name.to_string(), descriptor: Arc::clone(&field.descriptor), location, value })
    })
}

/// Some parts of an object, in their order: elements, or fields that were read or written.
pub fn parts(machine: &JavaMachine, object: u32, skip: usize, take: usize) -> Vec<ObjectPart> {
    let Some(length) = count(machine, object).1 else {
        return fields(machine, object).skip(skip).take(take).collect();
    };
    let class = machine.objects.get(object).map_or("[?", |object| &*object.class);
    let descriptor: Arc<str> = class.strip_prefix('[').unwrap_or(class).replace('.', "/").into();
    let first = u32::try_from(skip).unwrap_or(u32::MAX);
    let element = |index: u32| {
        let location = ValueLocation::Element(object, index);
        let value = machine.memory.get(location).unwrap_or(JavaValue::UNKNOWN);
        ObjectPart { name: format!("[{index}]"), descriptor: Arc::clone(&descriptor), location, value }
    };
    (first..length).take(take).map(element).collect()
}

/// What is in an object, two levels deep: `{count = 3, head = Node#4 {v = 1}}`; `None` if nothing of it is known.
pub fn structure(machine: &JavaMachine, object: u32) -> Option<String> {
    shown(machine, object, MAX_DEPTH)
}

fn shown(machine: &JavaMachine, object: u32, depth: usize) -> Option<String> {
    let is_structure = |kind: ObjectKind| matches!(kind, ObjectKind::Other | ObjectKind::Array | ObjectKind::Exception);
    let is_known = machine.objects.get(object).is_some_and(|object| is_structure(object.kind));
    let (n_parts, length) = if is_known && depth > 0 { count(machine, object) } else { (0, None) };
    let all = parts(machine, object, 0, MAX_SHOWN);
    if n_parts == 0 || all.iter().all(|part| part.value == JavaValue::UNKNOWN) {
        return None;
    }
    let part = |part: &ObjectPart| {
        let value = text::value(machine, &part.descriptor, part.value);
        let inner = is_reference(&part.descriptor).then(|| part.value.object()).flatten();
        let inner = inner.and_then(|inner| shown(machine, inner, depth - 1)).map(|inner| format!(" {inner}"));
        let name = if length.is_some() { String::new() } else { format!("{} = ", part.name) };
        format!("{name}{value}{}", inner.unwrap_or_default())
    };
    let mut texts: Vec<String> = all.iter().map(part).collect();
    if n_parts > MAX_SHOWN {
        texts.push("...".to_owned());
    }
    Some(format!("{{{}}}", texts.join(", ")))
}
