//! A recorded process of Java as [expressions](crate::expression) see it.
//!
//! A reference is a pointer to an object; a dot follows it. Numbers in objects (`Integer`) count as numbers.

use crate::expression::arithmetic::{IntegerType, Number};
use crate::expression::states::States;
use crate::expression::{Expression, StateVariables, VariableContent, place};
use idd_trace::java::memory::ValueLocation;
use idd_trace::java::{JavaFrame, JavaMachine, JavaPlayer, JavaValue, ObjectKind, text};
use idd_trace::{Step, TraceError};
use std::sync::Arc;

/// An activation of a method, and the process around it.
#[derive(Clone, Copy)]
pub struct JavaState<'s> {
    /// The process.
    pub machine: &'s JavaMachine,
    /// The activation.
    pub frame: &'s JavaFrame,
}

/// What a name means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamedThing {
    /// A variable, or a part of one: where it is, its type, and what it holds.
    Value(Option<ValueLocation>, Arc<str>, JavaValue),
    /// A class, by its name without its package.
    Class(String),
}

impl JavaState<'_> {
    /// The name under which the facts about a step have the place that an expression means, if it means one.
    pub fn name(self, expression: &Expression) -> Option<String> {
        match place(&self, expression)? {
            NamedThing::Value(Some(location), ..) => Some(text::name(self.machine, self.frame, location).text),
            _ => None,
        }
    }

    /// The names of the visible variables.
    pub fn names(&self) -> Vec<Arc<str>> {
        let this = (!self.frame.method.is_static).then(|| "this".into());
        let visible = text::variables(self.machine, self.frame).into_iter().map(|(name, _)| name);
        this.into_iter().chain(visible.filter(|name| &**name != "this")).collect()
    }

    /// The names of the static fields of its class that were read or written.
    pub fn static_names(self) -> Vec<Arc<str>> {
        let (program, class) = (&self.machine.program, &self.frame.method.class);
        let is_known = |field| self.machine.memory.get(ValueLocation::Static(field)).is_some();
        let own = program.fields().filter(|(id, field)| field.class == *class && is_known(*id));
        own.map(|(_, field)| Arc::clone(&field.name)).collect()
    }

    fn local(self, local: u16, descriptor: &Arc<str>) -> NamedThing {
        let value = self.frame.locals.get(usize::from(local)).copied().unwrap_or(JavaValue::UNKNOWN);
        NamedThing::Value(Some(ValueLocation::Local(local)), Arc::clone(descriptor), value)
    }

    fn this(self) -> Option<NamedThing> {
        let method = &self.frame.method;
        (!method.is_static).then(|| self.local(0, &format!("L{};", method.class).into()))
    }

    fn at(self, location: ValueLocation) -> Option<NamedThing> {
        let value = self.machine.memory.get(location)?;
        let descriptor = text::name(self.machine, self.frame, location).descriptor;
        Some(NamedThing::Value(Some(location), descriptor, value))
    }

    /// A static field of a class.
    fn static_field(self, class: &str, name: &str) -> Option<NamedThing> {
        let program = &self.machine.program;
        let is_of = |class_name: &str| class_name == class || text::simple(class_name) == class;
        let mut found = program.fields_named(name).filter(|field| is_of(&program.field(*field).class));
        found.find_map(|field| self.at(ValueLocation::Static(field)))
    }
}

fn unknown() -> String {
    "the value is not known here".to_owned()
}

