//! Fields, elements and static fields: what they hold and which step wrote it.

use crate::Step;
use crate::java::{FieldId, JavaProgram, JavaValue};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A hasher for keys that are numbers of the recording, and so no danger.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 29);
    }
}

/// A table whose keys are such numbers.
pub type NumberMap<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;

/// A place where a value can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ValueLocation {
    /// A local of the activation.
    Local(u16),
    /// A field of an object.
    Field(u32, FieldId),
    /// A static field.
    Static(FieldId),
    /// An element of an array.
    Element(u32, u32),
    /// All that an object of the library holds.
    State(u32),
}

/// What objects hold.
#[derive(Debug, Clone, Default)]
pub struct ObjectMemory {
    fields: NumberMap<u64, JavaValue>,
    elements: NumberMap<u64, JavaValue>,
    statics: NumberMap<u32, JavaValue>,
    /// The step that made an object.
    births: NumberMap<u32, Step>,
    /// The last step that could have changed an object in the library.
    states: NumberMap<u32, Step>,
    /// The last step that gave an object to the library.
    given: NumberMap<u32, Step>,
    /// For an object that the library made of another one (an iterator, a view): that one.
    bases: NumberMap<u32, u32>,
}

/// The length of a chain of views that is followed.
const MAX_VIEWS: usize = 8;

fn key(object: u32, part: u32) -> u64 {
    u64::from(object) << 32 | u64::from(part)
}

impl ObjectMemory {
    /// What is known of a place in an object; a local is in no object.
    pub fn get(&self, location: ValueLocation) -> Option<JavaValue> {
        match location {
            ValueLocation::Local(_) | ValueLocation::State(_) => None,
            ValueLocation::Field(object, field) => self.fields.get(&key(object, field.0)).copied(),
            ValueLocation::Static(field) => self.statics.get(&field.0).copied(),
            ValueLocation::Element(array, index) => self.elements.get(&key(array, index)).copied(),
        }
    }

    /// The number of places that something is known of.
    pub fn len(&self) -> usize {
        self.fields.len() + self.elements.len() + self.statics.len() + self.births.len()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The field of an object with this name, if it was read or written.
    pub fn field_named(&self, object: u32, name: &str, program: &JavaProgram) -> Option<ValueLocation> {
        let is_there = |field: &FieldId| self.fields.contains_key(&key(object, field.0));
        program.fields_named(name).find(is_there).map(|field| ValueLocation::Field(object, field))
    }

    /// Writes to a place.
    pub fn set(&mut self, location: ValueLocation, value: JavaValue) {
        match location {
            ValueLocation::Local(_) | ValueLocation::State(_) => {}
            ValueLocation::Field(object, field) => {
                self.fields.insert(key(object, field.0), value);
            }
            ValueLocation::Static(field) => {
                self.statics.insert(field.0, value);
            }
            ValueLocation::Element(array, index) => {
                self.elements.insert(key(array, index), value);
            }
        }
    }

    /// A value that was read: who wrote it. If something else was written there, or nothing, the library did it, or it is
    /// the initial value.
    pub fn read(&mut self, location: ValueLocation, bits: u64) -> Step {
        if let Some(value) = self.get(location).filter(|value| value.is_known && value.bits == bits) {
            return value.maker;
        }
        let object = match location {
            ValueLocation::Field(object, _) | ValueLocation::Element(object, _) | ValueLocation::State(object) => {
                Some(object)
            }
            ValueLocation::Local(_) | ValueLocation::Static(_) => None,
        };
        let known = |steps: &NumberMap<u32, Step>| object.and_then(|object| steps.get(&object).copied());
        let maker = known(&self.states).or(known(&self.births)).unwrap_or(Step::START);
        self.set(location, JavaValue::of(bits, maker));
        maker
    }

    /// Notes that a step made an object, unless it is known already.
    pub fn bear(&mut self, object: u32, step: Step) {
        self.births.entry(object).or_insert(step);
    }

    /// The step that made an object.
    pub fn birth(&self, object: u32) -> Option<Step> {
        self.births.get(&object).copied()
    }

    /// The last step that could have changed an object in the library.
    pub fn state(&self, object: u32) -> Option<Step> {
        self.states.get(&object).copied()
    }

    /// Notes that a step may have changed an object in the library.
    pub fn touch(&mut self, object: u32, step: Step) {
        self.states.insert(object, step);
    }

    /// Notes that the library made an object of another one.
    pub fn derive(&mut self, object: u32, base: u32) {
        if object != base {
            self.bases.insert(object, base);
        }
    }

    /// The object of which the library made this one, or which holds this array.
    pub fn base(&self, object: u32) -> Option<u32> {
        self.bases.get(&object).copied()
    }

    /// An object, the one that it was made of, and so on.
    pub fn bases(&self, object: u32) -> Vec<u32> {
        std::iter::successors(Some(object), |object| self.bases.get(object).copied()).take(MAX_VIEWS).collect()
    }

    /// Notes that a step gave an object to the library.
    pub fn give(&mut self, object: u32, step: Step) {
        self.given.insert(object, step);
    }

    /// The last step that gave an object to the library.
    pub fn giver(&self, object: u32) -> Option<Step> {
        self.given.get(&object).copied()
    }
}
