//! Runs single instructions: what they take from the stack, and what they put there.

use crate::Step;
use crate::instrument::java::descriptor::ValueKind;
use crate::instrument::java::operation::{Arithmetic, Element, JumpTest, Narrow, Operation, Shuffle};
use crate::instrument::java::sites::SiteProbe;
use crate::java::machine::NEW;
use crate::java::method::NONE;
use crate::java::value::of_int;
use crate::java::{
    JavaFrame, JavaMachine, JavaUse, JavaValue, MachineMethod, MethodOperand, ObjectKind, ValueLocation, Watch,
    arithmetic,
};

impl JavaMachine {
    pub(super) fn take_value(frame: &mut JavaFrame, kind: ValueKind, watch: &mut dyn Watch) -> JavaValue {
        if kind.n_slots() == 2 {
            frame.stack.pop();
        }
        let value = frame.stack.pop().unwrap_or(JavaValue::UNKNOWN);
        if value.maker != frame.step && value.maker != Step::START {
            watch.uses(frame.step, value.maker, JavaUse::Temporary);
            watch.takes(frame, value, kind);
        }
        value
    }

    pub(super) fn put(frame: &mut JavaFrame, kind: ValueKind, value: JavaValue) {
        frame.stack.push(value);
        if kind.n_slots() == 2 {
            frame.stack.push(JavaValue::UNKNOWN);
        }
    }

    pub(super) fn made(frame: &JavaFrame, bits: Option<u64>) -> JavaValue {
        bits.map_or(JavaValue { maker: frame.step, ..JavaValue::UNKNOWN }, |bits| JavaValue::of(bits, frame.step))
    }

    /// The result of the next instruction, which was recorded.
    pub(super) fn result(
        &mut self,
        method: &MachineMethod,
        frame: &mut JavaFrame,
        probe: SiteProbe,
        payload: u64,
        watch: &mut dyn Watch,
    ) {
        let at = frame.at as usize;
        let (kind, value) = match probe {
            SiteProbe::Value(Some(kind)) => (Some(kind), Some(JavaValue::of(payload, frame.step))),
            SiteProbe::This => (None, Some(JavaValue::of(payload, frame.step))),
            _ => (None, None),
        };
        match (&method.operations[at], &method.operands[at]) {
            (_, MethodOperand::Call(callee)) => self.comes_back(frame, callee, probe, value, watch),
            (Operation::LoadStatic(_), MethodOperand::Field(field, kind)) => {
                self.loads(frame, ValueLocation::Static(*field), *kind, payload, watch);
            }
            (Operation::LoadField(_), MethodOperand::Field(field, kind)) => {
                let object = Self::take_value(frame, ValueKind::Reference, watch).object().unwrap_or(0);
                self.loads(frame, ValueLocation::Field(object, *field), *kind, payload, watch);
            }
            (Operation::LoadElement(element), _) => {
                let index = Self::take_value(frame, ValueKind::Int, watch).int().unwrap_or(-1);
                let array = Self::take_value(frame, ValueKind::Reference, watch).object().unwrap_or(0);
                let location = ValueLocation::Element(array, index.cast_unsigned());
                self.loads(frame, location, element.kind(), payload, watch);
            }
            (operation, _) => {
                let n_taken = match operation {
                    Operation::NewArrays(_, n) => usize::from(*n),
                    Operation::Constant(_) => 0,
                    _ => 1,
                };
                for _ in 0..n_taken {
                    Self::take_value(frame, ValueKind::Int, watch);
                }
                let is_new = matches!(
                    operation,
                    Operation::NewArray(_) | Operation::NewBasicArray(_) | Operation::NewArrays(..)
                );
                if let Some(array) = value.and_then(JavaValue::object).filter(|_| is_new) {
                    self.memory.bear(array, frame.step);
                }
                if let (Some(kind), Some(value)) = (kind, value) {
                    Self::put(frame, kind, value);
                }
            }
        }
        frame.at = method.next[at];
        if frame.at == NONE {
            frame.at = u32::try_from(at).unwrap_or(0);
        }
        frame.is_waiting = method.is_announced[frame.at as usize];
    }

