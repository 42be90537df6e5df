//! The objects of a recorded program, as they were when they were met first.

use crate::container::ChunkKind as Chunk;
use crate::java::library;
use crate::java::memory::NumberMap;
use crate::{Trace, TraceError};
use std::collections::HashMap;
use std::sync::Arc;

/// What is known of an object beside its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// Nothing.
    Other,
    /// A string: its text, at most the first 128 characters, and its length.
    String,
    /// An array: its length.
    Array,
    /// A number, character or truth value in an object: its text. A large number has only its size and a hash.
    Boxed,
    /// A class: its name.
    Class,
    /// A constant of an enumeration: its name.
    Constant,
    /// An exception: its message, if its class is of the library.
    Exception,
}

/// An object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// What is known.
    pub kind: ObjectKind,
    /// Its class: `org.example.Main`, `[I`.
    pub class: Arc<str>,
    /// See [`ObjectKind`].
    pub text: Arc<str>,
    /// See [`ObjectKind`].
    pub length: u32,
    /// Whether what it holds can change.
    pub is_mutable: bool,
}

/// All objects, by their numbers.
#[derive(Debug, Clone, Default)]
pub struct JavaObjects(NumberMap<u32, Object>);

const KINDS: [ObjectKind; 7] = [
    ObjectKind::Other,
    ObjectKind::String,
    ObjectKind::Array,
    ObjectKind::Boxed,
    ObjectKind::Class,
    ObjectKind::Constant,
    ObjectKind::Exception,
];

impl JavaObjects {
    /// Reads the objects of a trace.
    pub fn read(trace: &mut Trace) -> Result<Self, TraceError> {
        let mut objects = NumberMap::default();
        let mut classes = Classes { known: HashMap::new(), nothing: "".into() };
        for chunk in trace.chunks().to_vec().iter().filter(|chunk| chunk.kind == Chunk::Objects) {
            let bytes = trace.read(chunk)?;
            let mut rest = &bytes[..];
            while let Some((id, object, after)) = classes.object(rest) {
                objects.entry(id).or_insert(object);
                rest = after;
            }
            if !rest.is_empty() {
                return Err(TraceError::Damaged("an object is cut short"));
            }
        }
        Ok(Self(objects))
    }

    /// An object.
    pub fn get(&self, id: u32) -> Option<&Object> {
        self.0.get(&id)
    }

    /// The number of objects.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The classes that were met, by their names.
struct Classes {
    known: HashMap<Box<[u8]>, ObjectClass>,
    /// The text of objects without one.
    nothing: Arc<str>,
}

#[derive(Clone)]
struct ObjectClass {
    name: Arc<str>,
    /// Whether objects of it can change, if nothing else is known of them.
    is_changing: bool,
}

impl Classes {
    fn named(&mut self, name: &[u8]) -> ObjectClass {
        if let Some(class) = self.known.get(name) {
            return class.clone();
        }
        let text = String::from_utf8_lossy(name);
        let class = ObjectClass { is_changing: library::is_changing(&text), name: text.as_ref().into() };
        self.known.insert(name.into(), class.clone());
        class
    }

    /// The first object in some bytes, and those behind it.
    fn object<'b>(&mut self, bytes: &'b [u8]) -> Option<(u32, Object, &'b [u8])> {
        let (id, rest) = bytes.split_first_chunk::<4>()?;
        let (kind, rest) = rest.split_first_chunk::<2>()?;
        let (class, rest) = text(rest)?;
        let (text, rest) = text(rest)?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let kind = KINDS.get(usize::from(kind[0])).copied()?;
        let ObjectClass { name: class, is_changing } = self.named(class);
        let is_mutable = match kind {
            ObjectKind::String | ObjectKind::Boxed | ObjectKind::Class | ObjectKind::Constant => false,
            ObjectKind::Array | ObjectKind::Exception => true,
            ObjectKind::Other => is_changing,
        };
        let text =
            if text.is_empty() { Arc::clone(&self.nothing) } else { String::from_utf8_lossy(text).as_ref().into() };
        let object = Object { kind, class, text, length: u32::from_le_bytes(*length), is_mutable };
        Some((u32::from_le_bytes(*id), object, rest))
    }
}

fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<2>()?;
    rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))
}