impl StateVariables for JavaState<'_> {
    type Place = NamedThing;

    fn variable(&self, name: &str) -> Option<NamedThing> {
        let (state, method) = (*self, &self.frame.method);
        if name == "this" {
            return state.this();
        }
        let at = self.frame.at;
        let mut visible = method.variables.iter().filter(|variable| variable.visible.contains(&at));
        if let Some(variable) = visible.find(|variable| &*variable.name == name) {
            return Some(state.local(variable.local, &variable.descriptor));
        }
        let field = state.this().and_then(|this| self.member(&this, name));
        let field = field.or_else(|| state.static_field(&method.class, name));
        let is_class = || name.starts_with(|first: char| first.is_uppercase());
        field.or_else(|| is_class().then(|| NamedThing::Class(name.to_owned())))
    }

    fn member(&self, place: &NamedThing, name: &str) -> Option<NamedThing> {
        match place {
            NamedThing::Class(class) => self.static_field(class, name),
            NamedThing::Value(_, _, value) => {
                let object = value.object().filter(|object| *object != 0)?;
                let array = self.machine.objects.get(object).filter(|object| object.kind == ObjectKind::Array);
                if let Some(array) = array.filter(|_| name == "length") {
                    return Some(NamedThing::Value(
                        None,
                        "I".into(),
                        JavaValue::of(u64::from(array.length), Step::START),
                    ));
                }
                self.at(self.machine.memory.field_named(object, name, &self.machine.program)?)
            }
        }
    }

    fn element(&self, place: &NamedThing, index: i64) -> Option<NamedThing> {
        let NamedThing::Value(_, _, value) = place else { return None };
        let array = value.object().filter(|object| *object != 0)?;
        self.at(ValueLocation::Element(array, u32::try_from(index).ok()?))
    }

    fn held(&self, place: &NamedThing) -> Result<VariableContent, String> {
        let NamedThing::Value(_, descriptor, value) = place else { return Ok(VariableContent::Other) };
        if !value.is_known {
            return Err(unknown());
        }
        let int = |bits, is_signed| {
            let ty = IntegerType { bits, is_signed };
            let number = i128::from(value.int().unwrap_or_default());
            VariableContent::Number(Number::Integer(ty.wrap(number), ty))
        };
        Ok(match descriptor.as_bytes().first() {
            Some(b'Z') => int(1, false),
            Some(b'B') => int(8, true),
            Some(b'C') => int(16, false),
            Some(b'S') => int(16, true),
            Some(b'I') => int(32, true),
            Some(b'J') => {
                VariableContent::Number(Number::Integer(i128::from(value.bits.cast_signed()), IntegerType::LONG))
            }
            Some(b'F') => {
                let bits = value.int().unwrap_or_default().cast_unsigned();
                VariableContent::Number(Number::Float(f64::from(f32::from_bits(bits)), true))
            }
            Some(b'D') => VariableContent::Number(Number::Float(f64::from_bits(value.bits), false)),
            _ => {
                let id = value.object().ok_or_else(unknown)?;
                let boxed = self.machine.objects.get(id).filter(|object| object.kind == ObjectKind::Boxed);
                match boxed.and_then(|object| number(&object.text)) {
                    Some(number) => VariableContent::Number(number),
                    None => VariableContent::Pointer(u64::from(id), Some(1)),
                }
            }
        })
    }

    fn constant(&self, _place: &NamedThing, _name: &str) -> Option<Number> {
        None
    }

    fn extent(&self, _place: &NamedThing) -> (u64, u64) {
        (0, 0)
    }

    fn shown(&self, place: &NamedThing) -> String {
        match place {
            NamedThing::Value(_, descriptor, value) => text::value(self.machine, descriptor, *value),
            NamedThing::Class(class) => class.clone(),
        }
    }
}

/// The number of a value in an object.
fn number(text: &str) -> Option<Number> {
    match text {
        "true" | "false" => Some(Number::truth(text == "true")),
        _ => match text.parse::<i128>() {
            Ok(integer) => Some(Number::Integer(integer, IntegerType::LONG)),
            Err(_) => text.parse().ok().map(|number| Number::Float(number, false)),
        },
    }
}

impl States for JavaPlayer {
    type State<'s> = JavaState<'s>;

    fn look_from(&mut self, step: Step, mut look: impl FnMut(Step, JavaState<'_>) -> bool) -> Result<(), TraceError> {
        Self::look_from(self, step, |machine, frame| look(frame.step, JavaState { machine, frame }))
    }

    /// Nothing: only checkpoints are near.
    fn approach(&mut self, _step: Step) -> Result<(), TraceError> {
        Ok(())
    }
}