    /// A value was read from an object.
    fn loads(
        &mut self,
        frame: &mut JavaFrame,
        location: ValueLocation,
        kind: ValueKind,
        bits: u64,
        watch: &mut dyn Watch,
    ) {
        self.n_reads += 1;
        if self.memory.get(location).is_some_and(|value| value.is_known && value.bits != bits) {
            self.n_other += 1;
            let object = match location {
                ValueLocation::Field(object, _) | ValueLocation::Element(object, _) => Some(object),
                _ => None,
            };
            self.n_reached += u64::from(object.is_some_and(|object| self.memory.giver(object).is_some()));
        }
        let maker = self.memory.read(location, bits);
        self.holds(location, bits);
        if maker != Step::START {
            watch.uses(frame.step, maker, JavaUse::Place(location));
        }
        watch.reads(self, frame, location, JavaValue::of(bits, maker));
        Self::put(frame, kind, JavaValue::of(bits, frame.step));
    }

    /// Notes the array in a field that a class of the library declares: what it holds are contents of the object.
    fn holds(&mut self, location: ValueLocation, bits: u64) {
        if let ValueLocation::Field(object, field) = location
            && self.program.field(field).is_of_library
            && self.program.field(field).descriptor.starts_with('[')
            && let Some(array) = JavaValue::of(bits, Step::START).object().filter(|array| *array != 0)
        {
            self.memory.derive(array, object);
        }
    }

    /// A decision went to an instruction.
    pub(super) fn decide(&mut self, method: &MachineMethod, frame: &mut JavaFrame, way: u32, watch: &mut dyn Watch) {
        watch.decides(self, frame, way);
        let operation = &method.operations[frame.at as usize];
        let right = Self::take_value(frame, ValueKind::Int, watch);
        let expected = match operation {
            Operation::Jump(test, to) => {
                let is_of_two = matches!(test, JumpTest::Ints(_) | JumpTest::Same(_));
                let left = if is_of_two { Self::take_value(frame, ValueKind::Int, watch) } else { right };
                let right = if is_of_two { right } else { JavaValue::of(0, Step::START) };
                let is_met = match test {
                    JumpTest::Zero(condition) | JumpTest::Ints(condition) => {
                        left.int().zip(right.int()).map(|(left, right)| arithmetic::holds(*condition, left, right))
                    }
                    JumpTest::Same(is_same) | JumpTest::Null(is_same) => {
                        left.object().zip(right.object()).map(|(left, right)| (left == right) == *is_same)
                    }
                };
                is_met.map(|is_met| if is_met { *to } else { frame.at + 1 })
            }
            Operation::Switch(switch) => right.int().map(|value| {
                let case = switch.cases.iter().find(|(case, _)| *case == value);
                case.map_or(switch.default, |(_, to)| *to)
            }),
            _ => None,
        };
        self.n_derived += u64::from(expected.is_some());
        self.n_wrong += u64::from(expected.is_some_and(|expected| expected != way));
        let block = method.blocks.of[frame.at as usize];
        let end = method.blocks.flow.post_dominator[block.0 as usize];
        frame.regions.decide(frame.step, end);
        frame.at = way;
    }

