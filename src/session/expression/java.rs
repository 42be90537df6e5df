//! A recorded process of Java as [expressions](crate::expression) see it.
//!
//! A reference is a pointer to an object; a dot follows it. Numbers in objects (`Integer`) count as numbers.

use crate::expression::arithmetic::{Number, Type};
use crate::expression::states::States;
use crate::expression::{Expression, Held, Objects, place};
use idd_trace::TraceError;
use idd_trace::java::frame::Frame;
use idd_trace::java::machine::Machine;
use idd_trace::java::memory::Location;
use idd_trace::java::objects::Kind;
use idd_trace::java::player::Player;
use idd_trace::java::text;
use idd_trace::java::value::Value;
use idd_trace::step::Step;
use std::sync::Arc;

/// An activation of a method, and the process around it.
#[derive(Clone, Copy)]
pub struct State<'s> {
    /// The process.
    pub machine: &'s Machine,
    /// The activation.
    pub frame: &'s Frame,
}

/// What a name means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A variable, or a part of one: where it is, its type, and what it holds.
    Value(Option<Location>, Arc<str>, Value),
    /// A class, by its name without its package.
    Class(String),
}

impl State<'_> {
    /// The name under which the facts about a step have the place that an expression means, if it means one.
    pub fn name(self, expression: &Expression) -> Option<String> {
        match place(&self, expression)? {
            Place::Value(Some(location), ..) => Some(text::name(self.machine, self.frame, location).text),
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
        let is_known = |field| self.machine.memory.get(Location::Static(field)).is_some();
        let own = program.fields().filter(|(id, field)| field.class == *class && is_known(*id));
        own.map(|(_, field)| Arc::clone(&field.name)).collect()
    }

    fn local(self, local: u16, descriptor: &Arc<str>) -> Place {
        let value = self.frame.locals.get(usize::from(local)).copied().unwrap_or(Value::UNKNOWN);
        Place::Value(Some(Location::Local(local)), Arc::clone(descriptor), value)
    }

    fn this(self) -> Option<Place> {
        let method = &self.frame.method;
        (!method.is_static).then(|| self.local(0, &format!("L{};", method.class).into()))
    }

    fn at(self, location: Location) -> Option<Place> {
        let value = self.machine.memory.get(location)?;
        let descriptor = text::name(self.machine, self.frame, location).descriptor;
        Some(Place::Value(Some(location), descriptor, value))
    }

    /// A static field of a class.
    fn static_field(self, class: &str, name: &str) -> Option<Place> {
        let program = &self.machine.program;
        let is_of = |class_name: &str| class_name == class || text::simple(class_name) == class;
        let mut found = program.fields_named(name).filter(|field| is_of(&program.field(*field).class));
        found.find_map(|field| self.at(Location::Static(field)))
    }
}

fn unknown() -> String {
    "the value is not known here".to_owned()
}

impl Objects for State<'_> {
    type Place = Place;

    fn variable(&self, name: &str) -> Option<Place> {
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
        field.or_else(|| is_class().then(|| Place::Class(name.to_owned())))
    }

    fn member(&self, place: &Place, name: &str) -> Option<Place> {
        match place {
            Place::Class(class) => self.static_field(class, name),
            Place::Value(_, _, value) => {
                let object = value.object().filter(|object| *object != 0)?;
                let array = self.machine.objects.get(object).filter(|object| object.kind == Kind::Array);
                if let Some(array) = array.filter(|_| name == "length") {
                    return Some(Place::Value(None, "I".into(), Value::of(u64::from(array.length), Step::START)));
                }
                self.at(self.machine.memory.field_named(object, name, &self.machine.program)?)
            }
        }
    }

    fn element(&self, place: &Place, index: i64) -> Option<Place> {
        let Place::Value(_, _, value) = place else { return None };
        let array = value.object().filter(|object| *object != 0)?;
        self.at(Location::Element(array, u32::try_from(index).ok()?))
    }

    fn held(&self, place: &Place) -> Result<Held, String> {
        let Place::Value(_, descriptor, value) = place else { return Ok(Held::Other) };
        if !value.is_known {
            return Err(unknown());
        }
        let int = |bits, is_signed| {
            let ty = Type { bits, is_signed };
            let number = i128::from(value.int().unwrap_or_default());
            Held::Number(Number::Integer(ty.wrap(number), ty))
        };
        Ok(match descriptor.as_bytes().first() {
            Some(b'Z') => int(1, false),
            Some(b'B') => int(8, true),
            Some(b'C') => int(16, false),
            Some(b'S') => int(16, true),
            Some(b'I') => int(32, true),
            Some(b'J') => Held::Number(Number::Integer(i128::from(value.bits.cast_signed()), Type::LONG)),
            Some(b'F') => {
                let bits = value.int().unwrap_or_default().cast_unsigned();
                Held::Number(Number::Float(f64::from(f32::from_bits(bits)), true))
            }
            Some(b'D') => Held::Number(Number::Float(f64::from_bits(value.bits), false)),
            _ => {
                let id = value.object().ok_or_else(unknown)?;
                let boxed = self.machine.objects.get(id).filter(|object| object.kind == Kind::Boxed);
                match boxed.and_then(|object| number(&object.text)) {
                    Some(number) => Held::Number(number),
                    None => Held::Pointer(u64::from(id), Some(1)),
                }
            }
        })
    }

    fn constant(&self, _place: &Place, _name: &str) -> Option<Number> {
        None
    }

    fn extent(&self, _place: &Place) -> (u64, u64) {
        (0, 0)
    }

    fn shown(&self, place: &Place) -> String {
        match place {
            Place::Value(_, descriptor, value) => text::value(self.machine, descriptor, *value),
            Place::Class(class) => class.clone(),
        }
    }
}

/// The number of a value in an object.
fn number(text: &str) -> Option<Number> {
    match text {
        "true" | "false" => Some(Number::truth(text == "true")),
        _ => match text.parse::<i128>() {
            Ok(integer) => Some(Number::Integer(integer, Type::LONG)),
            Err(_) => text.parse().ok().map(|number| Number::Float(number, false)),
        },
    }
}

impl States for Player {
    type State<'s> = State<'s>;

    fn look_from(&mut self, step: Step, mut look: impl FnMut(Step, State<'_>) -> bool) -> Result<(), TraceError> {
        Self::look_from(self, step, |machine, frame| look(frame.step, State { machine, frame }))
    }

    /// Nothing: only checkpoints are near.
    fn approach(&mut self, _step: Step) -> Result<(), TraceError> {
        Ok(())
    }
}
