//! Calls: what they are given, what they give back, and what the library does to the objects that it gets.

use crate::Step;
use crate::instrument::java::descriptor::ValueKind;
use crate::instrument::java::sites::SiteProbe;
use crate::java::machine::NEW;
use crate::java::{
    JavaFrame, JavaMachine, JavaUse, JavaValue, LibraryCall, MethodCallee, Object, ObjectKind, ValueLocation, Watch,
    library,
};
use std::sync::Arc;

/// The elements of an array, from the first one on, that a call of the library depends on.
const MAX_ELEMENTS: u32 = 256;

impl JavaMachine {
    /// The values that a call takes from the stack, with its object first.
    pub(super) fn given(frame: &mut JavaFrame, callee: &MethodCallee, watch: &mut dyn Watch) -> Vec<JavaValue> {
        let mut given: Vec<JavaValue> =
            callee.parameters.iter().rev().map(|kind| Self::take_value(frame, *kind, watch)).collect();
        if callee.has_object {
            given.push(Self::take_value(frame, ValueKind::Reference, watch));
        }
        given.reverse();
        given
    }

    /// A call came back.
    pub(super) fn comes_back(
        &mut self,
        frame: &mut JavaFrame,
        callee: &MethodCallee,
        probe: SiteProbe,
        value: Option<JavaValue>,
        watch: &mut dyn Watch,
    ) {
        let mut given = match frame.pending.take() {
            Some(given) => given,
            None => Self::given(frame, callee, watch),
        };
        // What was thrown in code that is not recorded was caught there.
        self.current.threw = None;
        let is_recorded = match frame.returned.take() {
            Some((step, is_direct)) => {
                watch.uses(frame.step, step, JavaUse::Returned);
                is_direct
            }
            None => false,
        };
        let object = value.and_then(JavaValue::object);
        if callee.is_constructor() {
            if let (Some(new), Some(object)) = (given.first().filter(|new| !new.is_known), object) {
                self.name_new(frame, new.bits, object);
                if probe == SiteProbe::This {
                    given[0] = JavaValue::of(u64::from(object), new.maker);
                }
            }
            if let Some(object) = object {
                let maker = if probe == SiteProbe::This { frame.caller } else { frame.step };
                self.memory.bear(object, maker);
            }
        }
        if !is_recorded {
            let result = value.filter(|_| probe != SiteProbe::This);
            self.library(frame, &LibraryCall { callee, given: &given, result }, watch);
        }
        // After a constructor, a copy of the object is there already.
        if let Some(kind) = callee.result.filter(|_| !callee.is_constructor()) {
            Self::put(frame, kind, value.unwrap_or(Self::made(frame, None)));
        }
    }

    /// Gives a new object its number wherever it is.
    fn name_new(&mut self, frame: &mut JavaFrame, bits: u64, object: u32) {
        let name = |value: &mut JavaValue| {
            if !value.is_known && value.bits == bits && bits & NEW != 0 {
                (value.bits, value.is_known) = (u64::from(object), true);
            }
        };
        frame.stack.iter_mut().chain(&mut frame.locals).for_each(name);
        for below in self.current.frames.iter_mut().rev().take_while(|below| below.pending.is_some()) {
            let JavaFrame { stack, locals, pending, .. } = &mut **below;
            stack.iter_mut().chain(locals).chain(pending.iter_mut().flatten()).for_each(name);
        }
    }

    /// The library may read the elements of an array that it gets.
    fn reads_elements(&mut self, frame: &JavaFrame, array: u32, length: u32, watch: &mut dyn Watch) {
        for index in 0..length.min(MAX_ELEMENTS) {
            let location = ValueLocation::Element(array, index);
            if let Some(value) = self.memory.get(location).filter(|value| value.maker != Step::START) {
                watch.uses(frame.step, value.maker, JavaUse::Place(location));
                watch.reads(self, frame, location, value);
            }
        }
    }