    /// Runs the next instruction, which records nothing and decides nothing.
    pub(super) fn run(&mut self, method: &MachineMethod, frame: &mut JavaFrame, watch: &mut dyn Watch) {
        let at = frame.at as usize;
        match &method.operations[at] {
            Operation::Load(kind, local) => {
                let value = frame.locals.get(usize::from(*local)).copied().unwrap_or(JavaValue::UNKNOWN);
                if value.maker != Step::START {
                    watch.uses(frame.step, value.maker, JavaUse::Place(ValueLocation::Local(*local)));
                }
                watch.reads(self, frame, ValueLocation::Local(*local), value);
                Self::put(frame, *kind, JavaValue { maker: frame.step, ..value });
            }
            Operation::Store(kind, local) => {
                let value = Self::take_value(frame, *kind, watch);
                self.stores(frame, *local, value, watch);
            }
            Operation::Increment(local, by) => {
                let value = frame.locals.get(usize::from(*local)).copied().unwrap_or(JavaValue::UNKNOWN);
                if value.maker != Step::START {
                    watch.uses(frame.step, value.maker, JavaUse::Place(ValueLocation::Local(*local)));
                }
                watch.reads(self, frame, ValueLocation::Local(*local), value);
                let bits = value.int().map(|value| of_int(value.wrapping_add(i32::from(*by))));
                let value = Self::made(frame, bits);
                self.stores(frame, *local, value, watch);
            }
            Operation::Shuffle(shuffle) => Self::shuffle(frame, *shuffle),
            Operation::StoreStatic(_) => {
                if let MethodOperand::Field(field, kind) = method.operands[at] {
                    let value = Self::take_value(frame, kind, watch);
                    self.writes(frame, ValueLocation::Static(field), value, watch);
                }
            }
            Operation::StoreField(_) => {
                if let MethodOperand::Field(field, kind) = method.operands[at] {
                    let value = Self::take_value(frame, kind, watch);
                    let object = Self::take_value(frame, ValueKind::Reference, watch);
                    if let Some(object) = object.object() {
                        self.writes(frame, ValueLocation::Field(object, field), value, watch);
                        if self.program.field(field).is_of_library {
                            self.changes(frame, object, watch);
                        }
                    }
                }
            }
            Operation::StoreElement(element) => {
                let value = Self::take_value(frame, element.kind(), watch);
                let index = Self::take_value(frame, ValueKind::Int, watch);
                let array = Self::take_value(frame, ValueKind::Reference, watch);
                if let (Some(array), Some(index)) = (array.object(), index.int()) {
                    let location = ValueLocation::Element(array, index.cast_unsigned());
                    self.writes(frame, location, cut(*element, value), watch);
                    if let Some(holder) = self.memory.base(array) {
                        self.changes(frame, holder, watch);
                    }
                }
            }
            Operation::New(_) => {
                self.n_new += 1;
                let value = JavaValue { bits: NEW | self.n_new, maker: frame.step, is_known: false };
                Self::put(frame, ValueKind::Reference, value);
            }
            Operation::Length => {
                let array = Self::take_value(frame, ValueKind::Reference, watch);
                let array = array.object().and_then(|array| self.objects.get(array));
                let length = array.filter(|array| array.kind == ObjectKind::Array);
                let value = Self::made(frame, length.map(|array| u64::from(array.length)));
                Self::put(frame, ValueKind::Int, value);
            }
            Operation::Throw | Operation::Exit | Operation::Enter => {
                Self::take_value(frame, ValueKind::Reference, watch);
            }
            operation => {
                if let Some((kind, bits)) = Self::computed(frame, operation, &method.operands[at], watch) {
                    let value = Self::made(frame, bits);
                    Self::put(frame, kind, value);
                }
            }
        }
    }

    /// The kind and the bits, if they are known, of what an instruction computes from constants and from the stack, or gives
    /// without a record; `None` for one that gives nothing.
    fn computed(
        frame: &mut JavaFrame,
        operation: &Operation,
        operand: &MethodOperand,
        watch: &mut dyn Watch,
    ) -> Option<(ValueKind, Option<u64>)> {
        let mut take = |kind: ValueKind| Self::take_value(frame, kind, watch);
        let known = |value: JavaValue| value.is_known.then_some(value.bits);
        Some(match operation {
            Operation::Null => (ValueKind::Reference, Some(0)),
            Operation::Int(value) => (ValueKind::Int, Some(of_int(*value))),
            Operation::Long(value) => (ValueKind::Long, Some(value.cast_unsigned())),
            Operation::Float(value) => (ValueKind::Float, Some(u64::from(value.to_bits()))),
            Operation::Double(value) => (ValueKind::Double, Some(value.to_bits())),
            Operation::Constant(_) => match operand {
                MethodOperand::Number(bits, n_slots) => {
                    (if *n_slots == 2 { ValueKind::Long } else { ValueKind::Int }, Some(*bits))
                }
                MethodOperand::Made(kind) => (*kind, None),
                _ => return None,
            },
            Operation::LoadStatic(_) | Operation::LoadField(_) => {
                let MethodOperand::Field(_, kind) = operand else { return None };
                if matches!(operation, Operation::LoadField(_)) {
                    take(ValueKind::Reference);
                }
                (*kind, None)
            }
            Operation::LoadElement(element) => {
                take(ValueKind::Int);
                take(ValueKind::Reference);
                (element.kind(), None)
            }
            Operation::NewBasicArray(_) | Operation::NewArray(_) => {
                take(ValueKind::Int);
                (ValueKind::Reference, None)
            }
            Operation::NewArrays(_, n) => {
                for _ in 0..*n {
                    take(ValueKind::Int);
                }
                (ValueKind::Reference, None)
            }
            Operation::InstanceOf(_) => {
                take(ValueKind::Reference);
                (ValueKind::Int, None)
            }
            Operation::Arithmetic(operator, kind) => {
                let right = take(if operator.is_shift() { ValueKind::Int } else { *kind });
                let both = known(take(*kind)).zip(known(right));
                (*kind, both.and_then(|(left, right)| arithmetic::binary(*operator, *kind, left, right)))
            }
            Operation::Negate(kind) => (*kind, known(take(*kind)).map(|bits| arithmetic::negate(*kind, bits))),
            Operation::Convert(from, to) => (*to, known(take(*from)).map(|bits| arithmetic::convert(*from, *to, bits))),
            Operation::Narrow(to) => {
                (ValueKind::Int, known(take(ValueKind::Int)).map(|bits| arithmetic::narrow(*to, bits)))
            }
            Operation::Compare(kind, otherwise) => {
                let right = take(*kind);
                let both = known(take(*kind)).zip(known(right));
                (ValueKind::Int, both.map(|(left, right)| arithmetic::compare(*kind, left, right, *otherwise)))
            }
            _ => return None,
        })
    }