    /// The library may read what it keeps in some objects.
    pub(super) fn reads_contents(&self, frame: &JavaFrame, objects: &[u32], watch: &mut dyn Watch) {
        for object in objects {
            if let Some(maker) = self.memory.state(*object).or_else(|| self.memory.birth(*object)) {
                watch.uses(frame.step, maker, JavaUse::Place(ValueLocation::State(*object)));
                watch.reads(self, frame, ValueLocation::State(*object), JavaValue::of(u64::from(*object), maker));
            }
        }
    }

    /// A method that the library called back has returned to it. If it returned an object whose contents the library keeps, such
    /// as a buffer, the library may read these: `Format.format` makes a text of the buffer that it gets.
    pub(super) fn gives_back(&self, result: JavaValue, watch: &mut dyn Watch) {
        let Some(below) = self.frames().last().filter(|below| below.pending.is_some()) else { return };
        let Some(id) = result.object().filter(|id| *id != 0) else { return };
        let is_kept = |object: &Object| object.is_mutable && object.kind == ObjectKind::Other;
        if self.objects.get(id).is_some_and(is_kept) {
            self.reads_contents(below, &self.memory.bases(id), watch);
        }
    }

    /// Whether the effect of a call is known: it is one of a method that only reads, or only the object on which it is called
    /// can change.
    pub fn is_modelled(&self, call: &LibraryCall<'_>) -> bool {
        let LibraryCall { callee, given, .. } = *call;
        let others = given.iter().skip(usize::from(callee.has_object));
        callee.member.class.is_empty()
            || callee.only_reads
            || !others
                .filter_map(|value| self.objects.get(value.object()?))
                .any(|object| object.kind == ObjectKind::Other && object.is_mutable)
    }

    /// A call of the library: what it does to the objects that it got.
    pub(super) fn library(&mut self, frame: &JavaFrame, call: &LibraryCall<'_>, watch: &mut dyn Watch) {
        let LibraryCall { callee, given, result } = *call;
        let objects = Arc::clone(&self.objects);
        let is_read = callee.only_reads;
        let mut base = None;
        for (position, value) in given.iter().enumerate() {
            // What a constructor does to its object is the making of it.
            let is_new = position == 0 && callee.is_constructor();
            let Some(id) = value.object().filter(|id| *id != 0 && !is_new) else { continue };
            let Some(object) = objects.get(id) else { continue };
            let is_of_program = self.memory.state(id).is_some() || self.memory.birth(id).is_some();
            if !object.is_mutable || library::is_outlet(&object.class, is_of_program) {
                continue;
            }
            self.memory.give(id, frame.step);
            let is_object = callee.has_object && position == 0;
            let holders = if object.kind == ObjectKind::Array { Vec::new() } else { self.memory.bases(id) };
            self.reads_contents(frame, &holders, watch);
            base = base.or(holders.first().copied());
            if object.kind == ObjectKind::Array {
                self.reads_elements(frame, id, object.length, watch);
            }
            // `NumberFormat.format` returns the buffer that it was given, and has written to it.
            let is_returned =
                callee.result == Some(ValueKind::Reference) && result.and_then(JavaValue::object) == Some(id);
            let is_changed = object.kind == ObjectKind::Array || is_object || !callee.has_object || is_returned;
            if is_changed && !is_read {
                self.memory.touch(id, frame.step);
                let n_changed = if library::leaves_base(&callee.member.name) { 1 } else { holders.len() };
                for holder in holders.into_iter().take(n_changed) {
                    self.memory.touch(holder, frame.step);
                    watch.writes(
                        self,
                        frame,
                        ValueLocation::State(holder),
                        JavaValue::of(u64::from(holder), frame.step),
                    );
                }
            }
        }
        if let Some(id) = result.filter(|_| callee.result == Some(ValueKind::Reference)).and_then(JavaValue::object)
            && id != 0
            && given.iter().all(|value| value.object() != Some(id))
            && self.memory.state(id).is_none()
            && self.memory.birth(id).is_none()
        {
            self.memory.touch(id, frame.step);
            if let Some(base) = base {
                self.memory.derive(id, base);
            }
        }
        watch.called(self, frame, call);
    }
}