    fn shuffle(frame: &mut JavaFrame, shuffle: Shuffle) {
        let (n_taken, put) = shuffle.slots();
        let n_known = n_taken.min(frame.stack.len());
        let taken = frame.stack.split_off(frame.stack.len() - n_known);
        frame.stack.extend(put.iter().filter_map(|slot| taken.get(*slot)));
    }

    fn stores(&mut self, frame: &mut JavaFrame, local: u16, value: JavaValue, watch: &mut dyn Watch) {
        let value = JavaValue { maker: frame.step, ..value };
        if let Some(slot) = frame.locals.get_mut(usize::from(local)) {
            *slot = value;
        }
        watch.writes(self, frame, ValueLocation::Local(local), value);
    }

    fn writes(&mut self, frame: &mut JavaFrame, location: ValueLocation, value: JavaValue, watch: &mut dyn Watch) {
        let value = JavaValue { maker: frame.step, ..value };
        self.memory.set(location, value);
        watch.writes(self, frame, location, value);
    }

    /// A step writes to what a class of the library declares, in an object of a class that extends it: the library will read
    /// that. What else the object holds stays as it is.
    fn changes(&mut self, frame: &JavaFrame, object: u32, watch: &mut dyn Watch) {
        self.reads_contents(frame, &[object], watch);
        self.memory.touch(object, frame.step);
        watch.writes(self, frame, ValueLocation::State(object), JavaValue::of(u64::from(object), frame.step));
    }

    /// Whether the next instruction is sure to throw an exception.
    pub(super) fn throws(&self, frame: &JavaFrame) -> bool {
        let value = |below: usize| {
            frame.stack.len().checked_sub(below + 1).map_or(JavaValue::UNKNOWN, |index| frame.stack[index])
        };
        let is_null = |below: usize| value(below).object() == Some(0);
        let is_outside = |array: usize, index: usize| {
            let length = value(array).object().and_then(|array| self.objects.get(array)).map(|array| array.length);
            let index = value(index).int().map(i32::cast_unsigned);
            length.zip(index).is_some_and(|(length, index)| index >= length)
        };
        let at = frame.at as usize;
        let slots = |kind: ValueKind| usize::from(kind.n_slots());
        match (&frame.method.operations[at], &frame.method.operands[at]) {
            (Operation::Throw, _) => true,
            (Operation::LoadField(_) | Operation::Length | Operation::Enter | Operation::Exit, _) => is_null(0),
            (Operation::StoreField(_), MethodOperand::Field(_, kind)) => is_null(slots(*kind)),
            (Operation::LoadElement(_), _) => is_null(1) || is_outside(1, 0),
            (Operation::StoreElement(element), _) => {
                let below = slots(element.kind());
                is_null(below + 1) || is_outside(below + 1, below)
            }
            (Operation::Arithmetic(operator, kind @ (ValueKind::Int | ValueKind::Long)), _) => {
                let right = value(slots(*kind) - 1);
                matches!(operator, Arithmetic::Divide | Arithmetic::Remainder) && right.is_known && right.bits == 0
            }
            (Operation::Invoke(..), MethodOperand::Call(callee)) if callee.has_object => {
                is_null(callee.parameters.iter().map(|kind| slots(*kind)).sum())
            }
            _ => false,
        }
    }
}

/// A value as an element holds it.
fn cut(element: Element, value: JavaValue) -> JavaValue {
    let to = match element {
        Element::Byte => Narrow::Byte,
        Element::Char => Narrow::Char,
        Element::Short => Narrow::Short,
        _ => return value,
    };
    JavaValue { bits: arithmetic::narrow(to, value.bits), ..value }
}
